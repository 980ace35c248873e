//! The store, through its door: round trips, generations, locks, damage, death and full disks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sai::store::{Base, Batch, ChunkRow, FileRow, IndexDir, Meta, Reader, VectorRow, Writer};
use sai::types::{ChunkKind, Hash, Language, LineRange, Place, RelPath};

const MEMORY_MIB: usize = 512;

fn meta(dim: usize) -> Meta {
    Meta {
        schema: sai::store::SCHEMA_VERSION,
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
    RelPath::new(std::path::Path::new(path)).unwrap()
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

fn lock(dir: &IndexDir) -> sai::store::WriterLock {
    dir.lock(Duration::from_secs(20)).unwrap()
}

#[test]
fn figures() {
    let large = std::env::var("SAI_BENCH").is_ok();
    let sizes: &[u32] = if large { &[1_000, 10_000, 50_000] } else { &[10] };
    for &files in sizes {
        let root = tempfile::tempdir().unwrap();
        let dir = IndexDir::new(root.path().join(".index"));
        let per_file = 10;
        let mut batches = Vec::new();
        for first in (0..files).step_by(500) {
            let mut batch = Batch::default();
            for id in first..files.min(first + 500) {
                add_file(&mut batch, id, per_file, 256, &source(id, 100));
            }
            batch.words = (first * 20..first * 20 + 2000).map(|i| (i, format!("word_{i}"))).collect();
            batches.push(batch);
        }
        let started = Instant::now();
        let mut writer = Writer::begin(lock(&dir), Base::Empty, MEMORY_MIB).unwrap();
        let begun = started.elapsed();
        for batch in &batches {
            writer.insert(batch).unwrap();
        }
        let inserted = started.elapsed();
        writer.publish(&meta(256)).unwrap();
        println!(
            "{} chunks: begin {begun:.0?} insert {:.0?} publish {:.0?} total {:.0?}; {:.1} MB",
            files * per_file,
            inserted - begun,
            started.elapsed() - inserted,
            started.elapsed(),
            dir.size() as f64 / 1e6
        );
        drop(batches);
        for _ in 0..3 {
            let started = Instant::now();
            let reader = dir.open(MEMORY_MIB).unwrap().unwrap();
            let opened = started.elapsed();
            let mut chunks = Vec::new();
            reader.chunks(&mut |chunk| chunks.push(chunk)).unwrap();
            let chunked = started.elapsed();
            let vectors = reader.vectors().unwrap();
            let vectored = started.elapsed();
            let rows = reader.files().unwrap();
            let filed = started.elapsed();
            let keys = reader.vector_keys().unwrap();
            let keyed = started.elapsed();
            let words = reader.words().unwrap();
            let worded = started.elapsed();
            let blobs = rows.iter().take(20).filter(|f| reader.blob(f.hash).unwrap().is_some()).count();
            let blobbed = started.elapsed();
            assert_eq!((chunks.len(), vectors.ids.len(), keys.len()), (rows.len() * 10, rows.len() * 10, rows.len() * 10));
            println!(
                "  open {opened:.1?} chunks {:.1?} vectors {:.1?} files {:.1?} = {filed:.1?}; keys {:.1?} words {} {:.1?} {blobs} blobs {:.1?}",
                chunked - opened,
                vectored - chunked,
                filed - vectored,
                keyed - filed,
                words.len(),
                worded - keyed,
                blobbed - worded,
            );
        }
        for round in 0..3 {
            let started = Instant::now();
            let mut writer = Writer::begin(lock(&dir), Base::Current, MEMORY_MIB).unwrap();
            let begun = started.elapsed();
            writer.delete_files(&[files / 2 + round]).unwrap();
            let deleted = started.elapsed();
            let mut batch = Batch::default();
            add_file(&mut batch, files + round, 30, 256, &source(files + round, 300));
            writer.insert(&batch).unwrap();
            let inserted = started.elapsed();
            writer.publish(&meta(256)).unwrap();
            println!(
                "  one file: begin {begun:.1?} delete {:.1?} insert {:.1?} publish {:.1?} = {:.1?}",
                deleted - begun,
                inserted - deleted,
                started.elapsed() - inserted,
                started.elapsed()
            );
        }
        let started = Instant::now();
        for _ in 0..1000 {
            dir.current().unwrap();
        }
        println!("  current {:.1?}", started.elapsed() / 1000);
    }
}
