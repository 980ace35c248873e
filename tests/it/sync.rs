//! Making the index equal to the tree: what a run does, and that a second run equals a first one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use sai::error::ErrorKind;
use sai::request::{IndexQuery, IndexReply, Phase, SearchQuery, StatusQuery};
use sai::store::IndexDir;
use sai::worker::Handle;

use crate::support::{self, Repo};

fn index(handle: &Handle) -> IndexReply {
    handle.index(IndexQuery::default()).wait().expect("the tree can be indexed")
}

fn content(repo: &Repo) -> BTreeMap<String, Vec<String>> {
    support::content(&repo.path().join(".index"))
}

#[test]
fn a_run_says_what_it_did() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n//- /c.bin\n\0\0\0\n");
    let handle = support::handle(repo.path());
    let first = index(&handle);
    assert!(first.published);
    assert_eq!((first.files, first.added, first.changed, first.removed), (2, 2, 0, 0));
    assert_eq!(first.generation, 1);

    let again = index(&handle);
    assert!(!again.published, "nothing changed: {again:?}");
    assert_eq!((again.generation, again.files, again.chunks), (1, 2, first.chunks));

    repo.write("a.rs", "fn a() { changed() }\n");
    repo.write("d.py", "def d(): pass\n");
    repo.remove("b.rs");
    let third = index(&handle);
    assert_eq!((third.files, third.added, third.changed, third.removed), (2, 1, 1, 1));
    assert_eq!(third.generation, 2);

    let forced = handle.index(IndexQuery { force: true, progress: None }).wait().expect("forced");
    assert_eq!((forced.generation, forced.added), (3, 2));
}

#[test]
fn a_run_with_nothing_to_do_sweeps_what_a_dead_writer_left() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write(".index/code-2.tmp-1.duckdb", "half a file");
    assert_eq!(support::leftovers(repo.path()), ["code-2.tmp-1.duckdb"]);
    assert!(!index(&handle).published);
    assert!(support::leftovers(repo.path()).is_empty());
}

#[test]
fn a_touched_file_is_not_indexed_again() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = std::fs::File::options().write(true).open(repo.path().join("a.rs")).expect("ours");
    file.set_modified(old).expect("ours");
    let second = index(&handle);
    assert_eq!((second.added, second.changed, second.embedded), (0, 0, 0));
    assert!(!second.published, "nothing but a time is new");
}

#[test]
fn known_vectors_are_kept() {
    let repo = support::repo(
        "//- /src/a.rs\nfn first() {}\n\nfn second() { long_enough_to_stand_alone(); }\n",
    );
    let handle = support::handle(repo.path());
    assert!(index(&handle).embedded > 0);
    repo.write("other/b.rs", "fn third() {}\n");
    assert_eq!(index(&handle).embedded, 1);
    repo.remove("other/b.rs");
    repo.write(
        "src/a.rs",
        "fn first() {}\n\nfn second() { long_enough_to_stand_alone(); }\n// end\n",
    );
    index(&handle);
}

#[test]
fn progress_is_told_in_order() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let query = IndexQuery {
        force: false,
        progress: Some(Arc::new(move |progress| {
            told.lock().expect("one thread at a time").push((progress.phase, progress.done));
        })),
    };
    support::handle(repo.path()).index(query).wait().expect("indexed");
    let seen = seen.lock().expect("done");
    assert_eq!(seen.first(), Some(&(Phase::Waiting, 0)));
    assert!(seen.contains(&(Phase::Indexing, 1)), "{seen:?}");
    assert_eq!(seen.last().map(|(phase, _)| *phase), Some(Phase::Publishing));
}

#[test]
fn a_dropped_answer_cancels_and_leaves_nothing() {
    let text: String = (0..400).map(|n| format!("//- /f{n}.rs\nfn f{n}() {{}}\n")).collect();
    let repo = support::repo(&text);
    let handle = support::handle(repo.path());
    drop(handle.index(IndexQuery::default()));
    // The next run waits for the lock; whichever way the race went, the result is whole.
    let reply = loop {
        match handle.index(IndexQuery::default()).wait() {
            Ok(reply) => break reply,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error}"),
        }
    };
    assert_eq!(reply.files, 400);
    assert!(support::leftovers(repo.path()).is_empty(), "{:?}", support::leftovers(repo.path()));
}

#[test]
fn readers_move_over_to_what_another_process_published() {
    let repo = support::repo("//- /a.rs\nfn alpha() {}\n");
    let (writer, server) = (support::handle(repo.path()), support::handle(repo.path()));
    let ask = |text: &str| {
        server.search(SearchQuery { text: text.into(), ..SearchQuery::default() }).wait()
    };
    assert_eq!(ask("alpha").expect_err("no index yet").kind(), ErrorKind::Index);
    index(&writer);
    assert_eq!(ask("alpha").expect("found").generation, 1);
    repo.write("b.rs", "fn beta() {}\n");
    index(&writer);
    let reply = ask("beta").expect("found");
    assert_eq!(reply.hits[0].path.as_str(), "b.rs");
    assert_eq!(reply.generation, 2);
}

#[test]
fn status_tells_stale_files_apart() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n//- /c.rs\nfn c() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write("a.rs", "fn a() { 1 }\n");
    repo.remove("b.rs");
    repo.write("d.rs", "fn d() {}\n");
    let query = StatusQuery { compare: true, skipped_paths: true };
    let status = handle.status(query).wait().expect("status");
    let stale = status.stale.expect("asked for");
    assert_eq!(stale.changed, ["a.rs"]);
    assert_eq!(stale.removed, ["b.rs"]);
    assert_eq!(stale.added, ["d.rs"]);
    assert_eq!((status.files, status.generation), (3, Some(1)));
}

#[test]
fn an_index_of_another_model_is_an_error_with_a_way_out() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    let dir = IndexDir::new(repo.path().join(".index"));
    let lock = dir.lock(std::time::Duration::from_secs(5)).expect("free");
    let writer = sai::store::Writer::begin(lock, sai::store::Base::Current, 256).expect("begun");
    let meta = writer.reader().meta().clone();
    writer.publish(&sai::store::Meta { model: "another-model".into(), ..meta }).expect("published");
    for error in [
        handle.index(IndexQuery::default()).wait().expect_err("index"),
        handle
            .search(SearchQuery { text: "a".into(), ..SearchQuery::default() })
            .wait()
            .expect_err("search"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Index);
        assert!(error.to_string().contains("another-model"), "{error}");
        assert!(error.next_step().is_some_and(|hint| hint.contains("sai index --force")));
    }
    let forced = handle.index(IndexQuery { force: true, progress: None }).wait().expect("forced");
    assert_eq!(forced.files, 1);
}

/// One edit of a small tree.
#[derive(Clone, Debug)]
enum Edit {
    Write(u8, u8),
    Remove(u8),
    Rename(u8, u8),
    Ignore(u8),
}

fn edits() -> impl Strategy<Value = Vec<Vec<Edit>>> {
    let edit = prop_oneof![
        4 => (0u8..6, any::<u8>()).prop_map(|(file, text)| Edit::Write(file, text)),
        1 => (0u8..6).prop_map(Edit::Remove),
        1 => (0u8..6, 0u8..6).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (0u8..7).prop_map(Edit::Ignore),
    ];
    prop::collection::vec(prop::collection::vec(edit, 1..5), 1..4)
}

fn file_name(file: u8) -> String {
    ["src/a.rs", "src/b.py", "lib/c.go", "docs/d.md", "src/deep/e.js", "notes.txt"]
        [file as usize % 6]
        .to_owned()
}

fn edit(repo: &Repo, edit: &Edit) {
    match edit {
        Edit::Write(file, text) => repo.write(
            &file_name(*file),
            format!("fn shared() {{}}\n\nfn name_{text}() {{ call({text}); }}\n// line {text}\n"),
        ),
        Edit::Remove(file) => {
            let _ = std::fs::remove_file(repo.path().join(file_name(*file)));
        }
        Edit::Rename(from, to) => {
            if let Ok(text) = std::fs::read(repo.path().join(file_name(*from))) {
                repo.remove(&file_name(*from));
                repo.write(&file_name(*to), text);
            }
        }
        Edit::Ignore(6) => repo.write(".saiignore", ""),
        Edit::Ignore(file) => repo.write(".saiignore", file_name(*file)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// The key property: after any edits, an index that was kept up equals one made from nothing.
    #[test]
    fn a_kept_index_equals_one_made_from_nothing(rounds in edits()) {
        let repo = support::repo("//- /src/a.rs\nfn a() {}\n");
        let handle = support::handle(repo.path());
        index(&handle);
        for round in &rounds {
            round.iter().for_each(|e| edit(&repo, e));
            index(&handle);
        }
        let kept = content(&repo);
        handle.index(IndexQuery { force: true, progress: None }).wait().expect("forced");
        prop_assert_eq!(kept, content(&repo));
    }
}
