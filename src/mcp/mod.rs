//! How does an agent ask? SAI as an MCP server over standard input and output, for clients of both
//! eras of the protocol: with the `initialize` handshake, and with `server/discover` and
//! self-contained requests.
//!
//! In: JSON-RPC lines. Out: JSON-RPC lines on stdout and nothing else; logs go to stderr. Each tool
//! has a file that reads its arguments, asks the [`Handle`](crate::worker::Handle) once and shows
//! the reply. Every call gets an answer: a wrong argument, a missing index, a passed deadline and a
//! panic are results that an agent can read and act on.

mod argument;
mod door;
mod duplicates;
mod escape;
mod fresh;
mod guard;
mod hits;
mod index_repo;
mod json;
mod refresh;
mod search;
mod session;
mod setup;
mod similar;
mod status;
mod sync;

pub use door::Rights;
#[cfg(feature = "conformance")]
pub use door::handler;
pub use session::serve;
