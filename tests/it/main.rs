//! The one integration binary. Every file of this folder is a module here (held by `tidy`).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and says on its output what it skipped"
)]

mod alike;
mod bad_input;
mod chunk;
mod cli;
mod clients;
mod config;
mod contract;
mod crash;
mod duplicates;
mod duplicates_cli;
mod embed;
mod files;
mod gate;
mod hnsw;
mod hooks;
mod mcp;
mod mcp_page;
mod search;
mod setup;
#[cfg(unix)]
mod setup_script;
mod store;
mod support;
mod sync;
mod tidy;
