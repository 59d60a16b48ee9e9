//! Knowing that a step need not run again: a stamp holds the hash of everything that the step read.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::shell::{relative, target_dir};

/// Directories that hold what steps make, not what they read.
const PRODUCTS: [&str; 5] = ["node_modules", "dist", "pkg", "target", ".git"];

/// The state of a step's inputs, beside the state that it last ran for.
pub struct Stamp {
    file: PathBuf,
    hash: String,
}

impl Stamp {
    /// The stamp of the step `name` for `product`, whose inputs are these files and directories.
    pub fn new(name: &str, product: &Path, inputs: &[PathBuf]) -> Result<Stamp> {
        let mut hasher = DefaultHasher::new();
        for input in inputs {
            hash(input, &mut hasher).with_context(|| format!("{} could not be read", input.display()))?;
        }
        let label: String = relative(product).chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let file = target_dir().join("stamps").join(format!("{name}{label}"));
        Ok(Stamp { file, hash: format!("{:016x}", hasher.finish()) })
    }

    /// Whether the step has run for these very inputs.
    pub fn fresh(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|hash| hash == self.hash)
    }

    /// Notes that it has.
    pub fn set(&self) -> Result<()> {
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory)?;
        }
        Ok(fs::write(&self.file, &self.hash)?)
    }
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    path.hash(hasher);
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.retain(|entry| !PRODUCTS.iter().any(|product| entry.ends_with(product)));
    entries.sort();
    entries.iter().try_for_each(|entry| hash(entry, hasher))
}
