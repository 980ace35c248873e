//! Here is a file's text: which pieces does it fall into? Pure; never fails, never reads a disk.

use std::ops::Range;

use crate::types::{ChunkKind, Language, LineRange, Place, RelPath};

/// Raised whenever the same text would be split or described otherwise; stored in the index.
pub const CHUNKER: &str = "sai-chunk-1";

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Whole lines.
    pub lines: LineRange,
    /// Where they lie in the text, end-exclusive (bytes of the decoded text).
    pub bytes: Range<usize>,
    /// What it is made of.
    pub kind: ChunkKind,
    /// The name of the definition, or a heading; absent for blocks and windows.
    pub symbol: Option<String>,
    /// Every name that the chunk defines, `symbol` first.
    pub defines: Vec<String>,
    /// Names of the enclosing definitions or headings, outermost first.
    pub parents: Vec<String>,
    /// The definition's head on one line, without its body.
    pub signature: Option<String>,
    /// The documentation that belongs to it (comments above, docstring), as bytes of the text.
    pub doc: Option<Range<usize>>,
}

/// What `split` says of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// In order; they cover every non-blank line.
    pub chunks: Vec<Chunk>,
    /// Last words of what the file imports, as they are used in it (`HashMap`, `retry`, `react`).
    pub imports: Vec<String>,
}

/// Splits a file's text.
pub fn split(_path: &RelPath, _language: Language, _text: &str) -> Pieces {
    unimplemented!()
}

/// What kind of place a file is, by its path and, for generated code, its first lines.
pub fn place(_path: &RelPath, _language: Language, _text: &str) -> Place {
    unimplemented!()
}
