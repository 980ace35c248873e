//! `sai_sync`: make the index equal to the tree where it changed.

use rmcp::model::CallToolResult;

use super::argument::{Argument, Arguments, Shape};
use super::door::{Door, Spec};
use super::json;
use crate::error::Result;
use crate::request::{PATHS_MAX, SyncQuery};

pub(super) const SPEC: Spec = Spec {
    name: "sai_sync",
    title: "Sync with the tree",
    about: "Bring the index up to date with the working tree after edits, a commit, a pull or a \
            branch switch: changed and new files are indexed again, deleted and now excluded ones \
            removed. By default everything that differs from what was indexed; narrow it with \
            since (a git revision) or staged. At most 200 changed files. Returns the refreshed \
            paths with their chunk counts, and the removed paths. Needs a server that was started \
            with --allow-write.",
    arguments: ARGUMENTS,
    example: r#"{"since": "HEAD~3"}"#,
    writes: true,
};

const ARGUMENTS: &[Argument] = &[
    Argument {
        name: "since",
        aliases: &["revision", "rev", "commit", "base"],
        shape: Shape::Text,
        required: false,
        about: "Only what changed since this git revision, e.g. \"HEAD~3\" or \"main\". Default: \
                since the index was made.",
    },
    Argument {
        name: "staged",
        aliases: &["cached"],
        shape: Shape::Flag,
        required: false,
        about: "Only what is staged in git.",
    },
];

/// Asks the worker and shows its reply.
pub(super) async fn answer(door: &Door, given: &Arguments) -> Result<CallToolResult> {
    let query = SyncQuery {
        since: given.word("since")?,
        staged: given.flag("staged")?,
        files_max: Some(PATHS_MAX),
        ..SyncQuery::default()
    };
    json::result(&door.handle.sync(query).await?)
}
