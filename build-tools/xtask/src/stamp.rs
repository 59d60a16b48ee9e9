//! Stamps: files with the hash of everything that a step read. A step whose inputs have the same hash need not run again.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::shell::{relative, target_dir};

/// Directories with outputs of steps.
const PRODUCTS: [&str; 5] = ["node_modules", "dist", "pkg", "target", ".git"];

/// Makes a product from these files and directories, unless it exists and was made from the same inputs.
pub fn make(product: &Path, inputs: &[PathBuf], run: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    for input in inputs {
        hash(input, &mut hasher)
            .with_context(|| format!("{} could not be read", input.display()))?;
    }
    let hash = format!("{:016x}", hasher.finish());
    let label = relative(product).replace(|c: char| !c.is_alphanumeric(), "-");
    let stamps = target_dir().join("stamps");
    let stamp = stamps.join(label);
    if product.exists() && fs::read_to_string(&stamp).is_ok_and(|made| made == hash) {
        return Ok(());
    }
    run()?;
    fs::create_dir_all(stamps)?;
    Ok(fs::write(stamp, hash)?)
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    path.hash(hasher);
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    entries.retain(|entry| !PRODUCTS.iter().any(|product| entry.ends_with(product)));
    entries.sort();
    entries.iter().try_for_each(|entry| hash(entry, hasher))
}
