//! The one integration binary. Every file of this folder is a module here (held by `tidy`).

mod bad_input;
mod chunk;
mod cli;
mod config;
mod crash;
mod docs;
mod embed;
mod files;
mod mcp;
mod search;
mod store;
mod support;
mod sync;
mod tidy;
