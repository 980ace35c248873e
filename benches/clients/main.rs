//! Do many clients on one index get right answers while others write and die?
//!
//! `cargo bench --bench clients` starts servers that are asked over MCP, as agents ask them, while
//! files are edited and the index is brought up to date, made anew, and its writer killed, over and
//! over. Every answer is checked against what the generation that it names can hold. With
//! `--sync-latency` it measures instead how long a change takes until a client finds it. Ends with
//! 1 when anything was wrong.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a report is what it is for")]

mod client;
mod latency;
mod oracle;
mod report;
mod storm;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Many clients on one index.
#[derive(Debug, Parser)]
struct Args {
    /// The binary to try
    #[arg(long, env = "SAI_BIN", default_value = env!("CARGO_BIN_EXE_sai"))]
    sai: PathBuf,
    /// The repository to work on a copy of [default: this one; with --sync-latency, a generated one]
    #[arg(long)]
    tree: Option<PathBuf>,
    /// Servers
    #[arg(long, default_value_t = 8)]
    servers: usize,
    /// Searches a second and server
    #[arg(long, default_value_t = 20)]
    rate: u32,
    /// Minutes that the writing goes on
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Fixes what is done when; chance by default
    #[arg(long)]
    seed: Option<u64>,
    /// Also write the report to this file, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Measure the time from a change to a client that finds it
    #[arg(long)]
    sync_latency: bool,
    /// With --sync-latency: chunks of the generated repository
    #[arg(long, default_value_t = 100_000)]
    chunks: usize,
    /// With --sync-latency: changes
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let report = if args.sync_latency { latency::run(&args) } else { storm::run(&args) };
    println!("{}", report.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report.json()).expect("plain data");
        if let Err(error) = std::fs::write(path, text + "\n") {
            eprintln!("cannot write `{}`: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    if report.violations().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
