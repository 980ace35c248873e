//! YAML: an entry in, an entry out, all else as it is.
//!
//! Lines are put in, replaced and taken out as text, so that comments and style stay; then old and
//! new text are parsed and must differ by the entry alone. A text that fails this, such as a map
//! written in braces, is left to a person.

use std::ops::Range;

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::launch::{Field, When};
use super::merge::Fault;

/// How far an entry is indented in a text that does not show it.
const INDENT: usize = 2;

pub(super) fn set(text: &str, at: &[&str], name: &str, fields: &[Field]) -> Result<String, Fault> {
    let (head, old) = (at[0], parse(text)?);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let wanted = wanted(&old, head, name, fields)?;
    match Found::of(&lines, head, name) {
        Some(Found { entry: Some(entry), .. }) => update(&mut lines, entry, fields),
        Some(Found { children, indent, .. }) => {
            let rows = entry(name, fields, indent);
            lines.splice(children.end..children.end, rows);
        }
        None => {
            lines.push(format!("{head}:"));
            lines.extend(entry(name, fields, INDENT));
        }
    }
    let new = joined(&lines);
    if parse(&new).is_ok_and(|value| value == wanted) { Ok(new) } else { Err(by_hand(head)) }
}

pub(super) fn unset(text: &str, at: &[&str], name: &str) -> Result<Option<String>, Fault> {
    let (head, mut wanted) = (at[0], parse(text)?);
    if !has(text, at, name)? {
        return Ok(Some(text.to_owned()));
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(Found { head: first, children, entry: Some(span), .. }) =
        Found::of(&lines, head, name)
    else {
        return Err(by_hand(head));
    };
    let is_alone = span.start == first + 1 && span.end == children.end;
    lines.drain(if is_alone { first..span.end } else { span });
    let map = wanted.as_mapping_mut().expect("`has` found the entry in it");
    map.get_mut(head).and_then(Value::as_mapping_mut).expect("as before").shift_remove(name);
    if is_alone {
        map.shift_remove(head);
    }
    let new = joined(&lines);
    if new.trim().is_empty() {
        return Ok(None);
    }
    if parse(&new).is_ok_and(|value| same(&value, &wanted)) {
        Ok(Some(new))
    } else {
        Err(by_hand(head))
    }
}

pub(super) fn has(text: &str, at: &[&str], name: &str) -> Result<bool, Fault> {
    Ok(parse(text)?.get(at[0]).is_some_and(|servers| servers.get(name).is_some()))
}

fn by_hand(head: &str) -> Fault {
    Fault::new(format!("`{head}` is not written in lines that can be changed safely"))
}

fn parse(text: &str) -> Result<Value, Fault> {
    let value: Value = serde_yaml::from_str(text).map_err(|error| Fault {
        line: error.location().map(|location| location.line()),
        what: format!("not YAML: {error}"),
    })?;
    match value {
        Value::Null | Value::Mapping(_) => Ok(value),
        _ => Err(Fault::new("it does not hold a YAML map")),
    }
}

/// Equal, where an empty map and nothing are the same.
fn same(a: &Value, b: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Mapping(map) => map.is_empty(),
        _ => false,
    };
    a == b || is_empty(a) && is_empty(b)
}

/// What a text means once the entry is in it.
fn wanted(old: &Value, head: &str, name: &str, fields: &[Field]) -> Result<Value, Fault> {
    let mut top = old.as_mapping().cloned().unwrap_or_default();
    let mut servers = map_under(&top, head)?;
    let is_new = !servers.contains_key(name);
    let mut entry = map_under(&servers, name)?;
    for field in fields {
        let is_there = entry.contains_key(field.key);
        let is_due = match field.when {
            When::Always => true,
            When::Missing => !is_there,
            When::New => is_new,
        };
        if is_due {
            let value = serde_yaml::to_value(&field.value).expect("JSON is YAML");
            entry.insert(field.key.into(), value);
        }
    }
    servers.insert(name.into(), entry.into());
    top.insert(head.into(), servers.into());
    Ok(top.into())
}

fn map_under(map: &Mapping, key: &str) -> Result<Mapping, Fault> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(Mapping::new()),
        Some(Value::Mapping(map)) => Ok(map.clone()),
        Some(_) => Err(Fault::new(format!("`{key}` is something other than a map"))),
    }
}

/// Where things stand in the lines of a text.
struct Found {
    /// The line of the key that holds the servers.
    head: usize,
    /// The lines below it, without blank lines and comments at their end.
    children: Range<usize>,
    /// How far the servers' names are indented.
    indent: usize,
    /// The lines of the entry.
    entry: Option<Range<usize>>,
}

impl Found {
    fn of(lines: &[String], head: &str, name: &str) -> Option<Self> {
        let first = lines.iter().position(|line| is_key(line, 0, head))?;
        let children = block(lines, first, 0);
        let rows = children.clone().filter(|row| is_content(&lines[*row]));
        let indent = rows.clone().map(|row| indent(&lines[row])).next().unwrap_or(INDENT);
        let start = rows.clone().find(|row| is_key(&lines[*row], indent, name));
        let entry = start.map(|row| row..block(lines, row, indent).end);
        Some(Self { head: first, children, indent, entry })
    }
}

/// The lines that belong to the key in line `first`, which is indented by `outer`.
fn block(lines: &[String], first: usize, outer: usize) -> Range<usize> {
    let mut end = first + 1;
    for (row, line) in lines.iter().enumerate().skip(first + 1) {
        if !is_content(line) {
            continue;
        }
        // A list may stand as far left as its key.
        let is_inside = indent(line) > outer || indent(line) == outer && is_item(line);
        if !is_inside {
            break;
        }
        end = row + 1;
    }
    first + 1..end
}

fn is_content(line: &str) -> bool {
    let text = line.trim_start();
    !text.is_empty() && !text.starts_with('#')
}

fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    text == "-" || text.starts_with("- ")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether `line` holds the plain key `key` at `at`, with or without a value.
fn is_key(line: &str, at: usize, key: &str) -> bool {
    let rest = line.trim_start().strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
    indent(line) == at && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Brings the entry in the lines `span` up to date.
fn update(lines: &mut Vec<String>, span: Range<usize>, fields: &[Field]) {
    let first = span.start + 1;
    let inner = lines[first..span.end].iter().find(|line| is_content(line));
    let inner = inner.map_or(indent(&lines[span.start]) + INDENT, |line| indent(line));
    let mut end = span.end;
    for field in fields {
        let rows = first..end;
        let there = rows.clone().find(|row| is_key(&lines[*row], inner, field.key));
        match there {
            None if field.when == When::New => {}
            None => {
                lines.insert(end, row(field, inner));
                end += 1;
            }
            Some(start) if field.when == When::Always => {
                let old = start..block(lines, start, inner).end.min(end);
                let text = lines[old.clone()].join("\n");
                let value = serde_yaml::from_str::<Value>(&text).ok();
                let value = value.and_then(|map| map.get(field.key).cloned());
                if value != serde_yaml::to_value(&field.value).ok() {
                    end -= old.len() - 1;
                    lines.splice(old, [row(field, inner)]);
                }
            }
            Some(_) => {}
        }
    }
}

/// The lines of a new entry.
fn entry(name: &str, fields: &[Field], indent: usize) -> Vec<String> {
    let head = format!("{}{name}:", " ".repeat(indent));
    let rows = fields.iter().map(|field| row(field, indent + INDENT));
    std::iter::once(head).chain(rows).collect()
}

/// One field on one line. JSON is YAML too.
fn row(field: &Field, indent: usize) -> String {
    let value = match &field.value {
        Json::String(text) if is_plain(text) => text.clone(),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(Json::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    };
    format!("{}{}: {value}", " ".repeat(indent), field.key)
}

/// Whether a text needs no quotes whatever its reader.
fn is_plain(text: &str) -> bool {
    ["sai", "stdio"].contains(&text)
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
