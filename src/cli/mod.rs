//! Here is a command line: run one command, show its answer, turn the outcome into an exit code.
//!
//! One file a command; `print` owns stdout and stderr. This door asks [`Handle`] and shows plain
//! replies: it knows neither rooms nor the index. Tests: beside the code for what is printed,
//! `tests/it/cli.rs` for processes.

mod batch;
mod completions;
mod config;
mod doctor;
mod duplicates;
mod filters;
mod flush;
mod hits;
mod hooks;
mod index;
mod init;
mod man;
mod mcp;
mod print;
mod progress;
mod refresh;
mod search;
mod setup;
mod similar;
mod status;
mod sync;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, Args, ColorChoice, CommandFactory, Parser, Subcommand};

use crate::config::{Config, Loaded, Sources};
use crate::error::{Error, ErrorKind, Result};
use crate::log;
use crate::worker::{self, Handle};
use print::Look;

/// The command did what was asked, or something was found.
const DONE: u8 = 0;
/// The search found nothing.
const NOTHING: u8 = 1;
/// The command line or the configuration is wrong.
const USAGE: u8 = 2;
/// The index or the machine is in the way.
const FAILED: u8 = 3;
/// The gate of `sai duplicates` does not let the code pass.
const GATE: u8 = 4;
/// Ctrl-C, as shells number it.
const INTERRUPTED: u8 = 130;

const EXIT_CODES: &str = "\
Exit codes:
  0    done, or something was found
  1    nothing was found
  2    the command line or the configuration is wrong
  3    the index or the machine is in the way (missing, damaged, busy, timed out)
  4    the gate of `sai duplicates` failed
  130  interrupted";

/// Local code search: one binary, one index, no network.
///
/// SAI splits a folder's files at their definitions, keeps words and vectors of the pieces in an
/// index under `.index`, and finds code by words, by meaning, or exactly.
#[derive(Debug, Parser)]
#[command(name = "sai", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Globals {
    /// The folder to work on [default: `SAI_ROOT`, else the nearest folder upward that holds an index
    /// or a configuration, else the git work tree, else the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,

    /// The configuration file [default: sai-cfg.yml in the root, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Override one setting, for example `--set search.limit=20`; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,

    /// When to use colours; `auto` honours `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,

    /// Log more to stderr; twice for still more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,

    /// Log errors only, show no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Search(search::SearchArgs),
    Similar(similar::SimilarArgs),
    Duplicates(Box<duplicates::DuplicatesArgs>),
    Index(index::IndexArgs),
    Sync(sync::SyncArgs),
    Refresh(refresh::RefreshArgs),
    Status(status::StatusArgs),
    Flush(flush::FlushArgs),
    Init(init::InitArgs),
    Hooks(hooks::HooksArgs),
    Config(config::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    Mcp(mcp::McpArgs),
    Setup(setup::SetupArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Why a command ended without an outcome of its own.
#[derive(Debug)]
enum Ended {
    /// Something is wrong; the reader must know.
    Error(Error),
    /// Whoever read stdout has enough.
    Closed,
    /// Ctrl-C.
    Interrupted,
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Errors of the machine that this door meets itself, with what it was doing.
impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Self::Error(Error::environment(format!("{error:#}")))
    }
}

/// Errors of writing to stdout.
impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Error(Error::environment("cannot write to stdout").because(error))
    }
}

/// What commands share.
struct Session {
    globals: Globals,
    /// How stdout looks.
    look: Look,
}

impl Session {
    /// The folder to work on.
    fn root(&self) -> Result<PathBuf> {
        let named = self.globals.root.as_deref();
        let cwd = match (std::env::current_dir(), named) {
            (Ok(cwd), _) => cwd,
            // A folder that is named in full needs no other.
            (Err(_), Some(named)) if named.is_absolute() => named.to_owned(),
            (Err(error), _) => {
                return Err(Error::environment("the current folder is gone")
                    .because(error)
                    .hint("change into a folder that exists, or name one: `--root PATH`"));
            }
        };
        crate::config::find_root(named, &cwd, &|name| std::env::var_os(name))
    }

    /// Finds the root and reads the configuration. Starts the command again when the configured
    /// model's library needs a variable of the environment, which a running process cannot set safely.
    fn load(&self) -> Result<Loaded> {
        let loaded = Config::load(&Sources {
            root: self.root()?,
            file: self.globals.config.clone(),
            overrides: self.globals.set.clone(),
        })?;
        match worker::variable_needed(&loaded.config) {
            Some((name, value)) => Err(start_again(name, value)),
            None => Ok(loaded),
        }
    }

    /// Starts the worker on the configured root.
    fn start(&self) -> Result<Handle> {
        Ok(Handle::start(self.load()?.config))
    }
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout, usage errors to stderr; a closed stream has no reader to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    let Cli { globals, command } = cli;
    log::start(log_level(&globals));
    let color = globals.color;
    let session = Session { look: Look::of_stdout(color), globals };
    ExitCode::from(match run(command, &session) {
        Ok(code) => code,
        Err(ended) => report(&ended, color),
    })
}

/// The description of the whole command line, for the generated reference.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(command: Command, session: &Session) -> Result<u8, Ended> {
    match command {
        Command::Search(args) => search::run(&args, session),
        Command::Similar(args) => similar::run(&args, session),
        Command::Duplicates(args) => duplicates::run(&args, session),
        Command::Index(args) => index::run(&args, session),
        Command::Sync(args) => sync::run(&args, session),
        Command::Refresh(args) => refresh::run(&args, session),
        Command::Status(args) => status::run(&args, session),
        Command::Flush(args) => flush::run(&args, session),
        Command::Init(args) => init::run(&args, session),
        Command::Hooks(args) => hooks::run(&args, session),
        Command::Config(args) => config::run(&args, session),
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Mcp(args) => mcp::run(&args, session),
        Command::Setup(args) => setup::run(&args, session),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// Becomes the same command with one more variable in its environment; returns only when it cannot.
fn start_again(name: &str, value: &str) -> Error {
    let failed = Error::environment(format!("cannot start again with {name}={value}"))
        .hint(format!("set {name}={value} in the environment"));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let again = std::env::current_exe().map(|program| {
            std::process::Command::new(program)
                .args(std::env::args_os().skip(1))
                .env(name, value)
                .exec()
        });
        failed.because(again.unwrap_or_else(|error| error))
    }
    #[cfg(not(unix))]
    failed
}

/// Tells on stderr why the command ended; the exit code says it once more.
fn report(ended: &Ended, color: ColorChoice) -> u8 {
    match ended {
        Ended::Error(error) => {
            print::error(error, color);
            exit_code(error.kind())
        }
        Ended::Closed => DONE,
        Ended::Interrupted => INTERRUPTED,
    }
}

fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => USAGE,
        ErrorKind::Index
        | ErrorKind::Environment
        | ErrorKind::Busy
        | ErrorKind::Stopped
        | ErrorKind::Bug => FAILED,
    }
}

/// Splits `key=value`.
fn key_value(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("it has no `=`")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

fn log_level(globals: &Globals) -> &'static str {
    match globals.verbose {
        _ if globals.quiet => "error",
        0 => "warn",
        1 => "warn,sai=info",
        _ => "warn,sai=debug",
    }
}
