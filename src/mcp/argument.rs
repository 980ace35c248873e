//! What may a tool be given, and what did the agent mean by what it gave?
//!
//! One table a tool makes both its input schema and its reader. The schema is flat and closed and
//! uses only what every client accepts: one `type` a property, no references, no formats, no null
//! defaults. The reader is more forgiving than the schema, because models are not exact: numbers
//! and booleans may come as strings, a list may be a single string, `null` means absent, and names
//! that models invent are understood. What it cannot read, it refuses by name.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::types::unknown;

/// One argument of a tool.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    /// Other names that are taken for it.
    pub(super) aliases: &'static [&'static str],
    pub(super) shape: Shape,
    pub(super) required: bool,
    /// What a model reads about it.
    pub(super) about: &'static str,
}

/// What an argument looks like.
#[derive(Debug)]
pub(super) enum Shape {
    /// Any string.
    Text,
    /// One of these.
    Choice(fn() -> Vec<&'static str>),
    /// Several strings. The schema says string, as some clients refuse unions: commas stand between
    /// them, other than commas within braces.
    List,
    /// Several strings that may hold commas: an array.
    Strings,
    /// A whole number of this range.
    Number(i64, i64),
    /// A number of this range.
    Decimal(f64, f64),
    /// True or false.
    Flag,
}

/// The input schema of a tool with these arguments.
pub(super) fn schema(arguments: &[Argument]) -> JsonObject {
    let mut properties = JsonObject::new();
    for argument in arguments {
        let mut property = match argument.shape {
            Shape::Text | Shape::List => json!({"type": "string"}),
            Shape::Strings => json!({"type": "array", "items": {"type": "string"}}),
            Shape::Choice(values) => json!({"type": "string", "enum": values()}),
            Shape::Number(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
            Shape::Decimal(min, max) => json!({"type": "number", "minimum": min, "maximum": max}),
            Shape::Flag => json!({"type": "boolean"}),
        };
        property["description"] = argument.about.into();
        properties.insert(argument.name.to_owned(), property);
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    let required: Vec<&str> = arguments.iter().filter(|a| a.required).map(|a| a.name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// What the agent gave, under the arguments' own names.
#[derive(Debug)]
pub(super) struct Arguments {
    given: JsonObject,
}

impl Arguments {
    /// Reads `given` by the table `known`. A tool without arguments ignores what it is given: some
    /// clients invent a placeholder for it.
    ///
    /// # Errors
    /// Usage: a name that is unknown, or two names for one argument.
    pub(super) fn read(known: &[Argument], given: JsonObject) -> Result<Self> {
        let mut read = JsonObject::new();
        if known.is_empty() {
            return Ok(Self { given: read });
        }
        for (key, value) in given {
            let name = find(known, &key).ok_or_else(|| {
                unknown("argument", &key, known.iter().map(|argument| argument.name))
            })?;
            if value.is_null() {
                continue;
            }
            if read.insert(name.to_owned(), value).is_some() {
                let message = format!("`{name}` is given twice, the second time as `{key}`");
                return Err(Error::usage(message).hint(format!("give `{name}` once")));
            }
        }
        Ok(Self { given: read })
    }

    /// A string; empty when absent.
    ///
    /// # Errors
    /// Usage: it is a list or an object.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        match self.given.get(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// One word for the caller to look up: trimmed, `None` when absent or empty.
    ///
    /// # Errors
    /// As [`Arguments::text`].
    pub(super) fn word(&self, name: &str) -> Result<Option<String>> {
        let text = self.text(name)?;
        let word = text.trim();
        Ok((!word.is_empty()).then(|| word.to_owned()))
    }

    /// A whole number, brought into `range`; also `"10"` and `10.0`.
    ///
    /// # Errors
    /// Usage: it is no whole number.
    pub(super) fn number(&self, name: &str, range: (i64, i64)) -> Result<Option<i64>> {
        Ok(self.whole(name)?.map(|number| number.clamp(range.0, range.1)))
    }

    /// A whole number as it was given; also `"10"` and `10.0`.
    ///
    /// # Errors
    /// Usage: it is no whole number.
    pub(super) fn whole(&self, name: &str) -> Result<Option<i64>> {
        match self.float(name, "a whole number")? {
            // Values beyond i64 saturate.
            Some(number) if number.fract() == 0.0 => Ok(Some(number as i64)),
            Some(_) => Err(wrong(name, "a whole number", &self.given[name])),
            None => Ok(None),
        }
    }

    /// A number, brought into `range`; also `"0.5"`.
    ///
    /// # Errors
    /// Usage: it is no number.
    pub(super) fn decimal(&self, name: &str, range: (f64, f64)) -> Result<Option<f64>> {
        Ok(self.float(name, "a number")?.map(|number| number.clamp(range.0, range.1)))
    }

    fn float(&self, name: &str, wanted: &str) -> Result<Option<f64>> {
        let Some(value) = self.given.get(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| !number.is_nan());
        number.map(Some).ok_or_else(|| wrong(name, wanted, value))
    }

    /// A yes or no; absent means no.
    ///
    /// # Errors
    /// Usage: it is neither.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        match self.given.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => match value.as_str().map(|text| text.trim().to_lowercase()).as_deref() {
                Some("true") => Ok(true),
                Some("false" | "") => Ok(false),
                _ => Err(wrong(name, "true or false", value)),
            },
        }
    }

    /// Strings: a list, a list written as JSON, or one string with commas between.
    ///
    /// # Errors
    /// Usage: it is something else.
    pub(super) fn list(&self, name: &str) -> Result<Vec<String>> {
        self.items(name, split_at_commas)
    }

    /// Strings that may hold commas: a list, a list written as JSON, or one string.
    ///
    /// # Errors
    /// Usage: it is something else.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>> {
        self.items(name, |text| vec![text.to_owned()])
    }

    fn items(&self, name: &str, split: impl Fn(&str) -> Vec<String>) -> Result<Vec<String>> {
        let Some(value) = self.given.get(name) else { return Ok(Vec::new()) };
        let items = match value {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| split(text)),
            other => serde_json::from_value(other.clone())
                .map_err(|_| wrong(name, "a string or a list of strings", other))?,
        };
        let trimmed = items.iter().map(|item: &String| item.trim().to_owned());
        Ok(trimmed.filter(|item| !item.is_empty()).collect())
    }
}

/// The argument that is called `key`: by name, by alias, or by either written in another case.
fn find(known: &[Argument], key: &str) -> Option<&'static str> {
    let called = |key: &str| {
        known.iter().find(|a| a.name == key || a.aliases.contains(&key)).map(|a| a.name)
    };
    called(key).or_else(|| called(&snake_case(key)))
}

/// `pathGlob` and `path-glob` as `path_glob`.
fn snake_case(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

/// The parts of `text` between commas that stand outside of braces (a glob's `{a,b}`).
fn split_at_commas(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::to_owned).collect()
}

fn wrong(name: &str, wanted: &str, given: &Value) -> Error {
    let given = given.to_string();
    let given = super::escape::clip(&given, 60);
    Error::usage(format!("`{name}` must be {wanted}, not {given}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Argument] = &[
        Argument {
            name: "query",
            aliases: &["q"],
            shape: Shape::Text,
            required: true,
            about: "What.",
        },
        Argument {
            name: "limit",
            aliases: &["max_results"],
            shape: Shape::Number(1, 50),
            required: false,
            about: "How many.",
        },
        Argument {
            name: "path_glob",
            aliases: &[],
            shape: Shape::List,
            required: false,
            about: "Where.",
        },
        Argument {
            name: "explain",
            aliases: &[],
            shape: Shape::Flag,
            required: false,
            about: "Why.",
        },
        Argument {
            name: "min_score",
            aliases: &[],
            shape: Shape::Decimal(0.0, 1.0),
            required: false,
            about: "How alike.",
        },
        Argument {
            name: "mode",
            aliases: &[],
            shape: Shape::Choice(|| vec!["a", "b"]),
            required: false,
            about: "How.",
        },
    ];

    fn read(given: Value) -> Result<Arguments> {
        let Value::Object(given) = given else { panic!("an object") };
        Arguments::read(KNOWN, given)
    }

    #[test]
    fn the_schema_is_flat_and_closed() {
        let wanted = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What."},
                "limit":
                    {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many."},
                "path_glob": {"type": "string", "description": "Where."},
                "explain": {"type": "boolean", "description": "Why."},
                "min_score":
                    {"type": "number", "minimum": 0.0, "maximum": 1.0, "description": "How alike."},
                "mode": {"type": "string", "enum": ["a", "b"], "description": "How."},
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(schema(KNOWN)), wanted);
        let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(Value::Object(schema(&[])), empty);
    }

    #[test]
    fn aliases_and_other_cases_are_understood() {
        let given = read(json!({"Q": "x", "maxResults": 3, "path-glob": "a"})).unwrap();
        assert_eq!(given.text("query").unwrap(), "x");
        assert_eq!(given.number("limit", (1, 50)).unwrap(), Some(3));
        assert_eq!(given.list("path_glob").unwrap(), ["a"]);
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = read(json!({"query": "x", "pathglobs": "a"})).unwrap_err();
        assert_eq!(error.to_string(), "unknown argument `pathglobs`");
        let hint = error.next_step().unwrap();
        assert!(hint.contains("did you mean `path_glob`"), "{hint}");
        assert!(hint.contains("query, limit, path_glob, explain, min_score, mode"), "{hint}");
    }

    #[test]
    fn one_argument_under_two_names_is_refused() {
        let error = read(json!({"query": "x", "q": "y"})).unwrap_err().to_string();
        assert!(error.contains("`query` is given twice"), "{error}");
        assert!(read(json!({"query": "x", "q": null})).is_ok());
    }

    #[test]
    fn numbers_may_be_strings_and_are_brought_into_range() {
        let number = |value: Value| read(json!({"limit": value})).unwrap().number("limit", (1, 50));
        for (value, wanted) in [
            (json!(10), 10),
            (json!("10"), 10),
            (json!(" 7 "), 7),
            (json!(10.0), 10),
            (json!(0), 1),
            (json!(-3), 1),
            (json!(1000), 50),
            (json!(1e300), 50),
            (json!(u64::MAX), 50),
        ] {
            assert_eq!(number(value.clone()).unwrap(), Some(wanted), "{value}");
        }
        assert_eq!(number(Value::Null).unwrap(), None);
        assert_eq!(number(json!("")).unwrap(), None);
        for value in [json!("ten"), json!(1.5), json!([3]), json!(true), json!("NaN"), json!("inf")]
        {
            let error = number(value.clone()).unwrap_err().to_string();
            assert!(error.starts_with("`limit` must be a whole number"), "{value}: {error}");
        }
    }

    #[test]
    fn decimals_may_be_strings_and_are_brought_into_range() {
        let decimal = |value: Value| {
            read(json!({"min_score": value})).unwrap().decimal("min_score", (0.0, 1.0))
        };
        for (value, wanted) in
            [(json!(0.5), 0.5), (json!("0.25"), 0.25), (json!(7), 1.0), (json!(-0.1), 0.0)]
        {
            assert_eq!(decimal(value.clone()).unwrap(), Some(wanted), "{value}");
        }
        assert_eq!(decimal(Value::Null).unwrap(), None);
        for value in [json!("high"), json!([0.5]), json!("NaN")] {
            let error = decimal(value.clone()).unwrap_err().to_string();
            assert!(error.starts_with("`min_score` must be a number"), "{value}: {error}");
        }
    }

    #[test]
    fn flags_may_be_strings() {
        let flag = |value: Value| read(json!({"explain": value})).unwrap().flag("explain");
        assert!(flag(json!(true)).unwrap() && flag(json!("True")).unwrap());
        assert!(!flag(json!(false)).unwrap() && !flag(json!("false")).unwrap());
        assert!(!flag(Value::Null).unwrap());
        assert!(flag(json!("maybe")).is_err());
    }

    #[test]
    fn lists_come_in_four_ways() {
        let list = |value: Value| read(json!({"path_glob": value})).unwrap().list("path_glob");
        for value in [
            json!(["a/**", "b.{rs,py}"]),
            json!("a/**,b.{rs,py}"),
            json!(" a/** , b.{rs,py},"),
            json!("[\"a/**\", \"b.{rs,py}\"]"),
        ] {
            assert_eq!(list(value.clone()).unwrap(), ["a/**", "b.{rs,py}"], "{value}");
        }
        assert_eq!(list(json!("[ab]*.rs")).unwrap(), ["[ab]*.rs"]);
        assert!(list(json!("")).unwrap().is_empty());
        assert!(list(json!([1])).is_err());
        assert!(list(json!({"a": 1})).is_err());
    }

    #[test]
    fn strings_keep_their_commas() {
        let strings =
            |value: Value| read(json!({"path_glob": value})).unwrap().strings("path_glob");
        assert_eq!(strings(json!("a, b.rs")).unwrap(), ["a, b.rs"]);
        assert_eq!(strings(json!(["a,b", "c"])).unwrap(), ["a,b", "c"]);
        assert_eq!(strings(json!("[\"a\"]")).unwrap(), ["a"]);
        assert!(strings(json!([])).unwrap().is_empty() && strings(json!(7)).is_err());
    }

    #[test]
    fn text_takes_scalars_and_refuses_the_rest() {
        let text = |value: Value| read(json!({"query": value})).unwrap().text("query");
        assert_eq!(text(json!(404)).unwrap(), "404");
        assert_eq!(text(Value::Null).unwrap(), "");
        let long = text(json!(vec!["x"; 100])).unwrap_err().to_string();
        assert!(long.starts_with("`query` must be a string, not [\"x\"") && long.len() < 120);
    }

    #[test]
    fn a_tool_without_arguments_ignores_placeholders() {
        let given = json!({"random_string": "x"}).as_object().unwrap().clone();
        assert!(Arguments::read(&[], given).is_ok());
    }
}
