//! Folders of the program, and of the crate it uses, do not depend on each other in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Dependencies of the folders and files directly in `src`.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// Reads the names that follow `crate::` in the files of `src`, without their unit tests.
fn rooms(src: &Path) -> Rooms {
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let entries: Vec<_> = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_root = |path: &Path| ["lib", "main"].contains(&name(path).as_str());
    let mut rooms: Rooms =
        entries.iter().filter(|path| !is_root(path)).map(|path| (name(path), BTreeSet::new())).collect();
    let all: BTreeSet<String> = rooms.keys().cloned().collect();
    for path in entries.iter().filter(|path| !is_root(path)) {
        let mut text = String::new();
        read(path, &mut text);
        let used = rooms.get_mut(&name(path)).unwrap();
        used.extend(names(&text).into_iter().filter(|other| all.contains(other) && *other != name(path)));
    }
    rooms
}

/// Appends the code of a file, or of all files in a folder.
fn read(path: &Path, text: &mut String) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| read(&entry.unwrap().path(), text));
    } else if path.extension().is_some_and(|ending| ending == "rs") && path.file_name().unwrap() != "tests.rs" {
        let code = fs::read_to_string(path).unwrap();
        text.push_str(code.split("#[cfg(test)]").next().unwrap());
    }
}

/// Returns the first names of all paths that begin with `crate::`.
fn names(text: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
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

/// Returns the rooms that can be reached from a room.
fn reached(rooms: &Rooms, from: &str) -> BTreeSet<String> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(room) = next.pop() {
        next.extend(rooms[&room].iter().filter(|other| found.insert((*other).clone())).cloned());
    }
    found
}

#[test]
fn no_folder_depends_on_itself_through_others() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for src in [here.join("src"), here.join("../../crate/src")] {
        let rooms = rooms(&src);
        assert!(rooms.values().any(|used| !used.is_empty()), "{}: no dependencies found", src.display());
        let circle: Vec<&String> = rooms.keys().filter(|room| reached(&rooms, room).contains(*room)).collect();
        assert!(circle.is_empty(), "{}: these depend on each other in circles: {circle:?}", src.display());
    }
}

/// Returns the dependencies between the files of a folder, by paths that begin with `super::`.
fn files(folder: &Path) -> Rooms {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect();
    let modules = paths.iter().filter(|path| !["lib", "main", "mod", "tests"].contains(&name(path).as_str()));
    let mut files: Rooms = modules.clone().map(|path| (name(path), BTreeSet::new())).collect();
    let all: BTreeSet<String> = files.keys().cloned().collect();
    for path in modules {
        let mut text = String::new();
        read(path, &mut text);
        // Paths from the root and from the folder above name other modules.
        let text = text.replace("crate::", "").replace("super::super::", "").replace("super::", "crate::");
        let used = names(&text);
        files
            .get_mut(&name(path))
            .unwrap()
            .extend(used.into_iter().filter(|other| all.contains(other) && *other != name(path)));
    }
    files
}

/// Returns a folder and its subfolders.
fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.filter(|path| path.is_dir()).flat_map(|path| folders(&path));
    [folder.to_owned()].into_iter().chain(below).collect()
}

#[test]
fn no_file_depends_on_itself_through_others_of_its_folder() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [here.join("src"), here.join("../../crate/src")].iter().flat_map(|src| folders(src)) {
        let files = files(&folder);
        let circle: Vec<&String> = files.keys().filter(|file| reached(&files, file).contains(*file)).collect();
        assert!(circle.is_empty(), "{}: these depend on each other in circles: {circle:?}", folder.display());
    }
}

#[test]
fn signals_are_handled_in_one_place() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in folders(&src).iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path())
    {
        if path.is_file() && !path.ends_with("system/signals.rs") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("signal_hook") && !text.contains("tokio::signal"), "{}", path.display());
        }
    }
}
