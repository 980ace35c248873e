//! What may stand at a key: its type, its range, its choices, and who may set it?
//!
//! The keys and their types are those of the default configuration; ranges and choices stand here
//! and are named in its comments (held by a test).

use std::path::{Component, Path};
use std::sync::LazyLock;

use serde_yaml::Value;

use super::DEFAULT_YAML;
use crate::types::{Language, Mode, unknown};

/// Whole numbers: key, least, greatest.
pub(super) const RANGES: &[(&str, u64, u64)] = &[
    ("files.file_bytes_max", 1, 64 << 20),
    ("embedder.dimensions", 64, 256),
    ("embedder.fastembed.tokens_max", 16, 32_768),
    ("embedder.fastembed.batch", 1, 1024),
    ("embedder.http.timeout_s", 1, 3600),
    ("embedder.http.retries", 0, 10),
    ("embedder.http.batch", 1, 2048),
    ("search.limit", 1, 50),
    ("search.result_chars_max", 1000, 200_000),
    ("search.ann_threshold", 1, 1_000_000_000),
    ("similarity.duplicate_min_cluster_size", 2, 1000),
    ("similarity.top_k", 1, 50),
    ("limits.threads", 0, 1024),
    ("limits.duckdb_memory_mib", 64, 1 << 20),
    ("limits.lock_wait_s", 0, 3600),
    ("limits.request_s", 1, 86_400),
];

/// Numbers that need not be whole: key, least, greatest.
pub(super) const DECIMAL_RANGES: &[(&str, f64, f64)] = &[
    ("similarity.find_similar_min_score", 0.0, 1.0),
    ("similarity.duplicate_min_score", 0.0, 1.0),
];

/// Keys that a configuration found in the repository may not move off their default: they widen
/// what is indexed, load code, read elsewhere, or send source code away.
pub(super) const TRUSTED: &[&str] = &[
    "files.respect_ignore_files",
    "files.hidden",
    "files.submodules",
    "embedder.kind",
    "embedder.fastembed.folder",
    "embedder.fastembed.onnx_runtime",
    "embedder.http.url",
    "embedder.http.token_env",
    "search.vss_extension",
];

/// The words that `key` chooses from; empty for a key without choices.
pub(super) fn choices(key: &str) -> Vec<&'static str> {
    match key {
        "embedder.kind" => vec!["static", "fastembed", "http"],
        "embedder.fastembed.pooling" => vec!["mean", "cls"],
        "embedder.http.style" => vec!["ollama", "openai"],
        "search.mode" => Mode::ALL.iter().map(|mode| mode.name()).collect(),
        "search.ann" => vec!["exact", "hnsw", "auto"],
        _ => Vec::new(),
    }
}

/// The default configuration, flat: dotted key and value, in the order of the file.
pub(super) static DEFAULTS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let tree = serde_yaml::from_str(DEFAULT_YAML).expect("the built-in configuration is YAML");
    let mut flat = Vec::new();
    flatten("", tree, &mut flat);
    flat
});

fn flatten(key: &str, value: Value, flat: &mut Vec<(String, Value)>) {
    let Value::Mapping(section) = value else { return flat.push((key.to_owned(), value)) };
    for (name, value) in section {
        let name = name.as_str().expect("the built-in keys are text").to_owned();
        flatten(&joined(key, &name), value, flat);
    }
}

/// `name` inside the section `key`.
pub(super) fn joined(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// The default at `key`, when it is a key that holds a value.
pub(super) fn default_of(key: &str) -> Option<&'static Value> {
    DEFAULTS.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// Whether `key` is a section of keys; the whole configuration is the section `""`.
pub(super) fn is_section(key: &str) -> bool {
    key.is_empty()
        || DEFAULTS
            .iter()
            .any(|(known, _)| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// What is wrong with a value, and the next step. Where it stands is added by whoever reads it.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn new(message: String) -> Self {
        Self { message, hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The problem of a key that does not exist.
pub(super) fn unknown_key(key: &str) -> Problem {
    let problem = Problem::new(format!("unknown key `{}`", shown(key)));
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_lowercase();
    let wanted = key.to_lowercase();
    let nearest = DEFAULTS
        .iter()
        .map(|(known, _)| {
            let whole = strsim::jaro_winkler(&wanted, known);
            let end = strsim::jaro_winkler(&last(key), &last(known));
            (whole + 2.0 * end, known)
        })
        .filter(|(likeness, _)| *likeness > 2.2)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, known)) => {
            problem.hint(format!("did you mean `{known}`? `sai config` lists every key"))
        }
        None => problem.hint("`sai config` lists every key"),
    }
}

/// Whether `value` may stand at `key`. A trusted source may set everything that is in range.
pub(super) fn check(key: &str, value: &Value, trusted: bool) -> Result<(), Problem> {
    let Some(default) = default_of(key) else { return Err(unknown_key(key)) };
    if let Some(expected) = mismatch(default, value) {
        let given = given(value);
        return Err(Problem::new(format!("`{key}` takes {expected}, not {given}")));
    }
    check_range(key, value)?;
    if let Some(word) = value.as_str() {
        check_word(key, word)?;
    }
    if key == "index_dir" {
        check_index_dir(value.as_str().unwrap_or_default(), trusted)?;
    }
    if !trusted && asks_for_trust(key, value, default) {
        return Err(untrusted(key));
    }
    Ok(())
}

/// What `value` should be, when it is not of the default's type.
fn mismatch(default: &Value, value: &Value) -> Option<&'static str> {
    match (default, value) {
        (Value::Null, Value::Null | Value::String(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::String(_), Value::String(_))
        | (Value::Sequence(_), Value::Sequence(_)) => None,
        (Value::Number(whole), Value::Number(number)) if number.is_u64() || !whole.is_u64() => None,
        (Value::Null, _) => Some("text or null"),
        (Value::Bool(_), _) => Some("true or false"),
        (Value::Number(whole), _) if whole.is_u64() => Some("a whole number"),
        (Value::Number(_), _) => Some("a number"),
        (Value::Sequence(_), _) => Some("a list such as [a, b]"),
        _ => Some("text"),
    }
}

fn check_range(key: &str, value: &Value) -> Result<(), Problem> {
    let whole = RANGES.iter().find(|(known, ..)| *known == key);
    let decimal = DECIMAL_RANGES.iter().find(|(known, ..)| *known == key);
    let (number, range) = match (whole, value.as_u64(), decimal, value.as_f64()) {
        (Some((_, least, greatest)), Some(number), _, _)
            if !(least..=greatest).contains(&&number) =>
        {
            (number.to_string(), format!("{least} to {greatest}"))
        }
        // Not a number is in no range.
        (_, _, Some((_, least, greatest)), Some(number))
            if !(least..=greatest).contains(&&number) =>
        {
            (number.to_string(), format!("{least:.1} to {greatest:.1}"))
        }
        _ => return Ok(()),
    };
    Err(Problem::new(format!("`{key}` is {number}")).hint(format!("it may be {range}")))
}

/// Whether `word` may stand at `key`, or as an item of the list at `key`.
pub(super) fn check_word(key: &str, word: &str) -> Result<(), Problem> {
    let choices = choices(key);
    let known = choices.is_empty() || choices.contains(&word);
    let error = match key {
        "files.languages" => match Language::from_name(word) {
            Ok(_) => return Ok(()),
            Err(error) => error,
        },
        _ if known => return Ok(()),
        _ => unknown(&format!("`{key}`"), &shown(word), choices.into_iter()),
    };
    Err(Problem { message: error.to_string(), hint: error.next_step().map(str::to_owned) })
}

/// The index folder must be a folder of its own; without trust it must also lie inside the root
/// and outside the data of a version control system.
fn check_index_dir(dir: &str, trusted: bool) -> Result<(), Problem> {
    let mut parts = Path::new(dir).components().peekable();
    if dir.trim().is_empty() || Path::new(dir).components().all(|part| part == Component::CurDir) {
        return Err(Problem::new(format!("`index_dir` is `{}`, the root itself", shown(dir)))
            .hint("name a folder that holds nothing else, such as `.index`"));
    }
    if dir.contains(char::is_control) {
        return Err(Problem::new(format!("`index_dir` is `{}`, no name for a folder", shown(dir)))
            .hint("leave out control characters; the usual name is `.index`"));
    }
    let inside = parts.all(|part| match part {
        Component::Normal(name) => {
            ![".git", ".hg", ".svn"].iter().any(|taken| name.eq_ignore_ascii_case(taken))
        }
        Component::CurDir => true,
        _ => false,
    });
    if trusted || inside { Ok(()) } else { Err(untrusted("index_dir")) }
}

fn asks_for_trust(key: &str, value: &Value, default: &Value) -> bool {
    if key == "files.file_bytes_max" {
        return value.as_u64() > default.as_u64();
    }
    TRUSTED.contains(&key) && value != default
}

fn untrusted(key: &str) -> Problem {
    Problem::new(format!("a configuration found in the repository may not set `{key}` so")).hint(
        "it may only narrow what is indexed; if you trust the file, name it yourself: \
         `--config sai-cfg.yml`",
    )
}

/// What stands in the file, in words.
fn given(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(value) => format!("`{value}`"),
        Value::String(value) => format!("the text `{}`", shown(value)),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) | Value::Tagged(_) => "a section of keys".to_owned(),
    }
}

/// Text of a file as it can be shown on a terminal: escaped and cut.
pub(super) fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    let cut: String = text.chars().take(CHARS_MAX).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    let escaped = cut.chars().map(|c| match c {
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    });
    escaped.collect::<String>() + dots
}
