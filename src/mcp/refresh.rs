//! `sai_refresh`: make the index equal to the tree at named paths.

use rmcp::model::CallToolResult;

use super::argument::{Argument, Arguments, Shape};
use super::door::{Door, Spec};
use super::json;
use crate::error::Result;
use crate::request::{PATHS_MAX, RefreshQuery};

pub(super) const SPEC: Spec = Spec {
    name: "sai_refresh",
    title: "Refresh files",
    about: "Re-index specific files after you changed them, so that the next search sees them: \
            each path is read, split and embedded again, or removed from the index when it is gone \
            or no longer in scope; a folder stands for what is in it. At most 200 paths. Use \
            sai_sync when you do not know what changed. Returns the refreshed paths with their \
            chunk counts, and the removed paths. Needs a server that was started with \
            --allow-write.",
    arguments: ARGUMENTS,
    example: r#"{"paths": ["src/retry.rs", "src/net/"]}"#,
    writes: true,
};

const ARGUMENTS: &[Argument] = &[Argument {
    name: "paths",
    aliases: &["path", "files", "file"],
    shape: Shape::Strings,
    required: true,
    about: "Files or folders, relative to the root, e.g. [\"src/retry.rs\"]. 1 to 200.",
}];

/// Asks the worker and shows its reply.
pub(super) async fn answer(door: &Door, given: &Arguments) -> Result<CallToolResult> {
    let paths = given.strings("paths")?;
    let query = RefreshQuery { paths, paths_max: Some(PATHS_MAX), ..RefreshQuery::default() };
    json::result(&door.handle.refresh(query).await?)
}
