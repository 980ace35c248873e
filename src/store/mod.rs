//! Here are files, chunks and vectors: keep them, publish them as one generation, give them back.
//! The only door to DuckDB.
//!
//! `.index/` holds `CURRENT` (one line: generation, file name, checksum), `code-<generation>.duckdb`
//! and `writer.lock`. A published file is never written again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::error::Result;
use crate::types::{ChunkKind, Hash, Language, LineRange, Place, RelPath};

/// Raised when the tables change; checked on open.
pub const SCHEMA_VERSION: u32 = 1;

/// One published state of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Counts up by one a publication.
    pub number: u64,
    /// Its file.
    pub file: PathBuf,
}

/// What the whole index was made with and from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// [`SCHEMA_VERSION`] when it was written.
    pub schema: u32,
    /// `chunk::CHUNKER` when it was written.
    pub chunker: String,
    /// The embedding model's identity.
    pub model: String,
    /// Dimensions of a vector.
    pub dim: usize,
    /// Fingerprint of the settings that decide which files are indexed.
    pub scope: String,
    /// The commit that was checked out, if any.
    pub head: Option<String>,
    /// Seconds since 1970.
    pub created_s: u64,
    /// SAI's version.
    pub version: String,
}

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Unique within the index; never used again for other content.
    pub id: u32,
    pub path: RelPath,
    /// Of the exact bytes; the key of [`Batch::blobs`].
    pub hash: Hash,
    pub size: u64,
    pub mtime_ns: i64,
    pub encoding: String,
    pub language: Language,
    pub place: Place,
    pub lines: u32,
    /// The words of its imports.
    pub imports: Vec<String>,
}

/// A row of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRow {
    pub file_id: u32,
    /// Position in its file, from 0.
    pub pos: u32,
    pub lines: LineRange,
    /// Bytes of the decoded text, end-exclusive.
    pub byte_start: u32,
    pub byte_end: u32,
    pub kind: ChunkKind,
    pub symbol: Option<String>,
    pub defines: Vec<String>,
    pub parents: Vec<String>,
    pub signature: Option<String>,
    /// Bytes of the decoded text; `None` without documentation.
    pub doc: Option<(u32, u32)>,
    /// Which row of [`Batch::vectors`].
    pub vector_id: u32,
    /// The chunk's words, encoded by `words`; opaque here.
    pub words: Vec<u8>,
}

/// A vector and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorRow {
    /// Unique within the index.
    pub id: u32,
    /// Hash of everything that decides the vector (model, text, path words).
    pub key: Hash,
    /// `dim` values.
    pub values: Vec<i8>,
}

/// Rows to insert together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub files: Vec<FileRow>,
    pub chunks: Vec<ChunkRow>,
    pub vectors: Vec<VectorRow>,
    /// New words with their ids.
    pub words: Vec<(u32, String)>,
    /// Exact bytes by hash; a hash that is stored already is left alone.
    pub blobs: Vec<(Hash, Vec<u8>)>,
}

/// All vectors, row-major in ascending id.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// `ids[i]` is the id of row `i`; ascending.
    pub ids: Vec<u32>,
    /// `ids.len() × dim` values.
    pub values: Vec<i8>,
}

/// Who is writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WriterInfo {
    pub pid: u32,
    /// Seconds since 1970.
    pub since_s: u64,
}

/// The folder of an index.
#[derive(Clone, Debug)]
pub struct IndexDir {
    path: PathBuf,
}

impl IndexDir {
    /// The index at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `CURRENT` names; `None` when nothing was published yet. Costs one stat and one read of a
    /// line.
    ///
    /// # Errors
    /// Index: `CURRENT` is unreadable, fails its checksum, or names a file that is not there.
    pub fn current(&self) -> Result<Option<Generation>> {
        unimplemented!()
    }

    /// Opens the current generation read-only; `None` when nothing was published yet. Retries when a
    /// writer replaces `CURRENT` and sweeps the old file in between.
    ///
    /// # Errors
    /// Index: damaged, or written with another schema (newer or older), with the command to run.
    pub fn open(&self, duckdb_memory_mib: usize) -> Result<Option<Reader>> {
        unimplemented!()
    }

    /// Takes the writer's lock, waiting up to `wait`; creates the folder (with a `.gitignore` of `*`).
    ///
    /// # Errors
    /// Busy, naming the holder's pid and since when; Environment on a read-only disk.
    pub fn lock(&self, wait: Duration) -> Result<WriterLock> {
        unimplemented!()
    }

    /// Who holds the writer's lock now, if anybody.
    pub fn writer(&self) -> Option<WriterInfo> {
        unimplemented!()
    }

    /// Bytes of all files of the index.
    pub fn size(&self) -> u64 {
        unimplemented!()
    }
}

/// The writer's lock: one holder among all processes; released when dropped or when the holder dies.
#[derive(Debug)]
pub struct WriterLock {}

impl WriterLock {
    /// Removes every generation, `CURRENT` and leftovers; the folder stays. Returns bytes freed.
    pub fn flush(&self) -> Result<u64> {
        unimplemented!()
    }
}

/// A published generation, open for reading.
pub struct Reader {}

impl Reader {
    /// Which one.
    pub fn generation(&self) -> &Generation {
        unimplemented!()
    }

    /// What it was made with.
    pub fn meta(&self) -> &Meta {
        unimplemented!()
    }

    /// Every file, sorted by path.
    pub fn files(&self) -> Result<Vec<FileRow>> {
        unimplemented!()
    }

    /// Every chunk, in no particular order, one call of `each` a row; `words` is borrowed inside the
    /// row only for the call.
    pub fn chunks(&self, each: &mut dyn FnMut(ChunkRow)) -> Result<()> {
        let _ = each;
        unimplemented!()
    }

    /// Every vector.
    pub fn vectors(&self) -> Result<Vectors> {
        unimplemented!()
    }

    /// Every vector's id by key: what need not be embedded again.
    pub fn vector_keys(&self) -> Result<Vec<(Hash, u32)>> {
        unimplemented!()
    }

    /// Every word with its id.
    pub fn words(&self) -> Result<Vec<(u32, String)>> {
        unimplemented!()
    }

    /// The exact bytes of a file's content.
    pub fn blob(&self, _hash: Hash) -> Result<Option<Vec<u8>>> {
        unimplemented!()
    }

    /// Files that were left out, with the reason's name, sorted by path.
    pub fn skipped(&self) -> Result<Vec<(String, String)>> {
        unimplemented!()
    }
}

/// What a new generation starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Nothing.
    Empty,
    /// A private copy of the current generation.
    Current,
}

/// A private copy of the index, being written. Dropped without [`Writer::publish`], it leaves nothing.
pub struct Writer {}

impl Writer {
    /// Sweeps leftovers of dead writers, then makes the private file.
    pub fn begin(_lock: WriterLock, _base: Base, _duckdb_memory_mib: usize) -> Result<Self> {
        unimplemented!()
    }

    /// What the private copy holds, for reading the base.
    pub fn reader(&self) -> &Reader {
        unimplemented!()
    }

    /// Deletes files with their chunks.
    pub fn delete_files(&mut self, _ids: &[u32]) -> Result<()> {
        unimplemented!()
    }

    /// Sets size and modification time of files whose content is as it was: `(id, size, mtime_ns)`.
    pub fn touch_files(&mut self, _touched: &[(u32, u64, i64)]) -> Result<()> {
        unimplemented!()
    }

    /// Inserts rows in one transaction.
    pub fn insert(&mut self, _batch: &Batch) -> Result<()> {
        unimplemented!()
    }

    /// Replaces the list of files left out: path and the reason's name.
    pub fn set_skipped(&mut self, _skipped: &[(String, String)]) -> Result<()> {
        unimplemented!()
    }

    /// Drops vectors, blobs and words that nothing uses, then checkpoints, closes, syncs to disk,
    /// renames and replaces `CURRENT`. The two newest generations stay; older files go.
    pub fn publish(self, _meta: &Meta) -> Result<Generation> {
        unimplemented!()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts { pub files: usize, pub chunks: usize, pub lines: u64, pub vectors: usize }
impl Reader { pub fn counts(&self) -> Result<Counts> { unimplemented!() } }
