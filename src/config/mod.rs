//! Every setting, where it comes from, and what may override it.
//!
//! Defaults come from `cfg/sai-cfg.yml` alone; a file lies over them, flags over the file, and the
//! result becomes a [`Config`]. A file that SAI finds in the root by itself is not trusted: it may
//! narrow what is indexed, never widen what is read, sent or written.

mod file;
mod keys;
mod overlay;
mod page;
mod root;
#[cfg(test)]
mod tests;

pub use file::{init_text, write_default};
pub use overlay::{Loaded, Origin, Sources};
pub use page::page;
pub use root::find_root;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::types::{Hash, Language};

/// The commented default configuration: the single home of every default.
pub const DEFAULT_YAML: &str = include_str!("../../cfg/sai-cfg.yml");

/// The name under which a configuration is found in the root.
pub const FILE_NAME: &str = "sai-cfg.yml";

/// The effective configuration: defaults, overlaid by a file, overlaid by flags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The folder that is indexed: absolute, canonical. Not read from a file.
    #[serde(skip)]
    pub root: PathBuf,
    /// Where the index lies, relative to the root (`.index`); outside the root only by flag.
    pub index_dir: PathBuf,
    /// Which files are indexed.
    pub files: FilesConfig,
    /// Which model makes the vectors.
    pub embedder: EmbedderConfig,
    /// How results are chosen and shown.
    pub search: SearchConfig,
    /// How alike code must be.
    pub similarity: SimilarityConfig,
    /// Memory, threads, waiting.
    pub limits: LimitsConfig,
}

impl Config {
    /// Reads the configuration of `sources.root`.
    ///
    /// # Errors
    /// Usage, naming file, line and key: broken YAML, an unknown key, a wrong type, a value out of
    /// range, or one that the file may not set. Environment when a file cannot be read.
    pub fn load(sources: &Sources) -> Result<Loaded> {
        overlay::load(sources)
    }

    /// The defaults alone, for `root`; no file is read.
    pub fn built_in(root: impl Into<PathBuf>) -> Self {
        overlay::built_in(root.into())
    }

    /// Where the configuration says that DuckDB's vss extension is: under the root unless absolute.
    pub fn vss_extension(&self) -> Option<PathBuf> {
        self.search.vss_extension.as_ref().map(|file| self.root.join(file))
    }

    /// Where the index lies: under the root unless `index_dir` is absolute.
    pub fn index_path(&self) -> PathBuf {
        self.root.join(&self.index_dir)
    }
}

/// Raised whenever the rules that are built into `sync::scope` choose other files.
const SCOPE_RULES: u32 = 1;

/// A fingerprint of every setting that decides which files are indexed: 32 hex digits. Two
/// configurations that choose the same way have the same one, wherever their root lies.
pub fn scope_fingerprint(config: &Config) -> String {
    let mut files = config.files.clone();
    for list in [&mut files.include, &mut files.exclude, &mut files.languages] {
        list.sort();
        list.dedup();
    }
    for language in &mut files.languages {
        if let Ok(known) = Language::from_name(language) {
            known.name().clone_into(language);
        }
    }
    let text = serde_json::to_string(&(SCOPE_RULES, files)).expect("plain data is JSON");
    format!("{:032x}", u128::from_be_bytes(Hash::of(text.as_bytes()).0))
}

/// Which files are indexed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// Globs; when any is given, only files that match one are indexed.
    pub include: Vec<String>,
    /// Globs; files that match one are not indexed.
    pub exclude: Vec<String>,
    /// Languages; when any is given, only these are indexed.
    pub languages: Vec<String>,
    /// Larger files are skipped.
    pub file_bytes_max: u64,
    /// Whether `.gitignore`, `.ignore` and the like are honoured.
    pub respect_ignore_files: bool,
    /// Whether files and folders whose name starts with a dot are indexed.
    pub hidden: bool,
    /// Whether generated code is indexed.
    pub generated: bool,
    /// Whether submodules are indexed.
    pub submodules: bool,
}

/// Which engine makes the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// The model that is built in.
    Static,
    /// A transformer through ONNX Runtime.
    Fastembed,
    /// An Ollama or OpenAI-compatible endpoint.
    Http,
}

/// Which model makes the vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderConfig {
    /// The engine.
    pub kind: EmbedderKind,
    /// Values of a vector of `kind: static`, 64 to 256.
    pub dimensions: usize,
    /// Settings of `kind: fastembed`.
    pub fastembed: FastembedConfig,
    /// Settings of `kind: http`.
    pub http: HttpConfig,
}

/// How a transformer's token vectors become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over the tokens.
    Mean,
    /// The first token's vector.
    Cls,
}

/// A transformer through ONNX Runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FastembedConfig {
    /// A model name that fastembed knows (fetched once, over the network) …
    pub model: Option<String>,
    /// … or a folder with an ONNX file and its four tokenizer files (no network).
    pub folder: Option<PathBuf>,
    /// Pooling of a model given by folder.
    pub pooling: Pooling,
    /// Put before a question, as the model asks.
    pub query_prefix: String,
    /// Put before a passage, as the model asks.
    pub passage_prefix: String,
    /// The ONNX Runtime library; else `ORT_DYLIB_PATH`, else the system's.
    pub onnx_runtime: Option<PathBuf>,
    /// Tokens read of a text.
    pub tokens_max: usize,
    /// Texts a batch.
    pub batch: usize,
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpStyle {
    /// `POST /api/embed` of Ollama.
    Ollama,
    /// `POST /v1/embeddings` as OpenAI defined it.
    Openai,
}

/// An embedding endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// What it speaks.
    pub style: HttpStyle,
    /// Where it is, without the path.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The environment variable that holds a bearer token, if one is needed.
    pub token_env: Option<String>,
    /// Put before a question.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// Seconds until a call is given up.
    pub timeout_s: u64,
    /// Further tries of a failed call.
    pub retries: u32,
    /// Texts a call.
    pub batch: usize,
}

/// How results are chosen and shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// Hits when none is asked for (1 to 50).
    pub limit: usize,
    /// Mode when none is asked for: hybrid, semantic, lexical, exact.
    pub mode: String,
    /// Characters of a text result.
    pub result_chars_max: usize,
    /// How vectors are searched.
    pub ann: Ann,
    /// Chunks above which [`Ann::Auto`] asks an HNSW index.
    pub ann_threshold: usize,
    /// The file of DuckDB's vss extension; else it is looked for where SAI and DuckDB keep theirs.
    pub vss_extension: Option<PathBuf>,
}

/// How vectors are searched: approximate nearest neighbours, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ann {
    /// Every vector is compared with the question.
    Exact,
    /// An HNSW index is asked.
    Hnsw,
    /// An HNSW index is asked when there are very many chunks.
    Auto,
}

impl SearchConfig {
    /// Whether an index of so many chunks should have an HNSW index.
    pub fn wants_hnsw(&self, chunks: usize) -> bool {
        match self.ann {
            Ann::Exact => false,
            Ann::Hnsw => true,
            Ann::Auto => chunks > self.ann_threshold,
        }
    }
}

/// How alike code must be to be called alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityConfig {
    /// The least cosine of similar code, when none is asked for.
    pub find_similar_min_score: f32,
    /// The least cosine of two copies, when none is asked for.
    pub duplicate_min_score: f32,
    /// The least members of a cluster of copies, when none is asked for.
    pub duplicate_min_cluster_size: usize,
    /// Similar chunks given, and neighbours of each chunk that copies are sought among, when none
    /// is asked for (1 to 50).
    pub top_k: usize,
}

/// Memory, threads, waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Threads for indexing; 0 takes every core.
    pub threads: usize,
    /// DuckDB's memory ceiling in MiB.
    pub duckdb_memory_mib: usize,
    /// Seconds that a writer waits for another one.
    pub lock_wait_s: u64,
    /// Seconds until a request is given up.
    pub request_s: u64,
}
