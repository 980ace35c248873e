//! `sai index`: makes the index equal to the tree, showing how far it is.

use std::io;

use clap::Args;

use super::progress::Bar;
use super::{DONE, Ended, Session, print};
use crate::error::{Error, ErrorKind, Result};
use crate::request::{IndexQuery, IndexReply, IndexState, StatusQuery};
use crate::worker::{Handle, Pending};

/// Bring the index up to date with the files
///
/// Reads what is new or changed and publishes a new generation; searches go on with the old one
/// until then. An interrupted run changes nothing.
#[derive(Debug, Args)]
pub(super) struct IndexArgs {
    /// Start from nothing instead of from the current generation
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &IndexArgs, session: &Session) -> Result<u8, Ended> {
    let handle = session.start()?;
    let reply = make(&handle, args.force, session)?;
    if session.globals.json {
        print::json(&reply)?;
    } else {
        print::out(&(summary(&reply) + "\n"))?;
    }
    Ok(DONE)
}

/// Asks; when there is no index yet, makes one and asks again, unless `never` says not to.
pub(super) fn first<R>(
    handle: &Handle,
    session: &Session,
    never: bool,
    ask: impl Fn() -> Result<R>,
) -> Result<R, Ended> {
    match ask() {
        Err(error) if error.kind() == ErrorKind::Index && !never => {
            // An index that is there but does not fit is the reader's to rebuild or to remove.
            let status = handle.status(StatusQuery::default()).wait();
            if !status.is_ok_and(|status| status.state == IndexState::Missing) {
                return Err(error.into());
            }
            let reply = make(handle, false, session)?;
            if !session.globals.quiet {
                print::tell(&summary(&reply));
            }
            Ok(ask()?)
        }
        answer => Ok(answer?),
    }
}

/// Runs an indexing job under a progress bar until it ends or Ctrl-C cancels it.
pub(super) fn make(handle: &Handle, force: bool, session: &Session) -> Result<IndexReply, Ended> {
    let bar = Bar::start(session.globals.quiet);
    let query = IndexQuery { force, progress: Some(bar.listener()) };
    watched(&bar, handle.index(query))
}

/// Waits for the job that `bar` shows until it ends or Ctrl-C cancels it.
pub(super) fn watched<R>(bar: &Bar, job: Pending<R>) -> Result<R, Ended> {
    let reply = wait(job);
    bar.clear();
    if matches!(reply, Err(Ended::Interrupted)) {
        print::tell("interrupted; the index is as it was");
    }
    reply
}

/// Waits for the job. The first Ctrl-C asks it to stop and waits for that, so that it leaves nothing
/// behind; the second one waits no longer.
fn wait<R>(mut job: Pending<R>) -> Result<R, Ended> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
    runtime.block_on(async {
        tokio::select! {
            reply = &mut job => return Ok(reply?),
            pressed = tokio::signal::ctrl_c() => pressed.map_err(no_runtime)?,
        }
        job.cancel();
        tokio::select! {
            reply = job => {
                // A run that had published already is not undone.
                if let Ok(reply) = reply {
                    return Ok(reply);
                }
            }
            _ = tokio::signal::ctrl_c() => {}
        }
        Err(Ended::Interrupted)
    })
}

fn no_runtime(error: io::Error) -> Error {
    Error::environment("cannot wait for the indexing job").because(error)
}

/// What the run did, in a few lines.
pub(super) fn summary(reply: &IndexReply) -> String {
    let mut lines = vec![format!(
        "{}: {}, {}, {}, {}, in {:.1} s",
        if reply.published { "indexed" } else { "up to date" },
        print::count(reply.files, "file"),
        print::count(reply.chunks, "chunk"),
        print::count(usize::try_from(reply.lines).unwrap_or(usize::MAX), "line"),
        print::bytes(reply.index_bytes),
        reply.seconds,
    )];
    if reply.published {
        lines.push(format!(
            "  {} added, {} changed, {} removed; {} computed",
            print::number(reply.added),
            print::number(reply.changed),
            print::number(reply.removed),
            print::count(reply.embedded, "vector"),
        ));
    }
    if reply.skipped > 0 {
        let files = print::count(reply.skipped, "file");
        lines.push(format!("  {files} left out; `sai status --skipped` lists them"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> IndexReply {
        IndexReply {
            generation: 3,
            published: true,
            files: 1234,
            chunks: 5678,
            lines: 90_123,
            added: 30,
            changed: 4,
            removed: 1,
            skipped: 2,
            embedded: 321,
            index_bytes: 1 << 20,
            seconds: 2.345,
        }
    }

    #[test]
    fn a_summary_says_what_changed() {
        assert_eq!(
            summary(&reply()),
            "indexed: 1,234 files, 5,678 chunks, 90,123 lines, 1.0 MiB, in 2.3 s\n  \
             30 added, 4 changed, 1 removed; 321 vectors computed\n  \
             2 files left out; `sai status --skipped` lists them"
        );
    }

    #[test]
    fn a_summary_of_nothing_to_do_is_one_line() {
        let reply = IndexReply { published: false, skipped: 0, seconds: 0.01, ..reply() };
        assert_eq!(
            summary(&reply),
            "up to date: 1,234 files, 5,678 chunks, 90,123 lines, 1.0 MiB, in 0.0 s"
        );
    }
}
