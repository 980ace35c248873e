//! What if a call panics, takes too long, or nobody waits for it any more? It is answered all the
//! same, and the server goes on.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// The outcome of `call`, or why there is none: it panicked (Bug), took longer than `allowed`, or
/// `cancelled` came first (Stopped). In the latter two cases `call` is dropped, which cancels its
/// work.
pub(super) async fn guarded<T, E: From<Error>>(
    allowed: Duration,
    cancelled: impl Future<Output = ()>,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut call = pin!(call);
    let caught = poll_fn(|context| {
        // Nothing is used after a panic but the error: the call is not polled again.
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(defect().into())))
    });
    tokio::select! {
        biased;
        () = cancelled => Err(Error::new(ErrorKind::Stopped, "the request was cancelled").into()),
        done = tokio::time::timeout(allowed, caught) => done.unwrap_or_else(|_| Err(late(allowed).into())),
    }
}

fn defect() -> Error {
    Error::new(ErrorKind::Bug, "a defect in SAI ended this call; the server goes on")
        .hint("try other arguments; what happened is in the server's log (its stderr)")
}

fn late(allowed: Duration) -> Error {
    let seconds = allowed.as_secs();
    let message = format!("the request took longer than the {seconds} s that `request_s` allows");
    Error::new(ErrorKind::Stopped, message)
        .hint("narrow it with `path_glob` or `language`, or ask again")
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn an_outcome_passes_through() {
        assert_eq!(guarded::<_, Error>(LONG, pending(), ready(Ok(3))).await.unwrap(), 3);
        let error =
            guarded::<(), Error>(LONG, pending(), ready(Err(Error::index("no index")))).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Index);
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let call = async {
            tokio::task::yield_now().await;
            panic!("on purpose");
        };
        let error = guarded::<(), Error>(LONG, pending(), call).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Bug);
        assert!(error.to_string().contains("the server goes on"));
    }

    #[tokio::test]
    async fn the_deadline_ends_a_call() {
        let error = guarded::<(), Error>(Duration::ZERO, pending(), pending()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Stopped);
        assert!(error.next_step().unwrap().contains("path_glob"));
    }

    #[tokio::test]
    async fn a_cancelled_call_is_dropped() {
        struct Work<'a>(&'a std::cell::Cell<bool>);
        impl Drop for Work<'_> {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let dropped = std::cell::Cell::new(false);
        let work = Work(&dropped);
        let call = async move {
            let _work = work;
            pending::<Result<()>>().await
        };
        let error = guarded(LONG, ready(()), call).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Stopped);
        assert!(dropped.get());
    }
}
