//! When does the server begin, and when does it end?
//!
//! It begins before anything is opened, so that the handshake is never late. It ends when its input
//! ends, when it is told to (SIGTERM, SIGINT), or when the process that started it is gone; index
//! runs are ended with it, so that nothing of them is left. Standard output is the protocol's alone:
//! what a library prints there goes to the log.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, io};
use rmcp::{RoleServer, ServiceExt};

use super::door::{Door, Rights};
use super::setup;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::worker::Handle;

/// How often the server looks whether its parent still lives.
const PARENT_CHECK: Duration = Duration::from_secs(2);
/// How long a server that was told to end may take to say goodbye: a client that reads no more
/// must not hold it.
const GOODBYE_MAX: Duration = Duration::from_secs(5);
/// How long an index run may take to clean up behind itself. What a slower one leaves is swept by
/// the next writer.
const CLEANUP_MAX: Duration = Duration::from_secs(5);

/// Serves MCP on stdin and stdout until stdin ends, a signal comes, or the parent process is gone.
/// Blocks; to be called outside of async code.
///
/// # Errors
/// Environment when threads or signal handlers cannot be had; Usage when what is on the other end
/// of stdin is no MCP client.
pub fn serve(config: &Config, rights: Rights) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("sai-mcp")
        .enable_all()
        .build()
        .map_err(|e| Error::environment("cannot start the server's threads").because(e))?;
    let handle = Handle::start(config.clone());
    let ended = runtime.block_on(session(config, rights, handle.clone()));
    // A read of stdin cannot be cancelled; it is left behind instead of waited for.
    runtime.shutdown_background();
    handle.end_jobs(CLEANUP_MAX);
    ended
}

async fn session(config: &Config, rights: Rights, handle: Handle) -> Result<()> {
    let mut stop = pin!(stop()?);
    let door = Door::new(handle, config, rights);
    let (input, _) = io::stdio_pipes();
    let output = output()?;
    let client = Opening { inner: AsyncRwTransport::new_server(input, output), begun: false };
    let service = tokio::select! {
        served = door.serve(client) => match served {
            Ok(service) => service,
            Err(error) => return no_session(error),
        },
        () = &mut stop => return Ok(()),
    };
    let quit = service.cancellation_token();
    let mut ended = pin!(service.waiting());
    tokio::select! {
        _ = &mut ended => {}
        () = stop => {
            quit.cancel();
            let _ = tokio::time::timeout(GOODBYE_MAX, ended).await;
        }
    }
    setup::idle().await;
    Ok(())
}

/// The protocol's way out, on a descriptor of its own. From this call on, whatever else writes to
/// standard output, as a C library may, ends in the log instead of between two messages.
#[cfg(unix)]
fn output() -> Result<tokio::fs::File> {
    use std::os::fd::AsFd;
    let cannot = |e| Error::environment("cannot set standard output aside").because(e);
    let own = std::io::stdout().as_fd().try_clone_to_owned().map_err(cannot)?;
    rustix::stdio::dup2_stdout(std::io::stderr()).map_err(|e| cannot(e.into()))?;
    Ok(tokio::fs::File::from_std(own.into()))
}

/// The protocol's way out.
#[cfg(not(unix))]
fn output() -> Result<tokio::io::Stdout> {
    Ok(tokio::io::stdout())
}

/// What it means that no session came about: a client that left early is a normal end.
fn no_session(error: ServerInitializeError) -> Result<()> {
    use ServerInitializeError::{Cancelled, ConnectionClosed, TransportError};
    match error {
        Cancelled | ConnectionClosed(_) | TransportError { .. } => Ok(()),
        other => Err(Error::usage("the client did not open an MCP session")
            .hint("`sai mcp` is started by an MCP client; to search from a shell use `sai search`")
            .because(other)),
    }
}

/// Resolves when the process should end. Signals are caught from this call on.
#[cfg(unix)]
fn stop() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let catch = |kind| {
        signal(kind).map_err(|e| Error::environment("cannot catch termination signals").because(e))
    };
    let mut terminate = catch(SignalKind::terminate())?;
    let mut interrupt = catch(SignalKind::interrupt())?;
    let parent = std::os::unix::process::parent_id();
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = orphaned(parent) => {}
        }
    })
}

/// Resolves when the process should end.
#[cfg(not(unix))]
fn stop() -> Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a handler the system ends the process by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// Resolves when the process has another parent than `parent`: that one has died, and a client that
/// was killed can leave stdin open in some other child of its own.
#[cfg(unix)]
async fn orphaned(parent: u32) {
    let mut checks = tokio::time::interval(PARENT_CHECK);
    while std::os::unix::process::parent_id() == parent {
        checks.tick().await;
    }
}

/// A transport that passes over notifications and answers until a session is asked for. rmcp ends
/// the process at the first one, yet a client may cancel a probe before it turns to `initialize`.
struct Opening<T> {
    inner: T,
    begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = std::result::Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            let JsonRpcMessage::Request(request) = &message else {
                if self.begun {
                    return Some(message);
                }
                continue;
            };
            let probe = matches!(
                request.request,
                ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
            );
            self.begun |= !probe;
            return Some(message);
        }
    }

    async fn close(&mut self) -> std::result::Result<(), Self::Error> {
        self.inner.close().await
    }
}
