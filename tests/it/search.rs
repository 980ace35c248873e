//! Searching through the worker: order, filters, modes, freshness.

use std::ops::RangeInclusive;

use sai::error::ErrorKind;
use sai::request::{Freshness, Hit, IndexQuery, SearchQuery, SearchReply};
use sai::types::{ChunkKind, Language, Mode, Place, RelPath};
use sai::worker::Handle;

use crate::support::{self, Repo};

const PROJECT: &str = r#"
//- /src/net/retry.rs
//! Retrying of requests.
use std::time::Duration;

/// How long to wait before the next attempt: doubles each time, up to a bound.
pub fn backoff_delay(attempt: u32) -> Duration {
    Duration::from_millis(100 * 2u64.pow(attempt.min(6)))
}

pub struct RetryPolicy {
    pub attempts_max: u32,
}

impl RetryPolicy {
    /// Runs `call` until it succeeds or the attempts are used up.
    pub fn run<T>(&self, mut call: impl FnMut() -> Option<T>) -> Option<T> {
        for attempt in 0..self.attempts_max {
            if let Some(value) = call() {
                return Some(value);
            }
            std::thread::sleep(backoff_delay(attempt));
        }
        None
    }
}
//- /src/cache.py
class LruCache:
    """Keeps the most recently used entries in memory."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = {}

    def evict_oldest(self):
        """Drops the entry that was used least recently."""
        oldest = min(self.entries, key=lambda k: self.entries[k].used)
        del self.entries[oldest]
//- /src/parser.go
package parser

// parseHeader reads the header line of a message.
func parseHeader(line string) (string, error) {
	return line, nil
}
//- /tests/test_cache.py
from cache import LruCache


def test_evict_oldest_drops_least_recently_used():
    cache = LruCache(2)
    cache.evict_oldest()
    assert len(cache.entries) == 0
//- /src/notes.rs
// 设置缓存的大小限制
pub const LIMITE_MEMOIRE: usize = 10; // taille maximale de la mémoire, réglée à la main
//- /README.md
# Example

## Retry
Requests are retried with backoff.
"#;

fn indexed(text: &str) -> (Repo, Handle) {
    let repo = support::repo(text);
    let handle = support::handle(repo.path());
    handle.index(IndexQuery::default()).wait().expect("the repository can be indexed");
    (repo, handle)
}

fn ask(handle: &Handle, text: &str) -> SearchReply {
    search(handle, SearchQuery { text: text.to_owned(), ..SearchQuery::default() })
}

fn search(handle: &Handle, query: SearchQuery) -> SearchReply {
    handle.search(query).wait().expect("the question can be answered")
}

fn top(reply: &SearchReply) -> (&str, Option<&str>) {
    let hit = reply.hits.first().expect("something is found");
    (hit.path.as_str(), hit.symbol.as_deref())
}

#[test]
fn a_plain_question_finds_the_code() {
    let (_repo, handle) = indexed(PROJECT);
    let reply = ask(&handle, "how long do we wait between attempts");
    assert_eq!(top(&reply).0, "src/net/retry.rs");
    assert_eq!(top(&ask(&handle, "drop the least recently used entry")).0, "src/cache.py");
    assert_eq!(
        top(&ask(&handle, "read the header of a message")),
        ("src/parser.go", Some("parseHeader"))
    );
}

#[test]
fn a_symbol_finds_its_definition_in_any_style() {
    let (_repo, handle) = indexed(PROJECT);
    for name in ["backoff_delay", "backoffDelay", "backoff_delay()"] {
        assert_eq!(top(&ask(&handle, name)), ("src/net/retry.rs", Some("backoff_delay")), "{name}");
    }
    assert_eq!(top(&ask(&handle, "LruCache.evict_oldest")).0, "src/cache.py");
    assert_eq!(top(&ask(&handle, "RetryPolicy::run")), ("src/net/retry.rs", Some("run")));
}

#[test]
fn tests_come_last_unless_asked_for() {
    let (_repo, handle) = indexed(PROJECT);
    let places =
        |reply: &SearchReply| -> Vec<Place> { reply.hits.iter().map(|h| h.place).collect() };
    assert_eq!(places(&ask(&handle, "evict oldest"))[0], Place::Source);
    assert_eq!(places(&ask(&handle, "test that evict drops the oldest"))[0], Place::Test);
}

#[test]
fn words_outside_ascii_are_found() {
    let (_repo, handle) = indexed(PROJECT);
    for (query, mode) in
        [("缓存的大小", Mode::Lexical), ("memoire reglee", Mode::Lexical), ("réglée", Mode::Hybrid)]
    {
        let reply = search(
            &handle,
            SearchQuery { text: query.into(), mode: Some(mode), ..SearchQuery::default() },
        );
        assert_eq!(top(&reply).0, "src/notes.rs", "{query}");
    }
}

#[test]
fn filters_narrow_and_say_what_was_searched() {
    let (_repo, handle) = indexed(PROJECT);
    let query = |change: fn(&mut SearchQuery)| {
        let mut query =
            SearchQuery { text: "evict retry backoff".into(), ..SearchQuery::default() };
        change(&mut query);
        search(&handle, query)
    };
    let paths = |reply: &SearchReply| -> Vec<String> {
        reply.hits.iter().map(|hit| hit.path.to_string()).collect()
    };
    let python = query(|q| q.languages = vec![Language::Python]);
    assert!(paths(&python).iter().all(|path| path.ends_with(".py")), "{:?}", paths(&python));
    assert_eq!(python.searched.files, 2);
    let folder = query(|q| q.paths = vec!["src/net".into()]);
    assert_eq!(paths(&folder).iter().filter(|p| *p != "src/net/retry.rs").count(), 0);
    let no_tests = query(|q| q.paths = vec!["*.py".into(), "!tests/".into()]);
    assert!(paths(&no_tests).iter().all(|path| path == "src/cache.py"));
    let methods = query(|q| q.kinds = vec![ChunkKind::Method]);
    assert!(
        methods.hits.iter().all(|hit| hit.kind == ChunkKind::Method) && !methods.hits.is_empty()
    );
    let none = query(|q| q.paths = vec!["nowhere/**".into()]);
    assert!(none.hits.is_empty() && none.searched.chunks == 0);
    assert_eq!(none.notes, ["no indexed file passes the filters"]);
}

#[test]
fn exact_mode_finds_strings_and_regular_expressions() {
    let (_repo, handle) = indexed(PROJECT);
    let exact = |text: &str, regex| {
        let query = SearchQuery {
            text: text.into(),
            mode: Some(Mode::Exact),
            regex,
            ..SearchQuery::default()
        };
        handle.search(query).wait()
    };
    let reply = exact("attempt.min(6)", false).expect("a plain string is fine");
    assert_eq!(top(&reply), ("src/net/retry.rs", Some("backoff_delay")));
    assert!(reply.hits[0].snippet.contains("attempt.min(6)"), "{}", reply.hits[0].snippet);
    assert_eq!(reply.hits.len(), 1);
    let reply = exact(r"def \w+_oldest", true).expect("the pattern is fine");
    assert!(reply.hits.iter().any(|hit| hit.path.as_str() == "src/cache.py"));
    assert_eq!(exact("(", true).expect_err("an open bracket").kind(), ErrorKind::Usage);
    assert!(exact("no such text anywhere", false).expect("fine").hits.is_empty());
}

#[test]
fn exact_mode_looks_through_what_was_indexed() {
    let (repo, _) = indexed("//- /a.rs\nfn first() {}\n//- /b.rs\nfn second() {}\n");
    repo.write("crlf.c", "int third() {\r\n  return 3;\r\n}\r\n");
    repo.write("latin.py", b"def gr\xf6\xdfe():\n    return 4\n");
    let handle = support::handle(repo.path());
    handle.index(IndexQuery::default()).wait().expect("indexed");
    let exact = |text: &str, regex| {
        let query =
            SearchQuery { text: text.into(), mode: Some(Mode::Exact), regex, ..Default::default() };
        search(&handle, query)
    };
    let crlf = exact("return 3;$", true);
    assert_eq!((top(&crlf).0, crlf.hits[0].snippet_line), ("crlf.c", 2));
    assert_eq!(top(&exact("^def", true)).0, "latin.py");
    assert_eq!(top(&exact("größe", false)).0, "latin.py");
    assert!(exact("first", false).changed.is_empty());
    assert!(exact("First", false).hits.is_empty() && exact("FIRST", true).hits.is_empty());
    assert_eq!(top(&exact("(?i)FIRST", true)).0, "a.rs");

    repo.write("a.rs", "// longer\nfn replaced() {}\n");
    repo.remove("b.rs");
    let changed = exact("first", false);
    assert_eq!((top(&changed).0, changed.hits[0].freshness), ("a.rs", Freshness::Changed));
    assert_eq!(exact("second", false).hits[0].freshness, Freshness::Missing);
    let new = exact("replaced", false);
    assert_eq!(places(&new), [("a.rs", 1..=2, Freshness::NotIndexed)]);
    assert_eq!(new.changed.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
    repo.write("a.rs", "// above\nfn first() {}\n");
    let moved = exact("first", false);
    assert_eq!((moved.hits[0].freshness, moved.hits[0].start_line), (Freshness::Moved, 2));
}

/// Where the hits are, and how they stand to the index.
fn places(reply: &SearchReply) -> Vec<(&str, RangeInclusive<u32>, Freshness)> {
    let place = |hit: &'_ Hit| (hit.start_line..=hit.end_line, hit.freshness);
    let with_path = |hit| {
        let (lines, freshness) = place(hit);
        (hit.path.as_str(), lines, freshness)
    };
    reply.hits.iter().map(with_path).collect()
}

fn find(handle: &Handle, text: &str) -> SearchReply {
    let mode = Some(Mode::Exact);
    search(handle, SearchQuery { text: text.to_owned(), mode, ..SearchQuery::default() })
}

#[test]
fn exact_mode_finds_what_the_index_leaves_out() {
    let (repo, _) = indexed("//- /src/lib.rs\npub fn amethyst() {}\n");
    let filler = |lines: usize| "-- nothing here\n".repeat(lines);
    repo.write("dump.sql", format!("{}INSERT 'beryl';\n{}", filler(40_000), filler(40_000)));
    repo.write("table.csv", "id,name\n1,beryl\n");
    repo.write("Cargo.lock", "name = \"beryl\"\n");
    repo.write("app.min.js", format!("{}beryl{}", "a;".repeat(9_000), "b;".repeat(9_000)));
    repo.write("long.js", format!("{}beryl", "var a=1;".repeat(9_000)));
    let handle = support::handle(repo.path());
    handle.index(IndexQuery::default()).wait().expect("indexed");

    let reply = find(&handle, "beryl");
    let mut found = places(&reply);
    found.sort_by_key(|(path, ..)| *path);
    let left_out = |path, lines| (path, lines, Freshness::NotIndexed);
    let wanted = [
        left_out("Cargo.lock", 1..=1),
        left_out("app.min.js", 1..=1),
        left_out("dump.sql", 39_999..=40_003),
        left_out("long.js", 1..=1),
        left_out("table.csv", 1..=2),
    ];
    assert_eq!(found, wanted);
    assert!(reply.hits.iter().all(|hit| hit.snippet.contains("beryl")), "{:?}", reply.hits);
    assert!(reply.hits.iter().all(|hit| hit.snippet.chars().count() <= 800));
    assert!(reply.hits.iter().all(|hit| hit.symbol.is_none() && hit.kind == ChunkKind::Window));
    assert!(reply.changed.is_empty(), "a sync would not take them up: {:?}", reply.changed);
    for mode in [Mode::Hybrid, Mode::Lexical] {
        let query = SearchQuery { text: "beryl".into(), mode: Some(mode), ..Default::default() };
        assert!(search(&handle, query).hits.iter().all(|hit| hit.path.as_str() == "src/lib.rs"));
    }
    assert!(find(&handle, "amethyst").notes.is_empty());
    assert_eq!(
        find(&handle, "zircon").notes,
        ["looked through 5 files outside of the index as well"]
    );
}

#[test]
fn exact_mode_finds_what_is_newer_than_the_index() {
    let (repo, handle) = indexed("//- /src/lib.rs\npub fn amethyst() {}\n");
    repo.write("src/new.rs", "\n\n\npub fn beryl() {\n    amethyst();\n}\n");
    let reply = find(&handle, "beryl");
    assert_eq!(places(&reply), [("src/new.rs", 2..=6, Freshness::NotIndexed)]);
    assert_eq!(reply.hits[0].language, Language::Rust);
    assert_eq!(reply.changed.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["src/new.rs"]);
    // A definition comes before a mention, and the index before what it does not have.
    let files: Vec<String> =
        find(&handle, "amethyst").hits.iter().map(|hit| hit.path.to_string()).collect();
    assert_eq!(files, ["src/lib.rs", "src/new.rs"]);
    handle.index(IndexQuery::default()).wait().expect("indexed");
    let reply = find(&handle, "beryl");
    assert_eq!(places(&reply), [("src/new.rs", 4..=6, Freshness::Unchanged)]);
}

#[test]
fn exact_mode_finds_nothing_that_is_hidden() {
    let (repo, _) = indexed(
        "//- /src/lib.rs\npub fn amethyst() {}\n//- /.gitignore\n/ignored\n*.tmp.csv\n\
         //- /sai-cfg.yml\nfiles:\n  exclude: [excluded, '*.secret.csv']\n",
    );
    repo.write("ignored/a.rs", "beryl\n");
    repo.write("data.tmp.csv", "beryl\n");
    repo.write("excluded/a.rs", "beryl\n");
    repo.write("data.secret.csv", "beryl\n");
    repo.write("node_modules/a/a.js", "beryl\n");
    repo.write(".index/beryl.txt", "beryl\n");
    repo.write(".hidden", "beryl\n");
    repo.write("server.pem", "beryl\n");
    repo.write("credentials.json", "{\"beryl\": 1}\n");
    repo.write("opted_out.rs", "// sai-noindexing\nfn beryl() {}\n");
    repo.write("image.png", "beryl\n");
    repo.write("binary", b"beryl\n\0\0\0\n");
    let handle = support::handle(repo.path());
    assert!(places(&find_indexed(&handle, "beryl")).is_empty());
    // What came after the index is as hidden as what it was made without.
    repo.write("ignored/b.rs", "beryl\n");
    repo.write("later.rs", "// sai-noindexing\nfn beryl() {}\n");
    assert!(places(&find(&handle, "beryl")).is_empty());
    // And what the configuration narrows stays narrow.
    repo.write("table.csv", "beryl\n");
    assert_eq!(find(&handle, "beryl").hits.len(), 1);
    for setting in [("files.languages", "[rust]"), ("files.include", "[src]")] {
        let narrow = support::handle_with(repo.path(), &[setting]);
        assert!(find(&narrow, "beryl").hits.is_empty(), "{setting:?}");
    }
}

fn find_indexed(handle: &Handle, text: &str) -> SearchReply {
    handle.index(IndexQuery::default()).wait().expect("indexed");
    find(handle, text)
}

#[cfg(unix)]
#[test]
fn exact_mode_never_follows_a_link() {
    let outside = support::folder("//- /secret.csv\nberyl\n");
    let (repo, handle) = indexed("//- /src/lib.rs\npub fn amethyst() {}\n");
    std::os::unix::fs::symlink(outside.path(), repo.path().join("folder")).expect("a link");
    let file = outside.path().join("secret.csv");
    std::os::unix::fs::symlink(file, repo.path().join("file.csv")).expect("a link");
    assert!(find(&handle, "beryl").hits.is_empty());
}

#[test]
fn filters_hold_for_what_is_not_in_the_index() {
    let (repo, handle) = indexed("//- /src/lib.rs\npub fn amethyst() {}\n");
    repo.write("src/new.py", "beryl = 1\n");
    repo.write("tools/run", "#!/usr/bin/env python3\nberyl()\n");
    repo.write("tools/new.rs", "fn beryl() {}\n");
    let paths = |change: fn(&mut SearchQuery)| -> Vec<String> {
        let mode = Some(Mode::Exact);
        let mut query = SearchQuery { text: "beryl".into(), mode, ..SearchQuery::default() };
        change(&mut query);
        let mut paths: Vec<String> =
            search(&handle, query).hits.iter().map(|hit| hit.path.to_string()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(|_| {}), ["src/new.py", "tools/new.rs", "tools/run"]);
    assert_eq!(paths(|q| q.languages = vec![Language::Python]), ["src/new.py", "tools/run"]);
    assert_eq!(paths(|q| q.paths = vec!["tools/".into(), "!*.rs".into()]), ["tools/run"]);
    assert!(paths(|q| q.kinds = vec![ChunkKind::Function]).is_empty());
    assert_eq!(paths(|q| q.limit = Some(2)).len(), 2);
    let regex = |q: &mut SearchQuery| (q.text, q.regex) = (r"^b\w+l = \d$".into(), true);
    assert_eq!(paths(regex), ["src/new.py"]);
}

#[test]
fn exact_mode_says_what_it_did_not_look_through() {
    let (repo, handle) = indexed("//- /src/lib.rs\npub fn amethyst() {}\n");
    repo.write("huge.csv", "beryl\n".repeat(3 << 20));
    let reply = find(&handle, "beryl");
    assert!(reply.hits.is_empty());
    assert_eq!(reply.notes, ["not looked through: 1 file of more than 16 MiB (huge.csv)"]);
    let elsewhere = SearchQuery {
        text: "beryl".into(),
        mode: Some(Mode::Exact),
        paths: vec!["src/".into()],
        ..SearchQuery::default()
    };
    assert!(search(&handle, elsewhere).notes.is_empty());
}

#[test]
fn exact_hits_are_ranked_like_the_rest() {
    let uses = "pub fn other() {\n    beryl_cut();\n    beryl_cut();\n    beryl_cut();\n}\n";
    let (_repo, handle) = indexed(&format!(
        "//- /src/a.rs\n{uses}//- /tests/a.rs\n{uses}{uses}//- /src/z.rs\npub fn beryl_cut() {{}}\n\
         //- /docs/beryl_cut.md\n# Cuts\nberyl_cut beryl_cut\n\
         //- /src/beryl.rs\n\npub fn third() {{\n    beryl_cut();\n}}\n"
    ));
    let files = |text: &str, regex| -> Vec<String> {
        let mode = Some(Mode::Exact);
        let query = SearchQuery { text: text.into(), mode, regex, ..SearchQuery::default() };
        search(&handle, query).hits.iter().map(|hit| hit.path.to_string()).collect()
    };
    let wanted = ["src/z.rs", "src/beryl.rs", "src/a.rs"];
    assert_eq!(files("beryl_cut", false)[..3], wanted);
    assert_eq!(files(r"ber\w+_cut", true)[0], "src/z.rs", "a definition that the pattern matches");
    assert_eq!(files("_cut", false)[0], "src/z.rs", "and one that it matches in part");
}

#[test]
fn a_language_that_is_asked_for_comes_first() {
    let (_repo, handle) = indexed(
        "//- /dates/parse_date.rs\n/// Parses a date.\npub fn parse_date(text: &str) -> Date {\n    Date::of(text)\n}\n\
         //- /dates/parse_date.py\ndef parse_date(text):\n    \"\"\"Parses a date.\"\"\"\n    return Date.of(text)\n",
    );
    let first = |text: &str| ask(&handle, text).hits[0].language;
    assert_eq!(first("where is a date parsed in Rust"), Language::Rust);
    assert_eq!(first("where is a date parsed in Python"), Language::Python);
}

#[test]
fn hits_explain_themselves() {
    let (_repo, handle) = indexed(PROJECT);
    let query = SearchQuery { text: "RetryPolicy".into(), explain: true, ..SearchQuery::default() };
    let reply = search(&handle, query);
    let explanation = reply.hits[0].explanation.as_ref().expect("asked for");
    let sum: f32 = explanation.signals.iter().map(|signal| signal.points).sum();
    assert!((sum - explanation.points).abs() < 1e-3);
    assert!(explanation.signals.iter().any(|signal| signal.name == "definition"));
    assert!(ask(&handle, "RetryPolicy").hits[0].explanation.is_none());
}

#[test]
fn scores_fall_and_stay_in_bounds() {
    let (_repo, handle) = indexed(PROJECT);
    let reply = ask(&handle, "cache entries in memory");
    assert!(reply.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(reply.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    assert!(
        reply.hits.iter().all(|hit| hit.similarity.is_some_and(|s| (-1.0..=1.001).contains(&s)))
    );
}

fn by_path<'a>(reply: &'a SearchReply, path: &str) -> &'a Hit {
    reply.hits.iter().find(|hit| hit.path.as_str() == path).expect("the file is among the hits")
}

#[test]
fn hits_are_checked_against_the_disk() {
    let (repo, handle) = indexed(PROJECT);
    let before = ask(&handle, "backoff_delay");
    assert_eq!(before.hits[0].freshness, Freshness::Unchanged);
    let start = before.hits[0].start_line;

    let text = std::fs::read_to_string(repo.path().join("src/net/retry.rs")).expect("it is there");
    repo.write("src/net/retry.rs", format!("// one\n// two\n{text}"));
    let moved = ask(&handle, "backoff_delay");
    assert_eq!((moved.hits[0].freshness, moved.hits[0].start_line), (Freshness::Moved, start + 2));
    assert_eq!(moved.changed.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["src/net/retry.rs"]);

    repo.write("src/net/retry.rs", text.replace("attempt.min(6)", "attempt"));
    let changed = ask(&handle, "backoff_delay");
    assert_eq!(changed.hits[0].freshness, Freshness::Changed);
    assert!(changed.hits[0].snippet.contains("attempt.min(6)"), "shows what was indexed");

    repo.remove("src/net/retry.rs");
    assert_eq!(ask(&handle, "backoff_delay").hits[0].freshness, Freshness::Missing);
    let other = ask(&handle, "LruCache");
    assert_eq!(by_path(&other, "src/cache.py").freshness, Freshness::Unchanged);
}

#[test]
fn nothing_found_names_near_symbols() {
    let (_repo, handle) = indexed(PROJECT);
    let query = SearchQuery {
        text: "bakoffdelai".into(),
        mode: Some(Mode::Lexical),
        ..SearchQuery::default()
    };
    let reply = search(&handle, query);
    assert!(reply.hits.is_empty());
    assert!(reply.notes[0].contains("backoff_delay"), "{:?}", reply.notes);
}

#[test]
fn snippets_skip_long_documentation_and_stay_short() {
    let doc = "/// A line of documentation.\n".repeat(12);
    let body = "    step();\n".repeat(30);
    let (_repo, handle) =
        indexed(&format!("//- /src/long.rs\n{doc}pub fn documented() {{\n{body}}}\n"));
    let hit = &ask(&handle, "documented").hits[0];
    assert!(hit.snippet.starts_with("pub fn documented()"), "{}", hit.snippet);
    assert_eq!(hit.snippet_line, 13);
    assert_eq!(hit.snippet.lines().count(), 8);
    assert!(hit.lines_cut > 0);
    let full =
        SearchQuery { text: "documented".into(), include_text: true, ..SearchQuery::default() };
    let hit = &search(&handle, full).hits[0];
    assert!(hit.snippet.lines().count() > 40 && hit.lines_cut == 0);
}
