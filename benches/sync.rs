//! How long from a changed file to an answer that knows it? `cargo bench --bench sync`; what the figures
//! mean is in `docs/benchmarks.md`. The material is this repository's own source, repeated until there
//! are 100,000 chunks, or a copy of the folder that `SAI_BENCH_TREE` names.

#![allow(clippy::print_stdout, reason = "a bench shows its figures")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sai::config::{Config, Sources};
use sai::request::{IndexQuery, RefreshQuery, SearchQuery, SyncQuery};
use sai::types::Mode;
use sai::worker::Handle;

const CHUNKS: usize = 100_000;
const ROUNDS: usize = 20;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().canonicalize().expect("it exists");
    let named = std::env::var_os("SAI_BENCH_TREE").map(PathBuf::from);
    match &named {
        Some(tree) => copy(tree, &root),
        None => copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &root.join("copy0")),
    }
    let handle = start(&root);
    let mut reply = handle.index(IndexQuery::default()).wait().expect("indexed");
    if named.is_none() {
        for copy in 1..=CHUNKS / reply.chunks {
            repeat(&root.join("copy0"), &root.join(format!("copy{copy}")), copy);
        }
        reply = handle.index(IndexQuery::default()).wait().expect("indexed");
    }
    println!("{} files, {} chunks, {ROUNDS} rounds, milliseconds", reply.files, reply.chunks);
    println!("{:<34}{:>8}{:>8}", "", "median", "worst");
    let file = first_file(&root).expect("the tree has a file");
    let path = file.strip_prefix(&root).expect("it lies there").to_str().expect("UTF-8").to_owned();
    search(&handle, "warm");
    let refresh = |handle: &Handle| {
        let query = RefreshQuery { paths: vec![path.clone()], ..RefreshQuery::default() };
        handle.refresh(query).wait().expect("refreshed").published
    };
    let sync =
        |handle: &Handle| handle.sync(SyncQuery::default()).wait().expect("synced").published;
    measure("refresh of one file", &handle, &file, &refresh);
    measure("sync of one changed file", &handle, &file, &sync);
    let nothing = (0..ROUNDS).map(|_| timed(|| assert!(!sync(&handle)))).collect();
    show("sync with nothing to do", nothing);
}

/// Changes `file`, brings the index up to date and searches for what is new in it.
fn measure(name: &str, handle: &Handle, file: &Path, update: &dyn Fn(&Handle) -> bool) {
    let (mut published, mut searchable) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let word = format!("quokka{}round{round}", name.len());
        let mut open = fs::File::options().append(true).open(file).expect("ours");
        writeln!(open, "// {word}").expect("ours");
        let started = Instant::now();
        assert!(update(handle));
        published.push(started.elapsed());
        assert!(search(handle, &word), "`{word}` is not found");
        searchable.push(started.elapsed());
    }
    show(&format!("{name}: published"), published);
    show(&format!("{name}: searchable"), searchable);
}

fn search(handle: &Handle, text: &str) -> bool {
    let query = SearchQuery {
        text: text.into(),
        mode: Some(Mode::Lexical),
        include_text: true,
        ..SearchQuery::default()
    };
    let hits = handle.search(query).wait().expect("answered").hits;
    hits.iter().any(|hit| hit.snippet.contains(text))
}

fn timed(work: impl Fn()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn show(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let ms = |at: usize| times[at].as_secs_f64() * 1000.0;
    println!("{name:<34}{:>8.1}{:>8.1}", ms(times.len() / 2), ms(times.len() - 1));
}

fn start(root: &Path) -> Handle {
    let sources = Sources { root: root.to_owned(), file: None, overrides: Vec::new() };
    Handle::start(Config::load(&sources).expect("the defaults are valid").config)
}

/// Copies a folder, but for links and `.index`.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("ours");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let kind = entry.file_type().expect("known");
        let target = to.join(entry.file_name());
        if kind.is_dir() && entry.file_name() != ".index" {
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            fs::copy(entry.path(), target).expect("ours");
        }
    }
}

/// Copies a folder of sources with other names in them, so that each copy has words and vectors of
/// its own.
fn repeat(from: &Path, to: &Path, copy: usize) {
    fs::create_dir_all(to).expect("ours");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            repeat(&entry.path(), &target, copy);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            fs::write(target, text.replace("self", &format!("self_{copy}"))).expect("ours");
        }
    }
}

/// The first source file at or under `folder`, by name.
fn first_file(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_source = |path: &Path| {
        path.extension().is_some_and(|ending| ending == "rs" || ending == "java" || ending == "ts")
    };
    let is_open = |path: &Path| {
        !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    entries.into_iter().filter(|path| is_open(path)).find_map(|path| {
        if path.is_dir() { first_file(&path) } else { is_source(&path).then_some(path) }
    })
}
