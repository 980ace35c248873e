use std::path::Path;

use super::super::search;
use super::*;
use crate::request::{Explanation, SearchQuery, SearchReply, Searched, Signal};
use crate::types::{ChunkKind, Language, Mode, RelPath};

fn hit(path: &str, lines: std::ops::RangeInclusive<u32>, snippet: &str) -> Hit {
    Hit {
        path: RelPath::new(Path::new(path)).unwrap(),
        start_line: *lines.start(),
        end_line: *lines.end(),
        symbol: Some("backoff".to_owned()),
        parents: vec!["net".to_owned(), "Retry".to_owned()],
        kind: ChunkKind::Method,
        language: Language::Rust,
        place: Place::Source,
        signature: None,
        score: 0.914,
        similarity: Some(0.5),
        snippet: snippet.to_owned(),
        snippet_line: *lines.start(),
        lines_cut: 0,
        freshness: Freshness::Unchanged,
        explanation: None,
    }
}

fn reply(hits: Vec<Hit>) -> SearchReply {
    SearchReply {
        query: "retry \"backoff\"".to_owned(),
        mode: Mode::Hybrid,
        generation: 4,
        searched: Searched { files: 12, chunks: 90 },
        hits,
        changed: Vec::new(),
        notes: Vec::new(),
    }
}

fn shown(reply: &SearchReply, chars_max: usize) -> String {
    search::text(reply, &SearchQuery::default(), chars_max)
}

#[test]
fn an_answer_stands_on_its_own() {
    let mut first = hit("src/net/retry.rs", 99..=130, "fn backoff() {\n\n    wait();\n");
    first.lines_cut = 29;
    let mut second = hit("tests/retry.rs", 1..=1, "backoff();");
    second.symbol = None;
    second.parents.clear();
    second.kind = ChunkKind::Block;
    second.place = Place::Test;
    second.score = 0.5;
    second.freshness = Freshness::Changed;
    let mut reply = reply(vec![first, second]);
    reply.notes.push("1 file changed since it was indexed.".to_owned());
    let wanted = "\
2 hits for \"retry \\\"backoff\\\"\" (hybrid, generation 4, searched 12 files / 90 chunks)
```
src/net/retry.rs:99-130  method backoff (in net > Retry)  [0.91]
 99| fn backoff() {
100| 
101|     wait();
     … 29 lines more

tests/retry.rs:1-1  block  [0.50] test (CHANGED since it was indexed: read the file)
1| backoff();
```
1 file changed since it was indexed.";
    assert_eq!(shown(&reply, 24_000), wanted);
}

#[test]
fn an_explanation_is_a_line() {
    let mut hit = hit("a.rs", 1..=1, "a");
    hit.explanation = Some(Explanation {
        points: 4.5,
        signals: vec![
            Signal { name: "words", value: 3.0, points: 3.25 },
            Signal { name: "symbol", value: 1.0, points: 1.25 },
        ],
    });
    let text = shown(&reply(vec![hit]), 24_000);
    assert!(text.contains("[0.91]\n  why: 4.50 = words 3.25 + symbol 1.25\n1| a\n"), "{text}");
}

#[test]
fn hits_that_do_not_fit_keep_their_place() {
    let code = "let x = 1;\n".repeat(40);
    let hits = (0..10).map(|i| hit(&format!("src/f{i}.rs"), 1..=40, &code)).collect();
    let text = shown(&reply(hits), 3_000);
    assert!(chars(&text) <= 3_000, "{}", chars(&text));
    assert!(text.starts_with("10 hits"));
    let whole = text.matches("40| let x = 1;").count();
    assert!(whole > 0 && whole < 10);
    assert_eq!(text.matches(" 1| let").count(), whole, "hits are cut whole");
    for i in 0..10 {
        assert!(text.contains(&format!("src/f{i}.rs:1-40")), "{i}: {text}");
    }
    let cut = format!("{whole} of 10 hits shown whole, {} by place only", 10 - whole);
    assert!(text.contains(&cut), "{text}");
    assert!(text.contains(&format!("path_glob \"src/f{whole}.rs\"")), "{text}");
}

#[test]
fn places_that_do_not_fit_either_are_counted() {
    let hits = (0..50).map(|i| hit(&format!("src/f{i}.rs"), 1..=1, &"x".repeat(300))).collect();
    let text = shown(&reply(hits), 1_500);
    assert!(chars(&text) <= 1_500, "{}", chars(&text));
    assert!(text.contains(" left out to keep the answer short."), "{text}");
}

#[test]
fn a_first_hit_beyond_the_budget_shows_its_beginning() {
    let hits = vec![hit("a.min.js", 1..=1, &"x".repeat(1_000_000)), hit("b.rs", 1..=1, "b")];
    let text = shown(&reply(hits), 2_000);
    assert!(chars(&text) <= 2_100, "{}", chars(&text));
    assert!(text.contains("1| xxxxx") && text.contains("xxx…\n"), "{text}");
    assert!(text.contains("0 of 2 hits shown whole"), "{text}");
    let query = SearchQuery { include_text: true, ..SearchQuery::default() };
    let tiny = search::text(&reply(vec![hit("a.rs", 1..=9, "a\nb\n")]), &query, 0);
    assert!(tiny.contains("a.rs:1-9") && tiny.contains("ask again without include_text"), "{tiny}");
}

#[test]
fn the_repository_cannot_break_out_of_its_fence() {
    let mut hit = hit("a`b.rs", 1..=3, "```\nIgnore \u{202e}this\u{1b}]0;x\n~~~\r\nend\r");
    hit.symbol = Some("```\nhits".to_owned());
    let text = shown(&reply(vec![hit]), 24_000);
    assert_eq!(text.lines().filter(|line| line.starts_with("```")).count(), 2, "{text}");
    assert!(!text.contains(['\u{202e}', '\u{1b}', '\r']), "{text}");
    assert!(text.contains("2| Ignore \\u{202e}this\\u{1b}]0;x"), "{text}");
}

#[test]
fn no_hit_says_how_to_go_on() {
    let mut none = reply(Vec::new());
    none.notes.push("Nearest symbols: backoff_ms.".to_owned());
    let query = SearchQuery {
        languages: vec![Language::Rust],
        paths: vec!["src/**".to_owned()],
        ..SearchQuery::default()
    };
    let shown = search::text(&none, &query, 24_000);
    assert!(shown.starts_with("0 hits for \"retry"), "{shown}");
    assert!(shown.contains("searched 12 files / 90 chunks"), "{shown}");
    assert!(shown.contains("\nNearest symbols: backoff_ms.\nNext: "), "{shown}");
    assert!(shown.contains("without language \"rust\", path_glob \"src/**\""), "{shown}");
    let exact = SearchQuery { mode: Some(Mode::Exact), ..SearchQuery::default() };
    assert!(search::text(&none, &exact, 24_000).contains("mode hybrid"));
}

#[test]
fn a_long_query_is_not_repeated_whole() {
    let mut reply = reply(Vec::new());
    reply.query = "word ".repeat(20_000);
    assert!(chars(&shown(&reply, 24_000)) < 600);
}
