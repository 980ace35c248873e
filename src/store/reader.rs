//! Here is a published generation: give back its files, chunks, vectors, words and bytes.
//!
//! Everything is read column-wise in batches. Nothing is cached: what a caller keeps in memory, the
//! caller holds.

use std::collections::HashSet;
use std::path::Path;

use duckdb::arrow::array::BinaryArray;
use duckdb::{Connection, Statement};

use super::connect::{self, Access};
use super::explain::{damaged, duck, rebuild};
use super::hnsw::HnswMark;
use super::rows::{self, Columns, Fault, optional, optional_u32};
use super::{ChunkRow, FileRow, FileStamp, Generation, Meta, SCHEMA_VERSION, Vectors};
use crate::error::{Error, Result};
use crate::types::{ChunkKind, Hash, Language, LineRange, Place, RelPath};

/// The first ids that were never used in this index, not even by rows deleted since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeIds {
    /// For [`FileRow::id`].
    pub file: u32,
    /// For [`super::VectorRow::id`].
    pub vector: u32,
    /// For [`super::Batch::words`].
    pub word: u32,
}

/// What the writer keeps count of, in the table `meta` beside [`Meta`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) free: FreeIds,
    /// At most so many vectors are used by no chunk.
    pub(super) dead_vectors: u64,
    /// Blobs that no file uses stood for at most so many bytes.
    pub(super) dead_bytes: u64,
    /// The HNSW index beside the file, if there is one.
    pub(super) hnsw: Option<HnswMark>,
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub files: usize,
    pub chunks: usize,
    /// Lines of all files.
    pub lines: u64,
}

/// A published generation, open for reading.
pub struct Reader {
    connection: Connection,
    generation: Generation,
    meta: Meta,
    counts: Counts,
    /// The stamps of the generations that this one was made from, newest last.
    ancestors: Vec<u64>,
}

impl Reader {
    /// Opens the published file of `generation`.
    pub(super) fn open(generation: Generation, memory_mib: usize) -> Result<Self> {
        let path = generation.file.clone();
        let found = std::fs::metadata(&path).map_err(|e| super::explain::disk("read", &path, e))?;
        if found.len() != generation.bytes {
            let (found, published) = (found.len(), generation.bytes);
            return Err(damaged(
                &path,
                format!("it has {found} bytes, published were {published}"),
            ));
        }
        let connection = connect::open(&path, Access::Read, memory_mib)?;
        Self::over(connection, generation)
    }

    /// A reader over an open file that has all tables; checks the schema.
    pub(super) fn over(connection: Connection, generation: Generation) -> Result<Self> {
        let (meta, counts) = (Meta::empty(), Counts::default());
        let mut reader = Self { connection, generation, meta, counts, ancestors: Vec::new() };
        let pairs = reader.pairs("SELECT name, value FROM meta")?;
        reader.check_schema(&pairs)?;
        (reader.meta, reader.counts) =
            decode_meta(&pairs).map_err(|fault| damaged(reader.path(), fault))?;
        reader.ancestors = decode_ancestors(&pairs);
        Ok(reader)
    }

    /// A reader over an open file whose tables are empty.
    pub(super) fn over_empty(connection: Connection, generation: Generation) -> Self {
        let (meta, counts, ancestors) = (Meta::empty(), Counts::default(), Vec::new());
        Self { connection, generation, meta, counts, ancestors }
    }

    /// The same generation for another thread: a connection of its own to the same open file.
    ///
    /// # Errors
    /// Environment: DuckDB gives no more connections.
    pub fn another(&self) -> Result<Self> {
        let connection = connect::another(&self.connection).map_err(|error| self.duck(&error))?;
        Ok(Self {
            connection,
            generation: self.generation.clone(),
            meta: self.meta.clone(),
            counts: self.counts,
            ancestors: self.ancestors.clone(),
        })
    }

    fn check_schema(&self, pairs: &[(String, String)]) -> Result<()> {
        let written = pairs.iter().find(|(name, _)| name == "schema").map(|(_, value)| value);
        let Some(schema) = written.and_then(|value| value.parse::<u32>().ok()) else {
            return Err(damaged(self.path(), "it does not say its schema"));
        };
        let folder = self.path().parent().unwrap_or(self.path()).display();
        let reads = format!("schema {schema}, this one reads {SCHEMA_VERSION}");
        if schema > SCHEMA_VERSION {
            let message = format!("index at `{folder}` was written by a newer SAI ({reads})");
            return Err(Error::index(message).hint(format!("update SAI, or {}", rebuild())));
        }
        if schema < SCHEMA_VERSION {
            let message = format!("index at `{folder}` was written by an older SAI ({reads})");
            return Err(Error::index(message).hint(rebuild()));
        }
        Ok(())
    }

    /// Which one. The private copy of a [`super::Writer`] says the one it started from, with the
    /// copy's own file; number 0 when it started from nothing.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// What it was made with. Texts are empty while nothing was published yet.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The first ids that were never used, as of when the file was opened.
    pub fn free_ids(&self) -> FreeIds {
        self.counts.free
    }

    /// Whether this generation is one of the next few that were made from `earlier`. Then a row with
    /// an id that `earlier` had is as it was there, but for a file's size and time.
    pub fn descends_from(&self, earlier: &Generation) -> bool {
        self.ancestors.contains(&earlier.stamp_ns)
    }

    /// The ancestors that a generation made from this one has.
    pub(super) fn lineage(&self) -> Vec<u64> {
        let first = (self.ancestors.len() + 1).saturating_sub(ANCESTORS_MAX);
        let own = (self.generation.number > 0).then_some(self.generation.stamp_ns);
        self.ancestors.iter().skip(first).copied().chain(own).collect()
    }

    /// Every file, sorted by path.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn files(&self) -> Result<Vec<FileRow>> {
        self.read_files("imports", FreeIds::default())
    }

    /// Every file whose id was free in `before`, sorted by path, without its imports: they are most
    /// of a row, and no search asks for them.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn files_since(&self, before: FreeIds) -> Result<Vec<FileRow>> {
        self.read_files("NULL::VARCHAR", before)
    }

    fn read_files(&self, imports: &str, before: FreeIds) -> Result<Vec<FileRow>> {
        let mut files = Vec::new();
        let sql = format!(
            "SELECT id, path, hash, size, mtime_ns, encoding, language, place, lines, {imports} \
             FROM file"
        );
        let sql = format!("{sql}{}", from("id", before.file));
        self.scan(&sql, &mut |batch| decode_files(batch, &mut files))?;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// What every file was when it was indexed, sorted by path.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn file_stamps(&self) -> Result<Vec<FileStamp>> {
        let mut stamps = Vec::new();
        let sql = "SELECT id, path, hash, size, mtime_ns, place FROM file";
        self.scan(sql, &mut |batch| decode_stamps(batch, &mut stamps))?;
        stamps.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(stamps)
    }

    /// The id of every file with its size and modification time.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn file_times(&self) -> Result<Vec<(u32, u64, i64)>> {
        let mut times = Vec::new();
        self.scan("SELECT id, size, mtime_ns FROM file", &mut |batch| {
            let (ids, sizes, mtimes) = (batch.u32s(0)?, batch.u64s(1)?, batch.i64s(2)?);
            let row = |row| (ids.value(row), sizes.value(row), mtimes.value(row));
            times.extend((0..batch.len()).map(row));
            Ok(())
        })?;
        Ok(times)
    }

    /// Every chunk, in no particular order, one call of `each` a row.
    ///
    /// # Errors
    /// Index: the file is damaged; `each` may have seen a part of the rows.
    pub fn chunks(&self, each: &mut dyn FnMut(ChunkRow)) -> Result<()> {
        self.chunks_since(FreeIds::default(), each)
    }

    /// Every chunk of a file whose id was free in `before`, as [`Reader::chunks`] gives them.
    ///
    /// # Errors
    /// Index: the file is damaged; `each` may have seen a part of the rows.
    pub fn chunks_since(&self, before: FreeIds, each: &mut dyn FnMut(ChunkRow)) -> Result<()> {
        self.chunks_and_words(before, &mut |row, words| {
            each(ChunkRow { words: words.to_vec(), ..row });
        })
    }

    /// Like [`Reader::chunks_since`], with each row's words apart, for a caller that keeps them in its
    /// own way; the row itself has none.
    ///
    /// # Errors
    /// Index: the file is damaged; `each` may have seen a part of the rows.
    pub fn chunks_and_words(
        &self,
        before: FreeIds,
        each: &mut dyn FnMut(ChunkRow, &[u8]),
    ) -> Result<()> {
        let sql = "SELECT file_id, pos, line_start, line_end, byte_start, byte_end, kind, symbol, \
                   defines, parents, signature, doc_start, doc_end, vector_id, words FROM chunk";
        let sql = format!("{sql}{}", from("file_id", before.file));
        self.scan(&sql, &mut |batch| decode_chunks(batch, each))
    }

    /// Every vector.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn vectors(&self) -> Result<Vectors> {
        self.vectors_since(FreeIds::default())
    }

    /// How many vectors there are.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn vector_count(&self) -> Result<usize> {
        self.count("vector")
    }

    /// Every vector whose id was free in `before`.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn vectors_since(&self, before: FreeIds) -> Result<Vectors> {
        let rows = if before.vector == 0 { self.count("vector")? } else { 0 };
        let mut vectors = Vectors {
            ids: Vec::with_capacity(rows),
            values: Vec::with_capacity(rows * self.meta.dim),
        };
        let mut dim = None;
        let sql = format!("SELECT id, \"values\" FROM vector{}", from("id", before.vector));
        self.scan(&sql, &mut |batch| decode_vectors(batch, &mut dim, &mut vectors))?;
        Ok(if vectors.ids.is_sorted() { vectors } else { ascending(&vectors) })
    }

    /// Every vector's id by key: what need not be embedded again.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn vector_keys(&self) -> Result<Vec<(Hash, u32)>> {
        let mut keys = Vec::new();
        self.scan("SELECT key, id FROM vector", &mut |batch| {
            let (hashes, ids) = (batch.hashes(0)?, batch.u32s(1)?);
            for row in 0..batch.len() {
                keys.push((hashes.value(row)?, ids.value(row)));
            }
            Ok(())
        })?;
        Ok(keys)
    }

    /// The ids of the vectors with some of `keys`.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn vectors_of(&self, keys: &HashSet<Hash>) -> Result<Vec<(Hash, u32)>> {
        let mut found = Vec::new();
        self.scan("SELECT key, id FROM vector", &mut |batch| {
            let (hashes, ids) = (batch.hashes(0)?, batch.u32s(1)?);
            for row in 0..batch.len() {
                let key = hashes.value(row)?;
                if keys.contains(&key) {
                    found.push((key, ids.value(row)));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The ids of some words.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn words_of(&self, words: &HashSet<&str>) -> Result<Vec<(u32, String)>> {
        let mut found = Vec::new();
        self.scan("SELECT id, text FROM word", &mut |batch| {
            let (ids, texts) = (batch.u32s(0)?, batch.texts(1)?);
            let rows = (0..batch.len()).filter(|row| words.contains(texts.value(*row)));
            found.extend(rows.map(|row| (ids.value(row), texts.value(row).to_owned())));
            Ok(())
        })?;
        Ok(found)
    }

    /// Every word with its id.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn words(&self) -> Result<Vec<(u32, String)>> {
        self.words_since(FreeIds::default())
    }

    /// Every word whose id was free in `before`.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn words_since(&self, before: FreeIds) -> Result<Vec<(u32, String)>> {
        let mut words = Vec::new();
        self.words_from(before.word, &mut |id, word| words.push((id, word.to_owned())))?;
        Ok(words)
    }

    /// Calls `each` with every word and its id.
    ///
    /// # Errors
    /// Index: the file is damaged; `each` may have seen a part of the words.
    pub fn each_word(&self, each: &mut dyn FnMut(u32, &str)) -> Result<()> {
        self.words_from(0, each)
    }

    fn words_from(&self, first: u32, each: &mut dyn FnMut(u32, &str)) -> Result<()> {
        let sql = format!("SELECT id, text FROM word{}", from("id", first));
        self.scan(&sql, &mut |batch| {
            let (ids, texts) = (batch.u32s(0)?, batch.texts(1)?);
            (0..batch.len()).for_each(|row| each(ids.value(row), texts.value(row)));
            Ok(())
        })
    }

    /// How many words there are.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn word_count(&self) -> Result<usize> {
        self.count("word")
    }

    /// The exact bytes of a file's content.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn blob(&self, hash: Hash) -> Result<Option<Vec<u8>>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT bytes FROM blob WHERE hash = ? LIMIT 1")
            .map_err(|error| self.duck(&error))?;
        let mut found = None;
        statement.execute([hash.0.as_slice()]).map_err(|error| self.duck(&error))?;
        self.drain(&statement, &mut |batch| {
            if batch.len() > 0 {
                found = Some(rows::unpack(batch.bytes(0)?.value(0))?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The exact bytes of every content that is `wanted`, in batches.
    ///
    /// # Errors
    /// Index: the file is damaged; `each` may have seen a part of them. What `each` says.
    pub fn blobs(
        &self,
        wanted: &dyn Fn(Hash) -> bool,
        each: &mut dyn FnMut(Vec<(Hash, Vec<u8>)>) -> Result<()>,
    ) -> Result<()> {
        let mut said = Ok(());
        self.scan("SELECT hash, bytes FROM blob", &mut |batch| {
            let (hashes, packed) = (batch.hashes(0)?, batch.bytes(1)?);
            let mut blobs = Vec::new();
            for row in 0..batch.len() {
                let hash = hashes.value(row)?;
                if said.is_ok() && wanted(hash) {
                    blobs.push((hash, rows::unpack(packed.value(row))?));
                }
            }
            if said.is_ok() && !blobs.is_empty() {
                said = each(blobs);
            }
            Ok(())
        })?;
        said
    }

    /// The hash of every content whose bytes are stored.
    pub(super) fn blob_hashes(&self) -> Result<Vec<Hash>> {
        let mut hashes = Vec::new();
        self.scan("SELECT hash FROM blob", &mut |batch| {
            let column = batch.hashes(0)?;
            for row in 0..batch.len() {
                hashes.push(column.value(row)?);
            }
            Ok(())
        })?;
        Ok(hashes)
    }

    /// Files that were left out, with the reason's name, sorted by path.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn skipped(&self) -> Result<Vec<(String, String)>> {
        let mut skipped = self.pairs("SELECT path, reason FROM skipped")?;
        skipped.sort_unstable();
        Ok(skipped)
    }

    /// How much there is of everything.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn totals(&self) -> Result<Totals> {
        let lines =
            self.connection.query_row("SELECT coalesce(sum(lines), 0) FROM file", [], |row| {
                row.get::<_, u64>(0)
            });
        Ok(Totals {
            files: self.count("file")?,
            chunks: self.count("chunk")?,
            lines: lines.map_err(|error| self.duck(&error))?,
        })
    }

    /// How many chunks each of the files with these ids has; files without any are left out.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn chunk_counts(&self, files: &[u32]) -> Result<Vec<(u32, usize)>> {
        const IDS_MAX: usize = 10_000;
        let mut counts = Vec::new();
        for ids in files.chunks(IDS_MAX) {
            let list = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let sql = format!(
                "SELECT file_id, count(*)::UINTEGER FROM chunk WHERE file_id IN ({list}) \
                 GROUP BY file_id"
            );
            self.scan(&sql, &mut |batch| {
                let (ids, chunks) = (batch.u32s(0)?, batch.u32s(1)?);
                let row = |row| (ids.value(row), chunks.value(row) as usize);
                counts.extend((0..batch.len()).map(row));
                Ok(())
            })?;
        }
        Ok(counts)
    }

    /// The HNSW index that goes with this generation, if one was built.
    pub fn hnsw(&self) -> Option<HnswMark> {
        self.counts.hnsw
    }

    /// Whether an HNSW index has to be built to go with this generation: there is none, or too much
    /// came or went since.
    ///
    /// # Errors
    /// Index: the file is damaged.
    pub fn hnsw_is_due(&self) -> Result<bool> {
        self.is_due(self.counts)
    }

    /// [`Reader::hnsw_is_due`] by a writer's counts.
    pub(super) fn is_due(&self, counts: Counts) -> Result<bool> {
        let Some(mark) = counts.hnsw else { return Ok(self.count("vector")? > 0) };
        let kept = self.count(&format!("vector WHERE id < {}", mark.next_vector))?;
        Ok(mark.is_worn(counts.free.vector, kept as u64))
    }

    /// Values in a vector, told from one of them.
    pub(super) fn dim(&self) -> Result<usize> {
        let sql = "SELECT octet_length(\"values\")::UBIGINT FROM vector LIMIT 1";
        let found = self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        found.map(|dim| dim as usize).map_err(|error| self.duck(&error))
    }

    /// The connection that a writer writes through.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The writer's counts, as of when the file was opened.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    fn path(&self) -> &Path {
        &self.generation.file
    }

    fn duck(&self, error: &duckdb::Error) -> Error {
        duck(self.path(), error)
    }

    pub(super) fn count(&self, table: &str) -> Result<usize> {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = self.connection.query_row(&sql, [], |row| row.get::<_, u64>(0));
        count.map(|n| n as usize).map_err(|error| self.duck(&error))
    }

    fn pairs(&self, sql: &str) -> Result<Vec<(String, String)>> {
        let mut pairs = Vec::new();
        self.scan(sql, &mut |batch| {
            let (names, values) = (batch.texts(0)?, batch.texts(1)?);
            let row = |row| (names.value(row).to_owned(), values.value(row).to_owned());
            pairs.extend((0..batch.len()).map(row));
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Runs `sql` and hands over its result batch by batch, while DuckDB reads on.
    pub(super) fn scan(
        &self,
        sql: &str,
        each: &mut dyn FnMut(&Columns<'_>) -> Result<(), Fault>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare(sql).map_err(|error| self.duck(&error))?;
        // The iterator that this makes would panic where `step` returns the error.
        let _ = statement.stream_arrow([]).map_err(|error| self.duck(&error))?;
        self.drain(&statement, each)
    }

    fn drain(
        &self,
        statement: &Statement<'_>,
        each: &mut dyn FnMut(&Columns<'_>) -> Result<(), Fault>,
    ) -> Result<()> {
        while let Some(batch) = statement.step().map_err(|error| self.duck(&error))? {
            each(&Columns(&batch)).map_err(|fault| damaged(self.path(), fault))?;
        }
        Ok(())
    }
}

/// The condition that a column is at least `first`; none for 0.
fn from(column: &str, first: u32) -> String {
    if first == 0 { String::new() } else { format!(" WHERE {column} >= {first}") }
}

impl Meta {
    /// Of an index that nothing was published of.
    fn empty() -> Self {
        Self {
            schema: SCHEMA_VERSION,
            chunker: String::new(),
            model: String::new(),
            dim: 0,
            scope: String::new(),
            head: None,
            created_s: 0,
            version: String::new(),
        }
    }
}

/// The rows of the table `meta`.
pub(super) fn encode_meta(meta: &Meta, counts: &Counts) -> Vec<(String, String)> {
    let Meta { schema, chunker, model, dim, scope, head, created_s, version } = meta;
    let Counts { free, dead_vectors, dead_bytes, hnsw } = counts;
    let mut rows = vec![
        ("schema", schema.to_string()),
        ("chunker", chunker.clone()),
        ("model", model.clone()),
        ("dim", dim.to_string()),
        ("scope", scope.clone()),
        ("created_s", created_s.to_string()),
        ("version", version.clone()),
        ("free_file", free.file.to_string()),
        ("free_vector", free.vector.to_string()),
        ("free_word", free.word.to_string()),
        ("dead_vectors", dead_vectors.to_string()),
        ("dead_bytes", dead_bytes.to_string()),
    ];
    rows.extend(head.clone().map(|head| ("head", head)));
    rows.extend(hnsw.map(|mark| ("hnsw", mark.encode())));
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How many ancestors a generation remembers: a reader that has fallen further behind loads anew.
const ANCESTORS_MAX: usize = 16;

/// The row of the table `meta` that holds a generation's ancestors.
pub(super) fn encode_ancestors(ancestors: &[u64]) -> (String, String) {
    let stamps: Vec<String> = ancestors.iter().map(u64::to_string).collect();
    ("ancestors".to_owned(), stamps.join(" "))
}

fn decode_ancestors(pairs: &[(String, String)]) -> Vec<u64> {
    let found = pairs.iter().find(|(name, _)| name == "ancestors");
    let stamps = found.map_or("", |(_, stamps)| stamps).split(' ');
    stamps.filter_map(|stamp| stamp.parse().ok()).collect()
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|_| format!("its {name} is `{text}`"))
}

fn decode_meta(pairs: &[(String, String)]) -> Result<(Meta, Counts), Fault> {
    let find = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, v)| v.clone());
    let text = |name: &str| find(name).ok_or_else(|| format!("it does not say its {name}"));
    let meta = Meta {
        schema: number("schema", &text("schema")?)?,
        chunker: text("chunker")?,
        model: text("model")?,
        dim: number("dim", &text("dim")?)?,
        scope: text("scope")?,
        head: find("head"),
        created_s: number("created_s", &text("created_s")?)?,
        version: text("version")?,
    };
    let counts = Counts {
        free: FreeIds {
            file: number("free_file", &text("free_file")?)?,
            vector: number("free_vector", &text("free_vector")?)?,
            word: number("free_word", &text("free_word")?)?,
        },
        dead_vectors: number("dead_vectors", &text("dead_vectors")?)?,
        dead_bytes: number("dead_bytes", &text("dead_bytes")?)?,
        hnsw: find("hnsw").map(|text| HnswMark::decode(&text)).transpose()?,
    };
    Ok((meta, counts))
}

/// Parses names in a column where the same few follow each other.
struct Names<T> {
    last: Option<(String, T)>,
    parse: fn(&str) -> Result<T>,
}

impl<T: Copy> Names<T> {
    fn new(parse: fn(&str) -> Result<T>) -> Self {
        Self { last: None, parse }
    }

    fn value(&mut self, name: &str) -> Result<T, Fault> {
        if let Some((last, value)) = &self.last
            && last == name
        {
            return Ok(*value);
        }
        let value = (self.parse)(name).map_err(|error| error.to_string())?;
        self.last = Some((name.to_owned(), value));
        Ok(value)
    }
}

fn decode_files(batch: &Columns<'_>, files: &mut Vec<FileRow>) -> Result<(), Fault> {
    let (ids, paths, hashes) = (batch.u32s(0)?, batch.texts(1)?, batch.hashes(2)?);
    let (sizes, mtimes, encodings) = (batch.u64s(3)?, batch.i64s(4)?, batch.texts(5)?);
    let (languages, places) = (batch.texts(6)?, batch.texts(7)?);
    let (lines, imports) = (batch.u32s(8)?, batch.lists(9)?);
    let (mut language, mut place) = (Names::new(Language::from_name), Names::new(Place::from_name));
    files.reserve(batch.len());
    for row in 0..batch.len() {
        let path = paths.value(row);
        files.push(FileRow {
            id: ids.value(row),
            path: RelPath::new(Path::new(path)).ok_or_else(|| format!("`{path}` is no path"))?,
            hash: hashes.value(row)?,
            size: sizes.value(row),
            mtime_ns: mtimes.value(row),
            encoding: encodings.value(row).to_owned(),
            language: language.value(languages.value(row))?,
            place: place.value(places.value(row))?,
            lines: lines.value(row),
            imports: imports.value(row),
        });
    }
    Ok(())
}

fn decode_stamps(batch: &Columns<'_>, stamps: &mut Vec<FileStamp>) -> Result<(), Fault> {
    let (ids, paths, hashes) = (batch.u32s(0)?, batch.texts(1)?, batch.hashes(2)?);
    let (sizes, mtimes, places) = (batch.u64s(3)?, batch.i64s(4)?, batch.texts(5)?);
    let mut place = Names::new(Place::from_name);
    stamps.reserve(batch.len());
    for row in 0..batch.len() {
        let path = paths.value(row);
        stamps.push(FileStamp {
            id: ids.value(row),
            path: RelPath::new(Path::new(path)).ok_or_else(|| format!("`{path}` is no path"))?,
            hash: hashes.value(row)?,
            size: sizes.value(row),
            mtime_ns: mtimes.value(row),
            place: place.value(places.value(row))?,
        });
    }
    Ok(())
}

fn decode_chunks(batch: &Columns<'_>, each: &mut dyn FnMut(ChunkRow, &[u8])) -> Result<(), Fault> {
    let (files, positions) = (batch.u32s(0)?, batch.u32s(1)?);
    let (line_starts, line_ends) = (batch.u32s(2)?, batch.u32s(3)?);
    let (byte_starts, byte_ends) = (batch.u32s(4)?, batch.u32s(5)?);
    let (kinds, symbols) = (batch.texts(6)?, batch.texts(7)?);
    let (defines, parents, signatures) = (batch.lists(8)?, batch.lists(9)?, batch.texts(10)?);
    let (doc_starts, doc_ends) = (batch.u32s(11)?, batch.u32s(12)?);
    let (vectors, words) = (batch.u32s(13)?, batch.bytes(14)?);
    let mut kind = Names::new(ChunkKind::from_name);
    for row in 0..batch.len() {
        let chunk = ChunkRow {
            file_id: files.value(row),
            pos: positions.value(row),
            lines: LineRange { start: line_starts.value(row), end: line_ends.value(row) },
            byte_start: byte_starts.value(row),
            byte_end: byte_ends.value(row),
            kind: kind.value(kinds.value(row))?,
            symbol: optional(symbols, row).map(str::to_owned),
            defines: defines.value(row),
            parents: parents.value(row),
            signature: optional(signatures, row).map(str::to_owned),
            doc: optional_u32(doc_starts, row).zip(optional_u32(doc_ends, row)),
            vector_id: vectors.value(row),
            words: Vec::new(),
        };
        each(chunk, words.value(row));
    }
    Ok(())
}

/// Appends a batch of vectors; `dim` is the length of the first one, which all must have.
fn decode_vectors(
    batch: &Columns<'_>,
    dim: &mut Option<usize>,
    vectors: &mut Vectors,
) -> Result<(), Fault> {
    let (ids, values): (_, &BinaryArray) = (batch.u32s(0)?, batch.bytes(1)?);
    for row in 0..batch.len() {
        let bytes = values.value(row);
        let dim = *dim.get_or_insert(bytes.len());
        if bytes.len() != dim {
            return Err(format!("a vector has {} values, another {dim}", bytes.len()));
        }
        vectors.values.extend(bytes.iter().map(|byte| byte.cast_signed()));
    }
    vectors.ids.extend_from_slice(ids.values());
    Ok(())
}

/// The same vectors in ascending id.
fn ascending(vectors: &Vectors) -> Vectors {
    let dim = vectors.values.len() / vectors.ids.len().max(1);
    let mut order: Vec<usize> = (0..vectors.ids.len()).collect();
    order.sort_unstable_by_key(|&row| vectors.ids[row]);
    let mut sorted = Vectors {
        ids: Vec::with_capacity(order.len()),
        values: Vec::with_capacity(vectors.values.len()),
    };
    for row in order {
        sorted.ids.push(vectors.ids[row]);
        sorted.values.extend_from_slice(&vectors.values[row * dim..(row + 1) * dim]);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::{Vectors, ascending};

    #[test]
    fn vectors_move_with_their_ids() {
        let shuffled = Vectors { ids: vec![7, 2, 5], values: vec![70, 71, 20, 21, 50, 51] };
        let sorted = ascending(&shuffled);
        assert_eq!(sorted.ids, [2, 5, 7]);
        assert_eq!(sorted.values, [20, 21, 50, 51, 70, 71]);
    }
}
