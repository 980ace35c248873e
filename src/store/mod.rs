//! Here are files, chunks and vectors: keep them, publish them as one generation, give them back.
//! The only door to DuckDB.
//!
//! `.index/` holds `CURRENT` (one line that names a generation and its file), the files
//! `code-<generation>.duckdb` of the two newest generations, `COMPARED` (when the tree was last
//! compared with it), and the locks `writer.lock` and `waiter.lock`. A published file is
//! never written again: a reader opens it read-only and needs no lock, a writer works on a private
//! copy and publishes it by replacing `CURRENT`. An HNSW index, where one is wanted, lies beside it in
//! a file of its own ([`Hnsw`]). So a death at any instant leaves the generation
//! before, and no reader ever waits. Knows nothing of git, trees or models. Tests are in
//! `tests/it/store.rs`.

mod compared;
mod connect;
mod explain;
mod generation;
mod hnsw;
mod lock;
mod reader;
mod rows;
mod vss;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::error::Result;
use crate::types::{ChunkKind, Hash, Language, LineRange, Place, RelPath};

pub use compared::Compared;
pub use hnsw::{Hnsw, HnswMark};
pub use lock::WriterLock;
pub use reader::{FreeIds, Reader, Totals};
pub use vss::{check_vss, find_vss};
pub use writer::Writer;

/// Raised when the tables change; checked on open.
pub const SCHEMA_VERSION: u32 = 1;

/// One published state of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Counts up by one a publication.
    pub number: u64,
    /// Its file.
    pub file: PathBuf,
    /// The size of the file.
    pub bytes: u64,
    /// When it was published, in nanoseconds since 1970: tells it from one of the same number in an
    /// index that was removed since.
    pub stamp_ns: u64,
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

/// What tells whether a file is as it was indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    pub id: u32,
    pub path: RelPath,
    pub hash: Hash,
    pub size: u64,
    pub mtime_ns: i64,
    pub place: Place,
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

    /// What `CURRENT` names; `None` when nothing was published yet. Cheap enough to ask before each
    /// request: one read of a line and one look at the file.
    ///
    /// # Errors
    /// Index: `CURRENT` fails its checksum, or names a file that is not there. Environment: it
    /// cannot be read.
    pub fn current(&self) -> Result<Option<Generation>> {
        generation::current(&self.path)
    }

    /// Opens the current generation read-only; `None` when nothing was published yet. Retries when
    /// a writer replaces `CURRENT` and sweeps the old file in between.
    ///
    /// # Errors
    /// Index: damaged, or written with another schema (newer or older), with the command to run.
    pub fn open(&self, duckdb_memory_mib: usize) -> Result<Option<Reader>> {
        loop {
            let Some(current) = self.current()? else { return Ok(None) };
            match Reader::open(current.clone(), duckdb_memory_mib) {
                Ok(reader) => return Ok(Some(reader)),
                Err(_) if self.current()?.as_ref() != Some(&current) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// When `generation` was last compared with the whole tree; `None` when that is not known.
    pub fn compared(&self, generation: &Generation) -> Option<Compared> {
        compared::read(&self.path, generation)
    }

    /// Takes the writer's lock, waiting up to `wait`. Makes the folder, git-ignored.
    ///
    /// # Errors
    /// Busy, naming the holder's pid and since when; Environment on a read-only disk.
    pub fn lock(&self, wait: Duration) -> Result<WriterLock> {
        lock::take(self, wait)
    }

    /// The right to wait for the writer's lock until it is free, which one process has at a time;
    /// `None` when another one waits already. Given back when dropped.
    ///
    /// # Errors
    /// Environment on a read-only disk.
    pub fn wait_alone(&self) -> Result<Option<std::fs::File>> {
        lock::wait_alone(self)
    }

    /// Who holds the writer's lock now, if anybody; pid 0 when the holder has not signed.
    pub fn writer(&self) -> Option<WriterInfo> {
        lock::holder(&self.path)
    }

    /// Bytes of all files of the index; 0 when there is none.
    pub fn size(&self) -> u64 {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
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
