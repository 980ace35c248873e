//! How long may this go on? One request's deadline and whether anybody still waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// One request's turn. Cheap to clone; rooms call [`Turn::check`] between steps.
#[derive(Clone, Debug)]
pub struct Turn {
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Turn {
    /// A turn that ends after `allowed`; `None` allows any time.
    pub fn new(allowed: Option<Duration>) -> Self {
        Self {
            deadline: allowed.and_then(|allowed| Instant::now().checked_add(allowed)),
            cancelled: Arc::default(),
        }
    }

    /// Ends the turn: the next [`Turn::check`] fails.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Fails once the turn was cancelled or its time has passed.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Stopped, "the request was cancelled"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::new(ErrorKind::Stopped, "the request took longer than allowed")
                .hint("narrow it with a path or a language, or ask again"));
        }
        Ok(())
    }
}
