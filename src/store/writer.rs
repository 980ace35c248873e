//! Here are changes: make them in a private copy of the index and publish it as one generation.
//!
//! The private file is thrown away when anything fails, so DuckDB writes no log and each batch is
//! one transaction only for the sake of whoever reads the copy. What nothing uses any more stays
//! until it is a fair share of the index: a small sync must not pay for a clean-up.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::connect::{self, Access};
use super::explain::{damaged, disk, duck};
use super::generation::{self, PrivateFile};
use super::hnsw::{self, Build};
use super::reader::{Counts, Reader, encode_ancestors, encode_meta};
use super::{Base, Batch, Compared, Generation, Meta, WriterLock, rows};
use crate::error::{Error, ErrorKind, Result};
use crate::types::Hash;

/// One row in so many may be unused before unused rows are deleted.
const DEAD_PART: u64 = 4;
/// Fewer unused vectors than this are not worth a look.
const DEAD_VECTORS_MIN: u64 = 1_000;
/// Fewer unused bytes than this are not worth a look.
const DEAD_BYTES_MIN: u64 = 4 << 20;
/// One block of the file in so many may be empty, and one row of a table in so many deleted, before
/// the file is rewritten.
const EMPTY_PART: u64 = 3;
/// A smaller file is not worth a rewrite; in blocks of 256 KiB.
const REWRITE_BLOCKS_MIN: u64 = 32;
/// The sum of the sizes of files, as far as a number holds it.
const SIZES: &str = "least(coalesce(sum(size), 0), 18446744073709551615)::UBIGINT";
/// Ids in one statement.
const IDS_MAX: usize = 10_000;

/// A private copy of the index, being written. Dropped without [`Writer::publish`], it leaves
/// nothing.
pub struct Writer {
    // The fields are dropped in this order: the connection closes before its file goes, and the
    // lock is let go last.
    reader: Reader,
    private: PrivateFile,
    /// The HNSW index that was built for this generation, if one was.
    hnsw: Option<PrivateFile>,
    lock: WriterLock,
    number: u64,
    memory_mib: usize,
    counts: Counts,
    compared: Option<Compared>,
    /// Values of each vector that was inserted or in the base.
    dim: Option<usize>,
    /// What is stored already; read when the first blob comes.
    blobs: Option<HashSet<Hash>>,
}

impl Writer {
    /// Sweeps leftovers of dead writers, then makes the private file.
    ///
    /// # Errors
    /// Index: the base is damaged or of another schema. Environment: the disk is full or read-only.
    pub fn begin(lock: WriterLock, base: Base, duckdb_memory_mib: usize) -> Result<Self> {
        let dir = lock.dir().to_owned();
        let current = match (generation::current(&dir), base) {
            (Ok(current), _) => {
                generation::sweep(&dir, current.as_ref())?;
                current
            }
            // A damaged index is replaced, and kept until then.
            (Err(_), Base::Empty) => {
                generation::sweep_private(&dir)?;
                None
            }
            (Err(error), Base::Current) => return Err(error),
        };
        let number = generation::next_number(&dir)?;
        let private = PrivateFile(dir.join(generation::private_name(number)));
        let reader = match current.filter(|_| base == Base::Current) {
            Some(base) => copy_base(&base, &private, duckdb_memory_mib)?,
            None => make_empty(&private, duckdb_memory_mib)?,
        };
        let counts = reader.counts();
        let dim = (reader.meta().dim > 0).then_some(reader.meta().dim);
        let memory_mib = duckdb_memory_mib;
        let (hnsw, compared, blobs) = (None, None, None);
        Ok(Self { reader, private, hnsw, lock, number, memory_mib, counts, compared, dim, blobs })
    }

    /// What the private copy holds, for reading the base; sees what was written since.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Keeps with the generation, once published, when it was found equal to the tree.
    pub fn set_compared(&mut self, compared: Option<Compared>) {
        self.compared = compared;
    }

    /// Deletes files with their chunks.
    ///
    /// # Errors
    /// Environment: the disk is full.
    pub fn delete_files(&mut self, ids: &[u32]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let (mut chunks, mut bytes) = (0, 0);
        self.transaction(|writer| {
            for ids in ids.chunks(IDS_MAX) {
                let list = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let deleted =
                    writer.number(&format!("SELECT {SIZES} FROM file WHERE id IN ({list})"))?;
                bytes = u64::saturating_add(bytes, deleted);
                chunks += writer.run(&format!("DELETE FROM chunk WHERE file_id IN ({list})"))?;
                writer.run(&format!("DELETE FROM file WHERE id IN ({list})"))?;
            }
            Ok(())
        })?;
        self.counts.dead_vectors += chunks as u64;
        self.counts.dead_bytes = self.counts.dead_bytes.saturating_add(bytes);
        Ok(())
    }

    /// Sets size and modification time of files whose content is as it was: `(id, size, mtime_ns)`.
    /// Of several entries for one id the last counts.
    ///
    /// # Errors
    /// Environment: the disk is full.
    pub fn touch_files(&mut self, touched: &[(u32, u64, i64)]) -> Result<()> {
        let last: HashMap<u32, (u64, i64)> = touched.iter().map(|t| (t.0, (t.1, t.2))).collect();
        let touched: Vec<_> = last.into_iter().collect();
        if touched.is_empty() {
            return Ok(());
        }
        self.transaction(|writer| {
            for touched in touched.chunks(IDS_MAX) {
                let mut values = String::new();
                for (id, (size, mtime_ns)) in touched {
                    let comma = if values.is_empty() { "" } else { ", " };
                    let _ = write!(values, "{comma}({id}, {size}, {mtime_ns})");
                }
                writer.run(&format!(
                    "UPDATE file SET size = t.size, mtime_ns = t.mtime_ns \
                     FROM (VALUES {values}) t(id, size, mtime_ns) WHERE file.id = t.id"
                ))?;
            }
            Ok(())
        })
    }

    /// Inserts rows in one transaction. Ids must be new to the index ([`Reader::free_ids`]).
    ///
    /// # Errors
    /// Bug: vectors of different lengths. Environment: the disk is full.
    pub fn insert(&mut self, batch: &Batch) -> Result<()> {
        self.check_dim(batch)?;
        let mut stored = match self.blobs.take() {
            Some(stored) => stored,
            None if batch.blobs.is_empty() => HashSet::new(),
            None => self.reader.blob_hashes()?.into_iter().collect(),
        };
        let new_blobs: Vec<_> = batch.blobs.iter().filter(|blob| stored.insert(blob.0)).collect();
        self.transaction(|writer| {
            let connection = writer.reader.connection();
            let append = || {
                rows::append_files(connection, &batch.files)?;
                rows::append_chunks(connection, &batch.chunks)?;
                rows::append_vectors(connection, &batch.vectors)?;
                rows::append_words(connection, &batch.words)?;
                rows::append_blobs(connection, &new_blobs)
            };
            append().map_err(|error| writer.duck(&error))
        })?;
        self.blobs = (!stored.is_empty()).then_some(stored);
        self.count_ids(batch);
        Ok(())
    }

    fn check_dim(&mut self, batch: &Batch) -> Result<()> {
        for vector in &batch.vectors {
            let (id, found) = (vector.id, vector.values.len());
            let dim = *self.dim.get_or_insert(found);
            if found != dim {
                let message = format!("vector {id} has {found} values, others have {dim}");
                return Err(Error::new(ErrorKind::Bug, message));
            }
        }
        Ok(())
    }

    fn count_ids(&mut self, batch: &Batch) {
        let after =
            |ids: &mut dyn Iterator<Item = u32>| ids.max().map_or(0, |id| id.saturating_add(1));
        let free = &mut self.counts.free;
        free.file = free.file.max(after(&mut batch.files.iter().map(|file| file.id)));
        free.vector = free.vector.max(after(&mut batch.vectors.iter().map(|vector| vector.id)));
        free.word = free.word.max(after(&mut batch.words.iter().map(|word| word.0)));
    }

    /// Replaces the list of files left out: path and the reason's name.
    ///
    /// # Errors
    /// Environment: the disk is full.
    pub fn set_skipped(&mut self, skipped: &[(String, String)]) -> Result<()> {
        let mut sorted = skipped.to_vec();
        sorted.sort_unstable();
        if sorted == self.reader.skipped()? {
            return Ok(());
        }
        self.replace("skipped", &sorted)
    }

    /// Whether an HNSW index has to be built to go with what was written: there is none, or too much
    /// came or went since.
    ///
    /// # Errors
    /// Index: the base is damaged.
    pub fn hnsw_is_due(&self) -> Result<bool> {
        self.reader.is_due(self.counts)
    }

    /// Builds an HNSW index of every vector in use, to be published with the generation, with the
    /// extension at `vss` and `threads` threads; about a minute of a core for 100,000 vectors. Call
    /// it when all is written. Until then, and when it fails, the index of the base stays.
    ///
    /// # Errors
    /// Environment: the extension cannot be loaded, the disk is full. Stopped: `stop` said so.
    pub fn build_hnsw(
        &mut self,
        vss: &Path,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let generation = self.number;
        let next_vector = self.counts.free.vector;
        let memory_mib = self.memory_mib;
        let private = PrivateFile(self.lock.dir().join(generation::private_hnsw_name(generation)));
        let build = Build { generation, next_vector, vss, threads, memory_mib };
        self.counts.hnsw = Some(hnsw::build(&self.reader, &private, &build, stop)?);
        self.hnsw = Some(private);
        Ok(())
    }

    /// Publishes the generation without an HNSW index.
    pub fn drop_hnsw(&mut self) {
        self.counts.hnsw = None;
        self.hnsw = None;
    }

    fn replace(&self, table: &str, rows: &[(String, String)]) -> Result<()> {
        self.transaction(|writer| {
            writer.run(&format!("DELETE FROM {table}"))?;
            rows::append_pairs(writer.reader.connection(), table, rows)
                .map_err(|error| writer.duck(&error))
        })
    }

    /// Makes the private copy the current generation: writes `meta`, drops vectors and blobs that
    /// nothing uses once they are a fair share, and rewrites the file once a third of it is dead;
    /// then all is brought to disk, the file gets its name and `CURRENT` is replaced. The two
    /// newest generations stay; older files go. Words stay: only `words` knows which are used.
    ///
    /// # Errors
    /// Environment: the disk is full. Busy: the lock's file was removed, so that others may write
    /// too. The generation before stays current.
    pub fn publish(mut self, meta: &Meta) -> Result<Generation> {
        self.check_meta(meta)?;
        self.drop_unused()?;
        self.publish_hnsw()?;
        let mut rows = encode_meta(meta, &self.counts);
        rows.push(encode_ancestors(&self.reader.lineage()));
        self.replace("meta", &rows)?;
        self.run("CHECKPOINT")?;
        let rewrite = self.is_mostly_empty()?;

        // Dropped in reverse: the lock is let go last, after the private file is gone.
        let Self { lock, private, reader, number, memory_mib, counts, compared, .. } = self;
        drop(reader);
        if rewrite {
            self::rewrite(&private, memory_mib)?;
        }
        if private.wal().exists() {
            return Err(damaged(&private.0, "DuckDB did not finish writing it"));
        }
        lock.check()?;
        let generation = generation::publish(lock.dir(), &private.0, number)?;
        if let Some(compared) = compared {
            // Without it files are looked at more closely the next time; the new generation stands.
            let _ = lock.set_compared(&generation, &compared);
        }
        // What cannot go now is swept by the next writer; the new generation stands.
        let _ = generation::sweep(lock.dir(), Some(&generation));
        let _ = generation::sweep_hnsw(lock.dir(), counts.hnsw.map(|mark| mark.generation));
        Ok(generation)
    }

    /// Names the file of the HNSW index that was built, before anything says that it is there.
    fn publish_hnsw(&mut self) -> Result<()> {
        if let (Some(private), Some(mark)) = (&self.hnsw, &mut self.counts.hnsw) {
            mark.bytes = generation::publish_hnsw(self.lock.dir(), &private.0, mark.generation)?;
        }
        Ok(())
    }

    fn check_meta(&self, meta: &Meta) -> Result<()> {
        match self.dim {
            Some(dim) if dim != meta.dim => {
                let said = meta.dim;
                let message = format!("vectors have {dim} values, the index says {said}");
                Err(Error::new(ErrorKind::Bug, message))
            }
            _ => Ok(()),
        }
    }

    fn drop_unused(&mut self) -> Result<()> {
        if self.counts.dead_vectors > DEAD_VECTORS_MIN {
            let vectors = self.number("SELECT count(*)::UBIGINT FROM vector")?;
            if self.counts.dead_vectors > vectors / DEAD_PART {
                self.run("DELETE FROM vector WHERE id NOT IN (SELECT vector_id FROM chunk)")?;
                self.counts.dead_vectors = 0;
            }
        }
        if self.counts.dead_bytes > DEAD_BYTES_MIN {
            let bytes = self.number(&format!("SELECT {SIZES} FROM file"))?;
            if self.counts.dead_bytes > bytes / DEAD_PART {
                self.run("DELETE FROM blob WHERE hash NOT IN (SELECT hash FROM file)")?;
                self.counts.dead_bytes = 0;
            }
        }
        Ok(())
    }

    /// DuckDB gives no space back: it uses empty blocks again, and lets deleted rows lie until
    /// whole groups of rows are deleted.
    fn is_mostly_empty(&self) -> Result<bool> {
        let size = "FROM pragma_database_size() WHERE database_name = current_database()";
        let blocks = self.number(&format!("SELECT total_blocks::UBIGINT {size}"))?;
        if blocks < REWRITE_BLOCKS_MIN {
            return Ok(false);
        }
        let empty = self.number(&format!("SELECT free_blocks::UBIGINT {size}"))?;
        if empty > blocks / EMPTY_PART {
            return Ok(true);
        }
        for table in ["chunk", "vector", "blob"] {
            let alive = self.number(&format!("SELECT count(*)::UBIGINT FROM {table}"))?;
            let stored = self.number(&format!(
                "SELECT coalesce(sum(count), 0)::UBIGINT FROM pragma_storage_info('{table}') \
                 WHERE column_id = 0 AND segment_type <> 'VALIDITY'"
            ))?;
            if stored.saturating_sub(alive) > stored / EMPTY_PART {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn transaction(&self, change: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        self.run("BEGIN TRANSACTION")?;
        let changed = change(self).and_then(|()| self.run("COMMIT").map(|_| ()));
        if changed.is_err() {
            // The first error is the one to tell.
            let _ = self.run("ROLLBACK");
        }
        changed
    }

    /// Runs one statement; returns the number of rows that it changed.
    fn run(&self, sql: &str) -> Result<usize> {
        self.reader.connection().execute(sql, []).map_err(|error| self.duck(&error))
    }

    /// The one number that `sql` selects.
    fn number(&self, sql: &str) -> Result<u64> {
        let found = self.reader.connection().query_row(sql, [], |row| row.get(0));
        found.map_err(|error| self.duck(&error))
    }

    fn duck(&self, error: &duckdb::Error) -> Error {
        duck(&self.private.0, error)
    }
}

/// Copies the published file of `base` and opens the copy.
fn copy_base(base: &Generation, private: &PrivateFile, memory_mib: usize) -> Result<Reader> {
    let copied = fs::copy(&base.file, &private.0).map_err(|e| disk("copy", &base.file, e))?;
    if copied != base.bytes {
        let published = base.bytes;
        return Err(damaged(
            &base.file,
            format!("it has {copied} bytes, published were {published}"),
        ));
    }
    let access = Access::Write { spill: &private.spill() };
    let connection = connect::open(&private.0, access, memory_mib)?;
    Reader::over(connection, Generation { file: private.0.clone(), ..*base })
}

fn make_empty(private: &PrivateFile, memory_mib: usize) -> Result<Reader> {
    let access = Access::Write { spill: &private.spill() };
    let connection = connect::open(&private.0, access, memory_mib)?;
    connection.execute_batch(connect::SCHEMA).map_err(|error| duck(&private.0, &error))?;
    let nothing = Generation { number: 0, file: private.0.clone(), bytes: 0, stamp_ns: 0 };
    Ok(Reader::over_empty(connection, nothing))
}

/// Replaces the file by one that holds only what is alive.
fn rewrite(private: &PrivateFile, memory_mib: usize) -> Result<()> {
    let fresh = PrivateFile(private.0.with_extension("fresh.duckdb"));
    connect::copy_alive(&private.0, &fresh.0, &fresh.spill(), memory_mib)?;
    fs::rename(&fresh.0, &private.0).map_err(|error| disk("write", &private.0, error))
}
