//! Making the index equal to the tree: what a run does, and that a second run equals a first one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use git2::build::CheckoutBuilder;
use git2::{Oid, Repository};
use proptest::prelude::*;
use sai::error::ErrorKind;
use sai::request::{
    IndexQuery, IndexReply, PATHS_MAX, Phase, RefreshQuery, RefreshReply, SearchQuery, StatusQuery,
    SyncQuery,
};
use sai::store::IndexDir;
use sai::types::{Mode, RelPath};
use sai::worker::Handle;

use crate::support::{self, Repo};

fn index(handle: &Handle) -> IndexReply {
    handle.index(IndexQuery::default()).wait().expect("the tree can be indexed")
}

fn sync(handle: &Handle) -> RefreshReply {
    handle.sync(SyncQuery::default()).wait().expect("the tree can be synced")
}

fn since(handle: &Handle, revision: &str) -> RefreshReply {
    let query = SyncQuery { since: Some(revision.into()), ..SyncQuery::default() };
    handle.sync(query).wait().expect("the revision is there")
}

fn refresh(handle: &Handle, paths: &[&str]) -> RefreshReply {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let query = RefreshQuery { paths, ..RefreshQuery::default() };
    handle.refresh(query).wait().expect("the paths can be refreshed")
}

fn refreshed(reply: &RefreshReply) -> Vec<&str> {
    reply.refreshed.iter().map(|file| file.path.as_str()).collect()
}

fn removed(reply: &RefreshReply) -> Vec<&str> {
    reply.removed.iter().map(RelPath::as_str).collect()
}

/// What the index holds, and what it says was left out.
type State = (BTreeMap<String, Vec<String>>, Vec<(String, String)>);

fn state(repo: &Repo) -> State {
    let reader = IndexDir::new(repo.path().join(".index")).open(256).expect("readable");
    (content(repo), reader.expect("published").skipped().expect("readable"))
}

/// Holds that the index is what an index from nothing would be.
#[track_caller]
fn equals_scratch(repo: &Repo, handle: &Handle) {
    let kept = state(repo);
    handle.index(IndexQuery { force: true, progress: None }).wait().expect("forced");
    assert_eq!(kept, state(repo));
}

fn git(repo: &Repo) -> Repository {
    Repository::open(repo.path()).expect("a repository")
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
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = File::options().write(true).open(repo.path().join("a.rs")).expect("ours");
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
    let lock = dir.lock(Duration::from_secs(5)).expect("free");
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

#[test]
fn a_refresh_reads_what_is_named_and_nothing_else() {
    let repo = support::repo(
        "//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n//- /src/c.rs\nfn c() {}\n//- /src/d.rs\nfn d() {}\n",
    );
    let handle = support::handle(repo.path());
    index(&handle);
    let same = refresh(&handle, &["a.rs"]);
    assert_eq!((refreshed(&same), same.refreshed[0].chunks), (vec!["a.rs"], 1));
    assert!(!same.published && same.generation == 1, "{same:?}");

    repo.write("a.rs", "fn a() { one() }\n");
    repo.write("b.rs", "fn b() { two() }\n");
    repo.remove("src/c.rs");
    repo.write("src/e.rs", "fn e() {}\n\nfn f() {}\n");
    let full = repo.path().join("a.rs");
    let reply = refresh(&handle, &[full.to_str().unwrap(), "./src", "src/d.rs", "gone.rs"]);
    assert_eq!(refreshed(&reply), ["a.rs", "src/d.rs", "src/e.rs"]);
    assert_eq!(removed(&reply), ["src/c.rs"]);
    assert_eq!((reply.generation, reply.published), (2, true), "one batch, one generation");
    assert_eq!(reply.notes, ["`gone.rs` is neither on disk nor in the index"]);
    let json = serde_json::to_value(&reply).unwrap();
    assert_eq!(json["refreshed"][0], serde_json::json!({ "path": "a.rs", "chunks": 1 }));
    assert_eq!(json["removed"], serde_json::json!(["src/c.rs"]));

    let stale = handle.status(StatusQuery { compare: true, skipped_paths: false }).wait();
    assert_eq!(stale.unwrap().stale.unwrap().changed, ["b.rs"], "which nobody named");
    assert_eq!(refreshed(&sync(&handle)), ["b.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn a_refresh_removes_what_is_left_out_now() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n//- /c.rs\nfn c() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write(".saiignore", "a.rs\n");
    repo.write("b.rs", "\0\0\0");
    let reply = refresh(&handle, &["a.rs", "b.rs"]);
    assert_eq!((refreshed(&reply), removed(&reply)), (vec![], vec!["a.rs", "b.rs"]));
    assert!(reply.notes[0].starts_with("`a.rs` is left out: An ignore file"), "{:?}", reply.notes);
    assert!(reply.notes[1].starts_with("`b.rs` is left out: It is not text"), "{:?}", reply.notes);
    repo.write(".saiignore", "");
    repo.write("b.rs", "fn b() {}\n");
    assert_eq!(refreshed(&refresh(&handle, &["."])), ["a.rs", "b.rs", "c.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn a_refresh_that_cannot_be_asked_for_does_nothing() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    let ask = |paths: Vec<String>| {
        let query = RefreshQuery { paths, paths_max: Some(PATHS_MAX), progress: None };
        handle.refresh(query).wait().expect_err("a wrong question")
    };
    let missing = ask(vec!["a.rs".into()]);
    assert_eq!(missing.kind(), ErrorKind::Index);
    assert!(missing.next_step().unwrap().contains("sai index"), "{missing}");
    index(&handle);
    repo.write("a.rs", "fn changed() {}\n");
    for (paths, message) in [
        (vec![], "refresh requires at least one path"),
        (vec!["a.rs".to_owned(); PATHS_MAX + 1], "too many paths (max 200)"),
        (vec!["a.rs".to_owned(), "../b.rs".to_owned()], "`../b.rs` lies outside the root"),
    ] {
        let error = ask(paths);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().starts_with(message), "{error}");
    }
    assert!(sync(&handle).published, "nothing was done before");
}

#[test]
fn a_sync_says_what_changed_or_that_nothing_did() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n");
    let handle = support::handle(repo.path());
    let missing = handle.sync(SyncQuery::default()).wait().expect_err("no index yet");
    assert_eq!(missing.kind(), ErrorKind::Index);
    index(&handle);
    let nothing = sync(&handle);
    assert_eq!((refreshed(&nothing), removed(&nothing)), (vec![], vec![]));
    assert_eq!((nothing.published, nothing.notes), (false, vec!["nothing changed".to_owned()]));

    repo.write("a.rs", "fn a() { changed() }\n");
    fs::rename(repo.path().join("b.rs"), repo.path().join("c.rs")).unwrap();
    let reply = sync(&handle);
    assert_eq!((refreshed(&reply), removed(&reply)), (vec!["a.rs", "c.rs"], vec!["b.rs"]));
    assert_eq!(reply.generation, 2);
    assert!(sync(&handle).refreshed.is_empty(), "though git still sees them as changed");
    equals_scratch(&repo, &handle);
}

#[test]
fn a_commit_of_what_is_indexed_moves_the_indexed_commit_and_publishes_nothing() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write("a.rs", "fn a() { changed() }\n");
    sync(&handle);
    let head = repo.commit("the change");
    let reply = sync(&handle);
    assert_eq!((reply.published, reply.head.as_ref()), (false, Some(&head)));
    assert_ne!(reply.since, reply.head);
    let status = handle.status(StatusQuery::default()).wait().unwrap();
    assert_eq!((status.head, status.generation), (Some(head.clone()), Some(2)));
    // A look at named paths says nothing of the commit.
    repo.write("a.rs", "fn a() { changed_again() }\n");
    repo.commit("another change");
    refresh(&handle, &["a.rs"]);
    let status = handle.status(StatusQuery::default()).wait().unwrap();
    assert_eq!((status.head, status.generation), (Some(head), Some(3)));
}

#[test]
fn a_file_indexed_while_changed_and_then_restored_is_seen() {
    let repo = support::repo("//- /a.rs\nfn committed() {}\n");
    let handle = support::handle(repo.path());
    repo.write("a.rs", "fn not_committed() {}\n");
    index(&handle);
    git(&repo).checkout_head(Some(CheckoutBuilder::new().force())).unwrap();
    assert_eq!(refreshed(&sync(&handle)), ["a.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn an_edit_that_size_and_time_hide_is_seen() {
    let repo = support::repo("//- /a.rs\nfn one() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    let file = repo.path().join("a.rs");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    repo.write("a.rs", "fn two() {}\n");
    File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    assert_eq!(refreshed(&sync(&handle)), ["a.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn an_older_file_in_the_place_of_one_that_was_left_out_is_seen() {
    let repo = support::repo("//- /old.rs\nfn old() {}\n//- /x.rs\n\0\0\0\n");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = File::options().write(true).open(repo.path().join("old.rs")).unwrap();
    file.set_modified(long_ago).unwrap();
    let handle = support::handle(repo.path());
    index(&handle);
    fs::rename(repo.path().join("old.rs"), repo.path().join("x.rs")).unwrap();
    let reply = sync(&handle);
    assert_eq!((refreshed(&reply), removed(&reply)), (vec!["x.rs"], vec!["old.rs"]));
    equals_scratch(&repo, &handle);
}

#[test]
fn a_revision_narrows_a_sync_to_what_git_names() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n//- /c.rs\nfn c() {}\n");
    let handle = support::handle(repo.path());
    let first = index(&handle).generation;
    repo.write("a.rs", "fn a() { changed() }\n");
    repo.remove("b.rs");
    repo.commit("second");
    repo.write("c.rs", "fn c() { changed() }\n");
    repo.commit("third");
    repo.write("untracked.rs", "fn untracked() {}\n");
    let reply = since(&handle, "HEAD~1");
    assert_eq!((refreshed(&reply), removed(&reply)), (vec!["c.rs", "untracked.rs"], vec![]));
    assert_eq!(reply.since, Some(git(&repo).revparse_single("HEAD~1").unwrap().id().to_string()));
    let status = handle.status(StatusQuery::default()).wait().unwrap();
    assert_ne!(status.head, reply.head, "not all of that commit is indexed");
    let reply = since(&handle, "HEAD~2");
    assert_eq!(refreshed(&reply), ["a.rs", "c.rs", "untracked.rs"], "all that git names");
    assert_eq!((removed(&reply), reply.generation), (vec!["b.rs"], first + 2));
    let again = since(&handle, "HEAD~2");
    assert!(!again.published && again.refreshed.len() == 3, "{again:?}");
    equals_scratch(&repo, &handle);
}

#[test]
fn a_revision_only_ever_names_a_commit() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    let blob = git(&repo).head().unwrap().peel_to_tree().unwrap().get_name("a.rs").unwrap().id();
    let long = "x".repeat(5000);
    for revision in [
        "nowhere",
        "",
        "--output=x",
        "HEAD..HEAD",
        ":/start",
        "HEAD^{/start}",
        "HEAD:a.rs",
        "a\0b",
        &long,
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([blob.to_string()])
    {
        let query = SyncQuery { since: Some(revision.clone()), ..SyncQuery::default() };
        let error = handle.sync(query).wait().expect_err(&revision);
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains("names no commit") && error.next_step().is_some());
    }
    for revision in ["HEAD", "main", "HEAD@{0}"] {
        assert_eq!(since(&handle, revision).notes, ["nothing changed"], "{revision}");
    }
}

#[test]
fn staged_means_what_is_staged() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write("a.rs", "fn a() { staged() }\n");
    repo.write("b.rs", "fn b() { not_staged() }\n");
    stage(&repo, "a.rs");
    let query = SyncQuery { staged: true, ..SyncQuery::default() };
    assert_eq!(refreshed(&handle.sync(query).wait().unwrap()), ["a.rs"]);
    assert_eq!(refreshed(&sync(&handle)), ["b.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn a_changed_rule_widens_a_narrow_sync() {
    let repo = support::repo(
        "//- /a.rs\nfn a() {}\n//- /gen/b.rs\nfn b() {}\n//- /.gitignore\nlogs/\n//- /logs/c.rs\nfn c() {}\n",
    );
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write(".saiignore", "gen/\n");
    repo.write(".gitignore", "\n");
    let reply = since(&handle, "HEAD");
    assert_eq!((refreshed(&reply), removed(&reply)), (vec!["logs/c.rs"], vec!["gen/b.rs"]));
    assert!(reply.notes[0].contains("the whole tree was compared"), "{:?}", reply.notes);
    equals_scratch(&repo, &handle);
    // So does a changed configuration.
    repo.commit("rules");
    repo.write("sai-cfg.yml", "files:\n  exclude: [a.rs]\n");
    repo.commit("configuration");
    let handle = support::handle(repo.path());
    assert_eq!(removed(&since(&handle, "HEAD")), ["a.rs"]);
    equals_scratch(&repo, &handle);
}

#[test]
fn more_changed_files_than_allowed_are_an_error_that_says_how_to_go_on() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    for n in 0..=PATHS_MAX {
        repo.write(&format!("f{n}.rs"), format!("fn f{n}() {{}}\n"));
    }
    let query = SyncQuery { files_max: Some(PATHS_MAX), ..SyncQuery::default() };
    let error = handle.sync(query.clone()).wait().expect_err("too many");
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.to_string(), "too many changed files (201, max 200)");
    let hint = error.next_step().unwrap();
    assert!(["`since`", "paths", "`sai index`"].iter().all(|way| hint.contains(way)), "{hint}");
    repo.remove("f0.rs");
    assert_eq!(handle.sync(query).wait().unwrap().refreshed.len(), PATHS_MAX);
}

#[test]
fn without_git_a_sync_compares_the_tree() {
    let repo = support::folder("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write("a.rs", "fn a() { changed() }\n");
    let reply = sync(&handle);
    assert_eq!((refreshed(&reply), &reply.since, &reply.head), (vec!["a.rs"], &None, &None));
    assert_eq!(
        reply.notes,
        ["there is no git here: files are compared by size, times and content"]
    );
    for query in [
        SyncQuery { since: Some("HEAD".into()), ..SyncQuery::default() },
        SyncQuery { staged: true, ..SyncQuery::default() },
    ] {
        let error = handle.sync(query).wait().expect_err("no git");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("no git repository"), "{error}");
    }
}

#[test]
fn before_the_first_commit_everything_can_be_synced() {
    let repo = support::folder("//- /a.rs\nfn a() {}\n");
    Repository::init(repo.path()).unwrap();
    let handle = support::handle(repo.path());
    index(&handle);
    repo.write("b.rs", "fn b() {}\n");
    stage(&repo, "b.rs");
    let query = SyncQuery { staged: true, ..SyncQuery::default() };
    assert_eq!(refreshed(&handle.sync(query).wait().unwrap()), ["b.rs"]);
    repo.write("a.rs", "fn a() { changed() }\n");
    let reply = sync(&handle);
    assert_eq!((refreshed(&reply), &reply.head), (vec!["a.rs"], &None));
    let query = SyncQuery { since: Some("HEAD".into()), ..SyncQuery::default() };
    assert_eq!(handle.sync(query).wait().expect_err("unborn").kind(), ErrorKind::Usage);
    let head = repo.commit("first");
    assert_eq!(sync(&handle).head, Some(head));
    equals_scratch(&repo, &handle);
}

#[test]
fn a_detached_head_and_a_linked_work_tree_are_synced_like_any_other() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    let first = git(&repo).head().unwrap().target().unwrap();
    repo.write("a.rs", "fn a() { changed() }\n");
    repo.write("b.rs", "fn b() {}\n");
    let second = repo.commit("second");
    index(&handle);
    checkout(&repo, first);
    let reply = sync(&handle);
    assert_eq!((refreshed(&reply), removed(&reply)), (vec!["a.rs"], vec!["b.rs"]));
    assert_eq!((reply.since, reply.head), (Some(second.clone()), Some(first.to_string())));
    equals_scratch(&repo, &handle);

    let side = support::folder("");
    fs::remove_dir(side.path()).unwrap();
    git(&repo).worktree("side", side.path(), None).unwrap();
    let handle = support::handle(side.path());
    index(&handle);
    side.write("a.rs", "fn a() { in_the_side_tree() }\n");
    assert_eq!(
        refreshed(&since(&handle, &second)),
        ["a.rs"],
        "b.rs is gone since, and was not indexed"
    );
    side.write("c.rs", "fn c() {}\n");
    assert_eq!(refreshed(&sync(&handle)), ["c.rs"]);
    equals_scratch(&side, &handle);
}

#[test]
fn a_shallow_clone_says_what_it_lacks() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let first = git(&repo).head().unwrap().target().unwrap().to_string();
    repo.write("a.rs", "fn a() { changed() }\n");
    repo.commit("second");
    let clone = support::folder("");
    let url = format!("file://{}", repo.path().display());
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--depth", "1", &url, "."])
        .current_dir(clone.path())
        .status();
    if !cloned.is_ok_and(|status| status.success()) {
        println!("skipped: no git program that clones");
        return;
    }
    let handle = support::handle(clone.path());
    index(&handle);
    let query = SyncQuery { since: Some(first.clone()), ..SyncQuery::default() };
    let error = handle.sync(query).wait().expect_err("not in this clone");
    assert!(error.to_string().contains("this shallow clone"), "{error}");
    assert!(error.next_step().unwrap().contains("--unshallow"));

    // An index that names a commit which the clone lacks is compared whole.
    let dir = IndexDir::new(clone.path().join(".index"));
    let lock = dir.lock(Duration::from_secs(5)).unwrap();
    let current = dir.current().unwrap().unwrap();
    let compared = dir.compared(&current).unwrap();
    let compared = sai::store::Compared { head: Some(first.clone()), ..compared };
    lock.set_compared(&current, &compared).unwrap();
    drop(lock);
    clone.write("b.rs", "fn b() {}\n");
    let reply = sync(&handle);
    assert_eq!(refreshed(&reply), ["b.rs"]);
    assert!(reply.notes[0].contains(&first) && reply.notes[0].contains("whole tree"));
    equals_scratch(&clone, &handle);
}

#[test]
fn submodules_are_synced_by_choice() {
    let library = support::repo("//- /lib.rs\nfn library() {}\n");
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let url = library.path().to_str().unwrap().to_owned();
    let inner = {
        let outer = git(&repo);
        let mut submodule = outer.submodule(&url, Path::new("vendor/lib"), true).unwrap();
        submodule.clone(None).unwrap();
        submodule.add_finalize().unwrap();
        repo.path().join("vendor/lib")
    };
    repo.commit("with a library");
    let plain = support::handle(repo.path());
    index(&plain);
    fs::write(inner.join("more.rs"), "fn more() {}\n").unwrap();
    assert!(since(&plain, "HEAD").refreshed.is_empty());
    assert!(sync(&plain).refreshed.is_empty());

    let chosen = support::handle_with(repo.path(), &[("files.submodules", "true")]);
    assert_eq!(refreshed(&sync(&chosen)), ["vendor/lib/lib.rs", "vendor/lib/more.rs"]);
    fs::write(inner.join("lib.rs"), "fn library() { changed() }\n").unwrap();
    assert_eq!(refreshed(&since(&chosen, "HEAD")), ["vendor/lib/lib.rs", "vendor/lib/more.rs"]);
    equals_scratch(&repo, &chosen);
}

#[test]
fn syncs_of_hooks_wait_one_at_a_time() {
    let repo = support::repo("//- /a.rs\nfn a() {}\n");
    let handle = support::handle(repo.path());
    index(&handle);
    let dir = IndexDir::new(repo.path().join(".index"));
    let lock = dir.lock(Duration::from_secs(5)).unwrap();
    let in_turn = || handle.sync(SyncQuery { in_turn: true, ..SyncQuery::default() });
    let (send, answers) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let (job, send) = (in_turn(), send.clone());
        std::thread::spawn(move || send.send(job.wait().unwrap()).expect("it is waited for"));
    }
    // One of the two waits for the lock; the other one leaves its work to it.
    let first = answers.recv().unwrap();
    assert_eq!(first.notes, ["another sync waits already and will see the same changes"]);
    repo.write("b.rs", "fn b() {}\n");
    drop(lock);
    let second = answers.recv().unwrap();
    assert_eq!(refreshed(&second), ["b.rs"], "it looks after it has waited");
}

/// `git add path`, also of one that is gone.
fn stage(repo: &Repo, path: &str) {
    let git = git(repo);
    let mut index = git.index().unwrap();
    if repo.path().join(path).exists() {
        index.add_path(Path::new(path)).unwrap();
    } else {
        let _ = index.remove_path(Path::new(path));
    }
    index.write().unwrap();
}

/// Checks a commit out, whatever lies in the tree.
fn checkout(repo: &Repo, commit: Oid) {
    let git = git(repo);
    let tree = git.find_commit(commit).unwrap();
    git.checkout_tree(tree.as_object(), Some(CheckoutBuilder::new().force())).unwrap();
    git.set_head_detached(commit).unwrap();
}

/// One edit of a small tree, or one thing that people do with git.
#[derive(Clone, Debug)]
enum Edit {
    Write(u8, u8),
    /// Another text of the same size, under the old modification time.
    Swap(u8, u8),
    Binary(u8),
    Remove(u8),
    Rename(u8, u8),
    Ignore(&'static str, u8),
    Touch(u8),
    Chmod(u8),
    Stage(u8),
    Commit,
    /// Back to the commit so many before, without a branch.
    CheckoutBefore(u8),
    /// To a branch, which is made where HEAD is when it is new.
    Branch(u8),
    /// `git checkout -- file`.
    Restore(u8),
    /// `git stash`, in effect: the work tree and what is staged as committed.
    Reset,
}

/// What a worker answers to some questions, but for the time it took.
fn answers(handle: &Handle) -> Vec<String> {
    let modes = [Mode::Hybrid, Mode::Lexical, Mode::Semantic, Mode::Exact];
    let ask = |text: &str, mode: Mode| {
        let query = SearchQuery {
            text: text.into(),
            mode: Some(mode),
            explain: true,
            limit: Some(20),
            ..SearchQuery::default()
        };
        let reply = handle.search(query).wait().expect("answered");
        format!("{text} {mode:?} {} {:#?}", reply.generation, reply.hits)
    };
    ["shared", "name_7 call", "line", "a"]
        .iter()
        .flat_map(|text| modes.map(|mode| ask(text, mode)))
        .collect()
}

/// What brings the index up to date, in part or whole.
#[derive(Clone, Debug)]
enum Upkeep {
    Nothing,
    Index,
    Sync,
    Refresh(u8),
    RefreshFolder,
    Since,
    Staged,
}

fn edits() -> impl Strategy<Value = Vec<(Vec<Edit>, Upkeep)>> {
    let rules = prop_oneof![Just(".saiignore"), Just(".gitignore"), Just(".ignore")];
    let edit = prop_oneof![
        6 => (0u8..6, any::<u8>()).prop_map(|(file, text)| Edit::Write(file, text)),
        2 => (0u8..6, any::<u8>()).prop_map(|(file, text)| Edit::Swap(file, text)),
        1 => (0u8..6).prop_map(Edit::Binary),
        2 => (0u8..6).prop_map(Edit::Remove),
        2 => (0u8..6, 0u8..6).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => (rules, 0u8..8).prop_map(|(rules, file)| Edit::Ignore(rules, file)),
        1 => (0u8..6).prop_map(Edit::Touch),
        1 => (0u8..6).prop_map(Edit::Chmod),
        2 => (0u8..6).prop_map(Edit::Stage),
        3 => Just(Edit::Commit),
        2 => (0u8..3).prop_map(Edit::CheckoutBefore),
        2 => (0u8..2).prop_map(Edit::Branch),
        2 => (0u8..6).prop_map(Edit::Restore),
        1 => Just(Edit::Reset),
    ];
    let upkeep = prop_oneof![
        1 => Just(Upkeep::Nothing),
        1 => Just(Upkeep::Index),
        3 => Just(Upkeep::Sync),
        1 => (0u8..6).prop_map(Upkeep::Refresh),
        1 => Just(Upkeep::RefreshFolder),
        1 => Just(Upkeep::Since),
        1 => Just(Upkeep::Staged),
    ];
    prop::collection::vec((prop::collection::vec(edit, 1..6), upkeep), 1..5)
}

fn file_name(file: u8) -> &'static str {
    ["src/a.rs", "src/b.py", "lib/c.go", "docs/d.md", "src/deep/e.js", "notes.txt"]
        [file as usize % 6]
}

fn edit(repo: &Repo, edit: &Edit) {
    let file = |file: u8| repo.path().join(file_name(file));
    let text = |text: u8| {
        format!("fn shared() {{}}\n\nfn name_{text}() {{ call({text}); }}\n// line {text:03}\n")
    };
    match *edit {
        Edit::Write(at, words) => repo.write(file_name(at), text(words)),
        Edit::Swap(at, words) => {
            let Ok(mut bytes) = fs::read(file(at)) else { return };
            let before = fs::metadata(file(at)).unwrap().modified().unwrap();
            if let Some(last) = bytes.iter_mut().rfind(|byte| byte.is_ascii_digit()) {
                *last = b'0' + words % 10;
            }
            repo.write(file_name(at), bytes);
            File::options().write(true).open(file(at)).unwrap().set_modified(before).unwrap();
        }
        Edit::Binary(at) => repo.write(file_name(at), "\0\0\0"),
        Edit::Remove(at) => drop(fs::remove_file(file(at))),
        Edit::Rename(from, to) => {
            fs::create_dir_all(file(to).parent().unwrap()).unwrap();
            let _ = fs::rename(file(from), file(to));
        }
        Edit::Ignore(rules, 6) => repo.write(rules, ""),
        Edit::Ignore(rules, 7) => repo.write(rules, "src/\n!docs/d.md\n"),
        Edit::Ignore(rules, at) => repo.write(rules, file_name(at)),
        Edit::Touch(at) => {
            if let Ok(file) = File::options().write(true).open(file(at)) {
                file.set_modified(std::time::SystemTime::now()).unwrap();
            }
        }
        Edit::Chmod(at) => chmod(&file(at)),
        Edit::Stage(at) => stage(repo, file_name(at)),
        Edit::Commit => drop(repo.commit("a commit")),
        Edit::CheckoutBefore(steps) => {
            let found = git(repo).revparse_single(&format!("HEAD~{steps}")).map(|o| o.id());
            if let Ok(commit) = found {
                checkout(repo, commit);
            }
        }
        Edit::Branch(n) => {
            let git = git(repo);
            let head = git.head().unwrap().peel_to_commit().unwrap();
            let _ = git.branch(&format!("side-{n}"), &head, false);
            git.set_head(&format!("refs/heads/side-{n}")).unwrap();
            git.checkout_head(Some(CheckoutBuilder::new().force())).unwrap();
        }
        Edit::Restore(at) => {
            let mut only = CheckoutBuilder::new();
            git(repo).checkout_head(Some(only.force().path(file_name(at)))).unwrap();
        }
        Edit::Reset => {
            let git = git(repo);
            let head = git.head().unwrap().peel_to_commit().unwrap();
            git.reset(head.as_object(), git2::ResetType::Hard, None).unwrap();
        }
    }
}

#[cfg(unix)]
fn chmod(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o755));
}

#[cfg(not(unix))]
fn chmod(_file: &Path) {}

fn keep_up(handle: &Handle, upkeep: &Upkeep) {
    match upkeep {
        Upkeep::Nothing => {}
        Upkeep::Index => drop(index(handle)),
        Upkeep::Sync => drop(sync(handle)),
        Upkeep::Refresh(file) => drop(refresh(handle, &[file_name(*file)])),
        Upkeep::RefreshFolder => drop(refresh(handle, &["src"])),
        Upkeep::Since => drop(since(handle, "HEAD")),
        Upkeep::Staged => {
            let query = SyncQuery { staged: true, ..SyncQuery::default() };
            handle.sync(query).wait().expect("there is a repository");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The key property: after any edits and whatever git did, an index that was kept up, in part by
    /// names and in the end by a sync, equals one made from nothing.
    #[test]
    fn a_synced_index_equals_one_made_from_nothing(rounds in edits()) {
        let repo = support::repo("//- /src/a.rs\nfn a() {}\n");
        let handle = support::handle(repo.path());
        index(&handle);
        // A server that is asked all along takes over one generation after the other.
        let server = support::handle(repo.path());
        answers(&server);
        for (round, upkeep) in &rounds {
            round.iter().for_each(|e| edit(&repo, e));
            keep_up(&handle, upkeep);
            answers(&server);
        }
        sync(&handle);
        prop_assert_eq!(answers(&server), answers(&support::handle(repo.path())));
        let kept = state(&repo);
        handle.index(IndexQuery { force: true, progress: None }).wait().expect("forced");
        prop_assert_eq!(kept, state(&repo));
    }
}
