//! One file, read and decoded: UTF-8, BOM, UTF-16, Latin-1. Binary and minified files and those
//! that opt out are told apart by their content; whether one is generated says `chunk::place`.

mod judge;
#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use super::scope::{Candidate, SkipReason, mtime_ns};
use crate::text;
use crate::types::{Hash, Language};

/// A file's content.
#[derive(Clone, Debug)]
pub struct Content {
    /// The exact bytes on disk.
    pub bytes: Vec<u8>,
    /// Their hash.
    pub hash: Hash,
    /// The text they stand for, without a byte order mark; lines are the original's lines.
    pub text: String,
    /// How they were decoded, as [`text::decode`] names it: `utf-8`, `utf-16le`, `latin-1` …
    pub encoding: &'static str,
    /// By name, extension or `#!` line.
    pub language: Language,
    /// What the file system said when it was read.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// How often a file that changes while it is read is read again.
const TRIES: usize = 3;

/// Reads a file under `root`; one that changes while it is read is read again, a few times. A file
/// that has more than doubled since it was listed is left for the next walk, so that no more memory
/// is used than its listing promised.
///
/// # Errors
/// Why it is left out: missing, unreadable, no regular file, binary, minified, opted out, changing.
pub fn read(root: &Path, file: &Candidate) -> Result<Content, SkipReason> {
    match text(root, file)? {
        (_, true) => Err(SkipReason::Minified),
        (content, false) => Ok(content),
    }
}

/// The same for a file that may be minified, and whether it is.
///
/// # Errors
/// As [`read`].
pub(super) fn text(root: &Path, file: &Candidate) -> Result<(Content, bool), SkipReason> {
    const GROWTH_MAX: u64 = 64 << 10;
    let path = file.path.under(root);
    let size_max = file.size.saturating_mul(2).saturating_add(GROWTH_MAX);
    for _ in 0..TRIES {
        if let Some((bytes, metadata)) = stable(&path, size_max)? {
            return content(file, bytes, &metadata);
        }
    }
    Err(SkipReason::Changing)
}

/// Whether the file at `path` under `root` still has the content `hash`; `false` too when it cannot
/// be read.
pub(super) fn is_same(root: &Path, file: &Candidate, hash: Hash) -> bool {
    match stable(&file.path.under(root), file.size) {
        Ok(Some((bytes, _))) => Hash::of(&bytes) == hash,
        _ => false,
    }
}

/// The bytes of a regular file; `None` when it changed meanwhile.
fn stable(path: &Path, size_max: u64) -> Result<Option<(Vec<u8>, Metadata)>, SkipReason> {
    let failed = |e: std::io::Error| SkipReason::of_error(&e);
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let listed = fs::symlink_metadata(path).map_err(failed)?;
    if !listed.is_file() {
        return Err(if listed.is_symlink() { SkipReason::Link } else { SkipReason::Special });
    }
    let mut file = File::open(path).map_err(failed)?;
    let before = file.metadata().map_err(failed)?;
    if !before.is_file() || !is_same_file(&listed, &before) {
        return Ok(None);
    }
    if before.len() > size_max {
        return Err(SkipReason::Changing);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default() + 1);
    file.by_ref().take(size_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    let after = file.metadata().map_err(failed)?;
    let is_stable = bytes.len() as u64 == before.len()
        && after.len() == before.len()
        && mtime_ns(&after) == mtime_ns(&before);
    Ok(is_stable.then_some((bytes, after)))
}

/// Whether what was opened is what was looked at.
#[cfg(unix)]
fn is_same_file(listed: &Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (listed.dev(), listed.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same_file(_listed: &Metadata, _opened: &Metadata) -> bool {
    true
}

fn content(
    file: &Candidate,
    bytes: Vec<u8>,
    metadata: &Metadata,
) -> Result<(Content, bool), SkipReason> {
    let decoded = text::decode(&bytes);
    if judge::is_binary(&bytes, &decoded) {
        return Err(SkipReason::Binary);
    }
    let (text, encoding) = (decoded.text.into_owned(), decoded.encoding);
    let first = text.lines().next().unwrap_or_default();
    let language = Language::of(&file.path, judge::cut(first, 256));
    if judge::opts_out(&text, language) {
        return Err(SkipReason::OptedOut);
    }
    let is_minified = judge::is_minified(&text, language);
    let content = Content {
        hash: Hash::of(&bytes),
        size: bytes.len() as u64,
        mtime_ns: mtime_ns(metadata),
        bytes,
        text,
        encoding,
        language,
    };
    Ok((content, is_minified))
}
