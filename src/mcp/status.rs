//! `sai_index_status` and `sai://status`: what is in the index, and how fresh is it?

use rmcp::model::CallToolResult;
use serde::Serialize;

use super::door::{Door, Spec};
use super::index_repo::Told;
use super::json;
use crate::error::Result;
use crate::request::{IndexState, StaleFiles, StatusQuery, StatusReply};

/// Where the same answer can be read as a resource.
pub(super) const URI: &str = "sai://status";

/// Of the resource.
pub(super) const MIME_TYPE: &str = "application/json";

/// Paths that are listed of each way in which index and tree differ.
const STALE_SHOWN: usize = 20;

pub(super) const SPEC: Spec = Spec {
    name: "sai_index_status",
    title: "Index status",
    about: "Tell what the index of this repository holds: root, generation, age, files, chunks, \
            languages, embedding model, chunker, what was left out and why, which files changed \
            since, and who is writing. Call it when a search finds nothing or its results look old. Takes no arguments.",
    arguments: &[],
    example: "{}",
    writes: false,
};

/// The status, what to do when there is no index, and the job that makes it.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    /// The present or last job of `sai_index_repo` in this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<Told>,
    /// How many files differ, when `stale` does not list all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_cut: Option<String>,
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
    let query = StatusQuery { skipped_paths: false, compare: true };
    let mut status = door.handle.status(query).await?;
    let stale_cut = status.stale.as_mut().and_then(cut);
    let next_step = (status.state == IndexState::Missing).then(|| {
        let root = status.root.display();
        if door.rights.write {
            "nothing is indexed yet: call sai_index_repo".to_owned()
        } else {
            format!("nothing is indexed yet: run `sai index` in {root}")
        }
    });
    Ok(Answer { next_step, job: door.jobs.told(), stale_cut, status })
}

/// Shortens the lists of differing files; says how many there are when something was cut.
fn cut(stale: &mut StaleFiles) -> Option<String> {
    let StaleFiles { changed, added, removed } = stale;
    let counts = [changed.len(), added.len(), removed.len()];
    for paths in [changed, added, removed] {
        paths.truncate(STALE_SHOWN);
    }
    let [changed, added, removed] = counts;
    counts.iter().any(|count| *count > STALE_SHOWN).then(|| {
        format!(
            "{changed} changed, {added} added and {removed} removed files; the first \
             {STALE_SHOWN} of each are listed"
        )
    })
}
