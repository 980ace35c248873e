//! HNSW beside the exact scan: the same answers, kept through changes, and never in the way of a
//! machine without the extension. What needs the extension says that it was skipped without it;
//! `SAI_TEST_VSS` names its file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sai::config::{Config, Sources};
use sai::error::ErrorKind;
use sai::request::{IndexQuery, IndexReply, Progress, SearchQuery, SearchReply, StatusQuery};
use sai::request::{Phase, StatusReply, Verdict};
use sai::store::{Base, Hnsw, IndexDir, Reader, Writer, find_vss};
use sai::types::{ChunkKind, Mode};
use sai::worker::Handle;

use crate::support::{self, Repo, leftovers};

/// The extension, unless this machine has none.
fn vss() -> Option<PathBuf> {
    let named = std::env::var_os("SAI_TEST_VSS").map(PathBuf::from);
    match find_vss(named.as_deref()) {
        Ok(file) => Some(file),
        Err(error) => {
            println!("skipped: {error}; `SAI_TEST_VSS` names the file");
            None
        }
    }
}

/// `search.ann: <ann>` with the extension at `vss`.
fn settings(ann: &str, vss: &Path) -> [(String, String); 2] {
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    [set("search.ann", ann), set("search.vss_extension", &vss.display().to_string())]
}

fn config(repo: &Repo, ann: &str, vss: &Path) -> Config {
    let overrides = settings(ann, vss).to_vec();
    let sources = Sources { root: repo.path().to_owned(), file: None, overrides };
    Config::load(&sources).unwrap().config
}

fn handle(repo: &Repo, ann: &str, vss: &Path) -> Handle {
    Handle::start(config(repo, ann, vss))
}

fn index(handle: &Handle) -> IndexReply {
    handle.index(IndexQuery::default()).wait().unwrap()
}

fn status(handle: &Handle) -> StatusReply {
    handle.status(StatusQuery::default()).wait().unwrap()
}

fn searched_by(handle: &Handle) -> (&'static str, String) {
    let status = status(handle);
    (status.vector_search, status.vector_search_note.unwrap_or_default())
}

const VERBS: [&str; 8] = ["parse", "send", "retry", "cache", "merge", "render", "encrypt", "sort"];
const NOUNS: [&str; 8] =
    ["header", "packet", "token", "image", "branch", "invoice", "matrix", "socket"];

/// File `n` of a tree of many different functions.
fn file(n: usize) -> String {
    let function = |at: usize| {
        let (verb, noun) = (VERBS[(n + at) % 8], NOUNS[(n / 8 + at) % 8]);
        format!(
            "/// Will {verb} the {noun} of window {n}, then look {at} times at it.\n\
             pub fn {verb}_{noun}_{n}(values: &[u32]) -> usize {{\n    \
             let {noun} = values.iter().filter(|value| **value > {n}).count();\n    \
             {noun} * {at}\n}}\n\n"
        )
    };
    (0..3).map(function).collect()
}

const FILES: usize = 270;

/// A repository of a few hundred chunks.
fn tree() -> Repo {
    let repo = support::folder("//- /README.md\n# Many things\n");
    for n in 0..FILES {
        let folder = if n % 3 == 0 { "core" } else { "extra" };
        repo.write(&format!("src/{folder}/file_{n}.rs"), file(n));
    }
    repo
}

/// The HNSW indexes in the folder, by name.
fn hnsw_files(repo: &Repo) -> Vec<String> {
    let entries = fs::read_dir(repo.path().join(".index")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("hnsw-")).collect()
}

fn reader(repo: &Repo) -> Reader {
    IndexDir::new(repo.path().join(".index")).open(256).unwrap().unwrap()
}

fn search(handle: &Handle, query: &SearchQuery) -> SearchReply {
    handle.search(query.clone()).wait().unwrap()
}

/// Every question in every way, with filters that admit much, little and nothing.
fn queries() -> Vec<SearchQuery> {
    let texts = [
        "where is the header parsed",
        "retry_token_2",
        "encrypt an invoice",
        "many things",
        "sort the matrix of window 77",
        "zzz unknown words",
    ];
    let mut queries = Vec::new();
    for text in texts {
        for mode in [Mode::Hybrid, Mode::Semantic, Mode::Lexical] {
            let query = |paths: &[&str], kinds: &[ChunkKind]| SearchQuery {
                text: text.to_owned(),
                mode: Some(mode),
                limit: Some(20),
                paths: paths.iter().map(|&path| path.to_owned()).collect(),
                kinds: kinds.to_vec(),
                explain: true,
                ..SearchQuery::default()
            };
            queries.push(query(&[], &[]));
            queries.push(query(&["src/core"], &[]));
            queries.push(query(&["file_7.rs"], &[]));
            queries.push(query(&["!src"], &[]));
            queries.push(query(&["no/such/folder"], &[]));
            queries.push(query(&[], &[ChunkKind::Function]));
        }
    }
    queries
}

/// Asserts that the index is searched by HNSW and answers as the exact scan does, scores included.
#[track_caller]
fn answers_as_exact(repo: &Repo, hnsw: &Handle, vss: &Path) {
    assert_eq!(searched_by(hnsw), ("hnsw", String::new()));
    let exact = handle(repo, "exact", vss);
    assert_eq!(searched_by(&exact), ("exact", String::new()));
    for query in queries() {
        assert_eq!(search(hnsw, &query), search(&exact, &query), "{query:?}");
    }
}

#[test]
fn a_search_by_hnsw_equals_the_exact_one() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    let reply = index(&hnsw);
    assert!(reply.chunks > 250, "{reply:?}");
    assert_eq!(hnsw_files(&repo), ["hnsw-1.duckdb"]);
    answers_as_exact(&repo, &hnsw, &vss);
    assert!(leftovers(repo.path()).is_empty(), "{:?}", leftovers(repo.path()));

    let again = index(&hnsw);
    assert!(!again.published, "nothing is missing: {again:?}");
}

#[test]
fn the_nearest_by_hnsw_are_the_nearest() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    index(&handle(&repo, "hnsw", &vss));
    let reader = reader(&repo);
    let hnsw = Hnsw::open(&reader, &vss, 256).unwrap().unwrap();
    let stored = reader.vectors().unwrap();
    assert_eq!(hnsw.mark().rows, stored.ids.len() as u64);
    let dim = reader.meta().dim;
    for (id, row) in stored.ids.iter().zip(stored.values.chunks(dim)).step_by(17) {
        let nearest = hnsw.nearest(row, 10).unwrap();
        assert_eq!((nearest.len(), nearest[0]), (10, *id));
    }
    assert_eq!(hnsw.nearest(&stored.values[..dim], 10_000).unwrap().len(), stored.ids.len());
    assert_eq!(hnsw.nearest(&vec![0; dim], 5).unwrap().len(), 5, "a question without direction");
}

#[test]
fn a_small_change_keeps_the_index_and_a_large_one_builds_it_anew() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    let built = reader(&repo).hnsw();

    repo.write("src/core/new.rs", "/// Paints a violin.\nfn paint_violin() { brush(); }\n");
    repo.write("src/core/file_0.rs", file(1000));
    repo.remove("src/core/file_3.rs");
    assert_eq!(index(&hnsw).generation, 2);
    assert_eq!(hnsw_files(&repo), ["hnsw-1.duckdb"]);
    assert_eq!(reader(&repo).hnsw(), built);
    answers_as_exact(&repo, &hnsw, &vss);
    let violin = SearchQuery { text: "paint a violin".to_owned(), ..SearchQuery::default() };
    assert_eq!(search(&hnsw, &violin).hits[0].path.as_str(), "src/core/new.rs");

    for n in 0..FILES / 5 {
        repo.write(&format!("src/extra/more_{n}.rs"), file(2000 + n));
    }
    assert_eq!(index(&hnsw).generation, 3);
    assert_eq!(hnsw_files(&repo), ["hnsw-3.duckdb"]);
    answers_as_exact(&repo, &hnsw, &vss);

    let forced = hnsw.index(IndexQuery { force: true, progress: None }).wait().unwrap();
    assert_eq!(hnsw_files(&repo), [format!("hnsw-{}.duckdb", forced.generation)]);
    answers_as_exact(&repo, &hnsw, &vss);
}

#[test]
fn removed_files_are_not_found() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    for n in (0..FILES).step_by(3) {
        repo.remove(&format!("src/core/file_{n}.rs"));
    }
    index(&hnsw);
    answers_as_exact(&repo, &hnsw, &vss);
    fs::remove_dir_all(repo.path().join("src")).unwrap();
    index(&hnsw);
    answers_as_exact(&repo, &hnsw, &vss);
    repo.remove("README.md");
    index(&hnsw);
    let query = SearchQuery { text: "header".to_owned(), ..SearchQuery::default() };
    assert_eq!(search(&hnsw, &query).hits, []);
}

#[test]
fn a_changed_configuration_builds_or_drops_the_index() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let exact = handle(&repo, "exact", &vss);
    index(&exact);
    assert!(hnsw_files(&repo).is_empty());

    let hnsw = handle(&repo, "hnsw", &vss);
    let (by, note) = searched_by(&hnsw);
    assert_eq!(by, "exact");
    assert!(note.contains("run `sai index`"), "{note}");
    assert!(index(&hnsw).published, "the tree is as it was, the index is wanted");
    answers_as_exact(&repo, &hnsw, &vss);

    let few = handle(&repo, "auto", &vss);
    assert_eq!(searched_by(&few), ("exact", String::new()));
    repo.write("src/core/new.rs", "fn new() {}\n");
    index(&few);
    assert!(hnsw_files(&repo).is_empty(), "{:?}", hnsw_files(&repo));

    let mut overrides = settings("auto", &vss).to_vec();
    overrides.push(("search.ann_threshold".to_owned(), "100".to_owned()));
    let sources = Sources { root: repo.path().to_owned(), file: None, overrides };
    let many = Handle::start(Config::load(&sources).unwrap().config);
    assert!(index(&many).published);
    answers_as_exact(&repo, &many, &vss);
}

#[test]
fn a_writer_without_the_extension_keeps_what_is_there() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    let bare = handle(&repo, "hnsw", Path::new("no/such/vss.duckdb_extension"));
    for round in 0..2 {
        repo.write("src/core/new.rs", format!("/// Round {round}.\nfn violin() {{ {round} }}\n"));
        repo.remove(&format!("src/core/file_{}.rs", round * 3));
        assert!(index(&bare).published);
        assert_eq!(hnsw_files(&repo), ["hnsw-1.duckdb"]);
        let (by, note) = searched_by(&bare);
        assert_eq!(by, "exact");
        assert!(note.contains("no/such/vss.duckdb_extension"), "{note}");
        answers_as_exact(&repo, &hnsw, &vss);
    }
    assert!(leftovers(repo.path()).is_empty());
}

#[test]
fn without_the_extension_everything_is_searched_exactly_and_said() {
    let repo = tree();
    let missing = Path::new("no/such/vss.duckdb_extension");
    let bare = handle(&repo, "hnsw", missing);
    assert!(index(&bare).published);
    assert!(!index(&bare).published, "nothing can be built");
    let (by, note) = searched_by(&bare);
    assert_eq!(by, "exact");
    assert!(note.contains("`search.vss_extension`"), "{note}");
    let exact = handle(&repo, "exact", missing);
    for query in queries() {
        assert_eq!(search(&bare, &query), search(&exact, &query));
    }
    let check = |handle: &Handle| {
        let checks = handle.doctor().wait().unwrap().checks;
        let check = checks.into_iter().find(|check| check.name == "vss").unwrap();
        (check.verdict, check.detail)
    };
    let (verdict, detail) = check(&bare);
    assert_eq!(verdict, Verdict::Warn);
    assert!(detail.contains("no/such/vss.duckdb_extension"), "{detail}");
    assert_eq!(check(&exact).0, Verdict::Ok);

    let shown = |args: &[&str]| repo.sai(args).exits(0).stdout;
    let args = ["--set", "search.ann=hnsw", "--set", "search.vss_extension=no.duckdb_extension"];
    let text = shown(&[&args[..], &["status"]].concat());
    assert!(text.contains("exact search") && text.contains("no HNSW"), "{text}");
    let json = shown(&[&args[..], &["--json", "status"]].concat());
    assert!(json.contains("\"vector_search_note\""), "{json}");
}

#[test]
fn a_file_that_is_no_extension_is_not_loaded() {
    let repo = tree();
    repo.write("fake/vss.duckdb_extension", "not an extension");
    let mut files = vec![repo.path().join("fake/vss.duckdb_extension")];
    if let Some(vss) = vss() {
        // One byte of the code differs, so that the signature does not fit any more.
        let mut bytes = fs::read(&vss).unwrap();
        bytes[4096] ^= 1;
        repo.write("altered/vss.duckdb_extension", bytes);
        files.push(repo.path().join("altered/vss.duckdb_extension"));
    }
    for file in files {
        let handle = handle(&repo, "hnsw", &file);
        index(&handle);
        assert!(!index(&handle).published, "it is not tried again and again");
        let (by, note) = searched_by(&handle);
        assert_eq!(by, "exact");
        assert!(note.contains("run `sai index`") || note.contains("cannot be loaded"), "{note}");
        let checks = handle.doctor().wait().unwrap().checks;
        let check = checks.iter().find(|check| check.name == "vss").unwrap();
        assert_eq!(check.verdict, Verdict::Warn);
        assert!(check.detail.contains("cannot be loaded"), "{check:?}");
    }
}

#[test]
fn a_repository_may_not_bring_an_extension() {
    let repo = support::folder("//- /a.rs\nfn a() {}\n");
    repo.write("sai-cfg.yml", "search:\n  vss_extension: ./vss.duckdb_extension\n");
    let refused = repo.sai(&["index"]).exits(2);
    assert!(refused.stderr.contains("search.vss_extension"), "{}", refused.stderr);
}

#[test]
fn a_flush_takes_the_index_along() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    let size = status(&hnsw).index_bytes;
    assert!(size > fs::metadata(repo.path().join(".index/hnsw-1.duckdb")).unwrap().len());
    hnsw.flush().wait().unwrap();
    assert!(hnsw_files(&repo).is_empty());
    index(&hnsw);
    answers_as_exact(&repo, &hnsw, &vss);
}

#[test]
fn an_index_file_that_is_missing_or_cut_is_not_asked() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    index(&handle(&repo, "hnsw", &vss));
    let path = repo.path().join(".index/hnsw-1.duckdb");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let cut = handle(&repo, "hnsw", &vss);
    let (by, note) = searched_by(&cut);
    assert!(by == "exact" && note.contains("is damaged"), "{by} {note}");
    // Of the right size, but not what was built: whatever is found out when it is asked.
    let mut noise = bytes.clone();
    noise[bytes.len() / 4..].fill(0x5a);
    fs::write(&path, noise).unwrap();
    let damaged = handle(&repo, "hnsw", &vss);
    let exact = handle(&repo, "exact", &vss);
    for query in queries().iter().filter(|query| query.paths.is_empty()) {
        assert_eq!(search(&damaged, query), search(&exact, query));
    }
    let (by, note) = searched_by(&damaged);
    assert!(by == "exact" && note.contains("run `sai index --force`"), "{by} {note}");
    fs::remove_file(&path).unwrap();
    let gone = handle(&repo, "hnsw", &vss);
    assert_eq!(searched_by(&gone).0, "exact");
    gone.index(IndexQuery { force: true, progress: None }).wait().unwrap();
    answers_as_exact(&repo, &gone, &vss);
}

#[test]
fn a_cancelled_build_leaves_nothing() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let hnsw = handle(&repo, "hnsw", &vss);
    let (send, receive) = std::sync::mpsc::channel();
    let progress = move |progress: Progress| {
        if progress.phase == Phase::Connecting {
            // The asker may be gone.
            let _ = send.send(());
        }
    };
    let query = IndexQuery { force: false, progress: Some(std::sync::Arc::new(progress)) };
    let pending = hnsw.index(query);
    receive.recv().unwrap();
    pending.cancel();
    // The build may be done before it looks; the index then is whole.
    match pending.wait() {
        Ok(reply) => assert!(reply.published),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Stopped, "{error}");
            assert!(hnsw_files(&repo).is_empty(), "{:?}", hnsw_files(&repo));
        }
    }
    assert!(leftovers(repo.path()).is_empty(), "{:?}", leftovers(repo.path()));
    index(&hnsw);
    answers_as_exact(&repo, &hnsw, &vss);
}

#[test]
fn a_writer_that_is_killed_while_it_builds_leaves_the_generation_before() {
    let Some(vss) = vss() else { return };
    let repo = tree();
    let exact = handle(&repo, "exact", &vss);
    index(&exact);
    for n in 0..600 {
        repo.write(&format!("src/much/file_{n}.rs"), file(5000 + n));
    }
    let settings = settings("hnsw", &vss).map(|(key, value)| format!("{key}={value}"));
    let args = ["--set", &settings[0], "--set", &settings[1], "index"];
    let mut writer = support::command(repo.path(), &args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_building = || hnsw_files(&repo).iter().any(|name| name.contains(".tmp-"));
    while !is_building() && writer.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(searched_by(&exact).0, "exact");
    assert!(status(&exact).generation.is_some());

    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    assert!(leftovers(repo.path()).is_empty(), "{:?}", leftovers(repo.path()));
    assert_eq!(searched_by(&hnsw), ("hnsw", String::new()));
}

#[test]
fn a_rewritten_file_keeps_its_index() {
    let Some(vss) = vss() else { return };
    let repo = support::folder("//- /README.md\n# Many things\n");
    // Bytes that do not shrink, so that the file is worth a rewrite once they are gone.
    let mut state = 1_u64;
    let mut line = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("// {:016x}{:016x}\n", state.rotate_left(29), state.rotate_left(7))
    };
    for n in 0..60 {
        let noise: String = (0..5_000).map(|_| line()).collect();
        repo.write(&format!("big/file_{n}.rs"), noise);
    }
    for n in 0..FILES {
        repo.write(&format!("src/file_{n}.rs"), file(n));
    }
    let dir = IndexDir::new(repo.path().join(".index"));
    let hnsw = handle(&repo, "hnsw", &vss);
    index(&hnsw);
    let before = dir.current().unwrap().unwrap().bytes;
    let mark = reader(&repo).hnsw().unwrap();
    // Through the store, so that no new index is due before the rewrite.
    let mut writer = Writer::begin(dir.lock(Duration::from_secs(20)).unwrap(), Base::Current, 512);
    let writer_ref = writer.as_mut().unwrap();
    let big = writer_ref.reader().files().unwrap();
    let big: Vec<u32> =
        big.iter().filter(|f| f.path.as_str().starts_with("big/")).map(|f| f.id).collect();
    writer_ref.delete_files(&big).unwrap();
    let meta = writer_ref.reader().meta().clone();
    writer.unwrap().publish(&meta).unwrap();
    let after = dir.current().unwrap().unwrap().bytes;
    assert!(after < before / 2, "the file was rewritten: {before} {after}");
    assert_eq!(reader(&repo).hnsw(), Some(mark));
    answers_as_exact(&repo, &hnsw, &vss);
}
