//! Could SAI work here? One check for each thing that a person can put right.
//!
//! A check reports what it found and never fails by itself: what is broken is a verdict. Nothing is
//! kept open and nothing is changed, but for a probe file that is gone again at once.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::config::{Ann, Config, EmbedderKind};
use crate::embed::{Embedder, Passage};
use crate::error::{Error, Result};
use crate::git;
use crate::store::{check_vss, find_vss};
use crate::sync;

/// What the checks found, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorReply {
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at, in a word.
    pub name: &'static str,
    pub verdict: Verdict,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// SAI works, not as well as it could.
    Warn,
    /// SAI cannot work.
    Fail,
}

impl Check {
    /// As it should be.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, detail: detail.into(), hint: None }
    }

    /// Works, not as well as it could; `hint` is what to do.
    pub fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    /// Broken, as `error` says.
    pub fn fail(name: &'static str, error: &Error) -> Self {
        Self {
            name,
            verdict: Verdict::Fail,
            detail: error.to_string(),
            hint: error.next_step().map(str::to_owned),
        }
    }
}

/// Looks at everything that `config` needs.
pub fn doctor(config: &Config) -> DoctorReply {
    let model = model(config);
    let identity = model.as_ref().ok().map(|(name, dim)| (name.as_str(), *dim));
    let index = index(config, identity);
    DoctorReply {
        checks: vec![git(config), folder(config), model_check(&model, config), index, vss(config)],
    }
}

fn git(config: &Config) -> Check {
    match (git::work_tree(&config.root), git::head(&config.root)) {
        (Some(_), Some(head)) => Check::ok("git", format!("at commit {head}")),
        (Some(_), None) => Check::ok("git", "a repository without commits"),
        (None, _) => Check::ok("git", "no repository here; SAI works without one"),
    }
}

/// Bytes of the probe file: enough to notice a disk that is full.
const PROBE_BYTES: usize = 1 << 20;

fn folder(config: &Config) -> Check {
    let wanted = config.index_path();
    match probe(&wanted) {
        Ok(()) => Check::ok("folder", format!("`{}` can be written", wanted.display())),
        Err(error) => Check::fail("folder", &error),
    }
}

/// Writes and removes a file in `folder`, or where it would be made.
fn probe(folder: &Path) -> Result<()> {
    let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let written = tempfile::tempfile_in(existing).and_then(|mut file| {
        file.write_all(&vec![0; PROBE_BYTES])?;
        file.sync_all()
    });
    written.map_err(|error| {
        Error::environment(format!("cannot write to `{}`", existing.display()))
            .because(error)
            .hint("free space or change permissions, or name another folder by `--set index_dir=…`")
    })
}

/// The model's name and dimensions, once it has embedded a question and a passage.
fn model(config: &Config) -> Result<(String, usize)> {
    let mut embedder = Embedder::open(&config.embedder)?;
    let question = embedder.query("parse a date", |_| 1.0)?;
    let passage =
        Passage { path: "date.rs", names: "", context: "", code: "fn parse_date(text: &str) {}" };
    let passages = embedder.passages(&[passage])?;
    let dim = embedder.dim();
    if question.len() != dim || passages.iter().any(|vector| vector.len() != dim) {
        return Err(Error::environment(format!(
            "the model `{}` gave vectors of {} dimensions instead of {dim}",
            embedder.model(),
            question.len(),
        )));
    }
    Ok((embedder.model().to_owned(), dim))
}

fn model_check(model: &Result<(String, usize)>, config: &Config) -> Check {
    let place = match config.embedder.kind {
        EmbedderKind::Static => "built in",
        EmbedderKind::Fastembed => "through ONNX Runtime",
        EmbedderKind::Http => "through HTTP",
    };
    match model {
        Ok((name, dim)) => Check::ok("model", format!("`{name}`, {dim} dimensions, {place}")),
        Err(error) => Check::fail("model", error),
    }
}

fn index(config: &Config, model: Option<(&str, usize)>) -> Check {
    let reader = sync::index_dir(config).open(config.limits.duckdb_memory_mib);
    let reader = match reader {
        Ok(Some(reader)) => reader,
        Ok(None) => return Check::warn("index", "nothing is indexed yet", "run `sai index`"),
        Err(error) => return Check::fail("index", &error),
    };
    // Without a model there is nothing to compare; its own check says so.
    let compatible =
        model.map_or(Ok(()), |(name, dim)| sync::check_compatible(reader.meta(), name, dim));
    match compatible {
        Ok(()) => Check::ok("index", format!("generation {}", reader.generation().number)),
        Err(error) => Check::fail("index", &error),
    }
}

/// DuckDB's extension for HNSW indexes. Exact search needs none, so its absence is as it should be
/// unless HNSW is asked for.
fn vss(config: &Config) -> Check {
    if config.search.ann == Ann::Exact {
        return Check::ok("vss", "not needed; vectors are searched exactly");
    }
    let found = find_vss(config.vss_extension().as_deref());
    let usable = found.and_then(|file| check_vss(&file).map(|()| file));
    match usable {
        Ok(file) => Check::ok("vss", format!("`{}` can be loaded", file.display())),
        Err(error) if config.search.ann == Ann::Auto && config.search.vss_extension.is_none() => {
            let threshold = config.search.ann_threshold;
            Check::ok("vss", format!("not needed up to {threshold} chunks; {error}"))
        }
        Err(error) => {
            let hint = error.next_step().unwrap_or("set `search.ann: exact`").to_owned();
            Check::warn("vss", format!("vectors are searched exactly: {error}"), hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_probed_where_it_would_be() {
        let folder = tempfile::tempdir().unwrap();
        probe(&folder.path().join("a/b")).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
