//! TOML: an entry in, an entry out, all else as it is.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::launch::{Field, When};
use super::merge::Fault;

pub(super) fn set(text: &str, at: &[&str], name: &str, fields: &[Field]) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let servers = servers(&mut document, at)?;
    let inline = servers.is_inline_table();
    let servers = servers.as_table_like_mut().expect("`servers` gives tables alone");
    let is_new = servers.get(name).is_none();
    if is_new {
        let entry = if inline {
            Item::Value(Value::InlineTable(InlineTable::new()))
        } else {
            Item::Table(Table::new())
        };
        servers.insert(name, entry);
    }
    let entry = servers
        .get_mut(name)
        .and_then(Item::as_table_like_mut)
        .ok_or_else(|| Fault::new(format!("`{name}` is something other than a table")))?;
    for field in fields {
        put(entry, field, is_new);
    }
    Ok(document.to_string())
}

pub(super) fn unset(text: &str, at: &[&str], name: &str) -> Result<Option<String>, Fault> {
    let mut document = parse(text)?;
    if !has(text, at, name)? {
        return Ok(Some(text.to_owned()));
    }
    let servers = servers(&mut document, at)?.as_table_like_mut().expect("`has` found a table");
    servers.remove(name);
    if servers.is_empty() {
        document.remove(at[0]);
    }
    let after = document.to_string();
    Ok((!after.trim().is_empty()).then_some(after))
}

pub(super) fn has(text: &str, at: &[&str], name: &str) -> Result<bool, Fault> {
    let document = parse(text)?;
    let servers = document.get(at[0]).and_then(Item::as_table_like);
    Ok(servers.is_some_and(|servers| servers.get(name).is_some()))
}

fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() + 1;
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        Fault::at(line, format!("not TOML: {what}"))
    })
}

/// The table of servers, made when there is none. Clients with TOML have it at the top.
fn servers<'a>(document: &'a mut DocumentMut, at: &[&str]) -> Result<&'a mut Item, Fault> {
    let mut made = Table::new();
    made.set_implicit(true);
    let item = document.entry(at[0]).or_insert(Item::Table(made));
    if item.is_table_like() {
        return Ok(item);
    }
    Err(Fault::new(format!("`{}` is something other than a table", at[0])))
}

fn put(entry: &mut dyn TableLike, field: &Field, is_new: bool) {
    match entry.get_mut(field.key) {
        None if field.when == When::New && !is_new => {}
        None => drop(entry.insert(field.key, Item::Value(value(&field.value)))),
        Some(there) if field.when == When::Always => {
            let wanted = value(&field.value);
            if there.as_value().is_some_and(|old| same(old, &wanted)) {
                return;
            }
            let decor = there.as_value().map(|old| old.decor().clone());
            *there = Item::Value(wanted);
            if let (Some(decor), Some(new)) = (decor, there.as_value_mut()) {
                *new.decor_mut() = decor;
            }
        }
        Some(_) => {}
    }
}

/// Whether two values are equal, however they are written.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}

/// Entries hold strings and lists of strings; whatever else a table row may ask for is written as
/// text.
fn value(json: &Json) -> Value {
    match json {
        Json::String(text) => Value::from(text.as_str()),
        Json::Bool(flag) => Value::from(*flag),
        Json::Array(items) => Value::Array(items.iter().map(value).collect::<Array>()),
        other => Value::from(other.to_string()),
    }
}
