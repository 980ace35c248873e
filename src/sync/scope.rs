//! Which files are indexed? Decided here alone, for a walk and for a single path alike.

use std::path::PathBuf;

use serde::Serialize;

use crate::config::Config;
use crate::error::Result;
use crate::types::RelPath;

/// Why a file is left out. `name()` is stored and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// An ignore file names it.
    Ignored,
}

impl SkipReason {
    pub fn name(self) -> &'static str { unimplemented!() }
    pub fn from_name(_n: &str) -> Option<Self> { unimplemented!() }
    pub fn describe(self) -> &'static str { unimplemented!() }
    pub fn is_by_content(self) -> bool { unimplemented!() }
}

/// A file that was left out. Files in pruned folders are counted as the folder alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Skipped {
    /// As it can be shown: relative, with `/`, lossy where it is not UTF-8.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// A file that is in scope, as the file system describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its path.
    pub path: RelPath,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// What a walk found, both sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// In scope.
    pub files: Vec<Candidate>,
    /// Left out, with the reason.
    pub skipped: Vec<Skipped>,
}

/// The rules, compiled once.
pub struct Scope {
    #[expect(dead_code)]
    root: PathBuf,
}

impl Scope {
    /// Compiles the rules of `config`.
    ///
    /// # Errors
    /// Usage for a bad glob or language, naming it.
    pub fn new(_config: &Config) -> Result<Self> {
        unimplemented!()
    }

    /// Every file under the root that is in scope, without reading any file's content.
    ///
    /// # Errors
    /// Environment when the root cannot be read.
    pub fn walk(&self) -> Result<Listing> {
        unimplemented!()
    }

    /// The same decision for one path: `Ok` with the file's description, or why it is left out.
    pub fn check(&self, _path: &RelPath) -> Result<Candidate, SkipReason> {
        unimplemented!()
    }
}
