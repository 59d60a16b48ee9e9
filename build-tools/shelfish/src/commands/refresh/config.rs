//! Configuration of `shelfish refresh`.

use std::path::{Path, PathBuf};

use clap::Parser;
use serde::Deserialize;
use thiserror::Error;

use crate::commands::table_args::BuildArgs;
use crate::publish::Options;
use crate::store::{Address, AddressError};

/// Keys of `refresh.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    sources: Vec<String>,
    to: String,
    #[serde(default = "directory")]
    directory: PathBuf,
    base: Option<Base>,
    build: Option<Vec<String>>,
    book_build: Option<Vec<String>>,
    #[serde(default)]
    publish: Vec<String>,
    #[serde(default = "max_loss")]
    max_loss: f64,
    state: Option<PathBuf>,
}

fn max_loss() -> f64 {
    5.0
}

fn directory() -> PathBuf {
    "evals".into()
}

/// Base of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Base {
    Published,
}

/// Parsed configuration.
pub struct Config {
    /// Sources of the build.
    pub sources: Vec<PathBuf>,
    /// Options of the build.
    pub options: Vec<String>,
    /// Whether the sources are games, for `shelfish book build`.
    pub is_book: bool,
    /// Whether the published database is the base of the build.
    pub on_published: bool,
    /// Directory of the build.
    pub directory: PathBuf,
    /// File that records the last build.
    pub state: PathBuf,
    /// Maximum share of the published positions that a new database may lose, in percent.
    pub max_loss: f64,
    /// Options of the publication.
    pub publish: Options,
}

/// Error of an invalid configuration, with the path of its file.
#[derive(Debug, Error)]
#[error("{}{kind}", .path.display())]
pub struct ConfigError {
    path: PathBuf,
    kind: ConfigErrorKind,
}

/// Reasons why a configuration is invalid.
#[derive(Debug, Error)]
enum ConfigErrorKind {
    #[error(": {0}; expected a file of options as in `shelfish refresh --help`")]
    Io(#[from] std::io::Error),
    /// The file is not TOML, or has unknown or missing keys. The full text of the error would include the line again.
    #[error("{}: {}", .0.map_or_else(String::new, |line| format!(", line {line}")), .1.message())]
    Toml(Option<usize>, Box<toml::de::Error>),
    #[error(": `sources` is {0}, expected files or URLs, which can be read again")]
    Sources(String),
    #[error(
        ": `to` is empty, expected s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, the https:// URL of an R2 bucket, or a folder"
    )]
    NoTo,
    #[error(": `to`: {0}")]
    To(AddressError),
    #[error(": `max-loss` is {0}, expected a number from 0 to 100")]
    MaxLoss(f64),
    #[error(": `directory` is {}, expected a local folder that differs from `to`", .0.display())]
    Directory(PathBuf),
    #[error(": `book-build` builds games, `build` evaluations: remove one of the two")]
    TwoKinds,
    #[error(": the options have --base: `base = \"published\"` sets the base")]
    Base,
    #[error(
        ": the options have --update, which writes the changes of a base: add `base = \"published\"`"
    )]
    Update,
    #[error(": `{key}`: {}; `shelfish {} --help` lists the options", first_line(.error), .key.replace('-', " "))]
    Options {
        key: &'static str,
        error: Box<clap::Error>,
    },
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

/// Arguments of a command without its name.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Command<A: clap::Args> {
    #[command(flatten)]
    args: A,
}

impl Config {
    /// Reads a configuration. Paths are relative to the file, except for paths in options.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        Config::parse(path).map_err(|kind| ConfigError {
            path: path.to_owned(),
            kind,
        })
    }

    fn parse(path: &Path) -> Result<Config, ConfigErrorKind> {
        let text = std::fs::read_to_string(path)?;
        let keys: Keys = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            ConfigErrorKind::Toml(line, Box::new(error))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let place = |text: &str| match crate::system::url::scheme(text) {
            Some(_) => text.to_owned(),
            None => folder.join(text).display().to_string(),
        };
        if keys.sources.is_empty() {
            return Err(ConfigErrorKind::Sources("empty".to_owned()));
        }
        if let Some(source) = keys
            .sources
            .iter()
            .find(|source| ["", "-"].contains(&source.as_str()))
        {
            return Err(ConfigErrorKind::Sources(format!("{source:?}")));
        }
        if !(0.0..=100.0).contains(&keys.max_loss) {
            return Err(ConfigErrorKind::MaxLoss(keys.max_loss));
        }
        if keys.book_build.is_some() && keys.build.is_some() {
            return Err(ConfigErrorKind::TwoKinds);
        }
        let directory = folder.join(&keys.directory);
        let to = [directory.display().to_string(), place(&keys.to)];
        if keys.to.is_empty() {
            return Err(ConfigErrorKind::NoTo);
        }
        Address::parse(&to[1]).map_err(ConfigErrorKind::To)?;
        let publish: Options = options("publish", to.iter().chain(&keys.publish))?;
        let is_far = crate::system::url::scheme(&keys.directory.display().to_string()).is_some();
        if is_far || publish.to.folder() == Some(directory.as_path()) {
            return Err(ConfigErrorKind::Directory(keys.directory));
        }
        let config = Config {
            sources: keys
                .sources
                .iter()
                .map(|source| place(source).into())
                .collect(),
            is_book: keys.book_build.is_some(),
            options: keys.book_build.or(keys.build).unwrap_or_default(),
            on_published: keys.base == Some(Base::Published),
            state: match keys.state {
                Some(state) => folder.join(state),
                None => path.with_extension("json"),
            },
            max_loss: keys.max_loss,
            directory,
            publish,
        };
        // All options are checked before the first action.
        match config.build(None)?.base_and_update() {
            (true, _) => return Err(ConfigErrorKind::Base),
            (_, true) if !config.on_published => return Err(ConfigErrorKind::Update),
            _ => {}
        }
        Ok(config)
    }

    /// Returns the build, on a base if `base` names a database.
    pub fn build_at(&self, path: &Path, base: Option<&str>) -> Result<BuildArgs, ConfigError> {
        self.build(base).map_err(|kind| ConfigError {
            path: path.to_owned(),
            kind,
        })
    }

    fn build(&self, base: Option<&str>) -> Result<BuildArgs, ConfigErrorKind> {
        let text = |path: &PathBuf| path.display().to_string();
        let mut all: Vec<String> = self.sources.iter().map(text).collect();
        all.extend(["-o".to_owned(), text(&self.directory)]);
        all.extend(base.map(|base| format!("--base={base}")));
        all.extend(self.options.iter().cloned());
        Ok(if self.is_book {
            BuildArgs::Games(Box::new(options("book-build", all.iter())?))
        } else {
            BuildArgs::Evaluations(Box::new(options("build", all.iter())?))
        })
    }
}

fn options<'a, A: clap::Args>(
    key: &'static str,
    options: impl Iterator<Item = &'a String>,
) -> Result<A, ConfigErrorKind> {
    match Command::<A>::try_parse_from(options) {
        Ok(command) => Ok(command.args),
        Err(error) => Err(ConfigErrorKind::Options {
            key,
            error: Box::new(error),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    fn read(text: &str) -> Result<Result<Config, ConfigError>, std::io::Error> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("refresh.toml");
        std::fs::write(&path, text)?;
        Ok(Config::read(&path))
    }

    #[test]
    fn paths_are_relative_to_the_file_and_urls_are_unchanged() -> Test {
        let config = read(
            "sources = ['https://x/a.zst', 'b.zst']\nto = 's3://b/x'\nbuild = ['--min-depth', '20']",
        )??;
        assert_eq!(config.sources[0], Path::new("https://x/a.zst"));
        assert!(config.sources[1].is_absolute() && config.directory.ends_with("evals"));
        assert!(config.state.ends_with("refresh.json") && config.state.is_absolute());
        Ok(())
    }

    #[test]
    fn the_files_of_the_workflows_are_valid() -> Test {
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
        for (file, state) in [
            ("refresh.toml", "refresh.json"),
            ("refresh-pages.toml", "refresh-pages.json"),
        ] {
            let config = Config::read(&deploy.join(file))?;
            // The workflows commit the state.
            assert!(config.state.ends_with(state), "{file}");
        }
        Ok(())
    }

    #[test]
    fn the_files_of_the_guides_are_valid() -> Test {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/fresh.md");
        let text = std::fs::read_to_string(guide)?;
        let files: Vec<&str> = text
            .split("```toml\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
            .collect();
        assert_eq!(files.len(), 3);
        for file in files {
            read(file)??;
        }
        Ok(())
    }

    #[test]
    fn errors_contain_the_invalid_part() -> Test {
        for (text, words) in [
            ("sources = ['a']", "missing field `to`"),
            ("to = 'x'\nsources = []", "`sources` is empty"),
            ("to = 'x'\nsources = ['-']", "can be read again"),
            ("to = 'x'\nsources = ['a']\nbsae = 'published'", "bsae"),
            (
                "to = 'x'\nsources = ['a']\nbsae = 'published'",
                "refresh.toml, line 3: ",
            ),
            ("to = 'x'\nsources = ['a']\nbase = 'db'", "published"),
            ("to = 'ftp://x'\nsources = ['a']", "`to`: found ftp://"),
            ("to = 's3://'\nsources = ['a']", "`to`: found s3://"),
            ("to = ''\nsources = ['a']", "`to` is empty"),
            ("to = 'x'\nsources = ['']", "`sources` is \"\""),
            (
                "to = 'x'\nsources = ['a']\nbuild = []\nbook-build = []",
                "remove one",
            ),
            (
                "to = 'x'\nsources = ['a']\nbuild = ['--min-deph', '3']",
                "--min-deph",
            ),
            (
                "to = 'x'\nsources = ['a']\npublish = ['--keep', '0']",
                "--keep",
            ),
            ("to = 'evals'\nsources = ['a']", "differs from `to`"),
            (
                "to = 'x'\nsources = ['a']\ndirectory = 's3://b/x'",
                "a local folder",
            ),
            (
                "to = 'x'\nsources = ['a']\nbuild = ['--base', 'b']",
                "published",
            ),
            (
                "to = 'x'\nsources = ['a']\nbuild = ['--update']",
                "add `base = \"published\"`",
            ),
            ("to = 'x'\nsources = ['a']\nmax-loss = 101", "from 0 to 100"),
            ("to = ", "refresh.toml"),
        ] {
            let error = read(text)?
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(error.contains(words), "{text}: {error}");
        }
        Ok(())
    }
}
