//! Here is a tree and an index: make the index equal to the tree.

pub mod read;
pub mod scope;

use std::sync::Arc;

use serde::Serialize;

/// What to do.
#[derive(Clone, Default)]
pub struct IndexQuery {
    /// Start from nothing instead of from the current generation.
    pub force: bool,
    /// Told about progress, from the indexing thread, at most ten times a second.
    pub progress: Option<ProgressFn>,
}

impl std::fmt::Debug for IndexQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexQuery").field("force", &self.force).finish_non_exhaustive()
    }
}

/// Is told how far an index run is.
pub type ProgressFn = Arc<dyn Fn(Progress) + Send + Sync>;

/// What an index run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waiting for another writer.
    Waiting,
    /// Listing the tree.
    Walking,
    /// Reading, splitting, embedding, storing.
    Indexing,
    /// Making the new generation durable.
    Publishing,
}

/// How far an index run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub phase: Phase,
    /// Files done of `total`; both 0 before they are known.
    pub done: usize,
    pub total: usize,
    /// Chunks so far.
    pub chunks: usize,
}

/// What an index run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexReply {
    /// The generation that now holds the tree; the old one when nothing had changed.
    pub generation: u64,
    /// Whether a new generation was published.
    pub published: bool,
    /// Files and chunks in the index now.
    pub files: usize,
    pub chunks: usize,
    /// Lines of all indexed files.
    pub lines: u64,
    /// Files that were new, changed, and gone.
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Files left out.
    pub skipped: usize,
    /// Chunks whose vector was computed (the others' were known already).
    pub embedded: usize,
    /// Wall time.
    pub seconds: f64,
    /// Why the index was made from nothing although it was not asked for, if so.
    pub rebuilt_because: Option<String>,
}
