//! Here is a question: which chunks answer it, in what order, and why?

use serde::Serialize;

use crate::types::{ChunkKind, Language, Mode, Place, RelPath};

/// A question. Absent values take the configured default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchQuery {
    /// Words, a sentence, a symbol, code; in exact mode a string or a regular expression.
    pub text: String,
    pub mode: Option<Mode>,
    /// Hits wanted; clamped to 1..=50.
    pub limit: Option<usize>,
    /// Any of these, when given.
    pub languages: Vec<Language>,
    /// Globs over paths; any of these, when given. One that starts with `!` excludes.
    pub paths: Vec<String>,
    /// Any of these, when given.
    pub kinds: Vec<ChunkKind>,
    /// Exact mode: `text` is a regular expression, not a plain string.
    pub regex: bool,
    /// Return each chunk's whole text instead of a snippet (8 lines and 800 characters at most).
    pub include_text: bool,
    /// Say for each hit which signals made its score.
    pub explain: bool,
}

/// Hits, best first, and what they were found in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchReply {
    pub query: String,
    pub mode: Mode,
    /// The generation that answered.
    pub generation: u64,
    pub searched: Searched,
    pub hits: Vec<Hit>,
    /// What a reader should know, a sentence each: changed files, filters that matched nothing,
    /// near symbols when nothing was found. Often empty.
    pub notes: Vec<String>,
}

/// What was searched, after the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Searched {
    pub files: usize,
    pub chunks: usize,
}

/// Whether a hit's file is as it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// As indexed.
    Unchanged,
    /// The file changed, the chunk's text is still there; its lines are the present ones.
    Moved,
    /// The chunk's text is no longer in the file; the hit shows what was indexed.
    Changed,
    /// The file is gone; the hit shows what was indexed.
    Missing,
}

/// A ranked result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub path: RelPath,
    /// 1-based, included.
    pub start_line: u32,
    /// 1-based, included.
    pub end_line: u32,
    pub symbol: Option<String>,
    /// Enclosing definitions, outermost first.
    pub parents: Vec<String>,
    pub kind: ChunkKind,
    pub language: Language,
    pub place: Place,
    pub signature: Option<String>,
    /// Fused relevance, 0..1.
    pub score: f32,
    /// The cosine with the question's vector; absent in exact and lexical mode.
    pub similarity: Option<f32>,
    /// The snippet, or the whole text when asked for.
    pub snippet: String,
    /// The line on which `snippet` starts, 1-based.
    pub snippet_line: u32,
    /// Lines of the chunk that `snippet` leaves out at its end.
    pub lines_cut: u32,
    pub freshness: Freshness,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// What made a hit's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Sum of all points; the score is a monotone map of it to 0..1.
    pub points: f32,
    /// In table order; signals that gave nothing are left out.
    pub signals: Vec<Signal>,
}

/// One reason for a rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    pub name: &'static str,
    /// What was measured, in the signal's own unit.
    pub value: f32,
    /// What it gave: value × weight.
    pub points: f32,
}
