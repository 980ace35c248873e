//! `sai_index_repo`: make the index, or make it whole, without keeping the client waiting.
//!
//! Indexing is a job: the call answers when the job is done or after two seconds, whichever is first,
//! and the job goes on. There is one at a time; a further call, or `sai_index_status`, tells how far it
//! is.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde::Serialize;
use tokio::sync::watch;

use super::argument::{Argument, Arguments, Shape};
use super::door::{Door, Spec};
use super::hits::quoted;
use super::json;
use crate::error::{Error, ErrorKind, Result};
use crate::request::{IndexQuery, IndexReply, Phase, Progress};
use crate::worker::Handle;

/// How long a call waits for its job.
const PATIENCE: Duration = Duration::from_millis(1800);

/// How often a client is told about progress.
const TELL_EVERY: Duration = Duration::from_millis(500);

pub(super) const SPEC: Spec = Spec {
    name: "sai_index_repo",
    title: "Index the repository",
    about: "Make the index of this repository, or bring all of it up to date, however much changed. \
            Runs as a job: answers within two seconds with its state (running, done, failed or \
            cancelled) and how far it is, and the job goes on; call sai_index_status to follow it. \
            Searches are answered meanwhile. force starts from nothing; cancel stops a running job. \
            Needs a server that was started with --allow-write.",
    arguments: ARGUMENTS,
    example: r#"{"path": "."}"#,
    writes: true,
};

const ARGUMENTS: &[Argument] = &[
    Argument {
        name: "path",
        aliases: &["root", "directory"],
        shape: Shape::Text,
        required: false,
        about: "\".\", the default: the server's whole root. For a part of it use sai_refresh.",
    },
    Argument {
        name: "force",
        aliases: &["rebuild", "full"],
        shape: Shape::Flag,
        required: false,
        about: "Start from nothing instead of from the present index.",
    },
    Argument {
        name: "cancel",
        aliases: &["stop"],
        shape: Shape::Flag,
        required: false,
        about: "Stop the running job; the index stays as it was.",
    },
];

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Done,
    Failed,
    Cancelled,
}

/// A job as it is told to a client.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Told {
    state: State,
    /// What it is doing, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    files_done: usize,
    /// 0 until it is known.
    files_total: usize,
    chunks: usize,
    seconds: f64,
    /// What it did, when it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<IndexReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
}

/// A job. Its state goes through a channel that a call can wait on.
struct Job {
    started: Instant,
    progress: Arc<Mutex<Option<Progress>>>,
    state: watch::Receiver<Option<Result<IndexReply, Ended>>>,
    cancel: watch::Sender<bool>,
}

/// Why a job has no result.
#[derive(Clone, Debug)]
struct Ended {
    is_cancelled: bool,
    error: String,
    hint: Option<String>,
    seconds: f64,
}

/// The server's jobs: the present or last one.
#[derive(Default)]
pub(super) struct Jobs {
    job: Mutex<Option<Arc<Job>>>,
}

impl Jobs {
    /// The present or last job, if there was one.
    pub(super) fn told(&self) -> Option<Told> {
        self.last().map(|job| job.told())
    }

    fn last(&self) -> Option<Arc<Job>> {
        lock(&self.job).clone()
    }

    /// The running job, or a new one and `true`.
    fn join_or_start(&self, handle: &Handle, force: bool) -> (Arc<Job>, bool) {
        let mut last = lock(&self.job);
        match &*last {
            Some(job) if job.is_running() => (Arc::clone(job), false),
            _ => {
                let job = Arc::new(Job::start(handle, force));
                *last = Some(Arc::clone(&job));
                (job, true)
            }
        }
    }
}

impl Job {
    /// Starts indexing. Must be called within the runtime.
    fn start(handle: &Handle, force: bool) -> Self {
        let started = Instant::now();
        let progress = Arc::<Mutex<Option<Progress>>>::default();
        let heard = Arc::clone(&progress);
        let listener = move |progress: Progress| *lock(&heard) = Some(progress);
        let mut pending = handle.index(IndexQuery { force, progress: Some(Arc::new(listener)) });
        let (tell, state) = watch::channel(None);
        let (cancel, mut cancelled) = watch::channel(false);
        tokio::spawn(async move {
            let reply = tokio::select! {
                reply = &mut pending => reply,
                // The sender lives as long as the job is known; its end means the server's.
                () = until(&mut cancelled, |cancel| *cancel) => {
                    pending.cancel();
                    pending.await
                }
            };
            let ended = |error: Error| Ended {
                is_cancelled: error.kind() == ErrorKind::Stopped,
                error: error.to_string(),
                hint: error.next_step().map(str::to_owned),
                seconds: started.elapsed().as_secs_f64(),
            };
            let _ = tell.send(Some(reply.map_err(ended)));
        });
        Self { started, progress, state, cancel }
    }

    fn is_running(&self) -> bool {
        self.state.borrow().is_none()
    }

    fn told(&self) -> Told {
        let progress = *lock(&self.progress);
        let mut told = Told {
            state: State::Running,
            phase: progress.map(|progress| progress.phase),
            files_done: progress.map_or(0, |progress| progress.done),
            files_total: progress.map_or(0, |progress| progress.total),
            chunks: progress.map_or(0, |progress| progress.chunks),
            seconds: self.started.elapsed().as_secs_f64(),
            result: None,
            error: None,
            next_step: Some("call sai_index_status to follow the job".to_owned()),
        };
        match &*self.state.borrow() {
            None => return told,
            Some(Ok(reply)) => {
                told.state = State::Done;
                told.next_step = None;
                told.seconds = reply.seconds;
                (told.files_done, told.files_total) = (reply.files, reply.files);
                told.chunks = reply.chunks;
                told.result = Some(reply.clone());
            }
            Some(Err(ended)) => {
                told.state = if ended.is_cancelled { State::Cancelled } else { State::Failed };
                told.next_step.clone_from(&ended.hint);
                told.seconds = ended.seconds;
                told.error = Some(ended.error.clone());
            }
        }
        told.phase = None;
        told
    }
}

/// Starts or joins a job and tells how far it is.
pub(super) async fn answer(
    door: &Door,
    given: &Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult> {
    let path = given.text("path")?;
    if !is_root(&path, &door.root) {
        let message = format!("`path` is {}, not the root", quoted(&path));
        return Err(Error::usage(message)
            .hint("leave it out to index the whole root; for a part of it call sai_refresh"));
    }
    if given.flag("cancel")? {
        return json::result(&cancelled(&door.jobs).await?);
    }
    let (job, is_new) = door.jobs.join_or_start(&door.handle, given.flag("force")?);
    // A client that cancels its call means the job that the call has started.
    let mut guard = CancelOnDrop(is_new.then_some(job.cancel.clone()));
    let _ = tokio::time::timeout(PATIENCE, followed(&job, context)).await;
    guard.0 = None;
    json::result(&job.told())
}

/// Stops the running job and waits for its end.
async fn cancelled(jobs: &Jobs) -> Result<Told> {
    let Some(job) = jobs.last() else {
        return Err(Error::usage("no job was started by this server")
            .hint("call sai_index_repo without `cancel` to start one"));
    };
    let _ = job.cancel.send(true);
    let mut state = job.state.clone();
    let _ = tokio::time::timeout(PATIENCE, until(&mut state, Option::is_some)).await;
    Ok(job.told())
}

/// Waits for the job's end, telling the client how far it is when it asked for that.
async fn followed(job: &Job, context: &RequestContext<RoleServer>) {
    let mut state = job.state.clone();
    let Some(token) = context.meta.get_progress_token() else {
        return until(&mut state, Option::is_some).await;
    };
    let mut every = tokio::time::interval(TELL_EVERY);
    loop {
        tokio::select! {
            () = until(&mut state, Option::is_some) => return,
            _ = every.tick() => tell(job, token.clone(), context).await,
        }
    }
}

async fn tell(job: &Job, token: ProgressToken, context: &RequestContext<RoleServer>) {
    let Some(progress) = *lock(&job.progress) else { return };
    let message = match progress.phase {
        Phase::Waiting => "waiting for another writer".to_owned(),
        Phase::Walking => "listing files".to_owned(),
        Phase::Indexing => format!("{} of {} files", progress.done, progress.total),
        Phase::Connecting => "building the HNSW index".to_owned(),
        Phase::Publishing => "publishing".to_owned(),
    };
    // Progress counts files; before the first one is done time stands in, so that it never falls.
    let mut told =
        ProgressNotificationParam::new(token, progress.done as f64).with_message(message);
    if progress.total > 0 {
        told = told.with_total(progress.total as f64);
    }
    let _ = context.peer.notify_progress(told).await;
}

/// Resolves when what the channel holds is as wanted, or its sender is gone.
async fn until<T>(channel: &mut watch::Receiver<T>, is_wanted: impl Fn(&T) -> bool) {
    // What it holds stays locked as long as it is looked at.
    drop(channel.wait_for(is_wanted).await);
}

/// Cancels the job unless it is told not to.
struct CancelOnDrop(Option<watch::Sender<bool>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            let _ = cancel.send(true);
        }
    }
}

fn is_root(path: &str, root: &Path) -> bool {
    let path = path.trim();
    path.is_empty() || root.join(path).canonicalize().is_ok_and(|path| path == root)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds the lock")
}
