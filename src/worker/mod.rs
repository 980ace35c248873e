//! The one thread that owns the index's connection, the embedder and the search structures, and the
//! [`Handle`] that reaches it.

pub mod status;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crossbeam_channel::Sender;
use tokio::sync::oneshot;

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::request::{
    FlushReply, IndexQuery, IndexReply, Request, SearchQuery, SearchReply, StatusQuery, StatusReply,
};
use crate::turn::Turn;

/// Reaches the worker from any thread. Cheap to clone; the worker ends when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Handle {
    #[expect(dead_code)]
    requests: Sender<Request>,
}

/// An answer on its way: await it, or [`Pending::wait`] for it outside of async code. Dropping it
/// cancels the request at its next step.
#[derive(Debug)]
pub struct Pending<R> {
    turn: Turn,
    reply: oneshot::Receiver<Result<R>>,
}

impl Handle {
    /// Starts the worker. Opens nothing yet: the index and the model are opened by the first request
    /// that needs them.
    pub fn start(_config: Config) -> Self {
        unimplemented!()
    }

    /// Which chunks answer this question?
    pub fn search(&self, _query: SearchQuery) -> Pending<SearchReply> {
        unimplemented!()
    }

    /// What is in the index, and how fresh is it?
    pub fn status(&self, _query: StatusQuery) -> Pending<StatusReply> {
        unimplemented!()
    }

    /// Makes the index equal to the tree; runs beside the worker, which goes on answering.
    pub fn index(&self, _query: IndexQuery) -> Pending<IndexReply> {
        unimplemented!()
    }

    /// Removes the index.
    pub fn flush(&self) -> Pending<FlushReply> {
        unimplemented!()
    }
}

impl<R> Pending<R> {
    /// Blocks until the answer is there. Not for async code.
    ///
    /// # Errors
    /// The answer's own error, or Bug when the worker is gone.
    pub fn wait(mut self) -> Result<R> {
        loop {
            match self.reply.try_recv() {
                Ok(answer) => return answer,
                Err(oneshot::error::TryRecvError::Closed) => return Err(gone()),
                Err(oneshot::error::TryRecvError::Empty) => {
                    std::thread::yield_now();
                }
            }
        }
    }
}

impl<R> Future for Pending<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R>> {
        Pin::new(&mut self.reply).poll(context).map(|answer| answer.unwrap_or_else(|_| Err(gone())))
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
