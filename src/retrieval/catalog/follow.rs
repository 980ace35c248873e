//! The catalog of a later generation, made from that of an earlier one: what stayed is moved, what is
//! new is read, so that a sync of a few files is searchable without loading everything again.

use std::collections::HashMap;

use super::{Catalog, ChunkEntry, FileEntry, Map, chunk_entry, damaged};
use crate::error::Result;
use crate::retrieval::docs::Docs;
use crate::retrieval::layout::Layout;
use crate::retrieval::names::Names;
use crate::store::{ChunkRow, FileRow, Reader};

/// One new chunk for so many old ones, and loading anew costs no more.
const NEW_PART: usize = 8;
/// Fewer new chunks than this are always read into what is there.
const NEW_MIN: usize = 1_000;
/// One vector in so many may be of no use before the vectors are loaded anew.
const DEAD_PART: usize = 4;

impl Catalog {
    /// The catalog of the generation of `reader`, which descends from this one's; `None` when so much
    /// is new that it had better be loaded.
    ///
    /// # Errors
    /// Index: the generation contradicts itself.
    pub fn follow(mut self, reader: &Reader) -> Result<Option<Self>> {
        let times = reader.file_times()?;
        let times: Map<u32, (u64, i64)> =
            times.into_iter().map(|(id, size, mtime_ns)| (id, (size, mtime_ns))).collect();
        let files = reader.files_since(self.free)?;
        let mut rows = Vec::new();
        reader.chunks_since(self.free, &mut |row| rows.push(row))?;
        let vectors = reader.vectors_since(self.free)?;
        let words = reader.words_since(self.free)?;
        let all = self.vectors.len() + vectors.ids.len();
        let stored = reader.vector_count()?;
        let is_worn = all > stored + stored / DEAD_PART + NEW_MIN;
        if is_worn || rows.len() > NEW_MIN.max(self.chunks.len() / NEW_PART) {
            return Ok(None);
        }
        if self.vectors.dim() == 0 || vectors.values.len() != vectors.ids.len() * self.vectors.dim()
        {
            // The first vectors of an index, or damage; loading tells them apart.
            return Ok(None);
        }
        self.vectors.push(&vectors.values);
        self.vector_ids.extend(vectors.ids);

        let gone = self.files.iter().filter(|file| !times.contains_key(&file.row.id));
        let same_paths = gone.map(|file| &file.row.path).eq(files.iter().map(|row| &row.path));
        let moves = self.rearrange(files, rows, &times)?;
        if !same_paths {
            self.names = Names::new(self.files.iter().map(|file| &file.row.path));
        }
        self.redefine(&moves);
        let fresh: Vec<(u32, &[u8])> =
            moves.fresh.iter().map(|(at, words)| (*at, words.as_slice())).collect();
        self.words = std::mem::take(&mut self.words).follow(&moves.moved, &fresh, words);
        self.layout = Layout::new(&self.files);
        self.docs = Docs::new(&self.files, &self.words);
        self.free = reader.free_ids();
        Ok(Some(self))
    }

    /// Puts the new files and chunks where they belong, and takes out what is gone.
    fn rearrange(
        &mut self,
        files: Vec<FileRow>,
        mut rows: Vec<ChunkRow>,
        times: &Map<u32, (u64, i64)>,
    ) -> Result<Moves> {
        let ids: HashMap<u32, usize> = files.iter().map(|row| row.id).zip(0..).collect();
        rows.sort_by_key(|row| (ids.get(&row.file_id).copied(), row.pos));
        let old_files = std::mem::take(&mut self.files);
        let old_chunks = std::mem::take(&mut self.chunks);
        let old_rows = std::mem::take(&mut self.vector_rows);
        self.chunks.reserve_exact(old_chunks.len() + rows.len());
        self.vector_rows.reserve_exact(old_chunks.len() + rows.len());
        let mut moves = Moves { moved: vec![None; old_chunks.len()], fresh: Vec::new() };
        let mut rows = rows.into_iter().peekable();
        let mut old_chunks = old_chunks.into_iter().enumerate();
        let mut files = files.into_iter().peekable();
        for mut file in old_files {
            while let Some(row) = files.next_if(|row| row.path < file.row.path) {
                self.add(row, &mut rows, &mut moves)?;
            }
            let own = old_chunks.by_ref().take(file.chunks.len());
            let Some((size, mtime_ns)) = times.get(&file.row.id) else {
                own.for_each(drop);
                continue;
            };
            (file.row.size, file.row.mtime_ns) = (*size, *mtime_ns);
            let (at, first) = (self.files.len(), self.chunks.len());
            for (from, chunk) in own {
                moves.moved[from] = Some(self.chunks.len() as u32);
                self.chunks.push(ChunkEntry { file: at, ..chunk });
                self.vector_rows.push(old_rows[from]);
            }
            file.chunks = first..self.chunks.len();
            self.files.push(file);
        }
        for row in files {
            self.add(row, &mut rows, &mut moves)?;
        }
        rows.next().map_or(Ok(moves), |row| Err(damaged(row.pos, row.file_id, row.vector_id)))
    }

    /// Adds a new file with its chunks, which are the next of `rows`.
    fn add(
        &mut self,
        file: FileRow,
        rows: &mut std::iter::Peekable<std::vec::IntoIter<ChunkRow>>,
        moves: &mut Moves,
    ) -> Result<()> {
        let (at, first) = (self.files.len(), self.chunks.len());
        while let Some(mut row) = rows.next_if(|row| row.file_id == file.id) {
            let Ok(vector) = self.vector_ids.binary_search(&row.vector_id) else {
                return Err(damaged(row.pos, row.file_id, row.vector_id));
            };
            moves.fresh.push((self.chunks.len() as u32, std::mem::take(&mut row.words)));
            self.chunks.push(chunk_entry(row, at));
            self.vector_rows.push(vector as u32);
        }
        self.files.push(FileEntry { row: file, chunks: first..self.chunks.len() });
        Ok(())
    }

    /// Brings the names that chunks define up to date.
    fn redefine(&mut self, moves: &Moves) {
        self.definitions.renumber(&moves.moved);
        for (at, _) in &moves.fresh {
            self.definitions.add(&self.chunks[*at as usize].defines, *at);
        }
        self.definitions.complete();
    }
}

/// Where chunks went.
struct Moves {
    /// By old position: the new one, unless it is gone.
    moved: Vec<Option<u32>>,
    /// The new position of each new chunk, ascending, with its encoded words.
    fresh: Vec<(u32, Vec<u8>)>,
}
