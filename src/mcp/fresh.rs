//! What becomes of files that an answer met and that are no longer as they were indexed?
//!
//! They are named once, in one line at the answer's end, and not again until there is another
//! generation. Where the server may write they are queued and refreshed, all that wait at a time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use super::hits::{counted, name};
use crate::request::{PATHS_MAX, RefreshQuery};
use crate::types::RelPath;
use crate::worker::Handle;

/// Files that are named in the line.
const NAMED_MAX: usize = 3;

/// Looks after changed files.
pub(super) struct Fresh {
    handle: Handle,
    may_write: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Of the answers that `told` is about.
    generation: u64,
    told: BTreeSet<RelPath>,
    /// To be refreshed.
    queued: BTreeSet<RelPath>,
    is_refreshing: bool,
}

impl Fresh {
    pub(super) fn new(handle: Handle, may_write: bool) -> Self {
        Self { handle, may_write, state: Arc::default() }
    }

    /// What to say of the files that an answer from `generation` met; `None` when there is nothing
    /// new to say. Must be called within the runtime.
    pub(super) fn met(&self, changed: &[RelPath], generation: u64) -> Option<String> {
        let mut state = lock(&self.state);
        if state.generation != generation {
            state.generation = generation;
            state.told.clear();
        }
        if self.may_write && !changed.is_empty() {
            state.queued.extend(changed.iter().cloned());
            if !std::mem::replace(&mut state.is_refreshing, true) {
                tokio::spawn(refresh(self.handle.clone(), Arc::clone(&self.state)));
            }
        }
        let mut told = |path: &&RelPath| state.told.insert((*path).clone());
        let new: Vec<&RelPath> = changed.iter().filter(|path| told(path)).collect();
        (!new.is_empty()).then(|| line(&new, self.may_write))
    }
}

/// Refreshes what is queued until nothing is.
async fn refresh(handle: Handle, state: Arc<Mutex<State>>) {
    loop {
        let paths: Vec<String> = {
            let mut state = lock(&state);
            if state.queued.is_empty() {
                state.is_refreshing = false;
                return;
            }
            let next: Vec<RelPath> = state.queued.iter().take(PATHS_MAX).cloned().collect();
            state.queued.retain(|path| !next.contains(path));
            next.iter().map(|path| path.as_str().to_owned()).collect()
        };
        // What fails now is queued again by the next answer that meets it.
        if let Err(error) = handle.refresh(RefreshQuery { paths, ..RefreshQuery::default() }).await
        {
            tracing::warn!("cannot refresh changed files: {error}");
        }
    }
}

fn line(changed: &[&RelPath], may_write: bool) -> String {
    let mut names: Vec<String> =
        changed.iter().take(NAMED_MAX).map(|path| name(path.as_str())).collect();
    if changed.len() > NAMED_MAX {
        names.push(format!("{} more", changed.len() - NAMED_MAX));
    }
    let next = if may_write {
        "being refreshed now"
    } else {
        "run `sai sync`, or restart the server with --allow-write"
    };
    format!(
        "{} changed since indexing ({}): {next}.",
        counted(changed.len(), "file"),
        names.join(", ")
    )
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no thread panics while it holds the lock")
}
