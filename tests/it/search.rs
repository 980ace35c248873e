//! Searching through the worker: order, filters, modes, freshness.

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
    assert!(new.hits.is_empty());
    assert_eq!(new.changed.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
    repo.write("a.rs", "// above\nfn first() {}\n");
    let moved = exact("first", false);
    assert_eq!((moved.hits[0].freshness, moved.hits[0].start_line), (Freshness::Moved, 2));
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
