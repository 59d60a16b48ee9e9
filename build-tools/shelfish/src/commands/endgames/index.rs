//! `shelfish endgames index`: the index of a directory of tables.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::HumanBytes;
use shelfish_endgames::{INDEX_FILE, IndexBuilder, SUMS_FILE, TableError, TableName};

use crate::Outcome;
use crate::system::output;
use crate::terminal::shown::counted;

/// Write the index that a host needs next to the tables.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish endgames index syzygy
  shelfish endgames index syzygy -o public/endgames
  shelfish endgames index syzygy -o public/endgames --copy-with .silo

The index is the file endgames.index: names, lengths and checksums of the tables. With many tables the checksums are in
endgames.sums. The tables remain unchanged, so that every copy of them fits the index. A directory with an index is checked in the
same way when it is read. Write the index again if tables were added.

Hosts like GitHub Pages compress files with unknown endings, which breaks ranges. --copy-with copies the tables to the directory of
the index and appends an ending to their names.

Exit codes: 0 if the index was written; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Directory with the tables: files like KQvK.rtbw and KQvK.rtbz
    tables: PathBuf,
    /// Directory for the index [default: the directory of the tables]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Copy the tables to the directory of the index, and append this ending to their names
    #[arg(long, value_name = "ENDING", requires = "out")]
    copy_with: Option<String>,
}

/// Error of an index that was not written.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    /// A file or directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    /// A file is not a complete table.
    #[error("{}: {error}", path.display())]
    Table { path: PathBuf, error: TableError },
    /// The directory contains no table.
    #[error("{}: found no Syzygy table, expected files like KQvK.rtbw and KQvK.rtbz", .0.display())]
    Empty(PathBuf),
}

/// Adds the path to errors of a file.
fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, IndexError> {
    result.map_err(|error| IndexError::File {
        path: path.to_owned(),
        error,
    })
}

/// Reads all tables and writes their index.
pub fn run(args: &Args) -> Outcome {
    let mut builder =
        IndexBuilder::default().with_ending(args.copy_with.as_deref().unwrap_or_default())?;
    let folder = args.out.as_ref().unwrap_or(&args.tables);
    let entries = at(&args.tables, fs::read_dir(&args.tables))?;
    at(folder, fs::create_dir_all(folder))?;
    // Copies may end like the shards of a database, so that `output::whole` would refuse them.
    let write =
        |name: &str, bytes: &[u8]| output::replace(&folder.join(name), |out| out.write_all(bytes));
    let (mut count, mut bytes) = (0, 0);
    for entry in entries {
        let path = at(&args.tables, entry)?.path();
        let Some(name) = path
            .file_name()
            .and_then(|name| name.to_str()?.parse::<TableName>().ok())
        else {
            continue;
        };
        let table = at(&path, fs::read(&path))?;
        builder
            .add(&name, &table)
            .map_err(|error| IndexError::Table { path, error })?;
        if let Some(ending) = &args.copy_with {
            write(&format!("{name}{ending}"), &table)?;
        }
        count += 1;
        bytes += table.len() as u64;
    }
    if count == 0 {
        return Err(IndexError::Empty(args.tables.clone()).into());
    }
    let (index, sums) = builder.finish();
    let index = index.encode();
    if let Some(sums) = &sums {
        write(SUMS_FILE, sums)?;
    }
    write(INDEX_FILE, &index)?;
    let written = index.len() + sums.map_or(0, |sums| sums.len());
    println!(
        "{}, {}; index {}",
        counted(count, "table"),
        HumanBytes(bytes),
        HumanBytes(written as u64)
    );
    Ok(ExitCode::SUCCESS)
}
