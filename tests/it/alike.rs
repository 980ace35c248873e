//! Code that is like other code: pieces, places, clusters, through the real worker.

use sai::error::ErrorKind;
use sai::request::{DuplicatesQuery, Freshness, IndexQuery, SimilarQuery, Subject};
use sai::types::RelPath;
use sai::worker::Handle;

use crate::support::{self, Repo};

const RETRY: &str = "\
pub fn retry_with_backoff(attempts: u32, base_ms: u64) -> Result<Response, Failure> {
    let mut delay = base_ms;
    for attempt in 0..attempts {
        match send_request(attempt) {
            Ok(response) => return Ok(response),
            Err(failure) if failure.is_fatal() => return Err(failure),
            Err(_) => std::thread::sleep(Duration::from_millis(delay)),
        }
        delay = delay.saturating_mul(2);
    }
    Err(Failure::exhausted(attempts))
}
";

const PARSE: &str = "\
def parse_header_line(line):
    name, separator, value = line.partition(':')
    if not separator:
        raise ValueError('a header has a colon: %r' % line)
    return name.strip().lower(), value.strip()
";

const COLOURS: &str = "\
export function blendColours(first, second, share) {
  const mix = (a, b) => Math.round(a * share + b * (1 - share));
  return { red: mix(first.red, second.red), green: mix(first.green, second.green) };
}
";

/// The same function in two files of other names, a near copy, and two strangers.
fn tree() -> Repo {
    let near = RETRY.replace("attempts", "tries").replace("delay", "pause");
    let repo = support::repo("//- /README.md\n# Tree\n");
    repo.write("src/net/retry.rs", RETRY);
    repo.write("lib/transport/sending.rs", format!("use std::time::Duration;\n\n{RETRY}"));
    repo.write("tools/old/again.rs", near);
    repo.write("src/parse.py", PARSE);
    repo.write("web/colours.js", COLOURS);
    repo
}

fn indexed(repo: &Repo) -> Handle {
    let handle = support::handle(repo.path());
    handle.index(IndexQuery::default()).wait().expect("indexed");
    handle
}

fn place(path: &str, line: u32) -> SimilarQuery {
    like(Subject::Place { path: path.to_owned(), line })
}

fn code(code: &str) -> SimilarQuery {
    like(Subject::Code(code.to_owned()))
}

fn like(subject: Subject) -> SimilarQuery {
    SimilarQuery {
        subject,
        limit: None,
        min_score: None,
        languages: Vec::new(),
        paths: Vec::new(),
        include_text: false,
    }
}

fn paths(handle: &Handle, query: SimilarQuery) -> Vec<(String, f32)> {
    let reply = handle.similar(query).wait().expect("similar");
    let similarity = |hit: &sai::request::Hit| hit.similarity.expect("a cosine");
    reply.hits.iter().map(|hit| (hit.path.to_string(), similarity(hit))).collect()
}

#[test]
fn a_copy_is_found_wherever_it_lies() {
    let repo = tree();
    let handle = indexed(&repo);
    let found = paths(&handle, code(RETRY));
    let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names.len(), 3, "{found:?}");
    assert!(names[..2].contains(&"src/net/retry.rs"), "{found:?}");
    assert!(names[..2].contains(&"lib/transport/sending.rs"), "{found:?}");
    assert_eq!(names[2], "tools/old/again.rs");
    // The place counts for nothing: both copies are alike but for rounding.
    assert!(found[0].1 > 0.999 && found[1].1 > 0.95, "{found:?}");
}

#[test]
fn a_chunk_is_left_out_of_its_own_results() {
    let repo = tree();
    let handle = indexed(&repo);
    for path in ["src/net/retry.rs", "./src/net/retry.rs"] {
        let found = paths(&handle, place(path, 4));
        assert_eq!(found[0].0, "lib/transport/sending.rs", "{found:?}");
        assert!(found.iter().all(|(path, _)| path != "src/net/retry.rs"), "{found:?}");
    }
    let absolute = repo.path().join("src/net/retry.rs");
    let query = place(absolute.to_str().expect("UTF-8"), 1);
    let reply = handle.similar(query).wait().expect("similar");
    let subject = reply.subject.expect("it is indexed");
    assert_eq!((subject.path.as_str(), subject.start_line), ("src/net/retry.rs", 1));
    assert_eq!(subject.symbol.as_deref(), Some("retry_with_backoff"));
}

#[test]
fn no_chunk_at_a_place_is_said_with_the_place() {
    let repo = tree();
    let handle = indexed(&repo);
    for (path, line) in
        [("src/net/retry.rs", 99), ("src/nothing.rs", 1), ("../x.rs", 1), ("/etc/passwd", 1)]
    {
        let error = handle.similar(place(path, line)).wait().expect_err("no chunk");
        assert_eq!(error.to_string(), format!("no indexed chunk at {path}:{line}"));
    }
}

#[test]
fn a_line_is_one_of_the_file_as_it_is_now() {
    let repo = tree();
    let handle = indexed(&repo);
    repo.write("src/net/retry.rs", format!("{}{RETRY}", "// A comment.\n".repeat(20)));
    let reply = handle.similar(place("src/net/retry.rs", 24)).wait().expect("similar");
    let subject = reply.subject.expect("it is indexed");
    assert_eq!((subject.start_line, subject.freshness), (21, Freshness::Moved));
    let error = handle.similar(place("src/net/retry.rs", 3)).wait().expect_err("not indexed yet");
    assert_eq!(error.to_string(), "no indexed chunk at src/net/retry.rs:3");
}

#[test]
fn the_least_score_comes_from_the_argument_the_configuration_or_the_default() {
    let repo = tree();
    let handle = indexed(&repo);
    let reply = handle.similar(code(PARSE)).wait().expect("similar");
    assert!((reply.min_score - 0.85).abs() < 1e-6);
    let all = paths(&handle, SimilarQuery { min_score: Some(0.0), ..code(PARSE) });
    assert!(all.len() > reply.hits.len() && all.iter().any(|(_, cosine)| *cosine < 0.85));
    assert!(all.is_sorted_by(|a, b| a.1 >= b.1), "{all:?}");
    let none = SimilarQuery { min_score: Some(1.0), ..code("completely_other(words, here);") };
    let reply = handle.similar(none).wait().expect("similar");
    assert!(reply.hits.is_empty());
    assert!(reply.notes[0].starts_with("the nearest chunk has "), "{:?}", reply.notes);

    let set = [("similarity.find_similar_min_score", "0.0"), ("similarity.top_k", "2")];
    let handle = support::handle_with(repo.path(), &set);
    let reply = handle.similar(code(PARSE)).wait().expect("similar");
    assert!(reply.min_score.abs() < 1e-6);
    assert_eq!(reply.hits.len(), 2);
    assert_eq!(paths(&handle, SimilarQuery { limit: Some(1), ..code(PARSE) }).len(), 1);
    let strict = SimilarQuery { min_score: Some(0.99), ..code(PARSE) };
    assert_eq!(paths(&handle, strict).len(), 1);
}

#[test]
fn filters_hold_for_what_is_similar() {
    let repo = tree();
    let handle = indexed(&repo);
    let query = SimilarQuery { paths: vec!["tools/**".into()], ..code(RETRY) };
    let found = paths(&handle, query);
    assert!(found.iter().all(|(path, _)| path.starts_with("tools/")) && !found.is_empty());
    let bad = SimilarQuery { paths: vec!["a{".into()], ..code(RETRY) };
    assert_eq!(handle.similar(bad).wait().expect_err("a bad glob").kind(), ErrorKind::Usage);
    for empty in ["", " \n\t"] {
        let error = handle.similar(code(empty)).wait().expect_err("empty");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let huge = "x ".repeat(40_000);
    assert_eq!(handle.similar(code(&huge)).wait().expect_err("huge").kind(), ErrorKind::Usage);
    let symbols = handle.similar(code("?!…")).wait().expect("answered");
    assert!(symbols.hits.is_empty() && symbols.notes[0].contains("no word"), "{symbols:?}");
}

#[test]
fn without_an_index_both_say_so() {
    let repo = tree();
    let handle = support::handle(repo.path());
    let similar = handle.similar(code(RETRY)).wait().expect_err("no index");
    let duplicates = handle.duplicates(DuplicatesQuery::default()).wait().expect_err("no index");
    for error in [similar, duplicates] {
        assert_eq!(error.kind(), ErrorKind::Index);
        assert!(error.next_step().expect("a hint").contains("sai index"));
    }
}

#[test]
fn copies_are_clustered_largest_first() {
    let repo = tree();
    repo.write("web/more.js", COLOURS);
    let handle = indexed(&repo);
    let reply = handle.duplicates(DuplicatesQuery::default()).wait().expect("duplicates");
    assert!((reply.min_score - 0.93).abs() < 1e-6);
    assert_eq!((reply.min_cluster_size, reply.top_k, reply.max_clusters), (2, 10, 50));
    let sizes: Vec<usize> = reply.clusters.iter().map(|cluster| cluster.size).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.iter().all(|size| *size >= 2), "{sizes:?}");
    let holds = |path: &str| {
        reply
            .clusters
            .iter()
            .position(|cluster| cluster.members.iter().any(|m| m.path.as_str() == path))
    };
    let retry = holds("src/net/retry.rs").expect("a copy");
    assert_eq!(holds("lib/transport/sending.rs"), Some(retry));
    let colours = holds("web/colours.js").expect("a copy");
    assert_eq!(holds("web/more.js"), Some(colours));
    assert!(retry != colours && holds("src/parse.py").is_none(), "{reply:?}");
    let cluster = &reply.clusters[colours];
    assert_eq!(cluster.size, 2);
    assert!(cluster.min_similarity > 0.999 && cluster.max_similarity < 1.001, "{cluster:?}");
    let member = &cluster.members[0];
    assert_eq!(
        (member.path.as_str(), member.start_line, member.end_line),
        ("web/colours.js", 1, 4)
    );
    assert_eq!(member.symbol.as_deref(), Some("blendColours"));

    // The same question has the same answer, byte by byte.
    let again = handle.duplicates(DuplicatesQuery::default()).wait().expect("duplicates");
    assert_eq!(again, reply);
}

#[test]
fn arguments_win_over_the_configuration_and_are_brought_into_range() {
    let repo = tree();
    let handle = indexed(&repo);
    let ask = |handle: &Handle, query: DuplicatesQuery| {
        handle.duplicates(query).wait().expect("duplicates")
    };
    let asked = DuplicatesQuery {
        min_score: Some(7.0),
        min_cluster_size: Some(0),
        top_k: Some(1_000),
        max_clusters: Some(0),
        ..DuplicatesQuery::default()
    };
    let reply = ask(&handle, asked);
    assert!((reply.min_score - 1.0).abs() < 1e-6);
    assert_eq!((reply.min_cluster_size, reply.top_k, reply.max_clusters), (2, 50, 0));
    assert_eq!(reply.clusters.len(), reply.clusters_found, "0 is all");

    let set = [
        ("similarity.duplicate_min_score", "0.2"),
        ("similarity.duplicate_min_cluster_size", "3"),
        ("similarity.top_k", "4"),
    ];
    let configured = support::handle_with(repo.path(), &set);
    let reply = ask(&configured, DuplicatesQuery::default());
    assert!((reply.min_score - 0.2).abs() < 1e-6);
    assert_eq!((reply.min_cluster_size, reply.top_k, reply.max_clusters), (3, 4, 50));
    assert!(reply.clusters.iter().all(|cluster| cluster.size >= 3));
    let one = ask(&handle, DuplicatesQuery { top_k: Some(1), ..DuplicatesQuery::default() });
    assert_eq!(one.top_k, 1);

    let narrowed = DuplicatesQuery { paths: vec!["src/**".into()], ..DuplicatesQuery::default() };
    let reply = ask(&handle, narrowed);
    assert_eq!((reply.clusters_found, reply.searched.files), (0, 2));
    let nowhere = DuplicatesQuery { paths: vec!["no/**".into()], ..DuplicatesQuery::default() };
    assert!(ask(&handle, nowhere).notes[0].contains("path globs"));
}

#[test]
fn what_is_left_out_of_the_list_is_counted() {
    let repo = support::repo("//- /README.md\n# Tree\n");
    for n in 0..4 {
        repo.write(&format!("a{n}.py"), PARSE);
        repo.write(&format!("b{n}.js"), COLOURS);
    }
    let handle = indexed(&repo);
    let query = DuplicatesQuery { max_clusters: Some(1), ..DuplicatesQuery::default() };
    let reply = handle.duplicates(query).wait().expect("duplicates");
    assert_eq!((reply.clusters_found, reply.clusters.len()), (2, 1));
    // Members of a file that is gone are said to be.
    repo.remove("a0.py");
    repo.remove("b0.js");
    let reply = handle.duplicates(DuplicatesQuery::default()).wait().expect("duplicates");
    assert_eq!(reply.clusters[0].members[0].freshness, Freshness::Missing);
    let changed: Vec<&str> = reply.changed.iter().map(RelPath::as_str).collect();
    assert_eq!(changed, ["a0.py", "b0.js"]);
}

#[test]
fn duplicates_are_sought_beside_the_worker() {
    let repo = tree();
    let handle = indexed(&repo);
    let asked: Vec<_> = (0..4).map(|_| handle.duplicates(DuplicatesQuery::default())).collect();
    // Another generation while they are sought: each answers from the one it began with.
    repo.write("src/more.py", PARSE);
    handle.index(IndexQuery::default()).wait().expect("indexed");
    let similar = handle.similar(code(PARSE)).wait().expect("similar");
    assert_eq!((similar.generation, similar.hits.len()), (2, 2));
    for pending in asked {
        let reply = pending.wait().expect("duplicates");
        assert!(reply.generation == 1 || reply.clusters_found == 2, "{reply:?}");
    }
    let now = handle.duplicates(DuplicatesQuery::default()).wait().expect("duplicates");
    assert_eq!((now.generation, now.clusters_found), (2, 2));
    // A file that changed is read from the index, by the connection of that thread.
    repo.write("src/parse.py", "x = 1\n");
    let changed = handle.duplicates(DuplicatesQuery::default()).wait().expect("duplicates");
    assert_eq!(changed.changed.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["src/parse.py"]);
}

#[test]
fn the_command_line_shows_both() {
    let repo = tree();
    repo.sai(&["index"]).exits(0);
    let shown = repo.sai(&["similar", "src/net/retry.rs:4"]).exits(0);
    assert!(shown.stdout.starts_with("lib/transport/sending.rs:1-14"), "{}", shown.stdout);
    assert!(shown.stderr.contains("like src/net/retry.rs:1-12 retry_with_backoff:"));
    let json = repo.sai(&["similar", "--code", PARSE, "--json", "-n", "1"]).exits(0).json();
    assert_eq!(json["hits"][0]["path"], "src/parse.py");
    let stdin = support::sai_with_stdin(repo.path(), &["similar", "--code", "-"], RETRY).exits(0);
    assert!(stdin.stdout.contains("src/net/retry.rs:1-12"), "{}", stdin.stdout);
    repo.sai(&["similar", "--code", "nothing_of_the_kind", "--min-score", "1"]).exits(1);
    for wrong in [
        vec!["similar"],
        vec!["similar", "src/net/retry.rs"],
        vec!["similar", "src/net/retry.rs:4", "--code", "x"],
        vec!["similar", "--code", "x", "--min-score", "2"],
        vec!["duplicates", "--top-k", "0"],
    ] {
        repo.sai(&wrong).exits(2);
    }

    let shown = repo.sai(&["duplicates"]).exits(0);
    assert!(shown.stdout.contains("lib/transport/sending.rs:3-14  retry_with_backoff\n"));
    assert!(shown.stderr.contains("36 of 48 lines (75.0 %) are copied"), "{}", shown.stderr);
    let json = repo.sai(&["duplicates", "--json"]).exits(0).json();
    assert!(json["clusters"][0]["size"].as_u64() >= Some(2), "{json}");
    repo.sai(&["duplicates", "-p", "web/**"]).exits(1);
}
