//! How fast is each room? `cargo bench --bench rooms`; what the figures mean is in
//! `docs/benchmarks.md`. The material is this repository's own source, repeated where more is needed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use sai::chunk;
use sai::config::{Config, Sources};
use sai::embed::{Embedder, Matrix, Passage, quantise};
use sai::request::{IndexQuery, SearchQuery};
use sai::types::{Language, Mode, RelPath};
use sai::words::{Counter, Fields, WordIndexBuilder, encode};
use sai::worker::Handle;

fn main() {
    divan::main();
}

/// Every Rust file of `src`, with its path.
fn sources() -> &'static [(RelPath, String)] {
    static SOURCES: OnceLock<Vec<(RelPath, String)>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut files = Vec::new();
        collect(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new("src"), &mut files);
        files
    })
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(RelPath, String)>) {
    for entry in std::fs::read_dir(root.join(folder)).expect("a folder of the repository").flatten()
    {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(entry.path()).expect("a file of the repository");
            files.push((RelPath::new(&path).expect("a relative path"), text));
        }
    }
}

/// The chunks of the repository's sources: path and code.
fn chunks() -> Vec<(&'static str, &'static str)> {
    let split = |(path, text): &'static (RelPath, String)| {
        let pieces = chunk::split(path, Language::Rust, text);
        let code = move |c: chunk::Chunk| (path.as_str(), &text[c.bytes]);
        pieces.chunks.into_iter().map(code).collect::<Vec<_>>()
    };
    sources().iter().flat_map(split).collect()
}

fn config(root: &Path) -> Config {
    let sources = Sources { root: root.to_owned(), file: None, overrides: Vec::new() };
    Config::load(&sources).expect("the defaults are valid").config
}

fn embedder() -> Embedder {
    Embedder::open(&config(Path::new(env!("CARGO_MANIFEST_DIR"))).embedder).expect("built in")
}

#[divan::bench]
fn chunking(bencher: Bencher<'_, '_>) {
    let bytes: usize = sources().iter().map(|(_, text)| text.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for (path, text) in sources() {
            black_box(chunk::split(path, Language::Rust, text));
        }
    });
}

#[divan::bench]
fn embedding(bencher: Bencher<'_, '_>) {
    let chunks = chunks();
    let passages: Vec<Passage<'_>> =
        chunks.iter().map(|(path, code)| Passage { path, names: "", context: "", code }).collect();
    let mut embedder = embedder();
    bencher
        .counter(ItemsCount::new(passages.len()))
        .bench_local(|| embedder.passages(black_box(&passages)).expect("built in"));
}

#[divan::bench]
fn model_load(bencher: Bencher<'_, '_>) {
    bencher.bench(embedder);
}

/// 256 pseudo-random values a row, the same each run.
fn rows(count: usize) -> Vec<i8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as i8
    };
    (0..count * 256).map(|_| next()).collect()
}

#[divan::bench(args = [10_000, 100_000])]
fn vector_scan(bencher: Bencher<'_, '_>, count: usize) {
    let matrix = Matrix::new(256, rows(count));
    let query =
        quantise(&embedder().query("where are retries configured", |_| 1.0).expect("built in"));
    let mut out = Vec::new();
    bencher.counter(ItemsCount::new(count)).bench_local(|| matrix.cosines(&query, &mut out));
}

#[divan::bench]
fn word_counting(bencher: Bencher<'_, '_>) {
    let chunks = chunks();
    bencher.counter(ItemsCount::new(chunks.len())).bench(|| {
        let mut counter = Counter::default();
        for (path, body) in &chunks {
            counter.add(&Fields { body, path, ..Fields::default() });
        }
        counter.finish()
    });
}

#[divan::bench]
fn word_index(bencher: Bencher<'_, '_>) {
    let mut counter = Counter::default();
    for (path, body) in chunks() {
        counter.add(&Fields { body, path, ..Fields::default() });
    }
    let counted = counter.finish();
    let ids: Vec<u32> = (0..counted.words.len() as u32).collect();
    let encoded: Vec<Vec<u8>> = counted.chunks.iter().map(|words| encode(words, &ids)).collect();
    bencher.counter(ItemsCount::new(encoded.len())).bench(|| {
        let mut builder = WordIndexBuilder::default();
        encoded.iter().for_each(|words| builder.push(words));
        builder.build(ids.iter().copied().zip(counted.words.iter().cloned()).collect())
    });
}

/// A folder with `copies` of the repository's sources.
fn tree(copies: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for copy in 0..copies {
        for (path, text) in sources() {
            let file = folder.path().join(format!("copy{copy}")).join(path.as_str());
            std::fs::create_dir_all(file.parent().expect("it has one")).expect("ours");
            std::fs::write(file, text.replace("self", &format!("self_{copy}"))).expect("ours");
        }
    }
    folder
}

fn canonical(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().canonicalize().expect("it exists")
}

#[divan::bench(args = [1, 8], sample_count = 10)]
fn first_index(bencher: Bencher<'_, '_>, copies: usize) {
    let folder = tree(copies);
    let handle = Handle::start(config(&canonical(&folder)));
    let lines: usize = sources().iter().map(|(_, text)| text.lines().count()).sum();
    bencher.counter(ItemsCount::new(lines * copies)).bench(|| {
        handle.index(IndexQuery { force: true, progress: None }).wait().expect("indexed")
    });
}

#[divan::bench(args = [Mode::Hybrid, Mode::Semantic, Mode::Lexical])]
fn search(bencher: Bencher<'_, '_>, mode: Mode) {
    let folder = tree(8);
    let handle = Handle::start(config(&canonical(&folder)));
    handle.index(IndexQuery::default()).wait().expect("indexed");
    let query = SearchQuery {
        text: "how is a killed writer cleaned up".to_owned(),
        mode: Some(mode),
        ..SearchQuery::default()
    };
    bencher.bench(|| handle.search(query.clone()).wait().expect("answered"));
}
