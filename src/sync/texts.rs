//! Which files of the tree may be looked into though the index leaves them out, and what do they say?
//!
//! Scope decides here too. A file that it leaves out for being large, generated, minified, data or a
//! list of locked versions is text that nobody hides; one that an ignore file, a setting, its folder
//! or `sai-noindexing` keeps out stays out, and so do secrets, links and what is no text.

use std::fs;
use std::path::Path;

use super::read::{self, Content};
use super::scope::{Candidate, Listing, Scope, SkipReason, Skipped};
use crate::chunk;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::turn::Turn;
use crate::types::{Place, RelPath, TreeFile, TreeFiles, TreeText};

/// Lists the files of the tree that may be looked into, indexed or not. Uses the threads of the rayon
/// pool it is called in.
///
/// # Errors
/// Environment when the root cannot be read; Stopped when `turn` ends.
pub fn texts(config: &Config, turn: &Turn) -> Result<TreeFiles> {
    let scope = Scope::new(config)?;
    let Listing { files, skipped } = scope.walk_within(turn)?;
    let unreadable = skipped.iter().filter(|skipped| skipped.reason == SkipReason::Unreadable);
    let unreadable = unreadable.count();
    let in_scope =
        |file: Candidate| TreeFile { path: file.path, size: file.size, is_in_scope: true };
    let mut files: Vec<TreeFile> = files.into_iter().map(in_scope).collect();
    for skipped in skipped {
        turn.check()?;
        files.extend(left_out(config, &scope, &skipped));
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(TreeFiles { files, unreadable })
}

/// A file that is left out only for its size or its kind.
fn left_out(config: &Config, scope: &Scope, skipped: &Skipped) -> Option<TreeFile> {
    use SkipReason::{Data, LockFile, Minified, TooLarge};
    if !matches!(skipped.reason, Data | LockFile | Minified | TooLarge) {
        return None;
    }
    let path = RelPath::new(Path::new(&skipped.path))?;
    // Scope looks at the language last.
    if !scope.speaks(&path) {
        return None;
    }
    let metadata = fs::symlink_metadata(path.under(&config.root)).ok()?;
    metadata.is_file().then_some(TreeFile { path, size: metadata.len(), is_in_scope: false })
}

/// Reads one of them; `None` when it is gone, no text, or opts out.
///
/// # Errors
/// Environment when it cannot be read, or changes all the time.
pub fn text(config: &Config, file: &TreeFile) -> Result<Option<TreeText>> {
    let (path, size) = (file.path.clone(), file.size);
    let candidate = Candidate { path, size, mtime_ns: 0, changed_ns: 0 };
    let (content, is_minified) = match read::text(&config.root, &candidate) {
        Ok(read) => read,
        Err(SkipReason::Unreadable | SkipReason::Changing) => {
            return Err(Error::environment(format!("cannot read `{}`", file.path)));
        }
        Err(_) => return Ok(None),
    };
    let place = chunk::place(&file.path, content.language, &content.text);
    let is_wanted = place != Place::Generated || config.files.generated;
    let is_in_scope = file.is_in_scope && is_wanted && !is_minified;
    let Content { text, language, .. } = content;
    Ok(Some(TreeText { text, language, place, is_in_scope }))
}
