//! `shelfish`: builds, reads, verifies and serves databases of chess evaluations and of played moves.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};
use shelfish::source::redaction::redacted;
use shelfish_cli::commands::refresh::ConfigError;
use shelfish_cli::commands::table_args::BuildArgs;
use shelfish_cli::commands::{
    analyse, bench, book, build, doctor, endgames, engine, explore, export, extract, lookup, man,
    parts, publish, refresh, serve, stats, verify,
};
use shelfish_cli::publish::{Options, PublishError};
use shelfish_cli::store::EnvironmentError;
use shelfish_cli::terminal::shown::shown;

/// Takes chess evaluations off the shelf: builds, reads, verifies and serves static databases.
#[derive(Parser)]
#[command(name = "shelfish", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a database of evaluations from dumps
    Build(Box<build::Args>),
    /// Build a database of evaluations in parts, on several machines
    #[command(subcommand)]
    Parts(parts::Command),
    /// Look up positions
    Lookup(lookup::Args),
    /// Print the moves that were played from positions
    Explore(explore::Args),
    /// Build books, learn games, and choose moves from books
    #[command(subcommand)]
    Book(book::Command),
    /// Look up exact results of endgames in Syzygy tables
    #[command(subcommand)]
    Endgames(endgames::Command),
    /// Report mistakes, accuracy and average centipawn loss of games
    Analyse(analyse::Args),
    /// Print the contents of a database
    Stats(stats::Args),
    /// Check every byte of a database that is in use
    Verify(verify::Args),
    /// Convert a database to JSON lines, CSV, Parquet or a Polyglot book
    Export(export::Args),
    /// Make a small database of an opening, a repertoire or games
    Extract(extract::Args),
    /// Publish a database to S3, R2, Google Cloud Storage or a folder
    Publish(Options),
    /// Check whether a host can serve a database to browsers
    Doctor(doctor::Args),
    /// Build, verify, publish and prune a database if its sources changed
    Refresh(refresh::command::Args),
    /// Play and analyse chess as a UCI engine
    Engine(engine::Args),
    /// Serve a directory over HTTP as a static host does
    Serve(serve::Args),
    /// Measure the cost of games that are looked up in databases
    Bench(bench::Args),
    /// Write the manual pages of all commands
    #[command(hide = true)]
    Man(man::Args),
    /// Print the completions of a shell
    #[command(
        hide = true,
        after_help = "Examples:
  shelfish completions bash > ~/.local/share/bash-completion/completions/shelfish
  shelfish completions zsh > ~/.zfunc/_shelfish
  shelfish completions fish > ~/.config/fish/completions/shelfish.fish"
    )]
    Completions {
        /// Name of the shell
        shell: clap_complete::Shell,
    },
}

/// Headings of the options of a command with many options. Other options select what the command reads.
const HEADINGS: [(&str, &str); 3] = [
    ("Resources", "threads max-memory nodes max-questions pages"),
    (
        "Network",
        "port host latency bandwidth-mbit revalidate origin",
    ),
    (
        "Output",
        "out update shard-size inline-pages rejects json quiet pgn dry-run cors log average-ratings game-ids buckets",
    ),
];

/// Returns the program, with headings and with hidden names that other programs have for the same options.
fn program() -> clap::Command {
    fn arranged(command: clap::Command) -> clap::Command {
        let is_long = command.get_opts().count() > 5;
        let names = |name: &str, names: &str| names.split(' ').any(|other| other == name);
        command.mut_subcommands(arranged).mut_args(|mut arg| {
            let Some(name) = arg.get_long().map(str::to_owned) else {
                return arg;
            };
            let takes_values = arg.get_action().takes_values();
            arg = arg.allow_negative_numbers(takes_values);
            if is_long {
                let heading = HEADINGS.iter().find(|(_, all)| names(&name, all));
                arg = arg.help_heading(heading.map_or("Selection", |(heading, _)| heading));
            }
            match &*name {
                "out" => arg.alias("output"),
                "threads" => arg.aliases(["jobs", "concurrency"]),
                _ => arg,
            }
        })
    }
    arranged(Cli::command())
}

/// Options that were the database of a command before it became the first argument.
const DATABASE: [&str; 5] = ["-d", "--database", "--book", "--from", "--endgames"];

/// Moves the databases that options name to the front of the arguments.
fn with_database_first(mut words: Vec<OsString>) -> Vec<OsString> {
    let program = program();
    let (mut command, mut front) = (&program, 1);
    while let Some(next) = words
        .get(front)
        .and_then(|word| command.find_subcommand(word))
    {
        (command, front) = (next, front + 1);
    }
    let first = command.get_positionals().next();
    if first.is_none_or(|first| first.get_id() != "database") {
        return words;
    }
    let is_own = |name: &str| {
        command
            .get_opts()
            .any(|option| option.get_long() == name.strip_prefix("--"))
    };
    let mut rest = Vec::new();
    let mut tail = words.split_off(front).into_iter();
    while let Some(word) = tail.next() {
        let text = word.to_string_lossy();
        let (name, value) = match (text.split_once('='), text.strip_prefix("-d")) {
            (Some((name, value)), _) => (name, Some(value.into())),
            (None, Some(value)) if !value.is_empty() => ("-d", Some(value.into())),
            _ => (&*text, None),
        };
        if DATABASE.contains(&name) && !is_own(name) {
            words.extend(value.or_else(|| tail.next()));
        } else if word == "--" {
            rest.push(word);
            rest.extend(tail.by_ref());
        } else {
            rest.push(word);
        }
    }
    words.extend(rest);
    words
}

/// Parses the words of a command line.
fn parsed(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let is_empty = |word: &OsString| {
        let word = word.to_string_lossy();
        word.is_empty() || (word.starts_with("--") && word.ends_with('='))
    };
    if let Some(at) = words.iter().position(is_empty) {
        let why = format!(
            "argument {at} is empty, expected a value: a variable of the shell may be unset\n"
        );
        return Err(program().error(ErrorKind::InvalidValue, why));
    }
    let mut found = program().try_get_matches_from(with_database_first(words))?;
    Cli::from_arg_matches_mut(&mut found)
}

/// Prints a help text, or wrong usage without the secrets of URLs, and ends the process.
fn wrong_usage(error: &clap::Error) -> ! {
    let text = error.to_string();
    let redacted = redacted(&text);
    if redacted == text || !error.use_stderr() {
        // With colors. Help and the version contain no input.
        error.exit()
    }
    eprint!("{redacted}");
    std::process::exit(error.exit_code())
}

/// Returns whether an error concerns a configuration file or the environment, which a repetition cannot mend.
fn is_wrong_usage(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source())
        .any(|error| error.is::<ConfigError>() || error.is::<EnvironmentError>())
}

fn main() -> ExitCode {
    if let Err(error) = shelfish_cli::system::read_timeout() {
        eprintln!("shelfish: the environment variable SHELFISH_TIMEOUT is invalid: {error}");
        return ExitCode::from(2);
    }
    let outcome = match parsed(std::env::args_os().collect())
        .unwrap_or_else(|error| wrong_usage(&error))
        .command
    {
        Command::Build(args) => BuildArgs::Evaluations(args).run(),
        Command::Parts(command) => parts::run(command),
        Command::Lookup(args) => lookup::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Book(command) => book::run(command),
        Command::Endgames(command) => endgames::run(command),
        Command::Analyse(args) => analyse::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Export(args) => export::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Publish(options) => publish::run(&options),
        Command::Doctor(args) => doctor::run(args),
        Command::Refresh(args) => refresh::command::run(&args),
        Command::Engine(args) => engine::run(&args),
        Command::Serve(args) => serve::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Man(args) => man::run(&args, program()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut program(), "shelfish", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|error| {
        // A reader of standard output may stop early.
        let is_pipe = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        if !error.downcast_ref().is_some_and(is_pipe) {
            eprintln!("shelfish: {}", shown(&error.to_string()));
        }
        match error.downcast_ref() {
            Some(PublishError::Interrupted(signal)) => ExitCode::from(128 + signal),
            _ if is_wrong_usage(&*error) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    })
}

#[cfg(test)]
#[path = "../../../tests/documents/commands.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_the_documents_have_valid_usage() {
        let commands = documents::commands(&["shelfish"]);
        assert!(commands.len() > 50, "{} commands", commands.len());
        let error = |documents::Command { place, words }| {
            let error = parsed(words.iter().map(OsString::from).collect())
                .err()
                .filter(clap::Error::use_stderr)?;
            Some(format!("{place}: {}\n{error}", words.join(" ")))
        };
        let errors: Vec<String> = commands.into_iter().filter_map(error).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }

    #[test]
    fn a_database_is_an_argument_and_an_option_in_any_place() {
        for (old, new) in [
            ("verify -d db -q", "verify db -q"),
            ("lookup --json FEN -ddb", "lookup db --json FEN"),
            ("lookup --database=db -- -d", "lookup db -- -d"),
            ("bench --games g -d a -d=b", "bench a b --games g"),
            ("analyse g -d db --endgames e", "analyse db g --endgames e"),
            ("endgames probe FEN --endgames e", "endgames probe e FEN"),
            ("book pick FEN --book b", "book pick b FEN"),
            ("serve site --book b", "serve site --book b"),
            ("explore -d", "explore"),
        ] {
            let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            let program = words("shelfish");
            assert_eq!(
                with_database_first([program.clone(), words(old)].concat()),
                [program, words(new)].concat(),
            );
        }
    }

    #[test]
    fn options_have_headings_one_name_and_one_rule_for_units() {
        let all = |command: &clap::Command| {
            let inner: Vec<clap::Command> = command.get_subcommands().cloned().collect();
            [vec![command.clone()], inner].concat()
        };
        for command in program().get_subcommands().flat_map(all) {
            let options: Vec<&clap::Arg> = command.get_opts().collect();
            let has_heading = |option: &&clap::Arg| option.get_help_heading().is_some();
            let headed = options.iter().filter(|option| has_heading(option)).count();
            assert!(
                headed == options.len() && headed > 5 || headed == 0,
                "{}",
                command.get_name()
            );
        }
        for words in [
            "build a -o db --max-memory 1.5GiB --max-size 500MB --jobs 2",
            "build a --output db --max-memory 300 --concurrency 2",
            "publish a b --prune --grace 2min --max-loss 5%",
            "publish a b --prune --grace 20",
            "serve a --latency 0.05s --api --revalidate 20 --at-once 3",
            "serve a --latency-ms 50 --api --revalidate 20s",
        ] {
            let words = ["shelfish"].into_iter().chain(words.split(' '));
            let error = parsed(words.map(OsString::from).collect()).err();
            assert!(error.is_none(), "{error:?}");
        }
    }

    /// Counts the commands and options that the help shows, without `--help`.
    fn count(command: &clap::Command, options: &mut Vec<String>) -> usize {
        let visible = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let named = command.get_opts().filter(|option| !option.is_hide_set());
        options.extend(named.filter_map(|option| option.get_long().map(str::to_owned)));
        visible.map(|command| 1 + count(command, options)).sum()
    }

    #[test]
    fn the_commands_and_options_are_few() {
        let (program, mut options) = (program(), Vec::new());
        let all = count(&program, &mut options);
        let commands = program.get_subcommands();
        let commands = commands.filter(|command| !command.is_hide_set()).count();
        let sum = options.len();
        options.sort();
        options.dedup();
        let names = options.len();
        println!("{commands} commands ({all} with theirs), {sum} options, {names} names");
        assert!(commands <= 18 && sum <= 150 && names <= 80);
    }
}
