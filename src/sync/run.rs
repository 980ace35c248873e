//! The steps that every run shares: take the lock, open what is there, compare, write what differs
//! into a private copy, publish it.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::apply::{self, Applied, First};
use super::hnsw;
use super::plan::{self, Plan};
use super::scope::{Listing, Scope, SkipReason};
use super::{Phase, Progress, ProgressFn, check_compatible, index_dir};
use crate::chunk::CHUNKER;
use crate::config::{Config, scope_fingerprint};
use crate::embed::Embedder;
use crate::error::{Error, ErrorKind, Result};
use crate::git;
use crate::store::{
    Base, Compared, Generation, IndexDir, Meta, Reader, SCHEMA_VERSION, Totals, Writer, WriterLock,
};
use crate::turn::Turn;
use crate::types::RelPath;

/// A run that holds the writer's lock.
pub(super) struct Run<'a> {
    pub(super) config: &'a Config,
    pub(super) scope: Scope,
    /// What is indexed; `None` when there is no index or a run starts from nothing.
    pub(super) current: Option<Reader>,
    /// When the current generation was last found equal to the tree.
    pub(super) compared: Option<Compared>,
    /// The commit that was checked out when the run began.
    pub(super) head: Option<String>,
    pub(super) report: Reporter,
    turn: &'a Turn,
    embedder: Embedder,
    dir: IndexDir,
    lock: WriterLock,
    began_ns: i64,
}

/// What a run is to write.
pub(super) struct Work {
    pub(super) plan: Plan,
    /// Files left out, with the reason's name, but for those that are read.
    pub(super) skipped: Vec<(String, String)>,
    /// Whether the whole tree was compared, rather than named paths.
    pub(super) is_whole: bool,
    /// Whether files that were read and found as indexed are listed in the outcome.
    pub(super) lists_same: bool,
}

/// What a run did.
pub(super) struct Outcome {
    /// The generation that is current now.
    pub(super) generation: u64,
    pub(super) published: bool,
    pub(super) totals: Totals,
    pub(super) plan: Plan,
    pub(super) applied: Applied,
    /// Files that were read and found as indexed, with their number of chunks, when asked for.
    pub(super) same: Vec<(RelPath, usize)>,
    /// Files left out of the index.
    pub(super) skipped: usize,
    pub(super) index_bytes: u64,
}

/// What a run needs and may lack: opened before the lock is taken, so that nothing is made when the
/// configuration is wrong.
struct Means {
    scope: Scope,
    embedder: Embedder,
}

impl Means {
    fn open(config: &Config) -> Result<Self> {
        Ok(Self { scope: Scope::new(config)?, embedder: Embedder::open(&config.embedder)? })
    }
}

impl<'a> Run<'a> {
    /// Takes the lock and opens the current generation, unless `from_nothing`.
    pub(super) fn begin(
        config: &'a Config,
        progress: Option<ProgressFn>,
        from_nothing: bool,
        turn: &'a Turn,
    ) -> Result<Self> {
        let wait = Duration::from_secs(config.limits.lock_wait_s);
        let report = Reporter { progress };
        report.phase(Phase::Waiting);
        let means = Means::open(config)?;
        let lock = lock(&index_dir(config), wait, turn)?;
        Self::with(lock, means, config, report, from_nothing, turn)
    }

    /// Like [`Run::begin`] with an index that must be there, for a run that may wait as long as it
    /// takes: `None` when another one waits already, which will see whatever this one would have.
    pub(super) fn begin_in_turn(
        config: &'a Config,
        progress: Option<ProgressFn>,
        turn: &'a Turn,
    ) -> Result<Option<Self>> {
        const FOREVER: Duration = Duration::from_hours(24);
        let report = Reporter { progress };
        report.phase(Phase::Waiting);
        let means = Means::open(config)?;
        let dir = index_dir(config);
        let Some(waiting) = dir.wait_alone()? else { return Ok(None) };
        let lock = lock(&dir, FOREVER, turn)?;
        // Who comes from here on must wait for itself: this run looks at the tree now.
        drop(waiting);
        Self::with(lock, means, config, report, false, turn).map(Some)
    }

    fn with(
        lock: WriterLock,
        means: Means,
        config: &'a Config,
        report: Reporter,
        from_nothing: bool,
        turn: &'a Turn,
    ) -> Result<Self> {
        let began_ns = lock.taken_ns();
        let Means { scope, embedder } = means;
        let dir = index_dir(config);
        let current = if from_nothing { None } else { dir.open(config.limits.duckdb_memory_mib)? };
        if let Some(reader) = &current {
            check_compatible(reader.meta(), embedder.model(), embedder.dim())?;
        }
        let compared = current.as_ref().and_then(|reader| dir.compared(reader.generation()));
        let head = git::head(&config.root);
        Ok(Self {
            config,
            scope,
            current,
            compared,
            head,
            report,
            turn,
            embedder,
            dir,
            lock,
            began_ns,
        })
    }

    /// Compares the whole tree with the index.
    pub(super) fn compare(&self) -> Result<Work> {
        self.report.phase(Phase::Walking);
        let listing = self.scope.walk()?;
        self.turn.check()?;
        let (current, compared) = (self.current.as_ref(), self.compared.as_ref());
        let mut plan = plan::plan(current, &listing, &self.config.files, compared)?;
        plan.settle(self.config);
        Ok(Work { plan, skipped: left_out(&listing), is_whole: true, lists_same: false })
    }

    /// Writes and publishes what differs, if anything does.
    pub(super) fn finish(mut self, work: Work) -> Result<Outcome> {
        self.turn.check()?;
        let skipped = all_skipped(&work, &Applied::default());
        if let Some(reader) = &self.current
            && work.plan.is_empty()
            && reader.skipped()? == skipped
            && !(work.is_whole && hnsw::is_lacking(self.config, reader)?)
        {
            return self.unchanged(reader, work, skipped.len());
        }
        let compared = if work.is_whole { Some(self.seen()) } else { self.compared.clone() };
        let meta = self.meta(work.is_whole);
        let base = if self.current.is_some() { Base::Current } else { Base::Empty };
        drop(self.current.take());
        let memory_mib = self.config.limits.duckdb_memory_mib;
        let (config, plan, lock) = (self.config, &work.plan, self.lock);
        let (mut writer, applied) = in_pool(config.limits.threads, || {
            let (begun, first) = std::thread::scope(|scope| {
                let begin = scope.spawn(move || Writer::begin(lock, base, memory_mib));
                let first = First::of(config, plan);
                (begin.join().unwrap_or_else(|panic| resume_unwind(panic)), first)
            });
            let (mut writer, embedder) = (begun?, &mut self.embedder);
            let (report, turn) = (&self.report, self.turn);
            let applied = apply::apply(config, &mut writer, embedder, plan, first, report, turn)?;
            Ok((writer, applied))
        })?;
        let skipped = all_skipped(&work, &applied);
        writer.set_skipped(&skipped)?;
        writer.set_compared(compared);
        self.turn.check()?;
        // Named paths are refreshed while somebody waits.
        if work.is_whole {
            hnsw::settle(self.config, &mut writer, &self.report, self.turn)?;
        }
        self.report.phase(Phase::Publishing);
        let totals = writer.reader().totals()?;
        let same = counted(writer.reader(), &work, &applied)?;
        let Generation { number, .. } = writer.publish(&meta)?;
        Ok(Outcome {
            generation: number,
            published: true,
            totals,
            plan: work.plan,
            applied,
            same,
            skipped: skipped.len(),
            index_bytes: self.dir.size(),
        })
    }

    /// No new generation; only that the old one is still right is worth keeping.
    fn unchanged(&self, reader: &Reader, work: Work, skipped: usize) -> Result<Outcome> {
        // What a writer left that was killed before this run goes now: none is begun.
        self.lock.sweep()?;
        if work.is_whole {
            // Without it files are looked at more closely the next time.
            let _ = self.lock.set_compared(reader.generation(), &self.seen());
        }
        Ok(Outcome {
            generation: reader.generation().number,
            published: false,
            totals: reader.totals()?,
            same: counted(reader, &work, &Applied::default())?,
            plan: work.plan,
            applied: Applied::default(),
            skipped,
            index_bytes: self.dir.size(),
        })
    }

    /// What is indexed, for a run that asked for an index.
    pub(super) fn indexed(&self) -> Result<&Reader> {
        self.current.as_ref().ok_or_else(|| no_index(self.config))
    }

    /// The commit that the index is of, if any.
    pub(super) fn indexed_head(&self) -> Option<String> {
        match &self.compared {
            Some(compared) => compared.head.clone(),
            None => self.current.as_ref().and_then(|reader| reader.meta().head.clone()),
        }
    }

    /// This run's own comparison of the whole tree.
    fn seen(&self) -> Compared {
        Compared { began_ns: self.began_ns, head: self.head.clone() }
    }

    /// What the new generation says of itself. After a look at named paths, it still is of the
    /// commit and the settings of the last comparison of the whole tree.
    fn meta(&self, is_whole: bool) -> Meta {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = self.current.as_ref().map(Reader::meta).filter(|_| !is_whole);
        Meta {
            schema: SCHEMA_VERSION,
            chunker: CHUNKER.to_owned(),
            model: self.embedder.model().to_owned(),
            dim: self.embedder.dim(),
            scope: before.map_or_else(|| scope_fingerprint(self.config), |meta| meta.scope.clone()),
            head: before.map_or_else(|| self.head.clone(), |meta| meta.head.clone()),
            created_s: now.as_secs(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The files that were found as indexed, with their number of chunks, when they are listed.
fn counted(reader: &Reader, work: &Work, applied: &Applied) -> Result<Vec<(RelPath, usize)>> {
    if !work.lists_same {
        return Ok(Vec::new());
    }
    let same: Vec<&(u32, RelPath)> = work.plan.same.iter().chain(&applied.same).collect();
    let ids: Vec<u32> = same.iter().map(|(id, _)| *id).collect();
    let counts: HashMap<u32, usize> = reader.chunk_counts(&ids)?.into_iter().collect();
    let chunks = |id: &u32| counts.get(id).copied().unwrap_or(0);
    Ok(same.into_iter().map(|(id, path)| (path.clone(), chunks(id))).collect())
}

/// What a run that needs an index says without one.
pub(super) fn no_index(config: &Config) -> Error {
    Error::index(format!("no index of `{}` yet", config.root.display()))
        .hint("run `sai index`, which makes one")
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

/// Tells how far a run is.
pub(super) struct Reporter {
    progress: Option<ProgressFn>,
}

impl Reporter {
    pub(super) fn phase(&self, phase: Phase) {
        self.tell(Progress { phase, done: 0, total: 0, chunks: 0 });
    }

    pub(super) fn tell(&self, progress: Progress) {
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

/// What a listing left out, as it is stored.
pub(super) fn left_out(listing: &Listing) -> Vec<(String, String)> {
    listing.skipped.iter().map(|s| (s.path.clone(), s.reason.name().to_owned())).collect()
}

/// What was left out by name, by reading now and by reading before: sorted, each once.
fn all_skipped(work: &Work, applied: &Applied) -> Vec<(String, String)> {
    let named = |(path, reason): &(String, SkipReason)| (path.clone(), reason.name().to_owned());
    let read = applied.skipped.iter().map(named);
    let before = work.plan.left_out.iter().cloned();
    let mut skipped: Vec<_> = work.skipped.iter().cloned().chain(read).chain(before).collect();
    skipped.sort_unstable();
    skipped.dedup();
    skipped
}
