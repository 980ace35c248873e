//! What is in the index, and how fresh is it?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use crate::chunk::CHUNKER;
use crate::config::Config;
use crate::embed::Embedder;
use crate::error::Result;
use crate::retrieval::Catalog;
use crate::store::{Reader, WriterInfo};
use crate::sync::scope::{Scope, SkipReason};
use crate::sync::{self, plan};

/// How much to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusQuery {
    /// List every file that was left out, not only the counts.
    pub skipped_paths: bool,
    /// Compare the index with the tree (walks it); without, `stale` is `None`.
    pub compare: bool,
}

/// Whether there is an index to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Nothing was indexed yet.
    Missing,
    /// It answers.
    Ready,
}

/// How much of a language is indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LanguageCount {
    pub language: &'static str,
    pub files: usize,
    pub chunks: usize,
}

/// How many files were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedCount {
    /// The reason's name.
    pub reason: String,
    /// The reason as a sentence, with the switch that changes it.
    pub description: String,
    pub files: usize,
    /// Up to three of them.
    pub examples: Vec<String>,
}

/// Where index and tree differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StaleFiles {
    /// Indexed files whose content differs now.
    pub changed: Vec<String>,
    /// Files of the tree that are not in the index.
    pub added: Vec<String>,
    /// Indexed files that are gone or no longer in scope.
    pub removed: Vec<String>,
}

/// What is in the index. Absent values mean that there is no index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusReply {
    pub state: IndexState,
    /// The folder that is indexed.
    #[serde(serialize_with = "as_shown")]
    pub root: PathBuf,
    #[serde(serialize_with = "as_shown")]
    pub index_dir: PathBuf,
    /// Always `duckdb`.
    pub backend: &'static str,
    /// The generation's file name, without its folder.
    pub collection: Option<String>,
    pub generation: Option<u64>,
    /// The embedding model that made the vectors (the configured one when there is no index).
    pub model: String,
    /// Dimensions of a vector.
    pub dimension: usize,
    /// How vectors are searched: `exact` or `hnsw`.
    pub vector_search: &'static str,
    /// Why they are searched exactly although an HNSW index is wanted, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_search_note: Option<String>,
    pub chunker: String,
    pub files: usize,
    pub chunks: usize,
    pub lines: u64,
    /// Bytes of all index files.
    pub index_bytes: u64,
    /// The commit that was indexed, if any.
    pub head: Option<String>,
    /// Seconds since 1970.
    pub created_s: Option<u64>,
    /// Seconds since the generation was published.
    pub age_s: Option<u64>,
    /// Sorted by chunks, most first.
    pub languages: Vec<LanguageCount>,
    /// Sorted by files, most first.
    pub skipped: Vec<SkippedCount>,
    /// Every file left out: path and reason, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_paths: Option<Vec<(String, String)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleFiles>,
    /// Who is writing now.
    pub writer: Option<WriterInfo>,
}

/// A path as it is shown: lossy where it is not UTF-8, which JSON could not hold.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// What a flush removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlushReply {
    /// Bytes freed; 0 when there was no index.
    pub bytes: u64,
}

/// Examples shown of each reason for leaving files out.
const EXAMPLES: usize = 3;

/// Looks at the index and, when asked to, at the tree.
pub(super) fn status(
    config: &Config,
    current: Option<(&Reader, &Catalog)>,
    query: StatusQuery,
) -> Result<StatusReply> {
    let dir = sync::index_dir(config);
    let mut reply = StatusReply {
        state: IndexState::Missing,
        root: config.root.clone(),
        index_dir: dir.path().to_owned(),
        backend: "duckdb",
        collection: None,
        generation: None,
        model: String::new(),
        dimension: 0,
        vector_search: "exact",
        vector_search_note: None,
        chunker: CHUNKER.to_owned(),
        files: 0,
        chunks: 0,
        lines: 0,
        index_bytes: dir.size(),
        head: None,
        created_s: None,
        age_s: None,
        languages: Vec::new(),
        skipped: Vec::new(),
        skipped_paths: None,
        stale: None,
        writer: dir.writer(),
    };
    let Some((reader, catalog)) = current else {
        let embedder = Embedder::open(&config.embedder)?;
        embedder.model().clone_into(&mut reply.model);
        reply.dimension = embedder.dim();
        return Ok(reply);
    };
    describe(&mut reply, reader, catalog);
    if let Some(compared) = dir.compared(reader.generation()) {
        reply.head = compared.head;
    }
    let skipped = reader.skipped()?;
    reply.skipped = count_skipped(&skipped);
    reply.skipped_paths = query.skipped_paths.then_some(skipped);
    if query.compare {
        reply.stale = Some(compare(config, reader)?);
    }
    Ok(reply)
}

/// What the open generation says of itself.
fn describe(reply: &mut StatusReply, reader: &Reader, catalog: &Catalog) {
    let meta = reader.meta();
    let generation = reader.generation();
    let file_name = generation.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    reply.state = IndexState::Ready;
    reply.collection = file_name;
    reply.generation = Some(generation.number);
    reply.model.clone_from(&meta.model);
    reply.dimension = meta.dim;
    reply.vector_search = catalog.search().name();
    reply.vector_search_note = catalog.search_note().map(str::to_owned);
    reply.chunker.clone_from(&meta.chunker);
    reply.head.clone_from(&meta.head);
    reply.created_s = Some(meta.created_s);
    reply.age_s = Some(now.saturating_sub(meta.created_s));
    reply.files = catalog.files.len();
    reply.chunks = catalog.chunks.len();
    reply.lines = catalog.files.iter().map(|file| u64::from(file.row.lines)).sum();
    let mut by_language: BTreeMap<&'static str, LanguageCount> = BTreeMap::new();
    for file in &catalog.files {
        let language = file.row.language.name();
        let count =
            by_language.entry(language).or_insert(LanguageCount { language, files: 0, chunks: 0 });
        count.files += 1;
        count.chunks += file.chunks.len();
    }
    reply.languages = by_language.into_values().collect();
    reply.languages.sort_by_key(|count| std::cmp::Reverse(count.chunks));
}

fn count_skipped(skipped: &[(String, String)]) -> Vec<SkippedCount> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, reason) in skipped {
        by_reason.entry(reason).or_default().push(path);
    }
    let mut counts: Vec<SkippedCount> = by_reason
        .into_iter()
        .map(|(reason, paths)| SkippedCount {
            reason: reason.to_owned(),
            description: SkipReason::from_name(reason)
                .map_or_else(|_| reason.to_owned(), |reason| reason.describe().to_owned()),
            files: paths.len(),
            examples: paths.iter().take(EXAMPLES).map(|path| (*path).to_owned()).collect(),
        })
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.files));
    counts
}

/// Where index and tree differ now. Files that only look changed are read and hashed.
fn compare(config: &Config, reader: &Reader) -> Result<StaleFiles> {
    let listing = Scope::new(config)?.walk()?;
    let compared = sync::index_dir(config).compared(reader.generation());
    let mut plan = plan::plan(Some(reader), &listing, &config.files, compared.as_ref())?;
    plan.settle(config);
    let mut stale = StaleFiles {
        removed: plan.removed.iter().map(|(_, path)| path.as_str().to_owned()).collect(),
        ..StaleFiles::default()
    };
    for wanted in &plan.read {
        let path = &wanted.file.path;
        let Ok((content, _)) = sync::content(config, &wanted.file) else {
            if wanted.known.is_some() {
                stale.removed.push(path.as_str().to_owned());
            }
            continue;
        };
        match wanted.known {
            Some((_, hash)) if hash == content.hash => {}
            Some(_) => stale.changed.push(path.as_str().to_owned()),
            None => stale.added.push(path.as_str().to_owned()),
        }
    }
    stale.removed.sort();
    Ok(stale)
}
