//! A generation, read from nothing: chunks on one thread, all else on another, and then the names on
//! one and the words on the other.

use std::panic::resume_unwind;
use std::thread;

use super::{Catalog, ChunkEntry, Definitions, FileEntry, Map, VectorSearch};
use super::{chunk_entry, contradiction, damaged};
use crate::embed::Matrix;
use crate::error::Result;
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
        let (read, company) = side_by_side(|| read_chunks(reader), move || Company::read(&beside));
        let (mut rows, mut words) = read?;
        let Company { mut files, names, layout, vectors, vector_ids, dictionary } = company?;
        place(&mut rows, &files)?;
        words.reorder(rows.iter().map(|row| row.read_at));
        let (entries, words) =
            side_by_side(|| Entries::of(rows, &vector_ids), move || words.build(dictionary));
        let Entries { chunks, vector_rows, definitions } = entries?;
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

/// A chunk as it was read.
struct Row {
    /// The position of its file, once [`place`] knows it, and its own in the file.
    key: (usize, u32),
    file_id: u32,
    vector_id: u32,
    /// How many rows were read before.
    read_at: usize,
    entry: ChunkEntry,
}

fn read_chunks(reader: &Reader) -> Result<(Vec<Row>, WordIndexBuilder)> {
    let mut rows: Vec<Row> = Vec::new();
    let mut words = WordIndexBuilder::default();
    reader.chunks_and_words(FreeIds::default(), &mut |row, encoded| {
        words.push(encoded);
        let (file_id, vector_id, key) = (row.file_id, row.vector_id, (0, row.pos));
        let (read_at, entry) = (rows.len(), chunk_entry(row, 0));
        rows.push(Row { key, file_id, vector_id, read_at, entry });
    })?;
    Ok((rows, words))
}

/// What else a generation holds.
struct Company {
    files: Vec<FileEntry>,
    names: Names,
    layout: Layout,
    vectors: Matrix,
    vector_ids: Vec<u32>,
    dictionary: Dictionary,
}

impl Company {
    fn read(reader: &Reader) -> Result<Self> {
        let files = reader.files()?.into_iter();
        let files: Vec<FileEntry> = files.map(|row| FileEntry { row, chunks: 0..0 }).collect();
        let names = Names::new(files.iter().map(|file| &file.row.path));
        let layout = Layout::new(&files);
        let vectors = reader.vectors()?;
        let dim = reader.meta().dim;
        if vectors.values.len() != vectors.ids.len() * dim {
            return Err(contradiction(&format!("its vectors are not of {dim} values")));
        }
        let mut dictionary = Dictionary::with_capacity(reader.word_count()?);
        reader.each_word(&mut |id, word| dictionary.insert(id, word))?;
        let (vectors, vector_ids) = (Matrix::new(dim, vectors.values), vectors.ids);
        Ok(Self { files, names, layout, vectors, vector_ids, dictionary })
    }
}

/// Finds each row's file and sorts the rows by path and line, which is how they mostly come.
fn place(rows: &mut [Row], files: &[FileEntry]) -> Result<()> {
    let positions: Map<u32, usize> =
        files.iter().enumerate().map(|(at, file)| (file.row.id, at)).collect();
    for row in rows.iter_mut() {
        let Some(at) = positions.get(&row.file_id) else {
            return Err(damaged(row.key.1, row.file_id, row.vector_id));
        };
        row.key.0 = *at;
    }
    if !rows.is_sorted_by_key(|row| row.key) {
        rows.sort_unstable_by_key(|row| row.key);
    }
    Ok(())
}

struct Entries {
    chunks: Vec<ChunkEntry>,
    vector_rows: Vec<u32>,
    definitions: Definitions,
}

impl Entries {
    fn of(rows: Vec<Row>, vector_ids: &[u32]) -> Result<Self> {
        let mut chunks = Vec::with_capacity(rows.len());
        let mut vector_rows = Vec::with_capacity(rows.len());
        let mut definitions = Definitions::default();
        let mut vector = 0;
        for row in rows {
            // Neighbours mostly have neighbouring vectors.
            let next = vector + 1;
            vector = if vector_ids.get(next) == Some(&row.vector_id) {
                next
            } else {
                let found = vector_ids.binary_search(&row.vector_id);
                found.map_err(|_| damaged(row.key.1, row.file_id, row.vector_id))?
            };
            definitions.add(&row.entry.defines, chunks.len() as u32);
            chunks.push(ChunkEntry { file: row.key.0, ..row.entry });
            vector_rows.push(vector as u32);
        }
        definitions.complete();
        Ok(Self { chunks, vector_rows, definitions })
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
