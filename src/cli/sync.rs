//! `sai sync`: brings the index up to date with what changed, and says which files that were.

use std::fmt::Write;

use clap::Args;

use super::progress::Bar;
use super::{DONE, Ended, Session, index, print};
use crate::request::{RefreshReply, SyncQuery};

/// Paths listed of each kind.
const PATHS_SHOWN: usize = 20;

/// Bring the index up to date with what changed
///
/// Compares the whole tree with the index by size and times, and by content where these cannot
/// vouch for it. With a revision, or for what is staged, git says which files to look at. Needs an
/// index: `sai index` makes one.
#[derive(Debug, Args)]
pub(super) struct SyncArgs {
    /// Only what changed since this revision, untracked files included
    #[arg(long, value_name = "REV")]
    since: Option<String>,

    /// Only what is staged
    #[arg(long)]
    staged: bool,

    /// Wait for other writers as long as it takes, unless another sync waits already; for hooks
    #[arg(long)]
    background: bool,
}

pub(super) fn run(args: &SyncArgs, session: &Session) -> Result<u8, Ended> {
    let handle = session.start()?;
    let bar = Bar::start(session.globals.quiet);
    let query = SyncQuery {
        since: args.since.clone(),
        staged: args.staged,
        in_turn: args.background,
        progress: Some(bar.listener()),
        ..SyncQuery::default()
    };
    let reply = index::watched(&bar, handle.sync(query))?;
    show(&reply, session)
}

/// Prints what a sync or a refresh did.
pub(super) fn show(reply: &RefreshReply, session: &Session) -> Result<u8, Ended> {
    if session.globals.json {
        print::json(reply)?;
    } else {
        print::out(&summary(reply))?;
    }
    Ok(DONE)
}

fn summary(reply: &RefreshReply) -> String {
    let RefreshReply { refreshed, removed, seconds, .. } = reply;
    let mut text = format!(
        "{} refreshed, {} removed, in {seconds:.1} s\n",
        print::count(refreshed.len(), "file"),
        print::number(removed.len()),
    );
    for file in refreshed.iter().take(PATHS_SHOWN) {
        let path = print::safe(file.path.as_str());
        let _ = writeln!(text, "  {path}  {}", print::count(file.chunks, "chunk"));
    }
    rest(&mut text, refreshed.len());
    for path in removed.iter().take(PATHS_SHOWN) {
        let _ = writeln!(text, "  {}  removed", print::safe(path.as_str()));
    }
    rest(&mut text, removed.len());
    for note in &reply.notes {
        let _ = writeln!(text, "note: {}", print::safe(note));
    }
    text
}

fn rest(text: &mut String, paths: usize) {
    if let Some(more) = paths.checked_sub(PATHS_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {}", print::count(more, "other"));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::request::Refreshed;
    use crate::types::RelPath;

    fn path(n: usize) -> RelPath {
        RelPath::new(Path::new(&format!("f{n}.rs"))).unwrap()
    }

    #[test]
    fn a_summary_lists_the_first_files_and_every_note() {
        let reply = RefreshReply {
            refreshed: (0..22).map(|n| Refreshed { path: path(n), chunks: n }).collect(),
            removed: vec![path(99)],
            generation: 4,
            published: true,
            since: None,
            head: None,
            notes: vec!["one thing".into()],
            seconds: 0.25,
        };
        let text = summary(&reply);
        assert!(
            text.starts_with(
                "22 files refreshed, 1 removed, in 0.2 s\n  f0.rs  0 chunks\n  f1.rs  1 chunk\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                "  f19.rs  19 chunks\n  and 2 others\n  f99.rs  removed\nnote: one thing\n"
            ),
            "{text}"
        );
    }
}
