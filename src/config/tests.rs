//! The tables of `keys` say what the comments of the default configuration say; reading never
//! panics.

use proptest::prelude::*;

use super::keys::{self, DECIMAL_RANGES, DEFAULTS, RANGES, TRUSTED};
use super::{DEFAULT_YAML, overlay};

/// Every key with the comment above it, in the order of the file.
fn commented() -> Vec<(String, String)> {
    let page = super::page();
    let row = |line: &str| {
        let (key, rest) = line.strip_prefix("| `")?.split_once("` | `")?;
        let (_, words) = rest.split_once("` | ")?;
        Some((key.to_owned(), words.trim_end_matches(" |").to_owned()))
    };
    page.lines().filter_map(row).collect()
}

fn comment_of(key: &str) -> String {
    let found = commented().into_iter().find(|(known, _)| known == key);
    found.unwrap_or_else(|| panic!("`{key}` is no key")).1
}

#[test]
fn every_key_has_a_comment() {
    let commented = commented();
    let keys: Vec<&String> = commented.iter().map(|(key, _)| key).collect();
    let known: Vec<&String> = DEFAULTS.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, known);
    for (key, comment) in &commented {
        assert!(comment.len() > 20, "`{key}` has no comment that explains it: {comment}");
    }
}

#[test]
fn every_range_stands_in_the_comment_and_holds_the_default() {
    for (key, least, greatest) in RANGES {
        let comment = comment_of(key);
        assert!(comment.contains(&format!("{least} to {greatest}")), "`{key}`: {comment}");
        let default = keys::default_of(key).and_then(serde_yaml::Value::as_u64).unwrap();
        assert!((*least..=*greatest).contains(&default), "`{key}`");
    }
    for (key, least, greatest) in DECIMAL_RANGES {
        let comment = comment_of(key);
        assert!(comment.contains(&format!("{least:.1} to {greatest:.1}")), "`{key}`: {comment}");
        let default = keys::default_of(key).and_then(serde_yaml::Value::as_f64).unwrap();
        assert!((*least..=*greatest).contains(&default), "`{key}`");
    }
    let numbers = DEFAULTS.iter().filter(|(_, value)| value.is_number()).count();
    assert_eq!(numbers, RANGES.len() + DECIMAL_RANGES.len(), "a number without a range");
}

#[test]
fn decimal_numbers_are_read_and_kept_in_range() {
    let read = |text: &str| {
        overlay::read(&format!("similarity:\n  find_similar_min_score: {text}\n"), false)
    };
    assert!(read("0.5").is_ok() && read("1").is_ok() && read("0").is_ok());
    for (text, named) in
        [("1.5", "is 1.5"), ("-1", "is -1"), (".nan", "is NaN"), ("high", "takes a number")]
    {
        let error = format!("{:?}", read(text).unwrap_err());
        assert!(error.contains(named), "{text}: {error}");
    }
}

#[test]
fn every_choice_stands_in_the_comment_and_fits_its_type() {
    for (key, default) in DEFAULTS.iter() {
        for word in keys::choices(key) {
            assert!(comment_of(key).contains(word), "`{key}` does not name `{word}`");
            let flag = (key.clone(), word.to_owned());
            let root = std::env::temp_dir();
            let sources = super::Sources { root, file: None, overrides: vec![flag] };
            super::Config::load(&sources).unwrap();
        }
        let choices = keys::choices(key);
        assert!(choices.is_empty() || choices.contains(&default.as_str().unwrap()));
    }
}

#[test]
fn what_asks_for_trust_says_so() {
    let others = ["index_dir", "files.file_bytes_max"];
    for (key, comment) in commented() {
        let asks = TRUSTED.contains(&key.as_str()) || others.contains(&key.as_str());
        assert_eq!(comment.contains("sks for trust"), asks, "`{key}`: {comment}");
    }
}

#[test]
fn the_defaults_pass_their_own_checks_without_trust() {
    let read = overlay::read(DEFAULT_YAML, false).unwrap();
    assert_eq!(read, DEFAULTS.iter().cloned().collect());
}

#[test]
fn text_of_a_file_is_shown_without_control_characters() {
    assert_eq!(keys::shown("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    assert_eq!(keys::shown(&"é".repeat(100)).chars().count(), 81);
}

proptest! {
    #[test]
    fn reading_never_panics(text in "\\PC{0,60}|[a-z:\\[\\]{}&*!#|>'\" \n-]{0,60}", trusted: bool) {
        let _ = overlay::read(&text, trusted);
    }

    #[test]
    fn reading_broken_defaults_never_panics(
        cut in 0..DEFAULT_YAML.len(),
        with in "[a-z:\\[{&*! \n-]{0,4}",
    ) {
        let cut = DEFAULT_YAML.floor_char_boundary(cut);
        let _ = overlay::read(&format!("{}{with}", &DEFAULT_YAML[..cut]), false);
        let _ = overlay::read(&format!("{with}{}", &DEFAULT_YAML[cut..]), false);
    }
}
