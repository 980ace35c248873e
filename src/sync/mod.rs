//! Here is a tree and an index: make the index equal to the tree.
//!
//! List the tree or named paths of it, compare with what is indexed ([`plan`]), read and split what
//! is new ([`prepare`]), embed and insert it into a private copy ([`apply`]), publish the copy as the
//! next generation ([`run`]). A run that is cancelled or fails leaves nothing behind; one that finds
//! nothing to do publishes nothing.

mod apply;
mod hnsw;
pub mod plan;
mod prepare;
pub mod read;
mod reconcile;
mod run;
pub mod scope;
mod texts;

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::chunk::CHUNKER;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::store::{IndexDir, Meta};
use crate::turn::Turn;

pub use prepare::content;
pub use reconcile::{PATHS_MAX, RefreshQuery, RefreshReply, Refreshed, SyncQuery, refresh, sync};
pub use texts::{text, texts};

use run::{Outcome, Run};

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
    /// Building the HNSW index.
    Connecting,
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
    /// Bytes of all index files.
    pub index_bytes: u64,
    /// Vectors that were computed (equal chunks share one, and known ones are kept).
    pub embedded: usize,
    /// Wall time.
    pub seconds: f64,
}

/// Where the index of `config` lies.
pub fn index_dir(config: &Config) -> IndexDir {
    IndexDir::new(config.index_path())
}

/// Makes the index equal to the tree.
///
/// # Errors
/// Busy when another writer holds the index for too long; Index when the present one was made with
/// another model or chunker (`force` starts anew); Stopped when `turn` ends; Environment when the
/// disk or the model is in the way.
pub fn index(config: &Config, query: &IndexQuery, turn: &Turn) -> Result<IndexReply> {
    let started = Instant::now();
    let run = Run::begin(config, query.progress.clone(), query.force, turn)?;
    let work = run.compare()?;
    let outcome = run.finish(work)?;
    let Outcome { generation, published, totals, plan, applied, skipped, index_bytes, .. } =
        outcome;
    Ok(IndexReply {
        generation,
        published,
        files: totals.files,
        chunks: totals.chunks,
        lines: totals.lines,
        added: applied.added,
        changed: applied.changed,
        removed: plan.removed.len() + applied.dropped.len(),
        skipped,
        index_bytes,
        embedded: applied.embedded,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Fails when an index was made with other means than today's.
///
/// # Errors
/// Index, naming what differs and the command that rebuilds.
pub fn check_compatible(meta: &Meta, model: &str, dim: usize) -> Result<()> {
    let differs = if meta.chunker != CHUNKER {
        format!("chunker `{}`, this SAI uses `{CHUNKER}`", meta.chunker)
    } else if meta.model != model || meta.dim != dim {
        format!(
            "model `{}` ({} dimensions), the configuration asks for `{model}` ({dim})",
            meta.model, meta.dim
        )
    } else {
        return Ok(());
    };
    Err(Error::index(format!("the index was made with {differs}"))
        .hint("run `sai index --force` to make it anew"))
}
