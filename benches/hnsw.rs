//! What does an HNSW index give beside the exact scan, and what does it cost? `cargo bench --bench
//! hnsw -- TREE INDEX` indexes the folder TREE into the folder INDEX, builds the HNSW index, and
//! prints build, size, recall and times. The vss extension has to be there (docs/development.md);
//! INDEX may be kept for a second run. Questions are the first sentences of the documentation of
//! chunks that lie evenly in the tree. CPU seconds and memory are read from `/proc` (Linux).

#![allow(clippy::print_stdout, reason = "what a bench measures goes to its output")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sai::config::{Config, Sources};
use sai::embed::{Embedder, Matrix, quantise};
use sai::request::{IndexQuery, SearchQuery, SearchReply, StatusQuery};
use sai::store::{Hnsw, IndexDir, Reader, find_vss};
use sai::types::Mode;
use sai::worker::Handle;

const QUESTIONS: usize = 200;
const LOOKS_AT: [usize; 6] = [64, 128, 256, 400, 800, 1600];

fn main() {
    // Cargo adds its own flags.
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).map(PathBuf::from).collect();
    let [tree, index] = folders.as_slice() else {
        println!("skipped: cargo bench --bench hnsw -- TREE INDEX");
        return;
    };
    let exact = config(tree, index, "exact");
    let hnsw = config(tree, index, "hnsw");
    build(&exact, &hnsw);
    let reader = IndexDir::new(index).open(exact.limits.duckdb_memory_mib);
    let reader = reader.expect("readable").expect("just published");
    let questions = questions(&reader);
    compare_scans(&reader, &hnsw, &questions);
    compare_searches(exact, hnsw, &questions);
}

fn config(tree: &Path, index: &Path, ann: &str) -> Config {
    let set = |key: &str, value: String| (key.to_owned(), value);
    let overrides = vec![
        set("index_dir", index.display().to_string()),
        set("search.ann", ann.to_owned()),
        set("limits.request_s", "3600".to_owned()),
    ];
    let root = tree.canonicalize().expect("TREE is a folder");
    Config::load(&Sources { root, file: None, overrides }).expect("the values are valid").config
}

/// Indexes the tree without an HNSW index, unless that was done before, then with one.
fn build(exact: &Config, hnsw: &Config) {
    let is_first = IndexDir::new(exact.index_path()).current().expect("readable").is_none();
    for config in is_first.then_some(exact).into_iter().chain([hnsw]) {
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        let reply = Handle::start(config.clone()).index(IndexQuery::default()).wait();
        let reply = reply.expect("the tree can be indexed");
        println!(
            "{:?}: generation {}, {} chunks; {:.1} s, {:.1} CPU s; peak {} MiB",
            config.search.ann,
            reply.generation,
            reply.chunks,
            wall.elapsed().as_secs_f64(),
            cpu_seconds() - cpu,
            memory_mib("VmHWM"),
        );
    }
    for entry in std::fs::read_dir(hnsw.index_path()).expect("just written").flatten() {
        let mib = entry.metadata().expect("it is there").len() >> 20;
        println!("  {} {mib} MiB", entry.file_name().display());
    }
}

/// First sentences of documentation, from chunks that lie evenly in the tree.
fn questions(reader: &Reader) -> Vec<String> {
    let mut documented = Vec::new();
    reader
        .chunks(&mut |chunk| documented.extend(chunk.doc.map(|doc| (chunk.file_id, doc))))
        .expect("readable");
    documented.sort_unstable();
    let files = reader.files().expect("readable");
    let sentence = |(file, (start, end)): &(u32, (u32, u32))| {
        let hash = files.iter().find(|row| row.id == *file)?.hash;
        let text = String::from_utf8(reader.blob(hash).ok()??).ok()?;
        let doc = text.get(*start as usize..*end as usize)?;
        let words = doc.split(|c: char| !(c.is_alphanumeric() || ".,_'`".contains(c)));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(12).collect();
        (words.len() >= 5).then(|| words.join(" "))
    };
    let step = (documented.len() / (2 * QUESTIONS)).max(1);
    documented.iter().step_by(step).filter_map(sentence).take(QUESTIONS).collect()
}

/// The index alone beside the scan alone: how many of the nearest are found, how quickly.
fn compare_scans(reader: &Reader, config: &Config, questions: &[String]) {
    let mut embedder = Embedder::open(&config.embedder).expect("built in");
    let vectors: Vec<Vec<i8>> = questions
        .iter()
        .map(|text| quantise(&embedder.query(text, |_| 1.0).expect("built in")))
        .collect();
    let stored = reader.vectors().expect("readable");
    let matrix = Matrix::new(reader.meta().dim, stored.values);
    println!("{} vectors, {} questions", matrix.len(), vectors.len());
    let (mut scan, mut truth) = (Times::default(), Vec::new());
    let mut cosines = Vec::new();
    for vector in &vectors {
        scan.take(|| matrix.cosines(vector, &mut cosines));
        let mut sorted = cosines.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        truth.push((sorted[9.min(sorted.len() - 1)], sorted[49.min(sorted.len() - 1)]));
    }
    println!("exact scan: {}", scan.shown());

    let before = memory_mib("VmRSS");
    let started = Instant::now();
    let vss = find_vss(config.vss_extension().as_deref()).expect("docs/development.md says where");
    let hnsw = Hnsw::open(reader, &vss, config.limits.duckdb_memory_mib).expect("readable");
    let hnsw = hnsw.expect("just built");
    let opened = started.elapsed();
    hnsw.nearest(&vectors[0], 10).expect("readable");
    let first = started.elapsed();
    println!("open {opened:.0?}, with the first question {first:.0?}; +{} MiB", {
        memory_mib("VmRSS").saturating_sub(before)
    });
    for looks_at in LOOKS_AT {
        let (mut times, mut at_10, mut at_50) = (Times::default(), 0.0, 0.0);
        for (vector, (tenth, fiftieth)) in vectors.iter().zip(&truth) {
            let ids = times.take(|| hnsw.nearest(vector, looks_at).expect("readable"));
            let rows = ids.iter().filter_map(|id| stored.ids.binary_search(id).ok());
            let found = matrix.cosines_at(vector, rows);
            // Of equal ones any will do.
            let share = |count: usize, least: f32| {
                let good = found.iter().take(count).filter(|cosine| **cosine >= least).count();
                good as f64 / count as f64
            };
            at_10 += share(10, *tenth) / vectors.len() as f64;
            at_50 += share(50, *fiftieth) / vectors.len() as f64;
        }
        let shown = times.shown();
        println!("hnsw, looks at {looks_at}: recall@10 {at_10:.3}, @50 {at_50:.3}; {shown}");
    }
}

/// Whole searches through the worker, exact and with the index: how alike, how quickly.
fn compare_searches(exact: Config, hnsw: Config, questions: &[String]) {
    let (exact, hnsw) = (Handle::start(exact), Handle::start(hnsw));
    let status = hnsw.status(StatusQuery::default()).wait().expect("ready");
    println!("searched by {} {:?}", status.vector_search, status.vector_search_note);
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let (mut exact_times, mut hnsw_times) = (Times::default(), Times::default());
        let (mut same, mut shown, mut first) = (0, 0, 0);
        for text in questions {
            let one = ask(&exact, text, mode, &mut exact_times);
            let other = ask(&hnsw, text, mode, &mut hnsw_times);
            let places = |reply: &SearchReply| -> Vec<(String, u32)> {
                let place = |hit: &sai::request::Hit| (hit.path.to_string(), hit.start_line);
                reply.hits.iter().map(place).collect()
            };
            let (one, other) = (places(&one), places(&other));
            let known: HashSet<_> = one.iter().collect();
            same += other.iter().filter(|place| known.contains(place)).count();
            shown += one.len();
            first += usize::from(one.first() == other.first());
        }
        println!("{mode:?} search, exact: {}", exact_times.shown());
        println!(
            "{mode:?} search, hnsw: {}; {:.1} % of the exact hits, {first} of {} first ones",
            hnsw_times.shown(),
            100.0 * same as f64 / shown.max(1) as f64,
            questions.len()
        );
    }
}

fn ask(handle: &Handle, text: &str, mode: Mode, times: &mut Times) -> SearchReply {
    let query = SearchQuery { text: text.to_owned(), mode: Some(mode), ..SearchQuery::default() };
    times.take(|| handle.search(query).wait().expect("answered"))
}

/// How long each question took, and what all of them cost.
#[derive(Default)]
struct Times {
    wall_ms: Vec<f64>,
    cpu_s: f64,
}

impl Times {
    fn take<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let (started, cpu) = (Instant::now(), cpu_seconds());
        let done = work();
        self.wall_ms.push(started.elapsed().as_secs_f64() * 1e3);
        self.cpu_s += cpu_seconds() - cpu;
        done
    }

    /// Median, 95th percentile and best, and the processor's time a question: what counts on a
    /// machine that has other things to do.
    fn shown(&mut self) -> String {
        self.wall_ms.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| self.wall_ms[(self.wall_ms.len() - 1) * share / 100];
        let cpu_ms = self.cpu_s * 1e3 / self.wall_ms.len() as f64;
        let (p50, p95, best) = (at(50), at(95), at(0));
        format!("p50 {p50:.2} ms, p95 {p95:.2} ms, best {best:.2} ms; {cpu_ms:.2} CPU ms each")
    }
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2).filter_map(|n| n.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// A line of `/proc/self/status`, in MiB.
fn memory_mib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}
