//! A generation, read from nothing: chunks and the dictionary on one thread, all else on another, and
//! then the names on one and the words on the other.

use std::panic::resume_unwind;
use std::thread;

use super::{Catalog, ChunkEntry, Definitions, FileEntry, Map, VectorSearch};
use super::{chunk_entry, contradiction, damaged};
use crate::embed::Matrix;
use crate::error::{Error, Result};
use crate::retrieval::docs::Docs;
use crate::retrieval::layout::Layout;
use crate::retrieval::names::Names;
use crate::store::{FreeIds, Reader};
use crate::words::{Dictionary, WordIndexBuilder};

impl Catalog {
    /// Reads a generation.
    ///
    /// # Errors
    /// Index when it contradicts itself: a chunk without its file or vector, vectors of another
    /// length than it says.
    pub fn load(reader: &Reader) -> Result<Self> {
        let beside = reader.another()?;
        let own = || Ok((Rows::read(reader)?, read_dictionary(reader)?));
        let (read, company) = side_by_side(own, move || Company::read(&beside));
        let ((mut rows, mut words), dictionary) = read?;
        let Company { mut files, names, layout, vectors, vector_ids } = company?;
        if let Some(order) = rows.place(&files)? {
            words.reorder(order.iter().copied());
        }
        let (found, words) =
            side_by_side(|| rows.complete(&vector_ids), move || words.build(dictionary));
        let (chunks, vector_rows, definitions) = found?;
        assign_chunks(&mut files, &chunks);
        let docs = Docs::new(&files, &words);
        Ok(Self {
            files,
            chunks,
            words,
            names,
            layout,
            docs,
            vectors,
            vector_rows,
            vector_ids,
            free: reader.free_ids(),
            search: VectorSearch::Exact,
            search_note: None,
            definitions,
        })
    }
}

/// Does two things at once, the second one on a thread of its own.
fn side_by_side<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        (here, there.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Chunks, as they were read until they are placed. The entries are large and stay where they are
/// unless they must be sorted.
#[derive(Default)]
struct Rows {
    entries: Vec<ChunkEntry>,
    /// By entry: what places it.
    keys: Vec<Key>,
}

#[derive(Clone, Copy)]
struct Key {
    file_id: u32,
    /// Position in its file.
    pos: u32,
    vector_id: u32,
}

impl Rows {
    fn read(reader: &Reader) -> Result<(Self, WordIndexBuilder)> {
        let mut rows = Self::default();
        let mut words = WordIndexBuilder::default();
        reader.chunks_and_words(FreeIds::default(), &mut |row, encoded| {
            words.push(encoded);
            let key = Key { file_id: row.file_id, pos: row.pos, vector_id: row.vector_id };
            rows.keys.push(key);
            rows.entries.push(chunk_entry(row, 0));
        })?;
        rows.entries.shrink_to_fit();
        Ok((rows, words))
    }

    /// Finds each chunk's file and sorts by path and line, which is how they mostly come. Returns the
    /// order where they did not: which one each was.
    fn place(&mut self, files: &[FileEntry]) -> Result<Option<Vec<usize>>> {
        let positions: Map<u32, usize> =
            files.iter().enumerate().map(|(at, file)| (file.row.id, at)).collect();
        for (entry, key) in self.entries.iter_mut().zip(&self.keys) {
            let at = positions.get(&key.file_id).copied();
            entry.file = at.ok_or_else(|| key.damaged())?;
        }
        let by_line = |at: &usize| (self.entries[*at].file, self.keys[*at].pos);
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        if order.is_sorted_by_key(by_line) {
            return Ok(None);
        }
        order.sort_unstable_by_key(by_line);
        self.keys = order.iter().map(|at| self.keys[*at]).collect();
        let mut entries: Vec<Option<ChunkEntry>> =
            std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        self.entries.reserve_exact(entries.len());
        self.entries.extend(order.iter().filter_map(|at| entries[*at].take()));
        Ok(Some(order))
    }

    /// The entries, the rows of their vectors, and what they define.
    fn complete(self, vector_ids: &[u32]) -> Result<(Vec<ChunkEntry>, Vec<u32>, Definitions)> {
        let mut vector_rows = Vec::with_capacity(self.keys.len());
        let mut definitions = Definitions::default();
        let mut vector = 0;
        for (at, (entry, key)) in self.entries.iter().zip(&self.keys).enumerate() {
            // Neighbours mostly have neighbouring vectors.
            let next = vector + 1;
            vector = if vector_ids.get(next) == Some(&key.vector_id) {
                next
            } else {
                vector_ids.binary_search(&key.vector_id).map_err(|_| key.damaged())?
            };
            definitions.add(&entry.defines, at as u32);
            vector_rows.push(vector as u32);
        }
        definitions.complete();
        Ok((self.entries, vector_rows, definitions))
    }
}

impl Key {
    fn damaged(self) -> Error {
        damaged(self.pos, self.file_id, self.vector_id)
    }
}

fn read_dictionary(reader: &Reader) -> Result<Dictionary> {
    let mut dictionary = Dictionary::with_capacity(reader.word_count()?);
    reader.each_word(&mut |id, word| dictionary.insert(id, word))?;
    Ok(dictionary)
}

/// What else a generation holds.
struct Company {
    files: Vec<FileEntry>,
    names: Names,
    layout: Layout,
    vectors: Matrix,
    vector_ids: Vec<u32>,
}

impl Company {
    fn read(reader: &Reader) -> Result<Self> {
        let files = reader.files_since(FreeIds::default())?.into_iter();
        let files: Vec<FileEntry> = files.map(|row| FileEntry { row, chunks: 0..0 }).collect();
        let names = Names::new(files.iter().map(|file| &file.row.path));
        let layout = Layout::new(&files);
        let vectors = reader.vectors()?;
        let dim = reader.meta().dim;
        if vectors.values.len() != vectors.ids.len() * dim {
            return Err(contradiction(&format!("its vectors are not of {dim} values")));
        }
        let (vectors, vector_ids) = (Matrix::new(dim, vectors.values), vectors.ids);
        Ok(Self { files, names, layout, vectors, vector_ids })
    }
}

/// Tells each file where its chunks are; they lie together.
fn assign_chunks(files: &mut [FileEntry], chunks: &[ChunkEntry]) {
    let mut at = 0;
    for same_file in chunks.chunk_by(|a, b| a.file == b.file) {
        files[same_file[0].file].chunks = at..at + same_file.len();
        at += same_file.len();
    }
}
