//! What is in the index, and how fresh is it?

use std::path::PathBuf;

use serde::Serialize;

use crate::store::WriterInfo;

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
    pub root: PathBuf,
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
    /// How vectors are searched: `exact`.
    pub vector_search: &'static str,
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

/// What a flush removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlushReply {
    /// Bytes freed; 0 when there was no index.
    pub bytes: u64,
}
