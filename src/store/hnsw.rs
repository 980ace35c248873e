//! Which vectors are nearest to this one? An HNSW index beside a generation: built whole, asked,
//! never changed.
//!
//! It lies in a file of its own, `hnsw-<generation>.duckdb`, named for the generation that it was
//! built for, and later generations name the same file until it is built anew. So a small change
//! neither copies it nor needs the extension, and the generation's own file stays plain. That is
//! safe because a vector never changes under its id: what came later is not covered and is compared
//! one by one, and what is gone is passed over by whoever knows what is there.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use duckdb::Connection;

use super::connect::{self, Access};
use super::explain::{damaged, disk, duck};
use super::generation::{self, PrivateFile};
use super::reader::Reader;
use super::rows::{self, Columns, Fault};
use crate::error::{Error, ErrorKind, Result};

/// An index is built anew once one vector in so many came after it.
const UNCOVERED_PART: u64 = 10;
/// An index is built anew once one of its vectors in so many is gone.
const GONE_PART: u64 = 4;
/// Memory that DuckDB may take beside the index itself, in MiB.
const MEMORY_BESIDE_MIB: usize = 512;
/// Bytes of a vector's edges and of what DuckDB keeps beside it.
const EDGES_BYTES: usize = 512;
/// How often a build looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// What a generation says of its HNSW index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HnswMark {
    /// The generation that it was built for; its file is named so.
    pub generation: u64,
    /// The size of its file.
    pub bytes: u64,
    /// When it was built, in nanoseconds since 1970.
    pub stamp_ns: u64,
    /// It covers vectors with smaller ids than this, but for those that are all zero.
    pub next_vector: u32,
    /// How many it covers.
    pub rows: u64,
}

impl HnswMark {
    /// The mark as one text.
    pub(super) fn encode(&self) -> String {
        let Self { generation, bytes, stamp_ns, next_vector, rows } = self;
        format!("{generation} {bytes} {stamp_ns} {next_vector} {rows}")
    }

    /// The mark that [`HnswMark::encode`] wrote.
    pub(super) fn decode(text: &str) -> Result<Self, Fault> {
        let wrong = || format!("its hnsw is `{}`", text.escape_debug());
        let numbers: Option<Vec<u64>> = text.split(' ').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[generation, bytes, stamp_ns, next_vector, rows]) => Ok(Self {
                generation,
                bytes,
                stamp_ns,
                next_vector: u32::try_from(next_vector).map_err(|_| wrong())?,
                rows,
            }),
            _ => Err(wrong()),
        }
    }

    /// Whether the index should be built anew: `free_vector` is the first id that was never used,
    /// `kept` how many vectors below [`HnswMark::next_vector`] are still stored.
    pub(super) fn is_worn(&self, free_vector: u32, kept: u64) -> bool {
        let uncovered = u64::from(free_vector.saturating_sub(self.next_vector));
        let gone = self.rows.saturating_sub(kept);
        uncovered > self.rows / UNCOVERED_PART || gone > self.rows / GONE_PART
    }
}

/// An HNSW index, open for questions.
pub struct Hnsw {
    /// One question at a time.
    asked: Mutex<Asked>,
    path: PathBuf,
    mark: HnswMark,
    dim: usize,
}

struct Asked {
    connection: Connection,
    /// How many candidates DuckDB is told to look at.
    looks_at: usize,
    /// The extension waits forever for an index that it once failed to read: never ask again.
    failed: bool,
}

impl fmt::Debug for Hnsw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hnsw").field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl Hnsw {
    /// Opens the index that `reader` names, with the extension at `vss`; `None` when it names none.
    /// The index itself is read by the first question.
    ///
    /// # Errors
    /// Environment: the extension cannot be loaded. Index: the file is damaged or not there.
    pub fn open(reader: &Reader, vss: &Path, memory_mib: usize) -> Result<Option<Self>> {
        let Some(mark) = reader.hnsw() else { return Ok(None) };
        let name = generation::hnsw_name(mark.generation);
        let path = reader.generation().file.with_file_name(name);
        let found = fs::metadata(&path).map_err(|error| disk("read", &path, error))?.len();
        if found != mark.bytes {
            let built = mark.bytes;
            return Err(damaged(&path, format!("it has {found} bytes, built were {built}")));
        }
        let dim = reader.meta().dim;
        let memory_mib = memory_mib.max(memory_needed_mib(mark.rows as usize, dim));
        let connection = connect::open_hnsw(&path, Access::Read, vss, 1, memory_mib)?;
        let asked = Mutex::new(Asked { connection, looks_at: 0, failed: false });
        Ok(Some(Self { asked, path, mark, dim }))
    }

    /// Whether a question failed; none is answered after it.
    pub fn has_failed(&self) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).failed
    }

    /// Which one.
    pub fn mark(&self) -> HnswMark {
        self.mark
    }

    /// The ids of about the `count` vectors with the highest cosine to `query`, best first. Some of
    /// them may be gone from the generation that is read, and a few nearer ones may be missing.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn nearest(&self, query: &[i8], count: usize) -> Result<Vec<u32>> {
        let looks_at = count.max(1);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.failed {
            return Err(damaged(&self.path, "it could not be read before"));
        }
        asked.failed = true;
        let mut ask = || {
            if asked.looks_at != looks_at {
                asked.connection.execute_batch(&format!("SET hnsw_ef_search = {looks_at}"))?;
                asked.looks_at = looks_at;
            }
            let mut statement = asked.connection.prepare_cached(&format!(
                "SELECT id FROM near ORDER BY array_cosine_distance(vector, ?::FLOAT[{}]) \
                 LIMIT {looks_at}",
                self.dim
            ))?;
            let ids = statement.query_map([text(query)], |row| row.get(0))?;
            ids.collect::<duckdb::Result<Vec<u32>>>()
        };
        let ids = ask().map_err(|error| duck(&self.path, &error))?;
        asked.failed = false;
        Ok(ids)
    }
}

/// A vector as DuckDB reads it.
fn text(vector: &[i8]) -> String {
    let mut text = String::with_capacity(2 + 5 * vector.len());
    for value in vector {
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push_str(&value.to_string());
    }
    text + "]"
}

/// Where and with what an index is built.
pub(super) struct Build<'a> {
    /// For which generation.
    pub(super) generation: u64,
    /// The first id that no vector has.
    pub(super) next_vector: u32,
    pub(super) vss: &'a Path,
    pub(super) threads: usize,
    pub(super) memory_mib: usize,
}

/// Builds an index of every vector of `reader` that a chunk uses, in the file `private`, and stops
/// when `stop` says so. Takes about a minute of a core for 100,000 vectors.
pub(super) fn build(
    reader: &Reader,
    private: &PrivateFile,
    build: &Build<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<HnswMark> {
    let access = Access::Write { spill: &private.spill() };
    let (rows, dim) = (reader.count("vector")?, reader.dim()?);
    let memory_mib = build.memory_mib.max(memory_needed_mib(rows, dim));
    let connection = connect::open_hnsw(&private.0, access, build.vss, build.threads, memory_mib)?;
    let rows = fill(&connection, reader, private, stop)?;
    let interrupt = connection.interrupt_handle();
    let (done, is_done) = channel::<()>();
    let built = thread::scope(|scope| {
        scope.spawn(move || {
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop() {
                    interrupt.interrupt();
                }
            }
        });
        let built = connection.execute_batch(
            "CREATE INDEX near_hnsw ON near USING HNSW (vector) WITH (metric = 'cosine'); \
             CHECKPOINT",
        );
        drop(done);
        built
    });
    if stop() {
        return Err(stopped());
    }
    built.map_err(|error| duck(&private.0, &error))?;
    drop(connection);
    if private.wal().exists() {
        return Err(damaged(&private.0, "DuckDB did not finish writing it"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let Build { generation, next_vector, .. } = *build;
    let stamp_ns = now.map_or(0, |now| now.as_nanos() as u64);
    Ok(HnswMark { generation, bytes: 0, stamp_ns, next_vector, rows })
}

/// The memory that DuckDB must be allowed for an index of `rows` vectors of `dim` values, in MiB: the
/// vectors as they are collected, and the index as it is written. The extension ends the process
/// when it gets less, so this is twice what was seen to be enough.
fn memory_needed_mib(rows: usize, dim: usize) -> usize {
    let bytes = rows.saturating_mul(4 * dim + EDGES_BYTES).saturating_mul(4);
    MEMORY_BESIDE_MIB + (bytes >> 20)
}

/// Copies the vectors; returns how many.
fn fill(
    connection: &Connection,
    reader: &Reader,
    private: &PrivateFile,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<u64> {
    let dim = reader.dim()?;
    let table = format!("CREATE TABLE near (id UINTEGER NOT NULL, vector FLOAT[{dim}] NOT NULL)");
    connection.execute_batch(&table).map_err(|error| duck(&private.0, &error))?;
    let mut rows = 0;
    let mut failed = None;
    let mut copy = |batch: &Columns<'_>| {
        let (ids, values) = (batch.u32s(0)?, batch.bytes(1)?);
        // A zero vector has no direction: its cosine is 0 to everything.
        let with_direction = (0..batch.len())
            .map(|row| (ids.value(row), values.value(row)))
            .filter(|(_, vector)| vector.iter().any(|value| *value != 0));
        let batch: Vec<(u32, &[u8])> = with_direction.collect();
        if let Some((_, odd)) = batch.iter().find(|(_, vector)| vector.len() != dim) {
            return Err(format!("a vector has {} values, others have {dim}", odd.len()));
        }
        rows += batch.len() as u64;
        if failed.is_none() && !stop() {
            failed = rows::append_near(connection, dim, &batch).err();
        }
        Ok(())
    };
    reader.scan(
        "SELECT id, \"values\" FROM vector WHERE id IN (SELECT vector_id FROM chunk) ORDER BY id",
        &mut copy,
    )?;
    match failed {
        _ if stop() => Err(stopped()),
        Some(error) => Err(duck(&private.0, &error)),
        None => Ok(rows),
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Stopped, "building the HNSW index was cancelled")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{HnswMark, text};

    fn mark(rows: u64) -> HnswMark {
        HnswMark { generation: 3, bytes: 4096, stamp_ns: 17, next_vector: 1000, rows }
    }

    #[test]
    fn a_mark_survives_being_text() {
        let mark = mark(990);
        assert_eq!(HnswMark::decode(&mark.encode()), Ok(mark));
    }

    #[test]
    fn an_index_is_worn_by_what_came_and_by_what_went() {
        let mark = mark(1000);
        assert!(!mark.is_worn(1000, 1000));
        assert!(!mark.is_worn(1100, 750));
        assert!(mark.is_worn(1101, 1000));
        assert!(mark.is_worn(1000, 749));
    }

    #[test]
    fn a_vector_is_a_list() {
        assert_eq!(text(&[-128, 0, 127]), "[-128,0,127]");
    }

    proptest! {
        #[test]
        fn any_text_is_a_mark_or_is_refused(text in "\\PC{0,30}|[0-9 ]{0,60}") {
            let _ = HnswMark::decode(&text);
        }
    }
}
