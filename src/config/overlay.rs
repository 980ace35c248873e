//! Here are the defaults, a file and flags: which value is in force, and where does it come from?
//!
//! A file is read along the default configuration, so that every complaint knows its line.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};

use super::keys::{self, DEFAULTS, Problem};
use super::{Config, file};
use crate::error::{Error, Result};

/// Where a configuration is read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The folder that is indexed: absolute, canonical (see [`super::find_root`]).
    pub root: PathBuf,
    /// A file that the user named (`--config`) and therefore trusts. Without it `sai-cfg.yml` in
    /// the root is read when there is one, without trust.
    pub file: Option<PathBuf>,
    /// Flags: dotted key and value as YAML (JSON is YAML too). Trusted; a list replaces the list.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// The configuration of `root` without flags.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..Self::default() }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default configuration.
    Default,
    /// This file.
    File(PathBuf),
    /// A flag.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad("default"),
            Self::File(path) => f.pad(&path.display().to_string()),
            Self::Flag => f.pad("flag"),
        }
    }
}

/// An effective configuration and where each value comes from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What is in force.
    pub config: Config,
    /// Every dotted key with the origin of its value.
    pub origins: BTreeMap<String, Origin>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    values: Values,
}

/// Dotted keys with their values.
type Values = BTreeMap<String, Value>;

impl Loaded {
    /// Every key in the order of the default configuration: the key, its value as YAML on one line,
    /// and where the value comes from.
    pub fn rows(&self) -> Vec<(String, String, Origin)> {
        let row = |key: &String| {
            let value = self.values.get(key).map_or_else(String::new, one_line);
            let origin = self.origins.get(key).cloned().unwrap_or(Origin::Default);
            (key.clone(), value, origin)
        };
        DEFAULTS.iter().map(|(key, _)| row(key)).collect()
    }

    /// The configuration in force as a YAML document without comments.
    pub fn effective_yaml(&self) -> String {
        serde_yaml::to_string(&nested(&self.values)).expect("plain values are YAML")
    }
}

/// A value as YAML on one line. JSON's lists are YAML's.
pub(super) fn one_line(value: &Value) -> String {
    match value {
        Value::Sequence(_) => serde_json::to_string(value).expect("a list of text is JSON"),
        _ => serde_yaml::to_string(value).expect("plain values are YAML").trim_end().to_owned(),
    }
}

/// The defaults alone.
pub(super) fn built_in(root: PathBuf) -> Config {
    let values = DEFAULTS.iter().cloned().collect();
    deserialised(&values, root).expect("the built-in configuration fits its types")
}

/// Defaults, overlaid by the file, overlaid by flags.
pub(super) fn load(sources: &Sources) -> Result<Loaded> {
    let mut values: Values = DEFAULTS.iter().cloned().collect();
    let mut origins: BTreeMap<String, Origin> =
        DEFAULTS.iter().map(|(key, _)| (key.clone(), Origin::Default)).collect();
    let trusted = sources.file.is_some();
    let found = file::find(&sources.root, sources.file.as_deref())?;
    if let Some(path) = &found {
        let text = file::text(path)?;
        for (key, value) in read(&text, trusted).map_err(|problem| problem.in_file(path))? {
            origins.insert(key.clone(), Origin::File(path.clone()));
            values.insert(key, value);
        }
    }
    for (key, text) in &sources.overrides {
        let value = flag_value(key, text).map_err(Problem::of_flag)?;
        origins.insert(key.clone(), Origin::Flag);
        values.insert(key.clone(), value);
    }
    let config = deserialised(&values, sources.root.clone())?;
    let own = match origins.get("index_dir") {
        Some(Origin::Flag) => true,
        Some(Origin::File(_)) => trusted,
        _ => false,
    };
    file::check_index_dir(&config, own)?;
    Ok(Loaded { config, origins, file: found, values })
}

/// The typed configuration of checked values.
fn deserialised(values: &Values, root: PathBuf) -> Result<Config> {
    let mut config: Config = serde_yaml::from_value(nested(values))
        .map_err(|e| Error::usage("the configuration does not fit its types").because(e))?;
    let fastembed = &mut config.embedder.fastembed;
    for path in [&mut fastembed.folder, &mut fastembed.onnx_runtime].into_iter().flatten() {
        *path = root.join(&path);
    }
    config.root = root;
    Ok(config)
}

/// Sections out of dotted keys, in the order of the default configuration.
fn nested(values: &Values) -> Value {
    let mut tree = Mapping::new();
    for (key, _) in DEFAULTS.iter() {
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().expect("a key has a name");
        let section = parts.into_iter().fold(&mut tree, |section, part| {
            let inner = section.entry(part.into()).or_insert_with(|| Mapping::new().into());
            inner.as_mapping_mut().expect("a key is a section or a value, never both")
        });
        section.insert(last.into(), values.get(key).cloned().unwrap_or(Value::Null));
    }
    Value::Mapping(tree)
}

/// The value of a flag. What is not YAML of the key's type is taken as plain text where text is
/// wanted, so that `*.rs` and `yes` need no quotes.
fn flag_value(key: &str, text: &str) -> Result<Value, Problem> {
    let Some(default) = keys::default_of(key) else { return Err(keys::unknown_key(key)) };
    let parsed = serde_yaml::from_str::<Value>(text).ok();
    let wants_text = matches!(default, Value::String(_))
        || (default.is_null() && !parsed.as_ref().is_some_and(Value::is_null));
    let value = match parsed {
        Some(value @ Value::String(_)) => value,
        _ if wants_text => Value::String(text.to_owned()),
        Some(value) => value,
        None => return Err(Problem::new(format!("`{key}` cannot be `{}`", keys::shown(text)))),
    };
    keys::check(key, &value, true)?;
    for item in value.as_sequence().into_iter().flatten() {
        let Some(word) = item.as_str() else {
            return Err(Problem::new(format!("`{key}` takes a list of texts")));
        };
        keys::check_word(key, word)?;
    }
    Ok(value)
}

/// A problem with its line, from 1.
#[derive(Debug)]
pub(super) struct Located {
    line: Option<usize>,
    problem: Problem,
    cause: Option<serde_yaml::Error>,
}

impl Located {
    fn in_file(self, path: &Path) -> Error {
        let line = self.line.map_or_else(String::new, |line| format!(" line {line}"));
        let Problem { message, hint } = self.problem;
        let mut error = Error::usage(format!("`{}`{line}: {message}", path.display()));
        if let Some(hint) = hint {
            error = error.hint(hint);
        }
        match self.cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

impl Problem {
    fn of_flag(self) -> Error {
        let error = Error::usage(self.message);
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The values that stand in a document, each checked. Sections and lists without content set
/// nothing, so that all their lines may be comments.
pub(super) fn read(text: &str, trusted: bool) -> Result<Values, Located> {
    let reading = Reading { trusted, ..Reading::default() };
    let document = serde_yaml::Deserializer::from_str(text);
    match (At { reading: &reading, key: String::new() }).deserialize(document) {
        Ok(()) => Ok(reading.values.into_inner()),
        Err(cause) => {
            let line = cause.location().map(|location| location.line());
            match reading.problem.into_inner() {
                Some(problem) => Err(Located { line, problem, cause: None }),
                None => Err(Located {
                    line,
                    problem: Problem::new("this is not the YAML of a configuration".to_owned())
                        .hint("`sai config` shows every key with its value"),
                    cause: Some(cause),
                }),
            }
        }
    }
}

/// What reading a document has come to.
#[derive(Default)]
struct Reading {
    trusted: bool,
    values: RefCell<Values>,
    seen: RefCell<BTreeSet<String>>,
    problem: RefCell<Option<Problem>>,
}

impl Reading {
    /// Ends the reading here; the parser adds the position.
    fn fail<E: serde::de::Error>(&self, problem: Problem) -> E {
        let text = problem.message.clone();
        self.problem.replace(Some(problem));
        E::custom(text)
    }
}

/// The place of a value: the dotted key, `""` for the whole document.
struct At<'a> {
    reading: &'a Reading,
    key: String,
}

impl At<'_> {
    fn take<E: serde::de::Error>(self, value: Value) -> Result<(), E> {
        if keys::is_section(&self.key) {
            if value.is_null() {
                return Ok(());
            }
            let name = if self.key.is_empty() { "a configuration" } else { &self.key };
            return Err(self.reading.fail(Problem::new(format!("{name} is a section of keys"))));
        }
        let is_list = keys::default_of(&self.key).is_some_and(Value::is_sequence);
        if is_list && value.is_null() {
            return Ok(());
        }
        keys::check(&self.key, &value, self.reading.trusted)
            .map_err(|problem| self.reading.fail(problem))?;
        self.reading.values.borrow_mut().insert(self.key, value);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain value")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.take(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.take(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.take(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.take(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.take(value.into())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.take(Value::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        self.take(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Item(&self))? {
            list.push(Value::String(item));
        }
        self.take(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        if !keys::is_section(&self.key) {
            return self.take(Value::Mapping(Mapping::new()));
        }
        while let Some(key) = entries.next_key_seed(Key(&self))? {
            entries.next_value_seed(At { reading: self.reading, key })?;
        }
        Ok(())
    }
}

/// A key inside a section: known, and there for the first time.
struct Key<'a>(&'a At<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<String, D::Error> {
        document.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<String, E> {
        let Self(At { reading, key }) = self;
        let key = keys::joined(key, name);
        let known = keys::default_of(&key).is_some() || (keys::is_section(&key) && !key.is_empty());
        if !known {
            return Err(reading.fail(keys::unknown_key(&key)));
        }
        if !reading.seen.borrow_mut().insert(key.clone()) {
            let problem = Problem::new(format!("`{key}` stands here a second time"));
            return Err(reading.fail(problem.hint("keep one of them")));
        }
        Ok(key)
    }
}

/// An element of a list.
struct Item<'a>(&'a At<'a>);

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<String, D::Error> {
        document.deserialize_str(self)
    }
}

impl Visitor<'_> for Item<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E: serde::de::Error>(self, item: &str) -> Result<String, E> {
        let Self(At { reading, key }) = self;
        keys::check_word(key, item).map_err(|problem| reading.fail(problem))?;
        Ok(item.to_owned())
    }
}
