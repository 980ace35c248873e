//! What does a failure of the disk or of DuckDB mean for the person?
//!
//! The operating system and DuckDB say what happened in their words; here it becomes an [`Error`]
//! with a kind, the file, and the next step.

use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// The next step for an index that cannot be used any more.
pub(super) fn rebuild() -> &'static str {
    "run `sai index --force` to build the index anew"
}

/// A failure to `verb` (read, write, list…) the file or folder at `path`.
pub(super) fn disk(verb: &str, path: &Path, error: io::Error) -> Error {
    use io::ErrorKind::{
        NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let hint = match error.kind() {
        StorageFull | QuotaExceeded => Some(FULL),
        PermissionDenied => Some(DENIED),
        ReadOnlyFilesystem => Some(READ_ONLY),
        NotADirectory => Some("the index is a folder; remove the file in its place"),
        _ => None,
    };
    let kind = if error.kind() == io::ErrorKind::InvalidData {
        ErrorKind::Index
    } else {
        ErrorKind::Environment
    };
    let explained = Error::new(kind, format!("cannot {verb} `{}`", path.display())).because(error);
    match hint {
        Some(hint) => explained.hint(hint),
        None => explained,
    }
}

const FULL: &str = "free some space and run it again; the published index is as it was";
const DENIED: &str = "the user who runs SAI needs to read and write the index folder";
const READ_ONLY: &str = "the disk is read-only; set `index_dir` to a folder that can be written";

/// What DuckDB says, without its stack trace and links: the first line is the fact, or quotes it.
pub(super) fn first_line(error: &duckdb::Error) -> String {
    let said = error.to_string();
    let first = said.lines().next().unwrap_or_default();
    first.rsplit("Original error: ").next().unwrap_or(first).to_owned()
}

/// A failure of DuckDB with the file at `path`.
pub(super) fn duck(path: &Path, error: &duckdb::Error) -> Error {
    let said = error.to_string();
    let fact = first_line(error);
    let has = |part: &str| said.contains(part);
    let environment = |verb: &str, hint: &str| {
        Error::environment(format!("cannot {verb} `{}`", path.display()))
            .because(fact.clone())
            .hint(hint)
    };
    if has("No space left on device") || has("Disk quota exceeded") {
        environment("write", FULL)
    } else if has("Permission denied") {
        environment("use", DENIED)
    } else if has("Read-only file system") {
        environment("write", READ_ONLY)
    } else if has("Out of Memory") || has("OutOfMemory") {
        environment("load", "raise `duckdb_memory_mib`")
    } else {
        damaged(path, fact)
    }
}

/// The file at `path` is not as it was published.
pub(super) fn damaged(path: &Path, fact: impl Into<String>) -> Error {
    Error::index(format!("index file `{}` is damaged", path.display()))
        .because(fact.into())
        .hint(rebuild())
}
