//! From ranked chunks to hits: the text, cut to a snippet, checked against the disk.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::catalog::{Catalog, ChunkEntry, FileEntry};
use super::window::Wanted;
use super::{Explanation, Freshness, Hit};
use crate::error::Result;
use crate::store::Reader;
use crate::text;
use crate::types::{Hash, LineRange};

/// A snippet's bounds.
pub(super) const SNIPPET_LINES: usize = 8;
pub(super) const SNIPPET_CHARS: usize = 800;

/// Documentation above a definition longer than this many lines is left out of a snippet, so that
/// the definition itself is seen.
const DOC_LINES_SHOWN: usize = 3;

/// A chunk that was found, and what is said of it.
pub(super) struct Found<'a> {
    pub chunk: usize,
    /// 0..1.
    pub score: f32,
    pub similarity: Option<f32>,
    /// A line that matched, when one did.
    pub line: Option<u32>,
    /// The one of the chunk's definitions that was asked for.
    pub named: Option<&'a str>,
    pub explanation: Option<Explanation>,
}

/// What is shown of a chunk.
#[derive(Clone, Copy)]
pub(super) enum Show<'a> {
    /// All of it.
    Whole,
    /// A few lines: those that say the most of what is wanted, or the first ones.
    Snippet(Option<&'a Wanted>),
}

/// Makes hits of chunks, in their order.
pub(super) fn hits(
    reader: &Reader,
    catalog: &Catalog,
    root: &Path,
    found: Vec<Found<'_>>,
    show: Show<'_>,
) -> Result<Vec<Hit>> {
    let mut texts = HashMap::new();
    let hit = |found: Found<'_>| {
        let chunk = &catalog.chunks[found.chunk];
        let file = &catalog.files[chunk.file];
        let texts = match texts.entry(chunk.file) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Texts::of(reader, root, file)?),
        };
        Ok(hit(found, chunk, file, texts, show))
    };
    found.into_iter().map(hit).collect()
}

/// The lines of a file's chunks as they are now, and how they stand to the disk, in chunk order.
pub(super) fn present(
    reader: &Reader,
    catalog: &Catalog,
    root: &Path,
    file: &FileEntry,
) -> Result<Vec<(LineRange, Freshness)>> {
    let texts = Texts::of(reader, root, file)?;
    let chunks = &catalog.chunks[file.chunks.clone()];
    Ok(chunks.iter().map(|chunk| texts.chunk(chunk)).map(|(_, lines, now)| (lines, now)).collect())
}

/// A file's text as it was indexed and, when it differs, as it is now.
struct Texts {
    indexed: String,
    now: Now,
}

enum Now {
    Same,
    Differs(String),
    Gone,
}

impl Texts {
    fn of(reader: &Reader, root: &Path, file: &FileEntry) -> Result<Self> {
        if let Some(bytes) = indexed_bytes(root, file) {
            return Ok(Self { indexed: text::decode(&bytes).text.into_owned(), now: Now::Same });
        }
        let bytes = reader.blob(file.row.hash)?.unwrap_or_default();
        Ok(Self { indexed: text::decode(&bytes).text.into_owned(), now: now(root, file) })
    }

    /// The chunk's text, its lines, and how it stands to what is on disk.
    fn chunk<'a>(&'a self, chunk: &ChunkEntry) -> (&'a str, LineRange, Freshness) {
        let indexed = self.indexed.get(chunk.bytes.clone()).unwrap_or("");
        match &self.now {
            Now::Same => (indexed, chunk.lines, Freshness::Unchanged),
            Now::Gone => (indexed, chunk.lines, Freshness::Missing),
            Now::Differs(now) => match nearest(now, indexed, chunk.bytes.start) {
                Some(start) if start == chunk.bytes.start && same_before(self, now, start) => {
                    (indexed, chunk.lines, Freshness::Unchanged)
                }
                Some(start) => {
                    let first = line_of(now, start);
                    let end =
                        first.saturating_add(chunk.lines.end.saturating_sub(chunk.lines.start));
                    (indexed, LineRange { start: first, end }, Freshness::Moved)
                }
                None => (indexed, chunk.lines, Freshness::Changed),
            },
        }
    }
}

/// Whether everything above `start` is as it was, so that lines count the same.
fn same_before(texts: &Texts, now: &str, start: usize) -> bool {
    texts.indexed.as_bytes().get(..start) == now.as_bytes().get(..start)
}

/// The occurrence of `piece` in `text` that is nearest to byte `near`: right there, or at a line's
/// start.
pub(super) fn nearest(text: &str, piece: &str, near: usize) -> Option<usize> {
    if piece.trim().is_empty() {
        return None;
    }
    memchr::memmem::find_iter(text.as_bytes(), piece.as_bytes())
        .filter(|&at| at == near || at == 0 || text.as_bytes()[at - 1] == b'\n')
        .min_by_key(|&at| at.abs_diff(near))
}

fn line_of(text: &str, byte: usize) -> u32 {
    let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..byte]).count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}

/// The bytes of a file on disk, when they are still those that were indexed.
pub(super) fn indexed_bytes(root: &Path, file: &FileEntry) -> Option<Vec<u8>> {
    let path = file.row.path.under(root);
    let meta = fs::symlink_metadata(&path).ok()?;
    if !meta.is_file() || meta.len() != file.row.size {
        return None;
    }
    // What has the indexed hash tells nobody more than the index does, wherever a link led.
    fs::read(&path).ok().filter(|bytes| Hash::of(bytes) == file.row.hash)
}

/// What is on disk in place of the file that was indexed.
fn now(root: &Path, file: &FileEntry) -> Now {
    const GROWN_BYTES: u64 = 16 << 20;
    let path = file.row.path.under(root);
    let Ok(meta) = fs::symlink_metadata(&path) else { return Now::Gone };
    // A file that grew beyond all bounds is only said to differ, and so is one that is no regular
    // file any more or that a link leads to from outside of the root.
    let is_inside = || path.canonicalize().is_ok_and(|real| real.starts_with(root));
    if meta.len() > file.row.size.saturating_mul(4).max(GROWN_BYTES)
        || !meta.is_file()
        || !is_inside()
    {
        return Now::Differs(String::new());
    }
    match fs::read(&path) {
        Ok(bytes) => Now::Differs(text::decode(&bytes).text.into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Now::Gone,
        Err(_) => Now::Differs(String::new()),
    }
}

fn hit(
    found: Found<'_>,
    chunk: &ChunkEntry,
    file: &FileEntry,
    texts: &Texts,
    show: Show<'_>,
) -> Hit {
    let named = found.named;
    let (text, lines, freshness) = texts.chunk(chunk);
    // One of several small definitions in a chunk is what the hit is about when it was asked for.
    let symbol = named.or(chunk.symbol.as_deref());
    let is_inner = named.is_some_and(|named| chunk.symbol.as_deref() != Some(named));
    let cut = match show {
        Show::Whole => Snippet { text, line: 0, lines_cut: 0 },
        Show::Snippet(wanted) => {
            let matched = found.line.map(|line| line.saturating_sub(chunk.lines.start) as usize);
            let matched = matched.or_else(|| line_naming(text, named.filter(|_| is_inner)?));
            let from = matched.unwrap_or_else(|| {
                let head = doc_lines(chunk, texts);
                wanted.map_or(head, |wanted| wanted.window(text, head, SNIPPET_LINES))
            });
            snippet(text, from)
        }
    };
    Hit {
        path: file.row.path.clone(),
        start_line: lines.start,
        end_line: lines.end,
        symbol: symbol.map(str::to_owned),
        parents: chunk.parents.clone(),
        kind: chunk.kind,
        language: file.row.language,
        place: file.row.place,
        signature: chunk.signature.clone().filter(|_| !is_inner),
        score: found.score,
        similarity: found.similarity,
        snippet: cut.text.to_owned(),
        snippet_line: lines.start.saturating_add(cut.line),
        lines_cut: cut.lines_cut,
        freshness,
        explanation: found.explanation,
    }
}

/// The first line (0-based) of `text` that holds `name` as a word of its own.
fn line_naming(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().position(|line| {
        line.match_indices(name).any(|(at, _)| {
            !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part)
        })
    })
}

/// How many lines of documentation stand above the definition, when they are too many to show.
fn doc_lines(chunk: &ChunkEntry, texts: &Texts) -> usize {
    let above = chunk.doc.as_ref().filter(|doc| doc.start <= chunk.bytes.start + 1);
    let lines = above
        .and_then(|doc| texts.indexed.get(chunk.bytes.start..doc.end))
        .map_or(0, |doc| doc.trim_end().lines().count());
    if lines > DOC_LINES_SHOWN { lines } else { 0 }
}

/// A part of a chunk's text.
pub(super) struct Snippet<'a> {
    pub text: &'a str,
    /// Lines of the chunk above it.
    pub line: u32,
    /// Lines of the chunk below it.
    pub lines_cut: u32,
}

/// The first lines of `text` from line `from` on (0-based), within the bounds of a snippet.
pub(super) fn snippet(text: &str, from: usize) -> Snippet<'_> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = if from < lines.len() { from } else { 0 };
    let start: usize = lines[..from].iter().map(|line| line.len()).sum();
    let (mut bytes, mut chars, mut shown) = (0, 0, 0);
    for line in lines[from..].iter().take(SNIPPET_LINES) {
        chars += line.chars().count();
        if chars > SNIPPET_CHARS && shown > 0 {
            break;
        }
        bytes += line.len();
        shown += 1;
    }
    let mut cut = text[start..start + bytes].trim_end();
    if let Some((at, _)) = cut.char_indices().nth(SNIPPET_CHARS) {
        cut = &cut[..at];
    }
    let below = lines.len() - from - shown;
    Snippet { text: cut, line: from as u32, lines_cut: below as u32 }
}
