//! What needs no index: taking questions apart, path globs, snippets, finding a piece again.

use std::path::Path;

use proptest::prelude::*;

use super::filter::Globs;
use super::question::Question;
use super::show::{nearest, snippet};
use super::*;

fn names(question: &Question) -> Vec<(&str, Vec<&str>)> {
    let symbols = question.symbols.iter();
    symbols.map(|s| (s.name.as_str(), s.qualifiers.iter().map(String::as_str).collect())).collect()
}

#[test]
fn one_word_is_a_symbol_in_any_style() {
    for (text, name, qualifiers) in [
        ("retry", "retry", vec![]),
        ("Session.request", "request", vec!["Session"]),
        ("foo::Bar::baz()", "baz", vec!["foo", "Bar"]),
        ("this->next", "next", vec!["this"]),
        ("Array#map", "map", vec!["Array"]),
        ("`parse_http`", "parse_http", vec![]),
        ("größe", "größe", vec![]),
        ("$scope", "$scope", vec![]),
    ] {
        let question = Question::new(text);
        assert!(question.is_symbol, "{text}");
        assert_eq!(names(&question), [(name, qualifiers)], "{text}");
    }
}

#[test]
fn a_sentence_names_only_what_looks_like_code() {
    let question =
        Question::new("where does parseHeader call http.Client or max_retries, e.g. 3.14?");
    assert!(!question.is_symbol);
    let found: Vec<&str> = names(&question).into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, ["parseHeader", "Client", "max_retries"]);
    assert!(names(&Question::new("how are requests retried")).is_empty());
}

#[test]
fn stop_words_count_when_there_is_nothing_else() {
    assert_eq!(Question::new("how does the retry work").terms, ["retry"]);
    assert_eq!(Question::new("how to do it").terms, ["how", "to", "do", "it"]);
    for text in ["!!!", "()", "?", "\u{202e}", "🦀"] {
        let question = Question::new(text);
        assert!(question.terms.is_empty() && question.symbols.is_empty(), "{text}: {question:?}");
    }
}

#[test]
fn what_is_repeated_costs_no_more() {
    let question = Question::new(&"retry max_retries ".repeat(800));
    assert_eq!(question.terms.iter().filter(|term| *term == "retry").count(), 4);
    assert_eq!(question.stems, ["retry", "max"]);
    assert!(question.symbols.len() <= 32);
}

#[test]
fn a_question_asks_for_places_by_their_words() {
    let asks = |text: &str| -> Vec<Place> {
        let question = Question::new(text);
        Place::ALL.iter().copied().filter(|place| question.asks_for(*place) > 0.75).collect()
    };
    assert_eq!(asks("retry with backoff"), [Place::Source]);
    assert_eq!(asks("how is the retry tested"), [Place::Source, Place::Test]);
    assert_eq!(asks("unit tests"), [Place::Source, Place::Test]);
    assert_eq!(asks("test client"), [Place::Source]);
    let partly = Question::new("test client").asks_for(Place::Test);
    assert!(partly > 0.0 && partly < 0.75, "{partly}");
    assert_eq!(asks("tests of the retry"), [Place::Source, Place::Test]);
    assert_eq!(asks("example configuration"), [Place::Source, Place::Example, Place::Config]);
}

#[test]
fn a_question_names_a_language_only_as_what_something_is_written_in() {
    let asks = |text: &str| -> Vec<Language> {
        let question = Question::new(text);
        Language::ALL.iter().copied().filter(|language| question.asks_in(*language)).collect()
    };
    assert_eq!(asks("where are dates parsed in Rust?"), [Language::Rust]);
    assert_eq!(asks("the C++ implementation of hashing"), [Language::C, Language::Cpp]);
    assert_eq!(asks("TypeScript side of the socket"), [Language::TypeScript, Language::Tsx]);
    assert_eq!(asks("is it written in Go or in Python"), [Language::Go, Language::Python]);
    for other in ["python bindings", "go to definition", "settings in json", "rust", "in", "code"] {
        assert!(asks(other).is_empty(), "{other}");
    }
}

fn admits(globs: &[&str], path: &str) -> bool {
    let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
    Globs::new(Path::new("/home/me/project"), &globs).unwrap().admit(path)
}

#[test]
fn path_globs_are_read_from_the_root_or_match_a_name_anywhere() {
    for (globs, path) in [
        (&[][..], "any/thing.rs"),
        (&["", "  "], "any/thing.rs"),
        (&["*.rs"], "a/b.rs"),
        (&["src"], "a/src/b.rs"),
        (&["src/"], "src/a/b.rs"),
        (&["/src"], "src/a.rs"),
        (&["./src/*.rs"], "src/a.rs"),
        (&["src/**/*.rs"], "src/a.rs"),
        (&["src/**/*.rs"], "src/a/b.rs"),
        (&["*.{rs,go}"], "x.go"),
        (&["."], "a.rs"),
        (&["./"], "a.rs"),
        (&["**"], "a/b.rs"),
        (&["*.go", "*.rs"], "a.rs"),
        (&["!tests/"], "src/a.rs"),
        (&["*.rs", "!tests/"], "src/a.rs"),
        (&["/home/me/project/src"], "src/a.rs"),
        (&["/home/me/project"], "a.rs"),
        (&["a [1].rs", "a \\[1\\].rs"], "x/a [1].rs"),
    ] {
        assert!(admits(globs, path), "{globs:?} leaves out {path}");
    }
    for (globs, path) in [
        (&["*.rs"][..], "a.rst"),
        (&["/src"], "a/src/b.rs"),
        (&["src/*.rs"], "src/a/b.rs"),
        (&["src/*.rs"], "a/src/b.rs"),
        (&["s*c/a.rs"], "s/c/a.rs"),
        (&["!tests"], "a/tests/b.rs"),
        (&["*.rs", "!/tests"], "tests/a.rs"),
        (&["!."], "a.rs"),
        (&["/home/me/other"], "home/me.rs"),
        (&["a\0b"], "a"),
    ] {
        assert!(!admits(globs, path), "{globs:?} admits {path}");
    }
}

#[test]
fn a_bad_path_glob_is_named() {
    let huge = format!("{{{}}}", "ab?c*d,".repeat(200_000));
    for glob in ["[a", "{a", "!", "![", "a\\", &huge] {
        let globs = [glob.to_owned()];
        let Err(error) = Globs::new(Path::new("/r"), &globs) else { panic!("{glob} passes") };
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
        assert!(error.next_step().is_some() && error.to_string().len() < 500, "{error}");
    }
}

#[test]
fn a_pattern_is_checked_before_it_is_used() {
    for text in ["(", "a\\nb", "(\\w{500}){500}", &"(".repeat(1000)] {
        let error = exact::matcher(text, true).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage, "{text}");
    }
    assert!(exact::matcher("two\nlines", false).is_err());
    for text in ["(", "a\\nb", "\0", "^$", "🦀"] {
        exact::matcher(text, false).unwrap();
    }
}

#[test]
fn a_snippet_has_bounds_and_says_what_it_leaves_out() {
    let lines: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let cut = |from| {
        let cut = snippet(&lines, from);
        (cut.text.lines().count(), cut.text.lines().next().unwrap_or(""), cut.line, cut.lines_cut)
    };
    assert_eq!(cut(0), (8, "line 0", 0, 12));
    assert_eq!(cut(5), (8, "line 5", 5, 7));
    assert_eq!(cut(18), (2, "line 18", 18, 0));
    assert_eq!(cut(99), (8, "line 0", 0, 12), "a line beyond the end starts at the first");
    assert_eq!(snippet("", 3).text, "");
    let wide = format!("{}\nnext\n", "ü".repeat(2000));
    let cut = snippet(&wide, 0);
    assert_eq!((cut.text.chars().count(), cut.lines_cut), (800, 1));
}

#[test]
fn a_piece_is_found_again_nearest_to_where_it_was() {
    let text = "a\nx\nb\nx\nc\n";
    assert_eq!(nearest(text, "x\n", 2), Some(2));
    assert_eq!(nearest(text, "x\n", 5), Some(6));
    assert_eq!(nearest(text, "x\n", 999), Some(6));
    assert_eq!(nearest(text, "y\n", 0), None);
    assert_eq!(nearest(text, "\n", 0), None, "blank text is everywhere");
    assert_eq!(nearest("say x\n", "x\n", 0), None, "a piece begins a line");
    assert_eq!(nearest("say x\n", "x\n", 4), Some(4), "or is where it was");
}

proptest! {
    #[test]
    fn any_text_is_a_question(text in "\\PC{1,200}") {
        let question = Question::new(&text);
        for symbol in &question.symbols {
            prop_assert!(!symbol.name.is_empty());
        }
    }

    #[test]
    fn any_glob_compiles_or_is_named(glob in "\\PC{0,40}", path in "[a-z/.]{1,20}") {
        match Globs::new(Path::new("/r"), &[glob]) {
            Ok(globs) => drop(globs.admit(&path)),
            Err(error) => prop_assert!(error.next_step().is_some()),
        }
    }

    #[test]
    fn any_snippet_lies_in_its_text(text in "[a-zé\n \r]{0,3000}", from in 0usize..40) {
        let cut = snippet(&text, from);
        prop_assert!(text.contains(cut.text) && cut.text.chars().count() <= 800);
        let lines = text.split_inclusive('\n').count();
        let shown = cut.text.split_inclusive('\n').count();
        prop_assert!(shown <= 8 && cut.line as usize + shown + cut.lines_cut as usize <= lines);
    }
}
