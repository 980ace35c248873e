//! Where do index and tree differ? Decided by size and modification time; content decides later
//! whether a file that looks changed is.

use std::collections::HashMap;

use super::scope::{Candidate, Listing, SkipReason};
use crate::error::Result;
use crate::store::{FileRow, Reader};
use crate::types::{Hash, RelPath};

/// A file that must be read.
#[derive(Clone, Debug)]
pub struct ToRead {
    /// As the walk saw it.
    pub file: Candidate,
    /// Its row and content's hash in the index, if it has one.
    pub known: Option<(u32, Hash)>,
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
}

/// Compares a walk with the index. A file that the index leaves out for its content is read again
/// only when it is newer than the generation; without an index everything is read.
pub fn plan(current: Option<&Reader>, listing: &Listing) -> Result<Plan> {
    let Some(reader) = current else { return Ok(everything(listing)) };
    let mut known: HashMap<RelPath, FileRow> =
        reader.files()?.into_iter().map(|row| (row.path.clone(), row)).collect();
    let mut left_out: HashMap<String, String> = reader.skipped()?.into_iter().collect();
    let created_s = i64::try_from(reader.meta().created_s).unwrap_or(0);
    let created_ns = created_s.saturating_mul(1_000_000_000);
    let mut plan = Plan::default();
    for file in &listing.files {
        match known.remove(&file.path) {
            Some(row) if row.size == file.size && row.mtime_ns == file.mtime_ns => {}
            Some(row) => {
                plan.read.push(ToRead { file: file.clone(), known: Some((row.id, row.hash)) });
            }
            None => match left_out.remove_entry(file.path.as_str()) {
                Some((path, reason)) if file.mtime_ns < created_ns && is_by_content(&reason) => {
                    plan.left_out.push((path, reason));
                }
                _ => plan.read.push(ToRead { file: file.clone(), known: None }),
            },
        }
    }
    plan.removed = known.into_values().map(|row| (row.id, row.path)).collect();
    plan.removed.sort();
    Ok(plan)
}

/// Whether only reading a file again can tell that it is in scope now.
fn is_by_content(reason: &str) -> bool {
    use SkipReason::{Binary, Minified, OptedOut};
    matches!(SkipReason::from_name(reason), Ok(Binary | Minified | OptedOut))
}

fn everything(listing: &Listing) -> Plan {
    let read = listing.files.iter().cloned().map(|file| ToRead { file, known: None }).collect();
    Plan { read, ..Plan::default() }
}
