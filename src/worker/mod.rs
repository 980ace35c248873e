//! The one thread that owns the index's connection, the embedder and the search structures, and the
//! [`Handle`] that reaches it.
//!
//! One request, one turn: a panic in a turn becomes an error answer, a dropped answer cancels at the
//! next step, each turn has a deadline. What writes goes on a thread of their own against a private
//! copy; the worker looks at the current generation before each question and moves over when it
//! changed.

pub mod base;
pub mod doctor;
pub mod status;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use tokio::sync::oneshot;

use crate::config::Config;
use crate::duplicates;
use crate::embed::{self, Embedder};
use crate::error::{Error, ErrorKind, Result};
use crate::request::{
    Ask, DoctorReply, DuplicatesQuery, DuplicatesReply, FlushReply, IndexQuery, IndexReply,
    RefreshQuery, RefreshReply, Request, SearchQuery, SearchReply, SimilarQuery, SimilarReply,
    StatusQuery, StatusReply, SyncQuery,
};
use crate::retrieval::{self, Catalog, CodeVectors, Tree};
use crate::store::Reader;
use crate::sync;
use crate::turn::Turn;

/// Requests that may wait before asking blocks.
const QUEUE_LENGTH: usize = 64;

/// Reaches the worker from any thread. Cheap to clone; the worker ends when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: Sender<Request>,
    request_time_max: Duration,
    jobs: Jobs,
}

/// An answer on its way: await it, or [`Pending::wait`] for it outside of async code. Dropping it
/// cancels the request at its next step.
#[derive(Debug)]
pub struct Pending<R> {
    turn: Turn,
    reply: Option<oneshot::Receiver<Result<R>>>,
}

impl Handle {
    /// Starts the worker. Opens nothing yet: the index and the model are opened by the first request
    /// that needs them.
    pub fn start(config: Config) -> Self {
        let (requests, inbox) = bounded(QUEUE_LENGTH);
        let request_time_max = Duration::from_secs(config.limits.request_s);
        let jobs = Jobs::default();
        let worker = Worker { config, current: None, embedder: None, jobs: jobs.clone() };
        std::thread::Builder::new()
            .name("worker".to_owned())
            .spawn(move || worker.run(&inbox))
            .expect("a thread can be started at program start");
        Self { requests, request_time_max, jobs }
    }

    /// Which chunks answer this question?
    pub fn search(&self, query: SearchQuery) -> Pending<SearchReply> {
        self.ask(Request::Search, query, Some(self.request_time_max))
    }

    /// Which chunks are like this code?
    pub fn similar(&self, query: SimilarQuery) -> Pending<SimilarReply> {
        self.ask(Request::Similar, query, Some(self.request_time_max))
    }

    /// Which code repeats? All code is compared with all, beside the worker: it may take longer than
    /// other requests.
    pub fn duplicates(&self, query: DuplicatesQuery) -> Pending<DuplicatesReply> {
        const LONGER: u32 = 10;
        let allowed = self.request_time_max.saturating_mul(LONGER);
        self.ask(Request::Duplicates, query, Some(allowed))
    }

    /// What is in the index, and how fresh is it?
    pub fn status(&self, query: StatusQuery) -> Pending<StatusReply> {
        self.ask(Request::Status, query, Some(self.request_time_max))
    }

    /// Makes the index equal to the tree; runs beside the worker, which goes on answering.
    pub fn index(&self, query: IndexQuery) -> Pending<IndexReply> {
        self.ask(Request::Index, query, None)
    }

    /// Makes the index equal to the tree at named paths; runs beside the worker.
    pub fn refresh(&self, query: RefreshQuery) -> Pending<RefreshReply> {
        self.ask(Request::Refresh, query, None)
    }

    /// Makes the index equal to the tree where it changed; runs beside the worker.
    pub fn sync(&self, query: SyncQuery) -> Pending<RefreshReply> {
        self.ask(Request::Sync, query, None)
    }

    /// Could SAI work here?
    pub fn doctor(&self) -> Pending<DoctorReply> {
        self.ask(Request::Doctor, (), Some(self.request_time_max))
    }

    /// Removes the index.
    pub fn flush(&self) -> Pending<FlushReply> {
        self.ask(Request::Flush, (), None)
    }

    /// Cancels every run that writes and waits up to `patience` until all have cleaned up behind them.
    /// Works beside the worker, however busy that is; for a process that is about to end.
    pub fn end_jobs(&self, patience: Duration) {
        self.jobs.end(patience);
    }

    fn ask<Q, R>(
        &self,
        request: impl FnOnce(Ask<Q, R>) -> Request,
        query: Q,
        allowed: Option<Duration>,
    ) -> Pending<R> {
        let (reply, receiver) = oneshot::channel();
        let turn = Turn::new(allowed);
        // A worker that is gone drops the request and with it the way back: the answer says so.
        let _ = self.requests.send(request(Ask { query, turn: turn.clone(), reply }));
        Pending { turn, reply: Some(receiver) }
    }
}

impl<R> Pending<R> {
    /// Asks the request to stop at its next step; its answer then is an error of kind Stopped.
    pub fn cancel(&self) {
        self.turn.cancel();
    }

    /// Blocks until the answer is there. Not for async code.
    ///
    /// # Errors
    /// The answer's own error, or Bug when the worker is gone.
    pub fn wait(mut self) -> Result<R> {
        let reply = self.reply.take().ok_or_else(gone)?;
        reply.blocking_recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl<R> Future for Pending<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R>> {
        match &mut self.reply {
            Some(reply) => {
                Pin::new(reply).poll(context).map(|answer| answer.unwrap_or_else(|_| Err(gone())))
            }
            None => Poll::Ready(Err(gone())),
        }
    }
}

impl<R> Drop for Pending<R> {
    fn drop(&mut self) {
        self.turn.cancel();
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::Bug, "the worker thread has ended")
}

impl<Q, R> Ask<Q, R> {
    /// Answers with what `work` gives; a panic in it is answered too.
    fn answer(self, work: impl FnOnce(Q, &Turn) -> Result<R>) {
        let Self { query, turn, reply } = self;
        let answer = turn.check().and_then(|()| {
            catch_unwind(AssertUnwindSafe(|| work(query, &turn))).unwrap_or_else(|panic| {
                Err(Error::new(ErrorKind::Bug, format!("internal error: {}", message(&*panic))))
            })
        });
        // Nobody waiting any more is no error.
        let _ = reply.send(answer);
    }
}

/// A variable of the environment, with its value, that the process lacks for the configured model:
/// a door starts the process again with it.
pub fn variable_needed(config: &Config) -> Option<(&'static str, &'static str)> {
    embed::variable_needed(&config.embedder)
}

/// The text of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// A generation, open, with what a search needs of it in memory.
struct Current {
    reader: Reader,
    /// Shared with a search for duplicates, which takes long and goes on beside the worker.
    catalog: Arc<Catalog>,
    /// Made by the first request that compares code with code.
    code: Option<Arc<CodeVectors>>,
}

impl Current {
    /// The vectors of the code alone.
    fn code(&mut self, embedder: &Embedder) -> Arc<CodeVectors> {
        let catalog = &self.catalog;
        let make = || Arc::new(CodeVectors::new(catalog, embedder));
        Arc::clone(self.code.get_or_insert_with(make))
    }
}

/// What the thread owns.
struct Worker {
    config: Config,
    current: Option<Current>,
    embedder: Option<Embedder>,
    jobs: Jobs,
}

/// Runs that write and may still go on. Shared with every [`Handle`].
#[derive(Clone, Debug, Default)]
struct Jobs(Arc<Mutex<Vec<Job>>>);

/// A run on a thread of its own.
#[derive(Debug)]
struct Job {
    turn: Turn,
    thread: JoinHandle<()>,
}

impl Jobs {
    fn add(&self, job: Job) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|job| !job.thread.is_finished());
        jobs.push(job);
    }

    /// Takes all out, so that none is waited for twice.
    fn take(&self) -> Vec<Job> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn end(&self, patience: Duration) {
        const POLL: Duration = Duration::from_millis(5);
        let started = Instant::now();
        let jobs = self.take();
        jobs.iter().for_each(|job| job.turn.cancel());
        while jobs.iter().any(|job| !job.thread.is_finished()) && started.elapsed() < patience {
            std::thread::sleep(POLL);
        }
    }
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Request>) {
        for request in inbox {
            self.turn(request);
        }
        // A run that nobody waits for is cancelled; its private copy goes with it.
        for job in self.jobs.take() {
            let _ = job.thread.join();
        }
    }

    fn turn(&mut self, request: Request) {
        match request {
            Request::Search(ask) => ask.answer(|query, turn| self.search(&query, turn)),
            Request::Similar(ask) => ask.answer(|query, turn| self.similar(&query, turn)),
            Request::Duplicates(ask) => self.duplicates(ask),
            Request::Status(ask) => ask.answer(|query, _| self.status(query)),
            Request::Index(ask) => self.job(ask, sync::index),
            Request::Refresh(ask) => self.job(ask, sync::refresh),
            Request::Sync(ask) => self.job(ask, sync::sync),
            Request::Flush(ask) => ask.answer(|(), _| self.flush()),
            Request::Doctor(ask) => ask.answer(|(), _| Ok(doctor::doctor(&self.config))),
        }
    }

    fn search(&mut self, query: &SearchQuery, turn: &Turn) -> Result<SearchReply> {
        self.open()?;
        if self.current.is_none() {
            // Nobody should make an index for a question that cannot be asked.
            retrieval::check(&self.config, query)?;
        }
        let (config, current, embedder) = self.ready()?;
        let Current { reader, catalog, .. } = current;
        let tree = Tree {
            list: &|turn| sync::texts(config, turn),
            read: &|file| sync::text(config, file),
        };
        retrieval::search(reader, catalog, embedder, config, query, &tree, turn)
    }

    fn similar(&mut self, query: &SimilarQuery, turn: &Turn) -> Result<SimilarReply> {
        self.open()?;
        let (config, current, embedder) = self.ready()?;
        let code = current.code(embedder);
        let Current { reader, catalog, .. } = current;
        retrieval::similar(reader, catalog, &code, embedder, config, query, turn)
    }

    /// Compares all with all on a thread of its own, with threads of its own: searches go on.
    fn duplicates(&mut self, ask: Ask<DuplicatesQuery, DuplicatesReply>) {
        let mut sources = || {
            self.open()?;
            let (config, current, embedder) = self.ready()?;
            let code = current.code(embedder);
            let catalog = Arc::clone(&current.catalog);
            Ok((config.clone(), current.reader.another()?, catalog, code))
        };
        let (config, reader, catalog, code) = match sources() {
            Ok(sources) => sources,
            Err(error) => return ask.answer(|_, _| Err(error)),
        };
        let job = std::thread::Builder::new().name("duplicates".to_owned());
        // Without a thread the way back is dropped, which the asker sees.
        let _ = job.spawn(move || {
            let threads = config.limits.threads;
            ask.answer(move |query, turn| {
                in_own_pool(threads, move || {
                    duplicates::duplicates(&reader, &catalog, &code, &config, &query, turn)
                })
            });
        });
    }

    /// The open generation and the embedder that fits it.
    fn ready(&mut self) -> Result<(&Config, &mut Current, &mut Embedder)> {
        let Some(current) = &mut self.current else { return Err(no_index(&self.config)) };
        if self.embedder.is_none() {
            self.embedder = Some(Embedder::open(&self.config.embedder)?);
        }
        let embedder = self.embedder.as_mut().expect("made above");
        sync::check_compatible(current.reader.meta(), embedder.model(), embedder.dim())?;
        Ok((&self.config, current, embedder))
    }

    fn status(&mut self, query: StatusQuery) -> Result<StatusReply> {
        self.move_over()?;
        let current = self.current.as_ref().map(|current| (&current.reader, &*current.catalog));
        status::status(&self.config, current, query)
    }

    /// Starts a run that writes on its own thread, which answers by itself. Runs exclude each other by
    /// the writer's lock.
    fn job<Q: Send + 'static, R: Send + 'static>(
        &mut self,
        ask: Ask<Q, R>,
        run: fn(&Config, &Q, &Turn) -> Result<R>,
    ) {
        let config = self.config.clone();
        let turn = ask.turn.clone();
        let thread = std::thread::Builder::new()
            .name("index".to_owned())
            .spawn(move || ask.answer(|query, turn| run(&config, &query, turn)));
        // Without a thread the way back is dropped, which the asker sees.
        if let Ok(thread) = thread {
            self.jobs.add(Job { turn, thread });
        }
    }

    fn flush(&mut self) -> Result<FlushReply> {
        let dir = sync::index_dir(&self.config);
        if !dir.path().exists() {
            return Ok(FlushReply { bytes: 0 });
        }
        let lock = dir.lock(Duration::from_secs(self.config.limits.lock_wait_s))?;
        self.current = None;
        Ok(FlushReply { bytes: lock.flush()? })
    }

    /// Opens the current generation, and beside it the model, unless they are open already.
    fn open(&mut self) -> Result<()> {
        if self.embedder.is_some() || sync::index_dir(&self.config).current()?.is_none() {
            return self.move_over();
        }
        let config = self.config.embedder.clone();
        let model = std::thread::spawn(move || Embedder::open(&config));
        self.move_over()?;
        let model = model.join().unwrap_or_else(|panic| resume_unwind(panic));
        self.embedder = Some(model?);
        Ok(())
    }

    /// Opens the current generation unless it is open already.
    fn move_over(&mut self) -> Result<()> {
        let dir = sync::index_dir(&self.config);
        let published = dir.current()?;
        let open = self.current.as_ref().map(|current| current.reader.generation());
        if published.as_ref() == open {
            return Ok(());
        }
        let before = self.current.take();
        // One that a search for duplicates still reads is not taken over.
        let mut before = before.and_then(|Current { reader, catalog, .. }| {
            Some((reader, Arc::try_unwrap(catalog).ok()?))
        });
        let search = before.as_mut().map(|(_, catalog)| catalog.take_search());
        if let Some(reader) = dir.open(self.config.limits.duckdb_memory_mib)? {
            let mut catalog = catalog(&reader, before)?;
            catalog.decide_search(&self.config, &reader, search.unwrap_or_default());
            self.current = Some(Current { catalog: Arc::new(catalog), reader, code: None });
        }
        Ok(())
    }
}

/// What `reader` holds, in memory; made from what was there `before` when that is quicker.
fn catalog(reader: &Reader, before: Option<(Reader, Catalog)>) -> Result<Catalog> {
    if let Some((older, catalog)) = before
        && reader.descends_from(older.generation())
        && let Some(catalog) = catalog.follow(reader)?
    {
        return Ok(catalog);
    }
    Catalog::load(reader)
}

/// Runs `work` with threads of its own, so that what the worker does on all cores need not wait for
/// it; as many as configured (0: every core).
fn in_own_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::environment("cannot start threads").because(error))?.install(work)
}

fn no_index(config: &Config) -> Error {
    let root = config.root.display();
    Error::index(format!("no index of `{root}` yet")).hint(format!("run `sai index --root {root}`"))
}
