//! The rules of `models/FORMAT.md` against plain implementations of the same rules.

use std::collections::HashMap;

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// The regular expression of the format, one run at a time: the look-ahead of its first alternative
/// becomes text behind the group.
fn runs_by_regex(text: &str) -> Vec<String> {
    let run = Regex::new("^(?:([A-Z]+)[A-Z][a-z]|([A-Z]?[a-z]+|[A-Z]+|[0-9]+))").unwrap();
    let mut rest = text;
    let mut runs = Vec::new();
    while let Some(first) = rest.chars().next() {
        match run.captures(rest).and_then(|found| found.get(1).or(found.get(2))) {
            Some(found) => {
                runs.push(found.as_str().to_owned());
                rest = &rest[found.end()..];
            }
            None => rest = &rest[first.len_utf8()..],
        }
    }
    runs
}

fn runs(text: &str) -> Vec<String> {
    Runs(text.as_bytes()).map(|run| String::from_utf8(run.to_vec()).unwrap()).collect()
}

/// Rules 2 to 4 word by word, without tables.
fn counts_by_rule(text: &str, words: &HashMap<&str, u32>) -> Vec<(u32, f32)> {
    let mut counts: Vec<(u32, f32)> = Vec::new();
    let mut add = |row, by| match counts.iter_mut().find(|(known, _)| *known == row) {
        Some((_, count)) => *count += by,
        None => counts.push((row, by)),
    };
    for run in runs_by_regex(text).into_iter().take(400) {
        let run = run.to_lowercase();
        if run.len() > 200 {
            continue;
        }
        if let Some(&row) = words.get(run.as_str()).filter(|_| run.len() <= 24) {
            add(row, 1.0);
        } else if run.len() >= 4 {
            let rows = pieces_by_rule(&run, words);
            for &row in &rows {
                add(row, 1.0 / rows.len() as f32);
            }
        }
    }
    counts
}

fn pieces_by_rule(run: &str, words: &HashMap<&str, u32>) -> Vec<u32> {
    let (mut at, mut rows) = (0, Vec::new());
    while at < run.len() && rows.len() < 64 {
        let piece = (3..=12)
            .rev()
            .filter_map(|len| Some((len, run.get(at..at + len)?)))
            .find_map(|(len, piece)| Some((len, *words.get(piece)?)));
        match piece {
            Some((len, row)) => {
                rows.push(row);
                at += len;
            }
            None => at += 1,
        }
    }
    rows
}

fn counts(model: &StaticModel, text: &str) -> Vec<(u32, f32)> {
    let mut counts = Counts::new(model.words.count);
    model.count(text, &mut counts, |_| 1.0);
    counts.seen.iter().map(|&row| (row, counts.by_row[row as usize])).collect()
}

fn words_of(model: &StaticModel) -> HashMap<&'static str, u32> {
    std::str::from_utf8(model.words.list).unwrap().split('\n').zip(0..).collect()
}

/// A model file with rows of two dimensions: word *i* has the row (1, *i*) and the weights 1.
fn file(words: &[&str]) -> Vec<u8> {
    let list = words.join("\n");
    let mut bytes = MAGIC.to_vec();
    for number in [words.len(), 2, 400, list.len()] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(1f32.to_le_bytes().repeat(2 * words.len()));
    (0..words.len()).for_each(|row| bytes.extend([1, row as u8]));
    bytes.extend(list.bytes());
    bytes
}

fn read(bytes: Vec<u8>) -> Result<StaticModel> {
    StaticModel::read(bytes.leak())
}

#[test]
fn identifiers_are_split() {
    assert_eq!(runs("HTTPServer2 parseURLs"), ["HTTP", "Server", "2", "parse", "UR", "Ls"]);
    assert_eq!(
        runs("snake_case x1Y2 ABc É__9"),
        ["snake", "case", "x", "1", "Y", "2", "A", "Bc", "9"]
    );
    assert!(runs("").is_empty() && runs("日本語 _-").is_empty());
}

#[test]
fn the_embedded_model_is_read_and_every_word_is_found() {
    let model = StaticModel::built_in();
    assert_eq!((model.dim(), model.runs_max, model.words.count), (256, 400, 40_000));
    let words = words_of(&model);
    assert_eq!(words.len(), 40_000);
    for (word, &row) in &words {
        assert_eq!(model.words.row(word.as_bytes()), (word.len() <= 24).then_some(row), "{word}");
        assert_eq!(
            model.words.row(word.to_uppercase().as_bytes()),
            model.words.row(word.as_bytes())
        );
    }
    assert_eq!(model.words.row(b"xyzzyfrobnicatorial"), None);
}

#[test]
fn only_400_runs_are_read() {
    let model = read(file(&["word", "late"])).unwrap();
    assert_eq!(counts(&model, &("word ".repeat(399) + "late late")), [(0, 399.0), (1, 1.0)]);
    assert_eq!(counts(&model, &("9 ".repeat(400) + "late")), []);
}

#[test]
fn long_runs_are_ignored_and_pieces_are_bounded() {
    let model = read(file(&["abc", "abcd", "zz"])).unwrap();
    assert_eq!(counts(&model, &"abc".repeat(66)).len(), 1, "198 characters are read");
    assert_eq!(counts(&model, &"abc".repeat(67)), [], "201 are not");
    assert_eq!(counts(&model, "abcdabc"), [(1, 0.5), (0, 0.5)], "longest first");
    assert_eq!(counts(&model, "xxabcx zzz zz"), [(0, 1.0), (2, 1.0)], "no pieces below three");
    let mut rows = [9; PIECES_MAX];
    assert_eq!(model.words.pieces("abc".repeat(66).as_bytes(), &mut rows), PIECES_MAX);
}

#[test]
fn words_longer_than_24_are_split_even_when_listed() {
    let long = "abcdefghijklmnopqrstuvwxy";
    let model = read(file(&[long, "abcdef"])).unwrap();
    assert_eq!(counts(&model, long), [(1, 1.0)]);
    assert_eq!(counts(&model, &long[..24]), [(1, 1.0)]);
}

#[test]
fn malformed_files_are_refused() {
    let good = file(&["one", "two"]);
    assert!(read(good.clone()).is_ok());
    for len in 0..good.len() {
        assert!(read(good[..len].to_vec()).is_err(), "cut at {len}");
    }
    assert!(read([good.clone(), b"x".to_vec()].concat()).is_err());
    for words in [&["one", "one"][..], &["one", "Two"], &["one", ""], &["a b"], &["a\nb"]] {
        assert!(read(file(words)).is_err(), "{words:?}");
    }
    for (at, value) in [(8, u32::MAX), (12, u32::MAX), (12, 0), (20, 0), (8, 0), (8, 1)] {
        let mut bad = good.clone();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        assert!(read(bad).is_err(), "{value} at {at}");
    }
}

#[test]
fn paths_give_stem_and_folders() {
    let parts = |path: &'static str| {
        let (stem, folders) = path_parts(path);
        (stem, folders)
    };
    for (path, stem, folders) in [
        ("src/net/http/retry_policy.rs", "retry_policy", "net http"),
        ("src/router/index.ts", "router", "src"),
        ("a/b/c/MOD.rs", "c", "a b"),
        ("main.go", "main", ""),
        (".bashrc", ".bashrc", ""),
        ("x/..gitignore", "..gitignore", "x"),
        ("a//b/c.tar.gz", "c.tar", "a b"),
        ("Makefile", "Makefile", ""),
        ("pkg/__init__.py", "pkg", ""),
        ("", "", ""),
        ("/", "", ""),
    ] {
        assert_eq!(parts(path), (stem, folders.to_owned()), "{path}");
    }
}

#[test]
fn passages_do_not_depend_on_their_neighbours() {
    let model = StaticModel::built_in();
    let texts: Vec<String> =
        (0..300).map(|i| format!("fn retry_{i}() {{ open(path{i}) }}")).collect();
    let paths: Vec<String> = (0..300).map(|i| format!("src/net/file{}.rs", i / 7)).collect();
    let passages: Vec<Passage<'_>> = (texts.iter().zip(&paths))
        .map(|(code, path)| Passage { path, names: "", context: "", code })
        .collect();
    let together = model.passages(&passages);
    for (passage, vector) in passages.iter().zip(&together) {
        assert_eq!(model.passages(&[*passage])[0], *vector, "{}", passage.path);
        assert!((super::super::norm(vector) - 1.0).abs() < 1e-5);
    }
    assert_ne!(together[0], together[7]);
    assert!(model.passages(&[]).is_empty());
}

#[test]
fn texts_without_a_known_word_give_zero() {
    let model = StaticModel::built_in();
    let nothing = Passage { path: "", names: "", context: "", code: "!!! 日本語" };
    assert!(model.passages(&[nothing])[0].iter().all(|&value| value == 0.0));
    assert!(model.query("", |_| 1.0).iter().all(|&value| value == 0.0));
}

#[test]
fn the_code_of_a_stored_vector_is_found_again() {
    let (path, names, code) =
        ("src/net/retry.rs", "next_delay Backoff", "self.attempt += 1; self.base * 2");
    for dim in [256, 128] {
        let model = StaticModel::built_in().cut(dim);
        let of = |path, names| {
            let passage = Passage { path, names, context: "", code };
            quantise(&model.passages(&[passage])[0])
        };
        let stored = of(path, names);
        assert_eq!(stored.len(), dim);
        let stored = StoredVector { path, names, values: &stored };
        let (found, alone) = (model.code_rows(&[stored]), of("", ""));
        assert!(super::super::cosine(&found, &alone) > 0.998);
        assert!(super::super::cosine(stored.values, &alone) < 0.95);
    }
}

#[test]
fn a_rare_word_of_a_question_can_count_more() {
    let model = StaticModel::built_in();
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let parser = model.query("parser", |_| 1.0);
    let even = model.query("server parser", |_| 1.0);
    let weighed = model.query("Server parser", |word| if word == "server" { 0.2 } else { 1.0 });
    assert!(cosine(&weighed, &parser) > cosine(&even, &parser) + 0.1);
}

proptest! {
    #[test]
    fn runs_are_those_of_the_regular_expression(text in "[A-Za-z0-9_ é.]{0,60}") {
        prop_assert_eq!(runs(&text), runs_by_regex(&text));
    }

    #[test]
    fn any_text_is_split(text in any::<String>()) {
        prop_assert_eq!(runs(&text), runs_by_regex(&text));
    }

    #[test]
    fn counts_follow_the_rules(
        words in prop::collection::vec("[a-z]{1,9}|[A-Z]{1,5}|[0-9]{1,6}|(get|set|user|node|http){1,8}", 0..40),
        separator in "[_ ]?",
    ) {
        let model = StaticModel::built_in();
        let text = words.join(&separator);
        prop_assert_eq!(counts(&model, &text), counts_by_rule(&text, &words_of(&model)));
    }
}
