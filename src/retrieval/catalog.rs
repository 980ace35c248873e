//! One generation in memory: files, chunks, vectors, words, names.

mod definitions;
mod follow;
mod load;

use std::collections::HashMap;
use std::ops::Range;

use self::definitions::Definitions;
use super::docs::Docs;
use super::layout::Layout;
use super::meaning::{self, VectorSearch};
use super::names::Names;
use super::question::Question;
use crate::config::Config;
use crate::embed::Matrix;
use crate::error::Error;
use crate::store::{ChunkRow, FileRow, FreeIds, Reader};
use crate::types::{ChunkKind, LineRange, RelPath};
use crate::words::WordIndex;

/// A map with a quick hash.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A file and its chunks.
#[derive(Debug)]
pub struct FileEntry {
    pub row: FileRow,
    /// Positions in [`Catalog::chunks`].
    pub chunks: Range<usize>,
}

/// A chunk, without its words and its vector.
#[derive(Debug)]
pub struct ChunkEntry {
    /// Position in [`Catalog::files`].
    pub file: usize,
    pub lines: LineRange,
    pub bytes: Range<usize>,
    pub kind: ChunkKind,
    pub symbol: Option<String>,
    pub defines: Vec<String>,
    pub parents: Vec<String>,
    pub signature: Option<String>,
    /// Bytes of the file's text.
    pub doc: Option<Range<usize>>,
}

/// One generation in memory, ordered by path and line.
#[derive(Debug)]
pub struct Catalog {
    pub files: Vec<FileEntry>,
    pub chunks: Vec<ChunkEntry>,
    pub words: WordIndex,
    pub(super) names: Names,
    pub(super) layout: Layout,
    pub(super) docs: Docs,
    vectors: Matrix,
    /// By chunk: the row of its vector.
    vector_rows: Vec<u32>,
    /// The id of each row of `vectors`; ascending.
    vector_ids: Vec<u32>,
    /// The ids that were free when it was read: rows that have them now are new.
    free: FreeIds,
    pub(super) search: VectorSearch,
    /// Why vectors are not searched as configured.
    search_note: Option<String>,
    definitions: Definitions,
}

impl Catalog {
    /// Gives up how vectors are searched, and why not as configured; the next search is exact.
    pub fn take_search(&mut self) -> (VectorSearch, Option<String>) {
        (std::mem::take(&mut self.search), self.search_note.take())
    }

    /// Decides how vectors are searched, for a catalog that was loaded from `reader`; `before` is what
    /// was decided for the generation before, whose HNSW index may still be the right one.
    pub fn decide_search(
        &mut self,
        config: &Config,
        reader: &Reader,
        before: (VectorSearch, Option<String>),
    ) {
        let (search, note) = before;
        (self.search, self.search_note) = meaning::decide(config, reader, self, search);
        if let Some(why) = self.search_note.as_ref().filter(|_| self.search_note != note) {
            tracing::warn!("vectors are searched exactly: {why}");
        }
    }

    /// How vectors are searched.
    pub fn search(&self) -> &VectorSearch {
        &self.search
    }

    /// Why vectors are not searched as configured, and what to do; `None` when they are.
    pub fn search_note(&self) -> Option<&str> {
        self.search_note.as_deref().or_else(|| self.search.failure())
    }

    /// The cosine of every chunk with a question's vector, in chunk order.
    pub fn cosines(&self, query: &[i8]) -> Vec<f32> {
        let mut by_vector = Vec::new();
        self.vectors.cosines(query, &mut by_vector);
        self.vector_rows.iter().map(|row| by_vector[*row as usize]).collect()
    }

    /// The stored vector of a chunk, quantised.
    pub(super) fn stored_vector(&self, chunk: usize) -> &[i8] {
        self.vectors.row(self.vector_rows[chunk] as usize)
    }

    /// The cosines of some chunks with a question's vector, in the order of `chunks`.
    pub(super) fn cosines_of(&self, query: &[i8], chunks: &[u32]) -> Vec<f32> {
        let rows = chunks.iter().map(|chunk| self.vector_rows[*chunk as usize] as usize);
        self.vectors.cosines_at(query, rows)
    }

    /// The row of each chunk's vector.
    pub(super) fn vector_rows(&self) -> &[u32] {
        &self.vector_rows
    }

    /// The row of the vector `id`, if it is in the generation.
    pub(super) fn vector_row(&self, id: u32) -> Option<usize> {
        self.vector_ids.binary_search(&id).ok()
    }

    /// The id of a chunk's vector.
    pub(super) fn vector_id(&self, chunk: usize) -> u32 {
        self.vector_ids[self.vector_rows[chunk] as usize]
    }

    /// The position of a file.
    pub(super) fn file(&self, path: &RelPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.row.path.cmp(path)).ok()
    }

    /// Whether a file lies in a folder of legacy code, or of an older version than one beside it.
    pub fn is_superseded(&self, file: usize) -> bool {
        self.layout.is_old(file)
    }

    /// Chunks that define a name, compared without case and underscores.
    pub fn defining(&self, name: &str) -> Vec<u32> {
        self.definitions.of(name, &self.chunks)
    }

    /// Up to five defined names that look like one of the question's first words.
    pub fn near_symbols(&self, question: &Question) -> Vec<String> {
        // Each word is compared with every name of the index.
        const WORDS_MAX: usize = 4;
        const NAME_BYTES: std::ops::RangeInclusive<usize> = 3..=100;
        let wanted = question.tokens.iter().map(|token| normal_name(token));
        let wanted: Vec<String> =
            wanted.filter(|wanted| NAME_BYTES.contains(&wanted.len())).take(WORDS_MAX).collect();
        let mut near: Vec<(f64, String, &str)> = Vec::new();
        for define in self.chunks.iter().flat_map(|chunk| &chunk.defines) {
            let name = normal_name(define);
            let likeness = wanted.iter().map(|wanted| strsim::jaro_winkler(wanted, &name));
            let likeness = likeness.fold(0.0, f64::max);
            if NAME_BYTES.contains(&name.len()) && likeness > 0.85 {
                near.push((likeness, name, define));
            }
        }
        // One spelling of each name; the sort leaves the first chunk's first.
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        near.dedup_by(|a, b| a.1 == b.1);
        near.into_iter().take(5).map(|(_, _, define)| define.to_owned()).collect()
    }
}

/// A name in lower case without underscores: `parseHttp` and `parse_http` are one.
pub(super) fn normal_name(name: &str) -> String {
    // Every name of an index comes by here when it is loaded.
    if name.is_ascii() {
        let mut normal = name.replace('_', "");
        normal.make_ascii_lowercase();
        return normal;
    }
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

fn chunk_entry(row: ChunkRow, file: usize) -> ChunkEntry {
    ChunkEntry {
        file,
        lines: row.lines,
        bytes: row.byte_start as usize..row.byte_end as usize,
        kind: row.kind,
        symbol: row.symbol,
        defines: row.defines,
        parents: row.parents,
        signature: row.signature,
        doc: row.doc.map(|(start, end)| start as usize..end as usize),
    }
}

fn damaged(pos: u32, file_id: u32, vector_id: u32) -> Error {
    contradiction(&format!("chunk {pos} of file {file_id} has no file or no vector {vector_id}"))
}

fn contradiction(what: &str) -> Error {
    Error::index(format!("the index contradicts itself: {what}"))
        .hint("run `sai index --force` to make it anew")
}
