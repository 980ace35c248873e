//! `sai_index_status` and `sai://status`: what is in the index, and how fresh is it?

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use super::door::{Door, Spec};
use crate::error::{Error, ErrorKind, Result};
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
};

/// The status, and what to do when there is no index.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    status: StatusReply,
}

/// The same JSON as text and as structured content: clients differ in which of them a model sees.
pub(super) async fn answer(door: &Door) -> Result<CallToolResult> {
    let text = json(door).await?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(&text)]);
    result.structured_content = Some(serde_json::from_str(&text).map_err(unwritable)?);
    Ok(result)
}

/// The status as a JSON text.
pub(super) async fn json(door: &Door) -> Result<String> {
    let status = door.handle.status(StatusQuery::default()).await?;
    let next_step = (status.state == IndexState::Missing)
        .then(|| format!("nothing is indexed yet: run `sai index` in {}", status.root.display()));
    serde_json::to_string(&Answer { next_step, status }).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "the status cannot be written as JSON").because(error)
}
