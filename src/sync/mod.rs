//! Here is a tree and an index: make the index equal to the tree.
//!
//! Walk, compare with what is indexed ([`plan`]), read and split what is new ([`prepare`]), embed and
//! insert it into a private copy ([`apply`]), publish the copy as the next generation. A run that is
//! cancelled or fails leaves nothing behind; one that finds nothing to do publishes nothing.

mod apply;
pub mod plan;
mod prepare;
pub mod read;
pub mod scope;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::chunk::CHUNKER;
use crate::config::{Config, scope_fingerprint};
use crate::embed::Embedder;
use crate::error::{Error, ErrorKind, Result};
use crate::git;
use crate::store::{
    Base, Generation, IndexDir, Meta, Reader, SCHEMA_VERSION, Totals, Writer, WriterLock,
};
use crate::turn::Turn;

pub use prepare::content;

use apply::Applied;
use plan::Plan;
use scope::{Listing, Scope, SkipReason};

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
    let report = Reporter { progress: query.progress.clone() };
    report.phase(Phase::Waiting);
    let scope = Scope::new(config)?;
    let mut embedder = Embedder::open(&config.embedder)?;
    let dir = index_dir(config);
    let lock = lock(&dir, Duration::from_secs(config.limits.lock_wait_s), turn)?;
    let memory_mib = config.limits.duckdb_memory_mib;
    let current = if query.force { None } else { dir.open(memory_mib)? };
    if let Some(reader) = &current {
        check_compatible(reader.meta(), embedder.model(), embedder.dim())?;
    }

    report.phase(Phase::Walking);
    let listing = scope.walk()?;
    turn.check()?;
    let mut plan = plan::plan(current.as_ref(), &listing, &config.files)?;
    plan.settle(config);
    if let Some(reader) = &current
        && plan.is_empty()
        && reader.skipped()? == all_skipped(&listing, &plan, &[])
    {
        // What a writer left that was killed before this run goes now: none is begun.
        lock.sweep()?;
        return unchanged(reader, dir.size(), started);
    }

    let base = if current.is_some() { Base::Current } else { Base::Empty };
    drop(current);
    let mut writer = Writer::begin(lock, base, memory_mib)?;
    let applied = in_pool(config.limits.threads, || {
        apply::apply(config, &mut writer, &mut embedder, &plan, &report, turn)
    })?;
    let skipped = all_skipped(&listing, &plan, &applied.skipped);
    writer.set_skipped(&skipped)?;
    turn.check()?;
    report.phase(Phase::Publishing);
    let totals = writer.reader().totals()?;
    let generation = writer.publish(&meta(config, &embedder))?;
    let index_bytes = dir.size();
    Ok(reply(&generation, totals, &plan, &applied, skipped.len(), index_bytes, started))
}

/// Takes the writer's lock, waiting up to `wait` for it, unless `turn` ends before.
fn lock(dir: &IndexDir, wait: Duration, turn: &Turn) -> Result<WriterLock> {
    const SLICE: Duration = Duration::from_millis(200);
    let started = Instant::now();
    loop {
        turn.check()?;
        let left = wait.saturating_sub(started.elapsed());
        match dir.lock(left.min(SLICE)) {
            Err(error) if error.kind() == ErrorKind::Busy && left > SLICE => {}
            taken => return taken,
        }
    }
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

/// Tells how far a run is.
struct Reporter {
    progress: Option<ProgressFn>,
}

impl Reporter {
    fn phase(&self, phase: Phase) {
        self.tell(Progress { phase, done: 0, total: 0, chunks: 0 });
    }

    fn tell(&self, progress: Progress) {
        if let Some(tell) = &self.progress {
            tell(progress);
        }
    }
}

/// Runs `work` with as many threads as configured (0: every core).
fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    if threads == 0 {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::environment(format!("cannot start {threads} threads")).because(e))?
        .install(work)
}

fn meta(config: &Config, embedder: &Embedder) -> Meta {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Meta {
        schema: SCHEMA_VERSION,
        chunker: CHUNKER.to_owned(),
        model: embedder.model().to_owned(),
        dim: embedder.dim(),
        scope: scope_fingerprint(config),
        head: git::head(&config.root),
        created_s: now.as_secs(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the walk left out and what reading left out, sorted by path.
fn all_skipped(
    listing: &Listing,
    plan: &Plan,
    by_content: &[(String, SkipReason)],
) -> Vec<(String, String)> {
    let walked = listing.skipped.iter().map(|s| (s.path.clone(), s.reason.name().to_owned()));
    let read = by_content.iter().map(|(path, reason)| (path.clone(), reason.name().to_owned()));
    let mut skipped: Vec<_> = walked.chain(read).chain(plan.left_out.iter().cloned()).collect();
    skipped.sort();
    skipped
}

fn unchanged(reader: &Reader, index_bytes: u64, started: Instant) -> Result<IndexReply> {
    let totals = reader.totals()?;
    Ok(IndexReply {
        generation: reader.generation().number,
        published: false,
        files: totals.files,
        chunks: totals.chunks,
        lines: totals.lines,
        added: 0,
        changed: 0,
        removed: 0,
        skipped: reader.skipped()?.len(),
        index_bytes,
        embedded: 0,
        seconds: started.elapsed().as_secs_f64(),
    })
}

fn reply(
    generation: &Generation,
    totals: Totals,
    plan: &Plan,
    applied: &Applied,
    skipped: usize,
    index_bytes: u64,
    started: Instant,
) -> IndexReply {
    IndexReply {
        generation: generation.number,
        published: true,
        files: totals.files,
        chunks: totals.chunks,
        lines: totals.lines,
        added: applied.added,
        changed: applied.changed,
        removed: plan.removed.len() + applied.dropped,
        skipped,
        index_bytes,
        embedded: applied.embedded,
        seconds: started.elapsed().as_secs_f64(),
    }
}
