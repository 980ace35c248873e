//! Where do index and tree differ? Decided by size and times; content decides later whether a file
//! that looks changed is.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::prepare;
use super::read;
use super::scope::{Candidate, Listing, SkipReason};
use crate::config::{Config, FilesConfig};
use crate::error::Result;
use crate::store::{Compared, FileStamp, Reader};
use crate::types::{Hash, Place, RelPath};

/// How far apart two times must be to be told apart on every file system: on FAT they are even
/// seconds. A file that changed no earlier than this before the last comparison began may have
/// changed again after it was read, within one tick of the clock, so only its content can tell.
const TICK_NS: i64 = 2_000_000_000;

/// A file that must be read.
#[derive(Clone, Debug)]
pub struct ToRead {
    /// As the walk saw it.
    pub file: Candidate,
    /// Its row and content's hash in the index, if it has one.
    pub known: Option<(u32, Hash)>,
    /// The reason's name, when the index leaves it out.
    pub left_out: Option<String>,
    /// Whether size and modification time are as indexed, and only the times cannot vouch for it.
    pub is_doubtful: bool,
}

/// What must be done to make the index equal to the tree.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// New files and files that look changed, sorted by path.
    pub read: Vec<ToRead>,
    /// Rows of files that are gone or no longer in scope.
    pub removed: Vec<(u32, RelPath)>,
    /// Files in scope that the index leaves out for their content and that did not change: path and
    /// the reason's name.
    pub left_out: Vec<(String, String)>,
    /// Rows of files that were read and found as the index has them.
    pub same: Vec<(u32, RelPath)>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.removed.is_empty()
    }

    /// Reads what is doubtful and forgets what is as the index has it. Then reads what looks
    /// changed, if that is little, and forgets it when all of it turns out to be as the index has
    /// it: then no generation is made for files that were only touched, or that still cannot be
    /// read. Uses the threads of the rayon pool it is called in.
    pub fn settle(&mut self, config: &Config) {
        const FILES_MAX: usize = 64;
        const BYTES_MAX: u64 = 8 << 20;
        self.clear_doubts(config);
        let bytes: u64 = self.read.iter().map(|wanted| wanted.file.size).sum();
        if !self.removed.is_empty() || self.read.len() > FILES_MAX || bytes > BYTES_MAX {
            return;
        }
        let (mut left_out, mut same) = (Vec::new(), Vec::new());
        for wanted in &self.read {
            let path = &wanted.file.path;
            match (prepare::content(config, &wanted.file), wanted.known) {
                (Ok((content, _)), Some((id, hash))) if hash == content.hash => {
                    same.push((id, path.clone()));
                }
                (Err(reason), _) if wanted.left_out.as_deref() == Some(reason.name()) => {
                    left_out.push((path.as_str().to_owned(), reason.name().to_owned()));
                }
                _ => return,
            }
        }
        self.read.clear();
        self.left_out.append(&mut left_out);
        self.same.append(&mut same);
    }

    fn clear_doubts(&mut self, config: &Config) {
        let is_same = |wanted: &ToRead| match wanted.known {
            Some((id, hash)) if wanted.is_doubtful => {
                read::is_same(&config.root, &wanted.file, hash).then_some(id)
            }
            _ => None,
        };
        let same: Vec<Option<u32>> = self.read.par_iter().map(is_same).collect();
        let mut read = Vec::new();
        for (wanted, same) in std::mem::take(&mut self.read).into_iter().zip(same) {
            match same {
                Some(id) => self.same.push((id, wanted.file.path)),
                None => read.push(wanted),
            }
        }
        self.read = read;
    }
}

/// Compares a walk with the index, which was last found equal to the tree as `compared` says. A file
/// that the index leaves out for its content is read again only when it may have changed since or
/// when `files` says otherwise now; without an index everything is read.
///
/// # Errors
/// Index: the index is damaged.
pub fn plan(
    current: Option<&Reader>,
    listing: &Listing,
    files: &FilesConfig,
    compared: Option<&Compared>,
) -> Result<Plan> {
    let Some(reader) = current else { return Ok(everything(listing)) };
    let trusted_ns =
        compared.map_or(i64::MIN, |compared| compared.began_ns.saturating_sub(TICK_NS));
    // Both are sorted by path, so they are walked side by side.
    let mut known = reader.file_stamps()?.into_iter().peekable();
    let mut left_out: HashMap<String, String> = reader.skipped()?.into_iter().collect();
    let mut plan = Plan::default();
    for file in &listing.files {
        let is_trusted = file.changed_ns < trusted_ns;
        while let Some(gone) = known.next_if(|row| row.path < file.path) {
            plan.removed.push((gone.id, gone.path));
        }
        let as_indexed = |row: &FileStamp| row.size == file.size && row.mtime_ns == file.mtime_ns;
        let in_scope = |row: &FileStamp| files.generated || row.place != Place::Generated;
        let mut is_doubtful = false;
        let (known, left_out) = match known.next_if(|row| row.path == file.path) {
            Some(row) if as_indexed(&row) && in_scope(&row) && is_trusted => continue,
            Some(row) => {
                is_doubtful = as_indexed(&row) && in_scope(&row);
                (Some((row.id, row.hash)), None)
            }
            None => match left_out.remove_entry(file.path.as_str()) {
                Some((path, reason)) if is_trusted && is_by_content(&reason, files) => {
                    plan.left_out.push((path, reason));
                    continue;
                }
                before => (None, before.map(|(_, reason)| reason)),
            },
        };
        plan.read.push(ToRead { file: file.clone(), known, left_out, is_doubtful });
    }
    plan.removed.extend(known.map(|row| (row.id, row.path)));
    plan.removed.sort();
    Ok(plan)
}

/// Compares what is in scope at and under `paths` with the index there; all of it is read.
///
/// # Errors
/// Index: the index is damaged.
pub fn named(reader: &Reader, listing: &Listing, paths: &Paths) -> Result<Plan> {
    let rows = reader.file_stamps()?.into_iter().filter(|row| paths.hold(row.path.as_str()));
    let mut known: HashMap<RelPath, (u32, Hash)> =
        rows.map(|row| (row.path, (row.id, row.hash))).collect();
    let mut left_out: HashMap<String, String> = reader.skipped()?.into_iter().collect();
    let wanted = |file: &Candidate| ToRead {
        file: file.clone(),
        known: known.remove(&file.path),
        left_out: left_out.remove(file.path.as_str()),
        is_doubtful: false,
    };
    let read = listing.files.iter().map(wanted).collect();
    let mut plan = Plan { read, ..Plan::default() };
    plan.removed = known.into_iter().map(|(path, (id, _))| (id, path)).collect();
    plan.removed.sort();
    Ok(plan)
}

/// Files and folders that were named, to ask what lies at or under them.
#[derive(Clone, Debug, Default)]
pub struct Paths(HashSet<String>);

impl Paths {
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a RelPath>) -> Self {
        Self(paths.into_iter().map(|path| path.as_str().to_owned()).collect())
    }

    pub fn of(path: &str) -> Self {
        Self(HashSet::from([path.to_owned()]))
    }

    /// Whether `path`, with or without a `/` at its end, is one of them or lies under one.
    pub fn hold(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let outer = path.match_indices('/').map(|(end, _)| &path[..end]);
        self.0.contains(path) || outer.into_iter().any(|outer| self.0.contains(outer))
    }
}

/// Whether only reading a file again can tell that it is in scope now.
fn is_by_content(reason: &str, files: &FilesConfig) -> bool {
    match SkipReason::from_name(reason) {
        Ok(SkipReason::Binary | SkipReason::Minified | SkipReason::OptedOut) => true,
        Ok(SkipReason::Generated) => !files.generated,
        _ => false,
    }
}

fn everything(listing: &Listing) -> Plan {
    let unknown = |file: &Candidate| ToRead {
        file: file.clone(),
        known: None,
        left_out: None,
        is_doubtful: false,
    };
    Plan { read: listing.files.iter().map(unknown).collect(), ..Plan::default() }
}
