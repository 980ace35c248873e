//! One file, read and decoded: UTF-8, BOM, UTF-16, Latin-1. Binary, minified and generated files are
//! told apart by their content.

use std::path::Path;

use super::scope::{Candidate, SkipReason};
use crate::types::{Hash, Language};

/// A file's content.
#[derive(Clone, Debug)]
pub struct Content {
    /// The exact bytes on disk.
    pub bytes: Vec<u8>,
    /// Their hash.
    pub hash: Hash,
    /// The text they stand for; lines are the original's lines.
    pub text: String,
    /// How they were decoded: `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be`, `latin-1`.
    pub encoding: &'static str,
    /// By name, extension or `#!` line.
    pub language: Language,
    /// What the file system said when it was read.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// Reads a file under `root`; one that changes while it is read is read again, a few times.
///
/// # Errors
/// Why it is left out: unreadable, binary, minified, generated, changing …
pub fn read(_root: &Path, _file: &Candidate) -> Result<Content, SkipReason> {
    unimplemented!()
}
