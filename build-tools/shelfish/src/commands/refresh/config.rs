//! Configuration of `shelfish refresh`.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde::Deserialize;

use crate::commands::publish;
use crate::commands::table_args::BuildArgs;

/// Keys of `refresh.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    sources: Vec<String>,
    to: String,
    #[serde(default = "directory")]
    directory: PathBuf,
    base: Option<Base>,
    #[serde(default)]
    build: Vec<String>,
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
    pub publish: publish::Args,
}

/// Reasons why a configuration is invalid.
#[derive(Debug)]
pub enum ConfigError {
    /// The file cannot be read.
    Io(PathBuf, std::io::Error),
    /// The file is not TOML, or has unknown or missing keys.
    Toml {
        /// Path of the file.
        path: PathBuf,
        /// Number of the invalid line, if known.
        line: Option<usize>,
        /// Error of the parser.
        error: Box<toml::de::Error>,
    },
    /// There is no source.
    NoSources(PathBuf),
    /// Standard input cannot be read again.
    Stdin(PathBuf),
    /// The share of positions that may be lost is not a share in percent.
    MaxLoss(PathBuf, f64),
    /// The directory of the build is the destination, or not local.
    Directory(PathBuf, PathBuf),
    /// An option conflicts with a key, or has no meaning for a refresh.
    Key {
        /// Path of the file.
        path: PathBuf,
        /// Name of the option.
        option: &'static str,
        /// Advice.
        instead: &'static str,
    },
    /// Options of a command are invalid.
    Options {
        /// Path of the file.
        path: PathBuf,
        /// Name of the key.
        key: &'static str,
        /// Error of the command.
        error: Box<clap::Error>,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            ConfigError::Toml { path, line, error } => {
                write!(f, "{}", path.display())?;
                line.map_or(Ok(()), |line| write!(f, ", line {line}"))?;
                // The full text of the error would include the line again.
                write!(f, ": {}", error.message())
            }
            ConfigError::NoSources(path) => {
                write!(
                    f,
                    "{}: `sources` is empty, expected at least one dump",
                    path.display()
                )
            }
            ConfigError::Stdin(path) => {
                write!(
                    f,
                    "{}: `sources` has \"-\", expected files or URLs, which can be read again",
                    path.display()
                )
            }
            ConfigError::MaxLoss(path, found) => {
                write!(
                    f,
                    "{}: `max-loss` is {found}, expected a number from 0 to 100",
                    path.display()
                )
            }
            ConfigError::Directory(path, directory) => write!(
                f,
                "{}: `directory` is {}, expected a local folder that differs from `to`",
                path.display(),
                directory.display()
            ),
            ConfigError::Key {
                path,
                option,
                instead,
            } => {
                write!(
                    f,
                    "{}: the options have {option}: {instead}",
                    path.display()
                )
            }
            ConfigError::Options { path, key, error } => {
                let text = error.to_string();
                let first = text
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("error: ");
                write!(
                    f,
                    "{}: `{key}`: {first}; `shelfish {} --help` lists the options",
                    path.display(),
                    key.replace('-', " ")
                )
            }
        }
    }
}

impl std::error::Error for ConfigError {}

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
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Io(path.to_owned(), error))?;
        Config::parse(path, &text)
    }

    /// Parses the configuration of a file.
    pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
        let keys: Keys = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .and_then(|span| Some(text.get(..span.start)?.matches('\n').count() + 1));
            ConfigError::Toml {
                path: path.to_owned(),
                line,
                error: Box::new(error),
            }
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let place = |text: &str| match crate::system::url::scheme(text) {
            Some(_) => text.to_owned(),
            None => folder.join(text).display().to_string(),
        };
        if keys.sources.is_empty() {
            return Err(ConfigError::NoSources(path.to_owned()));
        }
        if keys.sources.iter().any(|source| source == "-") {
            return Err(ConfigError::Stdin(path.to_owned()));
        }
        if !(0.0..=100.0).contains(&keys.max_loss) {
            return Err(ConfigError::MaxLoss(path.to_owned(), keys.max_loss));
        }
        let directory = folder.join(&keys.directory);
        let to = [directory.display().to_string(), place(&keys.to)];
        let publish = options("publish", path, to.iter().chain(&keys.publish))?;
        if keys.book_build.is_some() && !keys.build.is_empty() {
            let instead = "`book-build` builds games, `build` evaluations: remove one of the two";
            return Err(ConfigError::Key {
                path: path.to_owned(),
                option: "both `build` and `book-build`",
                instead,
            });
        }
        let config = Config {
            sources: keys
                .sources
                .iter()
                .map(|source| place(source).into())
                .collect(),
            is_book: keys.book_build.is_some(),
            options: keys.book_build.unwrap_or(keys.build),
            on_published: keys.base == Some(Base::Published),
            state: folder.join(keys.state.unwrap_or_else(|| {
                path.with_extension("json")
                    .file_name()
                    .unwrap_or_default()
                    .into()
            })),
            max_loss: keys.max_loss,
            directory,
            publish,
        };
        // All options are checked before the first action.
        let is_far = crate::system::url::scheme(&keys.directory.display().to_string()).is_some();
        if is_far || config.publish.is_to(&config.directory) {
            return Err(ConfigError::Directory(path.to_owned(), keys.directory));
        }
        let (build, publish) = (config.build(path, None)?, &config.publish);
        let wrong = [
            (
                build.has_more_than(config.sources.len()),
                "another source",
                "name it in `sources`, so that its changes are noticed",
            ),
            (
                build.has_base(),
                "--base",
                "`base = \"published\"` sets the base",
            ),
            (
                publish.is_dry_run(),
                "--dry-run",
                "use the option of `shelfish refresh`",
            ),
            (
                publish.has_max_loss(),
                "--max-loss",
                "use the key `max-loss`",
            ),
        ];
        match wrong.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, option, instead)) => Err(ConfigError::Key {
                path: path.to_owned(),
                option,
                instead,
            }),
            None => Ok(config),
        }
    }

    /// Returns the build, on a base if `base` names a database.
    pub fn build(&self, path: &Path, base: Option<&str>) -> Result<BuildArgs, ConfigError> {
        let sources = self
            .sources
            .iter()
            .map(|source| source.display().to_string());
        let out = ["-o".to_owned(), self.directory.display().to_string()];
        let base = base
            .into_iter()
            .flat_map(|base| ["--base".to_owned(), base.to_owned()]);
        let all: Vec<String> = sources
            .chain(out)
            .chain(base)
            .chain(self.options.iter().cloned())
            .collect();
        Ok(if self.is_book {
            BuildArgs::Games(Box::new(options("book-build", path, all.iter())?))
        } else {
            BuildArgs::Evaluations(Box::new(options("build", path, all.iter())?))
        })
    }
}

fn options<'a, A: clap::Args>(
    key: &'static str,
    path: &Path,
    options: impl Iterator<Item = &'a String>,
) -> Result<A, ConfigError> {
    match Command::<A>::try_parse_from(options) {
        Ok(command) => Ok(command.args),
        Err(error) => Err(ConfigError::Options {
            path: path.to_owned(),
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
            ("to = 'ftp://x'\nsources = ['a']", "`publish`"),
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
                "to = 'x'\nsources = ['a']\nbuild = ['b.zst']",
                "name it in `sources`",
            ),
            (
                "to = 'x'\nsources = ['a']\nbook-build = ['--dump', '2013-01']",
                "name it in `sources`",
            ),
            (
                "to = 'x'\nsources = ['a']\nbuild = ['--base', 'b']",
                "published",
            ),
            (
                "to = 'x'\nsources = ['a']\npublish = ['--dry-run']",
                "--dry-run",
            ),
            (
                "to = 'x'\nsources = ['a']\npublish = ['--max-loss', '9']",
                "use the key `max-loss`",
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
