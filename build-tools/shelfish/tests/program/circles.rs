//! Folders of the program, and of the crates that it uses, do not depend on each other in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Dependencies of the folders and files directly in `src`.
type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// Returns the source folders of the program and of the crates that it uses.
fn sources() -> Vec<PathBuf> {
    let crates = [
        "crate",
        "crate/analysis",
        "crate/endgames",
        "crate/engine",
        "build-tools/shelfish",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    crates
        .iter()
        .map(|folder| root.join(folder).join("src"))
        .collect()
}

/// Reads the names that follow `crate::` in the files of `src`, without their unit tests.
fn dependencies(src: &Path) -> Dependencies {
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let entries: Vec<_> = fs::read_dir(src)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let is_root = |path: &Path| ["lib", "main"].contains(&name(path).as_str());
    let mut dependencies: Dependencies = entries
        .iter()
        .filter(|path| !is_root(path))
        .map(|path| (name(path), BTreeSet::new()))
        .collect();
    let all: BTreeSet<String> = dependencies.keys().cloned().collect();
    for path in entries.iter().filter(|path| !is_root(path)) {
        let mut text = String::new();
        read(path, &mut text);
        let used = dependencies.get_mut(&name(path)).unwrap();
        used.extend(
            names(&text)
                .into_iter()
                .filter(|other| all.contains(other) && *other != name(path)),
        );
    }
    dependencies
}

/// Appends the code of a file, or of all files in a folder.
fn read(path: &Path, text: &mut String) {
    if path.is_dir() {
        fs::read_dir(path)
            .unwrap()
            .for_each(|entry| read(&entry.unwrap().path(), text));
    } else if path.extension().is_some_and(|ending| ending == "rs")
        && path.file_name().unwrap() != "tests.rs"
    {
        let code = fs::read_to_string(path).unwrap();
        text.push_str(code.split("#[cfg(test)]").next().unwrap());
    }
}

/// Returns the first names of all paths that begin with `crate::`.
fn names(text: &str) -> BTreeSet<String> {
    let word = |text: &str| {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let outer: String = group
            .split(';')
            .next()
            .unwrap()
            .chars()
            .filter(|c| {
                depth += i32::from(*c == '{') - i32::from(*c == '}');
                depth == 0
            })
            .collect();
        names.extend(outer.split(',').map(|path| word(path.trim())));
    }
    names
}

/// Returns the folders or files that one folder or file reaches through its dependencies.
fn reached(dependencies: &Dependencies, from: &str) -> BTreeSet<String> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(name) = next.pop() {
        next.extend(
            dependencies[&name]
                .iter()
                .filter(|other| found.insert((*other).clone()))
                .cloned(),
        );
    }
    found
}

#[test]
fn no_folder_depends_on_itself_through_others() {
    for src in sources() {
        let dependencies = dependencies(&src);
        assert!(
            dependencies.values().any(|used| !used.is_empty()),
            "{}: no dependencies found",
            src.display()
        );
        let circle: Vec<&String> = dependencies
            .keys()
            .filter(|name| reached(&dependencies, name).contains(*name))
            .collect();
        assert!(
            circle.is_empty(),
            "{}: these depend on each other in circles: {circle:?}",
            src.display()
        );
    }
}
