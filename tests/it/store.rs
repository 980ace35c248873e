//! The store, through its door: round trips, generations, locks, damage, death and full disks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sai::error::{Error, ErrorKind};
use sai::store::{
    Base, Batch, ChunkRow, FileRow, Generation, IndexDir, Meta, Reader, SCHEMA_VERSION, VectorRow,
    Writer, WriterLock,
};
use sai::types::{ChunkKind, Hash, Language, LineRange, Place, RelPath};
use tempfile::TempDir;

#[cfg(target_os = "linux")]
use crate::support::Disk;

const MEMORY_MIB: usize = 512;

fn meta(dim: usize) -> Meta {
    Meta {
        schema: SCHEMA_VERSION,
        chunker: "chunker 1".to_owned(),
        model: "model 1".to_owned(),
        dim,
        scope: "scope".to_owned(),
        head: Some("0123abcd".to_owned()),
        created_s: 1_764_000_000,
        version: "0.1.0".to_owned(),
    }
}

fn rel(path: &str) -> RelPath {
    RelPath::new(Path::new(path)).unwrap()
}

/// Pseudo-random bytes that any seed fixes.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut step = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..len.div_ceil(8)).flat_map(|_| step()).take(len).collect()
}

/// A file of `chunks` chunks with vectors of `dim` values, ids from the file's own.
fn add_file(batch: &mut Batch, id: u32, chunks: u32, dim: usize, body: &[u8]) {
    batch.files.push(FileRow {
        id,
        path: rel(&format!("src/module_{}/file_{id}.rs", id % 97)),
        hash: Hash::of(body),
        size: body.len() as u64,
        mtime_ns: 1_700_000_000_000_000_000 + i64::from(id),
        encoding: "utf-8".to_owned(),
        language: Language::Rust,
        place: Place::Source,
        lines: chunks * 10,
        imports: vec!["std".to_owned(), "serde".to_owned()],
    });
    for pos in 0..chunks {
        let vector_id = id * 1000 + pos;
        batch.chunks.push(ChunkRow {
            file_id: id,
            pos,
            lines: LineRange { start: pos * 10 + 1, end: pos * 10 + 10 },
            byte_start: pos * 350,
            byte_end: pos * 350 + 349,
            kind: ChunkKind::Function,
            symbol: Some(format!("function_{id}_{pos}")),
            defines: vec![format!("function_{id}_{pos}")],
            parents: vec!["Parent".to_owned()],
            signature: Some(format!("fn function_{id}_{pos}(a: u32, b: &str) -> Result<Vec<u8>>")),
            doc: (pos % 2 == 0).then_some((pos * 350, pos * 350 + 80)),
            vector_id,
            words: noise(u64::from(vector_id), 250),
        });
        let values = noise(u64::from(vector_id) + 7, dim).iter().map(|b| b.cast_signed()).collect();
        let key = Hash::of(&vector_id.to_le_bytes());
        batch.vectors.push(VectorRow { id: vector_id, key, values });
    }
    batch.blobs.push((Hash::of(body), body.to_vec()));
}

/// Text of about `lines` lines like those of source code.
fn source(seed: u32, lines: u32) -> Vec<u8> {
    let line = |i| {
        let n = noise(u64::from(seed) << 20 | u64::from(i), 4);
        let n = u32::from_le_bytes([n[0], n[1], n[2], 0]);
        format!("    let value_{n} = self.table.get({i}).map_or(0, |x| x + {n});\n")
    };
    (0..lines).map(line).collect::<String>().into_bytes()
}

fn lock(dir: &IndexDir) -> WriterLock {
    dir.lock(Duration::from_secs(20)).unwrap()
}

/// A folder for an index that is not there yet.
fn fresh() -> (TempDir, IndexDir) {
    let root = tempfile::tempdir().unwrap();
    let dir = IndexDir::new(root.path().join(".index"));
    (root, dir)
}

fn begin(dir: &IndexDir, base: Base) -> Writer {
    Writer::begin(lock(dir), base, MEMORY_MIB).unwrap()
}

fn open(dir: &IndexDir) -> Reader {
    dir.open(MEMORY_MIB).unwrap().expect("something was published")
}

/// Publishes `files` files of five chunks each as a new index.
fn publish_files(dir: &IndexDir, files: u32) -> Generation {
    let mut batch = Batch::default();
    for id in 0..files {
        add_file(&mut batch, id, CHUNKS, DIM, &source(id, 20));
    }
    batch.words = vec![(0, "word".to_owned()), (1, "other".to_owned())];
    let mut writer = begin(dir, Base::Empty);
    writer.insert(&batch).unwrap();
    writer.set_skipped(&[("big.bin".to_owned(), "binary".to_owned())]).unwrap();
    writer.publish(&meta(DIM)).unwrap()
}

const REBUILD: &str = "run `sai index --force` to build the index anew";
const CHUNKS: u32 = 5;
const DIM: usize = 16;

/// Everything that a reader gives back.
#[derive(Debug, PartialEq)]
struct Contents {
    files: Vec<FileRow>,
    chunks: Vec<ChunkRow>,
    vectors: BTreeMap<u32, Vec<i8>>,
    keys: BTreeMap<u32, Hash>,
    words: BTreeMap<u32, String>,
    blobs: BTreeMap<Hash, Vec<u8>>,
    skipped: Vec<(String, String)>,
}

fn contents(reader: &Reader) -> Result<Contents, Error> {
    let mut chunks = Vec::new();
    reader.chunks(&mut |chunk| chunks.push(chunk))?;
    chunks.sort_unstable_by_key(|c| (c.file_id, c.pos));
    let vectors = reader.vectors()?;
    let dim = vectors.values.len().checked_div(vectors.ids.len()).unwrap_or(0).max(1);
    let files = reader.files()?;
    let mut blobs = BTreeMap::new();
    for file in &files {
        if let Some(bytes) = reader.blob(file.hash)? {
            blobs.insert(file.hash, bytes);
        }
    }
    Ok(Contents {
        chunks,
        vectors: vectors
            .ids
            .iter()
            .copied()
            .zip(vectors.values.chunks(dim).map(<[i8]>::to_vec))
            .collect(),
        keys: reader.vector_keys()?.into_iter().map(|(key, id)| (id, key)).collect(),
        words: reader.words()?.into_iter().collect(),
        skipped: reader.skipped()?,
        files,
        blobs,
    })
}

/// Holds what every generation must hold, and says how many files there are.
fn check(reader: &Reader) -> usize {
    let all = contents(reader).unwrap();
    let ids: BTreeSet<u32> = all.files.iter().map(|file| file.id).collect();
    assert_eq!(ids.len(), all.files.len(), "file ids are unique");
    assert!(all.files.is_sorted_by(|a, b| a.path < b.path), "files are sorted, each once");
    for file in &all.files {
        assert_eq!(Hash::of(&all.blobs[&file.hash]), file.hash, "the bytes are there and exact");
    }
    for chunk in &all.chunks {
        assert!(ids.contains(&chunk.file_id), "chunk of no file: {chunk:?}");
        assert!(all.vectors.contains_key(&chunk.vector_id), "chunk without vector: {chunk:?}");
    }
    assert_eq!(all.chunks.len(), all.files.len() * CHUNKS as usize);
    assert_eq!(all.vectors.len(), all.keys.len());
    all.files.len()
}

/// The names in the folder of an index.
fn names(dir: &IndexDir) -> BTreeSet<String> {
    let entries = fs::read_dir(dir.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The error of a read that must fail, with its hint.
fn refused<T>(result: Result<T, Error>) -> (ErrorKind, String) {
    let Err(error) = result else { panic!("it must fail") };
    (error.kind(), format!("{error} | {}", error.next_step().unwrap_or("no hint")))
}

#[test]
fn rows_come_back_as_they_went_in() {
    let (_root, dir) = fresh();
    let odd = "tab\t nul\0 quote' \\n \n é 漢 \u{202e}";
    let file = FileRow {
        id: 7,
        path: rel("a b/'c'/é\n漢.rs"),
        hash: Hash::of(b"x"),
        size: u64::MAX,
        mtime_ns: i64::MIN,
        encoding: odd.to_owned(),
        language: Language::ObjectiveC,
        place: Place::Vendored,
        lines: u32::MAX,
        imports: vec![String::new()],
    };
    let chunk = ChunkRow {
        file_id: 7,
        pos: u32::MAX,
        lines: LineRange { start: 1, end: u32::MAX },
        byte_start: 0,
        byte_end: u32::MAX,
        kind: ChunkKind::Window,
        symbol: Some(odd.to_owned()),
        defines: vec![odd.to_owned(), String::new(), "\\".to_owned()],
        parents: vec![],
        signature: Some(String::new()),
        doc: Some((0, u32::MAX)),
        vector_id: u32::MAX,
        words: (0..=255).collect(),
    };
    let bare = ChunkRow {
        pos: 0,
        symbol: None,
        defines: vec![],
        signature: None,
        doc: None,
        words: vec![],
        ..chunk.clone()
    };
    let values: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let batch = Batch {
        files: vec![file.clone()],
        chunks: vec![chunk.clone(), bare.clone()],
        vectors: vec![VectorRow { id: u32::MAX, key: Hash([255; 16]), values: values.clone() }],
        words: vec![(3, odd.to_owned()), (u32::MAX, String::new())],
        blobs: vec![(file.hash, vec![0; 70_000])],
    };
    let expected = Contents {
        files: vec![file.clone()],
        chunks: vec![bare, chunk],
        vectors: BTreeMap::from([(u32::MAX, values)]),
        keys: BTreeMap::from([(u32::MAX, Hash([255; 16]))]),
        words: BTreeMap::from([(3, odd.to_owned()), (u32::MAX, String::new())]),
        blobs: BTreeMap::from([(file.hash, vec![0; 70_000])]),
        skipped: vec![("a".to_owned(), odd.to_owned()), ("b".to_owned(), "x".to_owned())],
    };
    let mut writer = begin(&dir, Base::Empty);
    writer.insert(&batch).unwrap();
    writer.set_skipped(&[expected.skipped[1].clone(), expected.skipped[0].clone()]).unwrap();
    assert_eq!(contents(writer.reader()).unwrap(), expected, "the writer sees what it wrote");
    let mut meta = meta(256);
    for head in [Some(odd.to_owned()), None] {
        meta.head = head;
        writer.publish(&meta).unwrap();
        let reader = open(&dir);
        assert_eq!(contents(&reader).unwrap(), expected);
        assert_eq!(reader.meta(), &meta);
        assert_eq!(reader.blob(Hash::of(b"unknown")).unwrap(), None);
        writer = begin(&dir, Base::Current);
    }
}

#[test]
fn an_empty_index_is_an_index() {
    let (_root, dir) = fresh();
    assert_eq!(dir.current().unwrap(), None);
    assert!(dir.open(MEMORY_MIB).unwrap().is_none());
    assert_eq!((dir.size(), dir.writer()), (0, None));
    begin(&dir, Base::Current).publish(&meta(8)).unwrap();
    let reader = open(&dir);
    assert_eq!(check(&reader), 0);
    assert_eq!((reader.generation().number, reader.meta()), (1, &meta(8)));
    assert!(dir.size() >= reader.generation().bytes);
}

#[test]
fn the_two_newest_generations_stay() {
    let (_root, dir) = fresh();
    assert_eq!(publish_files(&dir, 1).number, 1);
    let first = open(&dir);
    for number in 2..=4 {
        let writer = begin(&dir, Base::Current);
        assert_eq!(writer.reader().generation().number, number - 1);
        let published = writer.publish(&meta(DIM)).unwrap();
        assert_eq!((published.number, dir.current().unwrap()), (number, Some(published.clone())));
    }
    let left = [".gitignore", "CURRENT", "code-3.duckdb", "code-4.duckdb", "writer.lock"];
    assert_eq!(names(&dir), set(&left));
    assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).unwrap(), "*\n");
    if cfg!(unix) {
        assert_eq!(check(&first), 1, "a reader keeps a generation that was swept");
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let (_root, dir) = fresh();
    let published = publish_files(&dir, 3);
    let before = names(&dir);
    let mut writer = begin(&dir, Base::Current);
    writer.delete_files(&[0, 1]).unwrap();
    assert_eq!(writer.reader().files().unwrap().len(), 1);
    drop(writer);
    assert_eq!(names(&dir), before);
    assert_eq!(dir.current().unwrap(), Some(published));
    assert_eq!(check(&open(&dir)), 3);
}

#[test]
fn the_next_writer_sweeps_what_dead_ones_left() {
    let (_root, dir) = fresh();
    publish_files(&dir, 2);
    let published = publish_files(&dir, 3);
    let before = names(&dir);
    let current = fs::read(&published.file).unwrap();
    // As after a death while writing, while spilling, after the rename, and while naming it.
    for left in ["code-3.tmp-99.duckdb", "code-3.tmp-99.duckdb.wal", "code-3.duckdb"] {
        fs::write(dir.path().join(left), &current).unwrap();
    }
    fs::create_dir(dir.path().join("code-3.tmp-99.duckdb.spill")).unwrap();
    fs::write(dir.path().join("code-3.tmp-99.duckdb.spill/block"), "x").unwrap();
    fs::write(dir.path().join("CURRENT.tmp"), "3 code-3.du").unwrap();
    fs::write(dir.path().join("state.duckdb"), "facts").unwrap();
    assert_eq!(check(&open(&dir)), 3, "a reader is not troubled");

    let writer = begin(&dir, Base::Current);
    let private = writer.reader().generation().file.file_name().unwrap().to_str().unwrap();
    let mut during = before;
    during.extend([private.to_owned(), "state.duckdb".to_owned()]);
    assert_eq!(names(&dir), during);
    assert_eq!(writer.publish(&meta(DIM)).unwrap().number, 3);
    assert_eq!(check(&open(&dir)), 3);
}

#[test]
fn ids_are_never_free_again() {
    let (_root, dir) = fresh();
    publish_files(&dir, 3);
    let free = open(&dir).free_ids();
    assert_eq!((free.file, free.vector, free.word), (3, 2 * 1000 + CHUNKS, 2));
    let mut writer = begin(&dir, Base::Current);
    writer.delete_files(&[0, 1, 2]).unwrap();
    writer.publish(&meta(DIM)).unwrap();
    assert_eq!(open(&dir).free_ids(), free);
}

#[test]
fn known_bytes_are_stored_once() {
    let (_root, dir) = fresh();
    let (hash, bytes) = (Hash::of(b"content"), b"content".to_vec());
    let batch = |id| {
        let mut batch = Batch::default();
        add_file(&mut batch, id, 1, DIM, b"content");
        batch.blobs.push((hash, b"other".to_vec()));
        batch
    };
    let mut writer = begin(&dir, Base::Empty);
    writer.insert(&batch(0)).unwrap();
    writer.insert(&batch(1)).unwrap();
    writer.publish(&meta(DIM)).unwrap();
    let mut writer = begin(&dir, Base::Current);
    writer.insert(&batch(2)).unwrap();
    writer.publish(&meta(DIM)).unwrap();
    assert_eq!(open(&dir).blob(hash).unwrap(), Some(bytes));
}

#[test]
fn vectors_of_two_lengths_are_a_bug() {
    let (_root, dir) = fresh();
    publish_files(&dir, 1);
    let mut batch = Batch::default();
    add_file(&mut batch, 1, 1, DIM + 1, b"x");
    let (kind, said) = refused(begin(&dir, Base::Current).insert(&batch));
    assert_eq!(
        (kind, said.as_str()),
        (ErrorKind::Bug, "vector 1000 has 17 values, others have 16 | no hint")
    );
    let (kind, said) = refused(begin(&dir, Base::Current).publish(&meta(8)));
    assert_eq!(
        (kind, said.as_str()),
        (ErrorKind::Bug, "vectors have 16 values, the index says 8 | no hint")
    );
}

#[test]
fn sizes_beyond_any_sum_are_only_numbers() {
    let (_root, dir) = fresh();
    publish_files(&dir, 4);
    let mut writer = begin(&dir, Base::Current);
    writer.touch_files(&[(0, u64::MAX, 0), (1, u64::MAX, 0), (2, u64::MAX, 0)]).unwrap();
    writer.touch_files(&[(3, u64::MAX, 0)]).unwrap();
    writer.delete_files(&[0, 1]).unwrap();
    writer.publish(&meta(DIM)).unwrap();
    assert_eq!(check(&open(&dir)), 2);
}

#[test]
fn what_nothing_uses_goes_once_it_is_a_fair_share() {
    let (_root, dir) = fresh();
    let mut batch = Batch::default();
    for id in 0..400 {
        add_file(&mut batch, id, CHUNKS, 256, &noise(u64::from(id), 64 << 10));
    }
    let mut writer = begin(&dir, Base::Empty);
    writer.insert(&batch).unwrap();
    let full = writer.publish(&meta(256)).unwrap();

    let mut writer = begin(&dir, Base::Current);
    writer.delete_files(&[0]).unwrap();
    let kept = writer.publish(&meta(256)).unwrap();
    assert_eq!(open(&dir).vector_keys().unwrap().len(), 2000, "a small share stays");

    let mut writer = begin(&dir, Base::Current);
    writer.delete_files(&(1..300).collect::<Vec<_>>()).unwrap();
    let shrunk = writer.publish(&meta(256)).unwrap();
    let reader = open(&dir);
    assert_eq!(check(&reader), 100);
    assert_eq!(reader.vector_keys().unwrap().len(), 500);
    assert_eq!(reader.blob(Hash::of(&noise(0, 64 << 10))).unwrap(), None);
    assert!(kept.bytes <= full.bytes + (1 << 20), "{} {}", kept.bytes, full.bytes);
    assert!(
        shrunk.bytes < full.bytes / 3,
        "the file was rewritten: {} {}",
        shrunk.bytes,
        full.bytes
    );
    assert_eq!(reader.free_ids().file, 400);
}

#[test]
fn many_small_syncs_do_not_grow_the_file() {
    let (_root, dir) = fresh();
    publish_files(&dir, 60);
    let full = open(&dir).generation().bytes;
    let mut ids: Vec<u32> = (0..60).collect();
    for round in 1..=30 {
        let mut batch = Batch::default();
        let new: Vec<u32> = (0..20).map(|i| round * 100 + i).collect();
        for &id in &new {
            add_file(&mut batch, id, CHUNKS, DIM, &source(id, 20));
        }
        let mut writer = begin(&dir, Base::Current);
        writer.delete_files(&ids[..20]).unwrap();
        writer.insert(&batch).unwrap();
        writer.publish(&meta(DIM)).unwrap();
        ids.drain(..20);
        ids.extend(new);
    }
    let reader = open(&dir);
    assert_eq!(check(&reader), 60);
    let grown = reader.generation().bytes;
    assert!(grown < full * 3, "{full} bytes became {grown}");
}

#[test]
fn a_lock_has_one_holder() {
    let (_root, dir) = fresh();
    let held = lock(&dir);
    let holder = dir.writer().expect("it is held");
    assert_eq!(holder.pid, std::process::id());
    let (kind, said) = refused(dir.lock(Duration::ZERO));
    assert_eq!(kind, ErrorKind::Busy);
    let at = dir.path().display();
    let expected = format!("the index at `{at}` is being written by process {}, which", holder.pid);
    assert!(said.starts_with(&expected), "{said}");
    assert!(
        said.ends_with(&format!("try again when process {} has finished, or end it", holder.pid)),
        "{said}"
    );

    // Whoever waits gets it as soon as it is let go.
    let waiting = {
        let dir = dir.clone();
        thread::spawn(move || dir.lock(Duration::from_mins(1)).unwrap())
    };
    drop(held);
    let held = waiting.join().unwrap();
    assert!(dir.writer().is_some());
    drop(held);
    assert_eq!(dir.writer(), None);
}

#[cfg(unix)]
#[test]
fn a_lock_is_the_same_by_every_path() {
    let (root, dir) = fresh();
    let held = lock(&dir);
    let link = root.path().join("link");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let other = IndexDir::new(link);
    assert_eq!(other.writer().map(|holder| holder.pid), Some(std::process::id()));
    assert_eq!(refused(other.lock(Duration::ZERO)).0, ErrorKind::Busy);
    drop(held);
    drop(lock(&other));
}

#[test]
fn a_clock_that_was_set_back_is_no_trouble() {
    let (_root, dir) = fresh();
    let _held = lock(&dir);
    // The holder signed when the clock was ahead.
    let future = format!("{} {}\n", std::process::id(), u64::MAX);
    fs::write(dir.path().join("writer.lock"), future).unwrap();
    let (kind, said) = refused(dir.lock(Duration::ZERO));
    assert_eq!(kind, ErrorKind::Busy);
    assert!(said.contains("which began 0 s ago"), "{said}");
}

#[cfg(unix)]
#[test]
fn whoever_lost_the_lock_to_a_removed_file_does_not_publish() {
    let (_root, dir) = fresh();
    publish_files(&dir, 1);
    let first = begin(&dir, Base::Current);
    fs::remove_file(dir.path().join("writer.lock")).unwrap();
    let second = lock(&dir);
    let (kind, said) = refused(first.publish(&meta(DIM)));
    assert_eq!(kind, ErrorKind::Busy);
    assert!(said.contains("writer.lock` was removed while it was held"), "{said}");
    assert_eq!(dir.current().unwrap().map(|current| current.number), Some(1));
    let second = Writer::begin(second, Base::Current, MEMORY_MIB).unwrap();
    assert_eq!(second.publish(&meta(DIM)).unwrap().number, 2);
    assert_eq!(check(&open(&dir)), 1);
}

#[test]
fn flush_removes_the_index_and_nothing_else() {
    let (_root, dir) = fresh();
    publish_files(&dir, 1);
    publish_files(&dir, 2);
    fs::write(dir.path().join("code-9.tmp-1.duckdb"), "left").unwrap();
    fs::write(dir.path().join("state.duckdb"), "facts").unwrap();
    let bytes = dir.size();
    let old = dir.current().unwrap();
    let held = lock(&dir);
    let freed = held.flush().unwrap();
    drop(held);
    assert_eq!(names(&dir), set(&[".gitignore", "state.duckdb", "writer.lock"]));
    assert_eq!(freed, bytes - dir.size());
    assert!(dir.open(MEMORY_MIB).unwrap().is_none());
    publish_files(&dir, 1);
    let held = lock(&dir);
    held.flush().unwrap();
    drop(held);
    publish_files(&dir, 1);
    publish_files(&dir, 2);
    assert_ne!(dir.current().unwrap(), old, "told from one of the same number");
}

#[test]
fn a_damaged_current_is_told_and_can_be_replaced() {
    let (_root, dir) = fresh();
    publish_files(&dir, 2);
    let path = dir.path().join("CURRENT");
    let line = fs::read_to_string(&path).unwrap();
    let garbage: [&[u8]; 6] = [
        b"",
        b"\0\0\0\0\0\0\0\0",
        b"1 code-1.duckdb\n",
        &line.as_bytes()[..line.len() - 1],
        &line.replacen('1', "2", 1).into_bytes(),
        &[0xff; 5000],
    ];
    for bytes in garbage {
        fs::write(&path, bytes).unwrap();
        let (kind, said) = refused(dir.open(MEMORY_MIB));
        assert_eq!(kind, ErrorKind::Index);
        assert!(said.starts_with(&format!("`{}` is damaged: `", path.display())), "{said}");
        assert!(said.ends_with(REBUILD), "{said}");
        let (again, _) = refused(Writer::begin(lock(&dir), Base::Current, MEMORY_MIB));
        assert_eq!(again, ErrorKind::Index);
        assert!(dir.path().join("code-1.duckdb").exists(), "nothing is lost");
    }
    let published = publish_files(&dir, 5);
    assert_eq!((published.number, check(&open(&dir))), (2, 5));
}

#[test]
fn a_current_that_points_nowhere_is_told() {
    let (_root, dir) = fresh();
    let published = publish_files(&dir, 2);
    fs::remove_file(&published.file).unwrap();
    let (kind, said) = refused(dir.open(MEMORY_MIB));
    let file = published.file.display();
    let expected = format!("index file `{file}`, which `CURRENT` names, is not there | {REBUILD}");
    assert_eq!((kind, said), (ErrorKind::Index, expected));
    assert_eq!(publish_files(&dir, 1).number, 1);
    assert_eq!(check(&open(&dir)), 1);
}

#[test]
fn another_schema_is_told() {
    let (_root, dir) = fresh();
    let at = dir.path().display().to_string();
    let cases = [(3, "a newer", "update SAI, or "), (0, "an older", "")];
    for (schema, age, hint) in cases {
        begin(&dir, Base::Empty).publish(&Meta { schema, ..meta(DIM) }).unwrap();
        let (kind, said) = refused(dir.open(MEMORY_MIB));
        assert_eq!(kind, ErrorKind::Index);
        let reads = format!("(schema {schema}, this one reads {SCHEMA_VERSION})");
        let message = format!("index at `{at}` was written by {age} SAI {reads}");
        assert_eq!(said, format!("{message} | {hint}{REBUILD}"));
        let begun = Writer::begin(lock(&dir), Base::Current, MEMORY_MIB);
        assert_eq!(refused(begun).0, ErrorKind::Index);
    }
    publish_files(&dir, 1);
    assert_eq!(check(&open(&dir)), 1);
}

#[test]
fn a_truncated_or_zeroed_file_is_told() {
    let (_root, dir) = fresh();
    let published = publish_files(&dir, 40);
    let whole = fs::read(&published.file).unwrap();
    let len = whole.len();
    let cut = [0, 1, 100, 4096, 8192, 12288, len / 3, len / 2, len - 4096, len - 1];
    let mut damaged: Vec<Vec<u8>> = cut.iter().map(|&at| whole[..at].to_vec()).collect();
    damaged.push(vec![0; len]);
    // The tail, the body or the head zeroed, as after a loss of power.
    damaged.push([&whole[..len / 2], &vec![0; len - len / 2]].concat());
    damaged.push([&whole[..12288], &vec![0; len - 12288]].concat());
    damaged.push([&vec![0; 12288], &whole[12288..]].concat());
    damaged.push([whole.as_slice(), b"x"].concat());
    damaged.push(b"SQLite format 3\0".repeat(len / 16 + 1)[..len].to_vec());
    for bytes in damaged {
        fs::write(&published.file, &bytes).unwrap();
        let read = dir.open(MEMORY_MIB).and_then(|reader| contents(&reader.unwrap()));
        let (kind, said) = refused(read);
        assert_eq!(kind, ErrorKind::Index, "{said}");
        let expected = format!("index file `{}` is damaged: ", published.file.display());
        assert!(said.starts_with(&expected), "{said}");
        assert!(said.ends_with(REBUILD), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
    fs::write(&published.file, &whole).unwrap();
    assert_eq!(check(&open(&dir)), 40);
}

/// Flips `flips` bytes, one at a time, and reads all; returns how many were noticed.
fn flip_bytes(dir: &IndexDir, flips: u64, seed: u64) -> u64 {
    let published = dir.current().unwrap().unwrap();
    let whole = fs::read(&published.file).unwrap();
    let expected = contents(&open(dir)).unwrap();
    let mut noticed = 0;
    for flip in 0..flips {
        let random = noise(seed * 1_000_003 + flip, 9);
        let at = u64::from_le_bytes(random[..8].try_into().unwrap()) as usize % whole.len();
        let mut bytes = whole.clone();
        bytes[at] ^= random[8] | 1;
        fs::write(&published.file, &bytes).unwrap();
        match dir.open(MEMORY_MIB).and_then(|reader| contents(&reader.unwrap())) {
            // The byte lies where nothing is stored.
            Ok(read) => {
                assert!(read == expected, "damage at {at} of {} goes unnoticed", whole.len());
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Index, "{error}");
                noticed += 1;
            }
        }
    }
    fs::write(&published.file, &whole).unwrap();
    noticed
}

#[test]
fn a_flipped_byte_is_noticed_or_harmless() {
    let (_root, dir) = fresh();
    publish_files(&dir, 100);
    let flips = std::env::var("SAI_FLIPS").map_or(40, |flips| flips.parse().unwrap());
    let noticed = flip_bytes(&dir, flips, 1);
    println!("{noticed} of {flips} flipped bytes noticed");
    assert!(noticed > 0);
    assert_eq!(check(&open(&dir)), 100);
}

#[test]
fn an_index_folder_that_is_a_file_is_told() {
    let (_root, dir) = fresh();
    fs::write(dir.path(), "a file").unwrap();
    let (kind, said) = refused(dir.lock(Duration::ZERO));
    assert_eq!(kind, ErrorKind::Environment);
    let expected = format!("cannot make the index folder `{}`: ", dir.path().display());
    assert!(said.starts_with(&expected), "{said}");
    assert!(said.ends_with("the index is a folder; remove the file in its place"), "{said}");
    assert_eq!(refused(dir.open(MEMORY_MIB)).0, ErrorKind::Environment);
    assert_eq!((dir.writer(), fs::read(dir.path()).unwrap()), (None, b"a file".to_vec()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_index_stands() {
    for mib in [1, 3, 6, 8, 10, 12] {
        let Some(disk) = Disk::of_mib(mib) else { return };
        let dir = IndexDir::new(disk.path().join(".index"));
        let mut batch = Batch::default();
        for id in 100..150 {
            add_file(&mut batch, id, CHUNKS, DIM, &noise(u64::from(id), 100_000));
        }
        let small = |base| {
            let mut writer = Writer::begin(dir.lock(Duration::ZERO)?, base, MEMORY_MIB)?;
            let mut batch = Batch::default();
            add_file(&mut batch, 0, CHUNKS, DIM, b"small");
            writer.insert(&batch)?;
            writer.publish(&meta(DIM))
        };
        let published = small(Base::Empty).is_ok();
        let large = || {
            let mut writer = Writer::begin(dir.lock(Duration::ZERO)?, Base::Current, MEMORY_MIB)?;
            writer.insert(&batch)?;
            writer.publish(&meta(DIM))
        };
        // The second time there is a base to copy as well.
        for _ in 0..3 {
            if let Err(error) = large() {
                let said = format!("{error} | {}", error.next_step().unwrap_or_default());
                assert_eq!(error.kind(), ErrorKind::Environment, "{mib} MiB: {said}");
                assert!(
                    said.ends_with(
                        "free some space and run it again; the published index is as it was"
                    ),
                    "{said}"
                );
            }
            if published {
                check(&open(&dir));
            }
            let left =
                names(&dir).into_iter().filter(|name| name.contains("tmp")).collect::<Vec<_>>();
            assert_eq!(left, Vec::<String>::new(), "{mib} MiB");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_can_be_read() {
    let Some(disk) = Disk::of_mib(32) else { return };
    let dir = IndexDir::new(disk.path().join(".index"));
    publish_files(&dir, 3);
    disk.set_writable(false);
    assert_eq!(check(&open(&dir)), 3);
    assert_eq!(dir.writer(), None);
    let (kind, said) = refused(dir.lock(Duration::ZERO));
    assert_eq!(kind, ErrorKind::Environment);
    assert!(said.starts_with(&format!("cannot write `{}", dir.path().display())), "{said}");
    assert!(
        said.ends_with("the disk is read-only; set `index_dir` to a folder that can be written"),
        "{said}"
    );
    let new = IndexDir::new(disk.path().join("new"));
    assert!(refused(new.lock(Duration::ZERO)).1.contains("read-only"));
}

/// This test binary again, in the role that [`child`] reads from its environment.
fn role(role: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["store::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env("SAI_STORE_ROLE", role).env("SAI_STORE_DIR", dir).stdout(Stdio::piped());
    command
}

/// The lines that a child writes, until it ends.
fn lines_of(child: &mut Child) -> mpsc::Receiver<String> {
    let (send, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

const FILES: u32 = 12;
const PUBLICATIONS: u64 = 8;

/// What this binary does when [`role`] starts it; an empty test otherwise.
#[test]
fn child() {
    let Ok(role) = std::env::var("SAI_STORE_ROLE") else { return };
    let dir = IndexDir::new(PathBuf::from(std::env::var_os("SAI_STORE_DIR").unwrap()));
    match role.as_str() {
        "writer" => loop {
            println!("\nbegin");
            replace_a_file(&dir, Duration::from_secs(20));
        },
        "reader" => read_until(&dir, PUBLICATIONS),
        "denied" => {
            let (_, read) = refused(dir.open(MEMORY_MIB));
            let (_, written) = refused(dir.lock(Duration::ZERO));
            println!("\n{read}\n{written}");
        }
        other => panic!("unknown role {other}"),
    }
}

/// One small sync: of [`FILES`] files one goes and another comes.
fn replace_a_file(dir: &IndexDir, wait: Duration) -> Generation {
    let mut writer = Writer::begin(dir.lock(wait).unwrap(), Base::Current, MEMORY_MIB).unwrap();
    let files = writer.reader().files().unwrap();
    assert_eq!(files.len() as u32, FILES);
    let (oldest, new) =
        (files.iter().map(|f| f.id).min().unwrap(), writer.reader().free_ids().file);
    let mut batch = Batch::default();
    add_file(&mut batch, new, CHUNKS, DIM, &source(new, 20));
    writer.delete_files(&[oldest]).unwrap();
    writer.insert(&batch).unwrap();
    writer.publish(&meta(DIM)).unwrap()
}

/// Reads the index over and over until generation `last`; every read must be whole.
fn read_until(dir: &IndexDir, last: u64) {
    let mut seen = 0;
    while seen < last {
        let reader = open(dir);
        let number = reader.generation().number;
        assert!(number >= seen, "generation {number} after {seen}");
        seen = number;
        assert_eq!(check(&reader) as u32, FILES);
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_whole_generation() {
    let (_root, dir) = fresh();
    let mut before = publish_files(&dir, FILES).number;
    for round in 0..20_u64 {
        let mut child = role("writer", dir.path()).spawn().unwrap();
        let lines = lines_of(&mut child);
        while lines.recv_timeout(Duration::from_mins(1)).expect("the child writes") != "begin" {}
        // A random moment of the first few publications.
        let deadline = Instant::now() + Duration::from_micros(u64::from(noise(round, 1)[0]) * 400);
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            let _ = lines.recv_timeout(left);
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let reader = open(&dir);
        assert_eq!(check(&reader) as u32, FILES, "round {round}");
        let number = reader.generation().number;
        assert!(number >= before, "generation {number} after {before}");
        assert_eq!(dir.writer(), None, "the dead hold no lock");
        before = replace_a_file(&dir, Duration::from_secs(20)).number;
        assert_eq!(before, number + 1);
        let (old, new) = (format!("code-{number}.duckdb"), format!("code-{before}.duckdb"));
        assert_eq!(names(&dir), set(&[".gitignore", "CURRENT", "writer.lock", &old, &new]));
    }
}

#[test]
fn readers_never_wait_or_fail_while_a_writer_publishes() {
    let (_root, dir) = fresh();
    publish_files(&dir, FILES);
    let mut processes: Vec<Child> =
        (0..2).map(|_| role("reader", dir.path()).spawn().unwrap()).collect();
    thread::scope(|scope| {
        scope.spawn(|| read_until(&dir, PUBLICATIONS));
        for number in 2..=PUBLICATIONS {
            assert_eq!(replace_a_file(&dir, Duration::ZERO).number, number);
        }
    });
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
}

#[cfg(unix)]
#[test]
fn a_folder_of_somebody_else_is_told() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let (root, dir) = fresh();
    publish_files(&dir, 1);
    let allow =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(root.path(), 0o755);
    for (path, mode) in
        [(dir.path().join("CURRENT"), 0o600), (dir.path().join("code-1.duckdb"), 0o600)]
    {
        allow(&path, mode);
        // User `nobody`: root may do everything.
        let output = role("denied", dir.path()).uid(65534).output();
        let Ok(output) = output.inspect_err(|e| eprintln!("skipped: no other user here: {e}"))
        else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !said.contains("running 1 test") {
            eprintln!("skipped: the test binary does not run as another user");
            return;
        }
        let denied = "the user who runs SAI needs to read and write the index folder";
        assert_eq!(said.matches(denied).count(), 2, "{said}");
        assert!(said.contains(&path.display().to_string()), "{said}");
        assert!(said.contains("writer.lock"), "{said}");
        allow(&path, 0o644);
    }
}

/// One step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Insert { text: String, chunks: u32, optional: bool },
    Delete(proptest::sample::Index),
    Touch(proptest::sample::Index, u64, i64),
    Skip(Vec<(String, String)>),
    Publish { keep: bool, base: bool },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (".*", 0..4_u32, any::<bool>())
            .prop_map(|(text, chunks, optional)| Step::Insert { text, chunks, optional }),
        2 => any::<proptest::sample::Index>().prop_map(Step::Delete),
        2 => (any::<proptest::sample::Index>(), any::<u64>(), any::<i64>())
            .prop_map(|(file, size, mtime_ns)| Step::Touch(file, size, mtime_ns)),
        1 => prop::collection::vec((".*", "[a-z]*"), 0..3).prop_map(Step::Skip),
        2 => (prop::bool::weighted(0.8), prop::bool::weighted(0.9))
            .prop_map(|(keep, base)| Step::Publish { keep, base }),
    ]
}

/// The index as plain maps.
#[derive(Clone, Default)]
struct Model {
    files: BTreeMap<u32, (FileRow, Vec<ChunkRow>, Vec<u8>)>,
    vectors: BTreeMap<u32, VectorRow>,
    words: BTreeMap<u32, String>,
    skipped: Vec<(String, String)>,
}

impl Model {
    fn contents(&self) -> Contents {
        let mut files: Vec<_> = self.files.values().map(|f| f.0.clone()).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Contents {
            files,
            chunks: self.files.values().flat_map(|f| f.1.clone()).collect(),
            vectors: self.vectors.values().map(|v| (v.id, v.values.clone())).collect(),
            keys: self.vectors.values().map(|v| (v.id, v.key)).collect(),
            words: self.words.clone(),
            blobs: self.files.values().map(|f| (f.0.hash, f.2.clone())).collect(),
            skipped: self.skipped.clone(),
        }
    }

    /// A file made of `text`, added to the model; the rows to insert.
    fn add(&mut self, id: u32, text: &str, chunks: u32, optional: bool) -> Batch {
        let mut batch = Batch::default();
        add_file(&mut batch, id, chunks, DIM, text.as_bytes());
        let file = &mut batch.files[0];
        file.path = RelPath::new(Path::new(&format!("{id}/{text}")))
            .unwrap_or_else(|| rel(&format!("{id}")));
        file.imports = text.split('a').map(str::to_owned).collect();
        for chunk in &mut batch.chunks {
            chunk.symbol = optional.then(|| text.to_owned());
            chunk.signature = optional.then(String::new);
            chunk.defines = text.split(' ').map(str::to_owned).collect();
            chunk.parents = if optional { vec![text.to_owned()] } else { vec![] };
            chunk.words = text.as_bytes().to_vec();
        }
        batch.words = vec![(id, text.to_owned())];
        self.vectors.extend(batch.vectors.iter().map(|v| (v.id, v.clone())));
        self.words.insert(id, text.to_owned());
        self.files.insert(id, (batch.files[0].clone(), batch.chunks.clone(), text.into()));
        batch
    }

    fn pick(&self, index: proptest::sample::Index) -> Option<u32> {
        (!self.files.is_empty())
            .then(|| *index.get(&self.files.keys().copied().collect::<Vec<_>>()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 50, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_history_equals_a_plain_model(steps in prop::collection::vec(step(), 1..16)) {
        let (_root, dir) = fresh();
        let (mut published, mut model) = (Model::default(), Model::default());
        let mut writer = begin(&dir, Base::Current);
        for step in steps {
            match step {
                Step::Insert { text, chunks, optional } => {
                    let id = model.words.keys().last().map_or(0, |last| last + 1);
                    writer.insert(&model.add(id, &text, chunks, optional)).unwrap();
                }
                Step::Delete(index) => if let Some(id) = model.pick(index) {
                    writer.delete_files(&[id]).unwrap();
                    model.files.remove(&id);
                }
                Step::Touch(index, size, mtime_ns) => if let Some(id) = model.pick(index) {
                    writer.touch_files(&[(id, 1, 1), (id, size, mtime_ns)]).unwrap();
                    let file = &mut model.files.get_mut(&id).unwrap().0;
                    (file.size, file.mtime_ns) = (size, mtime_ns);
                }
                Step::Skip(mut skipped) => {
                    writer.set_skipped(&skipped).unwrap();
                    skipped.sort_unstable();
                    model.skipped = skipped;
                }
                Step::Publish { keep, base } => {
                    if keep {
                        writer.publish(&meta(DIM)).unwrap();
                        published = model.clone();
                        prop_assert_eq!(contents(&open(&dir)).unwrap(), published.contents());
                    } else {
                        drop(writer);
                    }
                    model = if base { published.clone() } else { Model::default() };
                    writer = begin(&dir, if base { Base::Current } else { Base::Empty });
                }
            }
        }
        prop_assert_eq!(contents(writer.reader()).unwrap(), model.contents());
    }
}

/// The time since the last call, in milliseconds.
struct Laps(Instant);

impl Laps {
    fn lap(&mut self) -> String {
        let since = std::mem::replace(&mut self.0, Instant::now()).elapsed();
        format!("{:.1} ms", since.as_secs_f64() * 1e3)
    }
}

/// Writes, reads and syncs indexes of ten chunks a file and prints how long it took: tiny ones by
/// default, those of 10,000 and 100,000 chunks where `SAI_BENCH` is set.
#[test]
fn figures() {
    let large = std::env::var("SAI_BENCH").is_ok();
    for files in if large { [1_000, 10_000] } else { [10, 20] } {
        let (_root, dir) = fresh();
        let batches: Vec<Batch> =
            (0..files).step_by(500).map(|id| large_batch(id, files)).collect();
        let mut laps = Laps(Instant::now());
        let mut writer = begin(&dir, Base::Empty);
        let begun = laps.lap();
        for batch in &batches {
            writer.insert(batch).unwrap();
        }
        let inserted = laps.lap();
        writer.publish(&meta(256)).unwrap();
        let published = laps.lap();
        println!("{files} files: begin {begun}, insert {inserted}, publish {published}");
        println!("  size {:.1} MB", dir.size() as f64 / 1e6);
        for round in 0..3 {
            print_read(&dir, files);
            print_sync(&dir, files, round);
        }
        laps.lap();
        for _ in 0..1000 {
            dir.current().unwrap();
        }
        println!("  current, 1000 times: {}", laps.lap());
    }
}

fn large_batch(first: u32, files: u32) -> Batch {
    let mut batch = Batch::default();
    for id in first..files.min(first + 500) {
        add_file(&mut batch, id, 10, 256, &source(id, 100));
    }
    batch.words = (first * 20..first * 20 + 2000).map(|id| (id, format!("word_{id}"))).collect();
    batch
}

fn print_read(dir: &IndexDir, files: u32) {
    let mut laps = Laps(Instant::now());
    let reader = open(dir);
    let opened = laps.lap();
    let mut chunks = Vec::new();
    reader.chunks(&mut |chunk| chunks.push(chunk)).unwrap();
    let chunked = laps.lap();
    let vectors = reader.vectors().unwrap();
    let vectored = laps.lap();
    let rows = reader.files().unwrap();
    let listed = laps.lap();
    println!("  open {opened}, chunks {chunked}, vectors {vectored}, files {listed}");
    assert_eq!(rows.len() as u32, files);
    assert!(chunks.len() >= rows.len() * 10 && vectors.ids.len() >= chunks.len());

    let mut laps = Laps(Instant::now());
    reader.vector_keys().unwrap();
    let keyed = laps.lap();
    reader.words().unwrap();
    let worded = laps.lap();
    assert!(reader.blob(rows[0].hash).unwrap().is_some());
    println!("  keys {keyed}, words {worded}, a blob {}", laps.lap());
}

/// One file goes, another of 30 chunks comes.
fn print_sync(dir: &IndexDir, files: u32, round: u32) {
    let mut laps = Laps(Instant::now());
    let mut writer = begin(dir, Base::Current);
    let begun = laps.lap();
    writer.delete_files(&[files / 2 + round]).unwrap();
    let deleted = laps.lap();
    let mut batch = Batch::default();
    add_file(&mut batch, files + round, 30, 256, &source(files + round, 300));
    writer.insert(&batch).unwrap();
    let inserted = laps.lap();
    writer.publish(&meta(256)).unwrap();
    println!("  sync: begin {begun}, delete {deleted}, insert {inserted}, publish {}", laps.lap());
}
