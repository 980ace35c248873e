//! What the server promises (docs/contract.md): that every promise names a test, and the promises
//! that no other file holds.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;
use sai::request::{DuplicatesQuery, SearchQuery, SimilarQuery, Subject};
use sai::types::Language;
use sai::worker::{Handle, Pending};
use serde_json::{Value, json};

use crate::embed;
use crate::mcp::Client;
use crate::support::{self, Repo, command, repo};

#[test]
fn every_promise_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/contract.md")).expect("the page");
    let name = Regex::new(r"`([a-z_]+)::([a-z_0-9]+)`").expect("a fixed pattern");
    let mut rows = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| sentence"))
    {
        let tests = row.trim_end_matches('|').rsplit('|').next().expect("a cell");
        let named: Vec<_> = name.captures_iter(tests).collect();
        assert!(!named.is_empty(), "no test holds: {row}");
        for test in named {
            let file = root.join("tests/it").join(format!("{}.rs", &test[1]));
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(text.contains(&format!("fn {}(", &test[2])), "no test `{}`: {row}", &test[0]);
        }
        rows += 1;
    }
    assert!(rows > 30, "{rows} rows");
}

/// Functions that all answer one question, in files of two languages and two folders.
fn many() -> Repo {
    let repo = repo("//- /README.md\n# Many\n");
    for n in 0..30 {
        repo.write(
            &format!("src/retry_{n}.rs"),
            format!("/// Waits before attempt {n}.\npub fn retry_delay_{n}() -> u64 {{ {n} }}\n"),
        );
    }
    for n in 0..12 {
        repo.write(
            &format!("far/away/other_{n}.py"),
            format!("def unrelated_{n}(colour):\n    return mix_paint(colour, {n})\n"),
        );
    }
    repo.sai(&["index"]).exits(0);
    repo
}

/// Names and sizes of the index's files.
fn listing(repo: &Repo) -> BTreeSet<(String, u64)> {
    let entries = std::fs::read_dir(repo.path().join(".index")).expect("an index").flatten();
    entries
        .map(|entry| {
            let bytes = entry.metadata().expect("it is there").len();
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

#[test]
fn a_read_only_server_leaves_the_index_as_it_is() {
    let repo = many();
    let before = listing(&repo);
    let mut client = Client::open(repo.path());
    for (tool, arguments) in [
        ("sai_search_code", json!({"query": "retry delay"})),
        ("sai_find_similar", json!({"code": "fn retry_delay() -> u64 { 4 }"})),
        ("sai_find_duplicates", json!({})),
        ("sai_index_status", json!({})),
        ("sai_refresh", json!({"paths": ["src/retry_1.rs"]})),
        ("sai_sync", json!({})),
        ("sai_index_repo", json!({})),
    ] {
        client.call(tool, arguments);
    }
    repo.write("src/retry_1.rs", "fn changed() {}\n");
    client.call("sai_search_code", json!({"query": "retry_delay_1"}));
    assert_eq!(client.close().1, Some(0));
    assert_eq!(listing(&repo), before);
}

#[test]
fn the_configuration_decides_what_is_served() {
    let repo = many();
    repo.write(
        "other.yml",
        "index_dir: .elsewhere\nfiles:\n  include: [far]\nsearch:\n  limit: 3\n  mode: lexical\n",
    );
    repo.sai(&["--config", "other.yml", "index"]).exits(0);
    let mut client = Client::spawn(command(repo.path(), &["mcp", "--config", "other.yml"]));
    client.initialize("2025-11-25");
    let status = client.call("sai_index_status", json!({}))["structuredContent"].clone();
    assert_eq!(status["files"], 12);
    let folder = status["index_dir"].as_str().expect("a path");
    assert!(folder.ends_with(".elsewhere"), "{folder}");
    let asked = json!({"query": "unrelated colour", "format": "json"});
    let reply = client.call("sai_search_code", asked)["structuredContent"].clone();
    assert_eq!(reply["mode"], "lexical");
    assert_eq!(reply["hits"].as_array().map(Vec::len), Some(3));
}

/// Settings of the endpoint at `url`.
fn endpoint(url: &str) -> [(&'static str, &str); 4] {
    [
        ("embedder.kind", "http"),
        ("embedder.http.url", url),
        ("embedder.http.query_prefix", "QUESTION"),
        ("embedder.http.passage_prefix", "PASSAGE"),
    ]
}

/// The address of an endpoint that counts how often it is asked.
fn counting_endpoint() -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let url = embed::serve_forever(move |asked| {
        counted.fetch_add(1, Ordering::SeqCst);
        embed::ollama(asked)
    });
    (url, count)
}

fn like(subject: Subject) -> SimilarQuery {
    SimilarQuery {
        subject,
        limit: None,
        min_score: Some(0.0),
        languages: Vec::new(),
        paths: Vec::new(),
        include_text: false,
    }
}

#[test]
fn the_embedder_is_made_once() {
    let repo = repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n");
    let (url, count) = counting_endpoint();
    let indexing = support::handle_with(repo.path(), &endpoint(&url));
    indexing.index(sai::request::IndexQuery::default()).wait().expect("indexed");
    let server = support::handle_with(repo.path(), &endpoint(&url));
    let before = count.load(Ordering::SeqCst);
    for text in ["first", "second", "third"] {
        server
            .search(SearchQuery { text: text.into(), ..SearchQuery::default() })
            .wait()
            .expect("found");
    }
    // One call for the model's dimension when it is opened, and one a question.
    assert_eq!(count.load(Ordering::SeqCst) - before, 4);
}

#[test]
fn a_place_is_not_embedded_again() {
    let repo = repo("//- /a.rs\nfn a() {}\n//- /b.rs\nfn b() {}\n");
    let (url, count) = counting_endpoint();
    let handle = support::handle_with(repo.path(), &endpoint(&url));
    handle.index(sai::request::IndexQuery::default()).wait().expect("indexed");
    let place = || like(Subject::Place { path: "a.rs".into(), line: 1 });
    handle.similar(place()).wait().expect("found");
    let before = count.load(Ordering::SeqCst);
    handle.similar(place()).wait().expect("found");
    handle.duplicates(DuplicatesQuery::default()).wait().expect("found");
    assert_eq!(count.load(Ordering::SeqCst), before);
    handle.similar(like(Subject::Code("fn c() {}".into()))).wait().expect("found");
    assert_eq!(count.load(Ordering::SeqCst), before + 1);
}

#[test]
fn a_question_is_embedded_as_a_question_and_code_as_a_passage() {
    let repo = repo("//- /a.rs\nfn a() {}\n");
    let seen = Arc::new(std::sync::Mutex::new(Vec::<String>::new()));
    let told = Arc::clone(&seen);
    let url = embed::serve_forever(move |asked| {
        told.lock().expect("one at a time").push(asked.body["input"].to_string());
        embed::ollama(asked)
    });
    let handle = support::handle_with(repo.path(), &endpoint(&url));
    handle.index(sai::request::IndexQuery::default()).wait().expect("indexed");
    handle
        .search(SearchQuery { text: "where".into(), ..SearchQuery::default() })
        .wait()
        .expect("found");
    handle.similar(like(Subject::Code("fn x() {}".into()))).wait().expect("found");
    let seen = seen.lock().expect("done");
    assert!(seen.iter().any(|text| text.contains("QUESTIONwhere")), "{seen:?}");
    assert!(seen.iter().any(|text| text.contains("PASSAGEfn x() {}")), "{seen:?}");
    assert!(!seen.iter().any(|text| text.contains("PASSAGEwhere")), "{seen:?}");
}

#[test]
fn the_way_to_the_worker_crosses_threads() {
    fn crosses<T: Send + Sync>() {}
    fn moves<T: Send>() {}
    crosses::<Handle>();
    moves::<Pending<sai::request::SearchReply>>();
    // And it does: the answer to a question of another thread.
    let repo = many();
    let handle = support::handle(repo.path());
    let asked = std::thread::spawn(move || {
        let query = SearchQuery { text: "retry_delay_3".into(), ..SearchQuery::default() };
        handle.search(query).wait().expect("found").hits.len()
    });
    assert!(asked.join().expect("no panic") > 0);
}

#[test]
fn commands_write_while_servers_are_connected() {
    let repo = many();
    let mut servers: Vec<Client> = (0..3).map(|_| Client::open(repo.path())).collect();
    servers.push(Client::writing(repo.path()));
    for server in &mut servers {
        assert!(server.search(json!({"query": "retry_delay_1"})).contains("generation 1"));
    }
    repo.write("src/fresh.rs", "pub fn freshly_synced() {}\n");
    repo.sai(&["sync"]).exits(0);
    repo.sai(&["similar", "--code", "pub fn freshly_synced() {}"]).exits(0);
    for server in &mut servers {
        let hits = server.search(json!({"query": "freshly_synced"}));
        assert!(hits.contains("src/fresh.rs:1-1") && hits.contains("generation 2"), "{hits}");
    }
    repo.sai(&["index", "--force"]).exits(0);
    for server in &mut servers {
        assert!(server.search(json!({"query": "freshly_synced"})).contains("generation 3"));
    }
    repo.sai(&["flush", "--yes"]).exits(0);
    assert_eq!(servers[0].call("sai_search_code", json!({"query": "x"}))["isError"], true);
    repo.sai(&["index"]).exits(0);
    for server in &mut servers {
        assert!(server.search(json!({"query": "freshly_synced"})).contains("src/fresh.rs"));
    }
}

#[test]
fn the_built_in_thresholds_are_these() {
    let repo = many();
    let mut client = Client::open(repo.path());
    let mut ask =
        |tool: &str, arguments: Value| client.call(tool, arguments)["structuredContent"].clone();
    let similar = ask("sai_find_similar", json!({"code": "fn x() {}", "format": "json"}));
    assert!((similar["min_score"].as_f64().expect("a number") - 0.85).abs() < 1e-6);
    let raw = json!({"code": "fn retry_delay() {}", "min_score": 0, "format": "json"});
    assert_eq!(ask("sai_find_similar", raw)["hits"].as_array().map(Vec::len), Some(10));
    let duplicates = ask("sai_find_duplicates", json!({"format": "json"}));
    assert!((duplicates["min_score"].as_f64().expect("a number") - 0.93).abs() < 1e-6);
    assert_eq!(duplicates["min_cluster_size"], 2);
    assert_eq!((&duplicates["top_k"], &duplicates["max_clusters"]), (&json!(10), &json!(50)));
    let settings = repo.sai(&["config", "--json"]).exits(0).stdout;
    assert!(settings.contains("duplicate_min_score") && !settings.contains("max_clusters"));
}

#[test]
fn arguments_win_over_the_configuration_over_mcp() {
    let repo = many();
    repo.write(
        "sai-cfg.yml",
        "similarity:\n  find_similar_min_score: 0.5\n  duplicate_min_score: 0.6\n  \
         duplicate_min_cluster_size: 4\n  top_k: 3\n",
    );
    let mut client = Client::open(repo.path());
    let mut ask =
        |tool: &str, arguments: Value| client.call(tool, arguments)["structuredContent"].clone();
    let near =
        |value: &Value, wanted: f64| (value.as_f64().expect("a number") - wanted).abs() < 1e-6;
    let similar = ask("sai_find_similar", json!({"code": "fn x() {}", "format": "json"}));
    assert!(near(&similar["min_score"], 0.5), "{similar}");
    let argued = json!({"code": "fn x() {}", "min_score": 0.7, "format": "json"});
    assert!(near(&ask("sai_find_similar", argued)["min_score"], 0.7));
    let configured = ask("sai_find_duplicates", json!({"format": "json"}));
    assert!(near(&configured["min_score"], 0.6), "{configured}");
    assert_eq!((&configured["min_cluster_size"], &configured["top_k"]), (&json!(4), &json!(3)));
    let argued = json!({"min_score": 0.8, "min_cluster_size": 2, "top_k": 5, "format": "json"});
    let argued = ask("sai_find_duplicates", argued);
    assert!(near(&argued["min_score"], 0.8));
    assert_eq!((&argued["min_cluster_size"], &argued["top_k"]), (&json!(2), &json!(5)));
}

#[test]
fn every_limit_is_clamped() {
    let repo = repo("//- /README.md\n# Many\n");
    for n in 0..60 {
        repo.write(&format!("f{n}.py"), format!("def retry_delay_{n}():\n    return {n}\n"));
    }
    repo.sai(&["index"]).exits(0);
    let mut client = Client::open(repo.path());
    for (tool, mut arguments) in [
        ("sai_search_code", json!({"query": "retry delay"})),
        ("sai_find_similar", json!({"code": "def retry_delay(): return 1", "min_score": 0})),
    ] {
        arguments["format"] = "json".into();
        for (limit, hits) in [(json!(0), 1), (json!(-5), 1), (json!(1000), 50)] {
            arguments["limit"] = limit.clone();
            // The budget of a text would cut fifty hits.
            let reply = client.call(tool, arguments.clone())["structuredContent"].clone();
            let found = reply["hits"].as_array().map(Vec::len);
            let noted = reply["notes"].to_string();
            assert!(found == Some(hits) || noted.contains("of 50 hits"), "{tool} {limit}: {noted}");
        }
    }
    for (top_k, wanted) in [(json!(0), 1), (json!(51), 50)] {
        let arguments = json!({"top_k": top_k, "format": "json"});
        let reply = client.call("sai_find_duplicates", arguments)["structuredContent"].clone();
        assert_eq!(reply["top_k"], wanted);
    }
}

#[test]
fn filters_never_cost_hits() {
    let repo = many();
    let handle = support::handle(repo.path());
    // Thirty better answers lie outside of what the filters admit.
    for (languages, paths) in
        [(vec![Language::Python], vec![]), (vec![], vec!["far/**".to_owned()])]
    {
        let text = "mix the paint of a colour with a retry delay".to_owned();
        let query =
            SearchQuery { text, limit: Some(10), languages, paths, ..SearchQuery::default() };
        let reply = handle.search(query).wait().expect("found");
        assert_eq!(reply.hits.len(), 10);
        assert!(reply.hits.iter().all(|hit| hit.path.as_str().starts_with("far/")));
    }
}

#[test]
fn snippets_are_capped() {
    let repo = repo("//- /README.md\n# One\n");
    let lines = |long: usize| format!("    total += {};\n", "value_".repeat(long));
    repo.write("a.rs", format!("fn many_lines_here() {{\n{}}}\n", lines(1).repeat(100)));
    repo.write("b.rs", format!("fn long_lines_here() {{\n{}}}\n", lines(60).repeat(10)));
    repo.sai(&["index"]).exits(0);
    let handle = support::handle(repo.path());
    for name in ["many_lines_here", "long_lines_here"] {
        let query = SearchQuery { text: name.into(), ..SearchQuery::default() };
        let reply = handle.search(query.clone()).wait().expect("found");
        let snippet = &reply.hits[0].snippet;
        assert!(snippet.lines().count() <= 8 && snippet.chars().count() <= 800, "{snippet}");
        let whole =
            handle.search(SearchQuery { include_text: true, ..query }).wait().expect("found");
        assert!(whole.hits[0].snippet.len() > snippet.len());
    }
}

#[test]
fn the_status_knows_what_is_stale_and_who_writes() {
    let repo = many();
    let mut client = Client::open(repo.path());
    let mut status = || client.call("sai_index_status", json!({}))["structuredContent"].clone();
    let fresh = status();
    assert_eq!(fresh["stale"], json!({"changed": [], "added": [], "removed": []}));
    assert_eq!(fresh["writer"], Value::Null);
    for name in ["backend", "collection", "model", "chunker", "root"] {
        assert!(fresh[name].is_string(), "{name}");
    }
    for name in ["dimension", "chunks", "generation", "age_s"] {
        assert!(fresh[name].is_u64(), "{name}");
    }
    assert_eq!(fresh["languages"][0]["language"], "rust");
    let reasons: Vec<&Value> =
        fresh["skipped"].as_array().expect("a list").iter().map(|row| &row["reason"]).collect();
    assert_eq!(reasons, ["index_folder", "pruned"], "the index itself and `.git`");
    repo.write("src/retry_1.rs", "fn changed() {}\n");
    repo.write("src/new.rs", "fn new() {}\n");
    repo.remove("src/retry_2.rs");
    let lock = sai::store::IndexDir::new(repo.path().join(".index"))
        .lock(std::time::Duration::from_secs(5))
        .expect("free");
    let now = status();
    assert_eq!(now["stale"]["changed"], json!(["src/retry_1.rs"]));
    assert_eq!(now["stale"]["added"], json!(["src/new.rs"]));
    assert_eq!(now["stale"]["removed"], json!(["src/retry_2.rs"]));
    assert_eq!(now["writer"]["pid"], std::process::id());
    assert!(now["writer"]["since_s"].is_u64());
    assert!(now.get("stale_cut").is_none());
    for n in 0..30 {
        repo.write(&format!("src/later_{n}.rs"), "fn later() {}\n");
    }
    let many = status();
    assert_eq!(many["stale"]["added"].as_array().map(Vec::len), Some(20));
    let cut = many["stale_cut"].as_str().expect("what was cut is said");
    assert!(cut.starts_with("1 changed, 31 added and 1 removed files"), "{cut}");
    drop(lock);
}
