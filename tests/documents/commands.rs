//! Commands in the documents of the repository. The tests of `shelfish` and of `xtask` include this file, and parse the commands
//! with the real parsers.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders with documents.
const FOLDERS: [&str; 8] = [
    ".",
    "docs",
    "docs/guides",
    "crate",
    "crate/js",
    "crate/engine",
    "static-shards",
    "www",
];

/// A command in a document.
pub struct Command {
    /// Document and line.
    pub place: String,
    /// The words of the command, the program first.
    pub words: Vec<String>,
}

/// Returns the commands in code blocks that begin with these words. Pipes divide commands, and redirections are left out.
pub fn commands(program: &[&str]) -> Vec<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let in_folder = |folder: &str| {
        fs::read_dir(root.join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
    };
    let is_document = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    FOLDERS
        .iter()
        .flat_map(|folder| in_folder(folder))
        .filter(is_document)
        .flat_map(|path| of(&path, program))
        .collect()
}

/// Returns the commands of a document.
fn of(path: &Path, program: &[&str]) -> Vec<Command> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut in_fence = false;
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        if is_fence || !(in_fence || line.starts_with("    ")) {
            continue;
        }
        let mut line = line.trim().to_owned();
        while let Some(start) = line.strip_suffix('\\') {
            line = format!(
                "{start}{}",
                lines.next().map_or("", |(_, next)| next.trim())
            );
        }
        let words = shlex::split(&line).unwrap_or_default();
        for part in words.split(|word| ["|", "&&", ";"].contains(&word.as_str())) {
            let end = part
                .iter()
                .position(|word| word.starts_with(['>', '<']))
                .unwrap_or(part.len());
            if part
                .iter()
                .zip(program)
                .all(|(word, wanted)| word == wanted)
                && part.len() >= program.len()
            {
                found.push(Command {
                    place: format!("{name}, line {}", n + 1),
                    words: part[..end].to_vec(),
                });
            }
        }
    }
    found
}
