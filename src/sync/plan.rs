//! Where do index and tree differ? Decided by size and modification time; content decides later
//! whether a file that looks changed is.

use std::collections::HashMap;

use super::prepare;
use super::scope::{Candidate, Listing, SkipReason};
use crate::config::{Config, FilesConfig};
use crate::error::Result;
use crate::store::{FileRow, Reader};
use crate::types::{Hash, Place, RelPath};

/// A file that must be read.
#[derive(Clone, Debug)]
pub struct ToRead {
    /// As the walk saw it.
    pub file: Candidate,
    /// Its row and content's hash in the index, if it has one.
    pub known: Option<(u32, Hash)>,
    /// The reason's name, when the index leaves it out.
    pub left_out: Option<String>,
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
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.removed.is_empty()
    }

    /// Reads what looks changed, if that is little, and forgets it when all of it turns out to be as
    /// the index has it: then no generation is made for files that were only touched, or that still
    /// cannot be read.
    pub fn settle(&mut self, config: &Config) {
        const FILES_MAX: usize = 64;
        const BYTES_MAX: u64 = 8 << 20;
        let bytes: u64 = self.read.iter().map(|wanted| wanted.file.size).sum();
        if !self.removed.is_empty() || self.read.len() > FILES_MAX || bytes > BYTES_MAX {
            return;
        }
        let mut left_out = Vec::new();
        for wanted in &self.read {
            match prepare::content(config, &wanted.file) {
                Ok((content, _)) if wanted.known.is_some_and(|known| known.1 == content.hash) => {}
                Err(reason) if wanted.left_out.as_deref() == Some(reason.name()) => {
                    left_out.push((wanted.file.path.as_str().to_owned(), reason.name().to_owned()));
                }
                _ => return,
            }
        }
        self.read.clear();
        self.left_out.append(&mut left_out);
    }
}

/// Compares a walk with the index. A file that the index leaves out for its content is read again
/// only when it is newer than the generation or when `files` says otherwise now; without an index
/// everything is read.
pub fn plan(current: Option<&Reader>, listing: &Listing, files: &FilesConfig) -> Result<Plan> {
    let Some(reader) = current else { return Ok(everything(listing)) };
    let mut known: HashMap<RelPath, FileRow> =
        reader.files()?.into_iter().map(|row| (row.path.clone(), row)).collect();
    let mut left_out: HashMap<String, String> = reader.skipped()?.into_iter().collect();
    let created_s = i64::try_from(reader.meta().created_s).unwrap_or(0);
    let created_ns = created_s.saturating_mul(1_000_000_000);
    let mut plan = Plan::default();
    for file in &listing.files {
        let as_indexed = |row: &FileRow| row.size == file.size && row.mtime_ns == file.mtime_ns;
        let in_scope = |row: &FileRow| files.generated || row.place != Place::Generated;
        let (known, left_out) = match known.remove(&file.path) {
            Some(row) if as_indexed(&row) && in_scope(&row) => continue,
            Some(row) => (Some((row.id, row.hash)), None),
            None => match left_out.remove_entry(file.path.as_str()) {
                Some((path, reason))
                    if file.mtime_ns < created_ns && is_by_content(&reason, files) =>
                {
                    plan.left_out.push((path, reason));
                    continue;
                }
                before => (None, before.map(|(_, reason)| reason)),
            },
        };
        plan.read.push(ToRead { file: file.clone(), known, left_out });
    }
    plan.removed = known.into_values().map(|row| (row.id, row.path)).collect();
    plan.removed.sort();
    Ok(plan)
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
    let unknown = |file: &Candidate| ToRead { file: file.clone(), known: None, left_out: None };
    Plan { read: listing.files.iter().map(unknown).collect(), ..Plan::default() }
}
