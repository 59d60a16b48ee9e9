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

/// The hash of a step's inputs, and the file with the hash of its last run.
pub struct Stamp {
    file: PathBuf,
    hash: String,
}

impl Stamp {
    /// Returns the stamp of the step `name` that makes `product` from these files and directories.
    pub fn new(name: &str, product: &Path, inputs: &[PathBuf]) -> Result<Stamp> {
        let mut hasher = DefaultHasher::new();
        for input in inputs {
            hash(input, &mut hasher)
                .with_context(|| format!("{} could not be read", input.display()))?;
        }
        let label = relative(product).replace(|c: char| !c.is_alphanumeric(), "-");
        let file = target_dir().join("stamps").join(format!("{name}{label}"));
        Ok(Stamp {
            file,
            hash: format!("{:016x}", hasher.finish()),
        })
    }

    /// Returns whether the step has run for the same inputs.
    pub fn fresh(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|hash| hash == self.hash)
    }

    /// Stores that the step has run.
    pub fn set(&self) -> Result<()> {
        fs::create_dir_all(target_dir().join("stamps"))?;
        Ok(fs::write(&self.file, &self.hash)?)
    }
}

/// Makes a product from these files and directories, unless it exists and was made from the same inputs.
pub fn make(product: &Path, inputs: &[PathBuf], run: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = Stamp::new("", product, inputs)?;
    if stamp.fresh() && product.exists() {
        return Ok(());
    }
    run()?;
    stamp.set()
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
