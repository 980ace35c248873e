//! Here is a file's text: which pieces does it fall into? Pure; never fails, never reads a disk.
//!
//! A function is a chunk, a type's head and fields are one, what stands between is grouped. Small
//! neighbours share a chunk, long ones are cut where a statement begins. Every line that is not blank
//! is in exactly one chunk ([`check`] says whether that holds). The tests are in `tests.rs`.

mod code;
mod cuts;
mod lines;
mod markdown;
mod place;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::parse;
use crate::types::{ChunkKind, Language, LineRange, RelPath};
use lines::Lines;

pub use place::place;

/// Raised whenever the same text would be split or described otherwise; stored in the index.
pub const CHUNKER: &str = "sai-chunk-5";

/// What a chunk is aimed at when there is a choice, in characters.
pub const TARGET_CHARS: usize = 1_500;

/// No chunk of more than one line has more characters. Lines are whole: a longer one is a chunk alone.
pub const CAP_CHARS: usize = 3_000;

/// A signature has at most this many characters.
pub const SIGNATURE_CHARS_MAX: usize = 300;

/// Lines of a window of a text without structure.
const WINDOW_LINES: usize = 40;

/// What decides how a text falls apart, in characters.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// [`TARGET_CHARS`].
    target: usize,
    /// [`CAP_CHARS`].
    cap: usize,
    /// Blocks with less ink (characters that are not blank) join a neighbour.
    tiny: usize,
    /// Neighbouring definitions of at most this size share a chunk.
    small: usize,
    /// A type of at most this size is one chunk with its methods.
    small_type: usize,
    /// A group of tests of at most this size is one chunk.
    suite: usize,
}

/// The sizes in use.
const SIZES: Sizes = Sizes {
    target: TARGET_CHARS,
    cap: CAP_CHARS,
    tiny: 120,
    small: 300,
    small_type: 800,
    suite: TARGET_CHARS,
};

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Whole lines; neither the first nor the last is blank.
    pub lines: LineRange,
    /// Where they lie in the text, end-exclusive (bytes of the decoded text), the last line's break
    /// included.
    pub bytes: Range<usize>,
    /// What it is made of.
    pub kind: ChunkKind,
    /// The name of the definition, or a heading; absent for blocks and windows. Of several small
    /// definitions, the first one's. Later pieces of a long function keep it, with parents and
    /// signature; later pieces of a long type are blocks in it.
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
pub fn split(path: &RelPath, language: Language, text: &str) -> Pieces {
    split_by(&SIZES, path, language, text)
}

fn split_by(sizes: &Sizes, path: &RelPath, language: Language, text: &str) -> Pieces {
    let lines = Lines::of(text);
    if language == Language::Markdown {
        return Pieces { chunks: markdown::chunks(&lines, sizes), imports: Vec::new() };
    }
    let dialect = parse::dialect(path, language, text);
    match parse::outline(dialect, text, sizes.cap) {
        Some(outline) => {
            let chunks = code::chunks(&lines, &outline, sizes);
            Pieces { chunks, imports: outline.imports }
        }
        None => Pieces { chunks: windows(&lines, sizes), imports: Vec::new() },
    }
}

/// Windows of lines, cut where an unindented line follows a blank one if there is such a place.
fn windows(lines: &Lines, sizes: &Sizes) -> Vec<Chunk> {
    let limits =
        cuts::Limits { target: sizes.target, most: sizes.target * 4 / 3, lines: WINDOW_LINES };
    let Some(all) = lines.trim(0..lines.count()) else { return Vec::new() };
    cuts::split(lines, all, &limits, |row| lines.looks(row))
        .into_iter()
        .map(|rows| lines.chunk(rows, ChunkKind::Window))
        .collect()
}

/// Whether `pieces` are a proper split of `text`.
///
/// # Errors
/// The first rule that is broken, in words: every line that is not blank is in exactly one chunk;
/// ranges are exact, in order and apart; sizes hold; names, signature and documentation fit.
pub fn check(text: &str, pieces: &Pieces) -> Result<(), String> {
    let lines = Lines::of(text);
    let mut next_row = 0;
    for chunk in &pieces.chunks {
        let (start, end) = (chunk.lines.start as usize, chunk.lines.end as usize);
        let fail = |what: &str| Err(format!("lines {start} to {end}: {what}"));
        if start <= next_row || end < start || end > lines.count() {
            return fail("out of order");
        }
        let rows = start - 1..end;
        if (next_row..rows.start).any(|row| !lines.is_blank(row)) {
            return fail("a line before it is in no chunk");
        }
        if lines.is_blank(rows.start) || lines.is_blank(rows.end - 1) {
            return fail("begins or ends with a blank line");
        }
        if chunk.bytes != lines.bytes(&rows) {
            return fail("its bytes are not its lines");
        }
        if rows.len() > 1 && lines.chars(&rows) > CAP_CHARS {
            return fail("is too long");
        }
        check_names(text, chunk).or_else(|what| fail(&what))?;
        next_row = end;
    }
    match (next_row..lines.count()).find(|row| !lines.is_blank(*row)) {
        Some(row) => Err(format!("line {} is in no chunk", row + 1)),
        None => Ok(()),
    }
}

/// Whether a chunk's names, signature and documentation fit.
fn check_names(text: &str, chunk: &Chunk) -> Result<(), String> {
    if chunk.symbol.as_ref() != chunk.symbol.as_ref().and(chunk.defines.first()) {
        return Err("the symbol is not the first that it defines".into());
    }
    if chunk.symbol.iter().chain(&chunk.defines).chain(&chunk.parents).any(String::is_empty) {
        return Err("a name is empty".into());
    }
    if let Some(signature) = &chunk.signature
        && (signature.contains('\n') || signature.chars().count() > SIGNATURE_CHARS_MAX)
    {
        return Err("the signature is too long".into());
    }
    if let Some(doc) = &chunk.doc {
        let inside = chunk.bytes.start <= doc.start && doc.end <= chunk.bytes.end;
        if !inside || doc.start >= doc.end || text.get(doc.clone()).is_none() {
            return Err("the documentation lies outside of it".into());
        }
    }
    Ok(())
}
