//! SAI: a local code-intelligence server in one binary. The modules stand in layer order; imports
//! point downward only (`docs/architecture.md`, held by `tests/it/tidy.rs`).

// Doors: how is it asked, how is the answer shown?
pub mod cli;
pub mod mcp;
pub mod setup;

// Spine: what can be asked, and who answers?
pub mod request;
pub mod worker;

// Rooms: the work itself.
pub mod duplicates;
pub mod hooks;
pub mod retrieval;
pub mod sync;

// Tools: one external world each.
pub mod chunk;
pub mod embed;
pub mod git;
pub mod parse;
pub mod store;
pub mod text;
pub mod words;

// Ground: words and settings.
pub mod config;
pub mod disk;
pub mod error;
pub mod log;
pub mod turn;
pub mod types;
