//! `sai_index_status` and `sai://status`: what is in the index, and how fresh is it?

use rmcp::model::CallToolResult;
use serde::Serialize;

use super::door::{Door, Spec};
use super::json;
use crate::error::Result;
use crate::request::{IndexState, StatusQuery, StatusReply};

/// Where the same answer can be read as a resource.
pub(super) const URI: &str = "sai://status";

/// Of the resource.
pub(super) const MIME_TYPE: &str = "application/json";

pub(super) const SPEC: Spec = Spec {
    name: "sai_index_status",
    title: "Index status",
    about: "Tell what the index of this repository holds: root, generation, age, files, chunks, \
            languages, embedding model, chunker, what was left out and why, and who is writing. \
            Call it when a search finds nothing or its results look old. Takes no arguments.",
    arguments: &[],
    example: "{}",
    writes: false,
};

/// The status, and what to do when there is no index.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    status: StatusReply,
}

/// The status as a tool's result.
pub(super) async fn answer(door: &Door) -> Result<CallToolResult> {
    json::result(&ask(door).await?)
}

/// The status as a JSON text.
pub(super) async fn text(door: &Door) -> Result<String> {
    json::written(&ask(door).await?)
}

async fn ask(door: &Door) -> Result<Answer> {
    let status = door.handle.status(StatusQuery::default()).await?;
    let next_step = (status.state == IndexState::Missing)
        .then(|| format!("nothing is indexed yet: run `sai index` in {}", status.root.display()));
    Ok(Answer { next_step, status })
}
