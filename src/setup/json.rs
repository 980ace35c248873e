//! JSON, with comments and trailing commas or without: an entry in, an entry out, all else as it is.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::launch::{Field, When};
use super::merge::Fault;

pub(super) fn set(text: &str, at: &[&str], name: &str, fields: &[Field]) -> Result<String, Fault> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let (root, mut object) = parse(text)?;
    for key in at {
        object = child(&object, key)?;
    }
    if object.get(name).is_none() {
        let entry = fields.iter().map(|f| (f.key.to_owned(), input(&f.value))).collect();
        object.append(name, CstInputValue::Object(entry));
        return Ok(root.to_string());
    }
    let entry = child(&object, name)?;
    for field in fields {
        match entry.get(field.key) {
            None if field.when == When::New => {}
            None => drop(entry.append(field.key, input(&field.value))),
            Some(there) if field.when == When::Always => {
                let value = there.value().and_then(|value| value.to_serde_value());
                if value.as_ref() != Some(&field.value) {
                    there.set_value(input(&field.value));
                }
            }
            Some(_) => {}
        }
    }
    Ok(root.to_string())
}

pub(super) fn unset(text: &str, at: &[&str], name: &str) -> Result<Option<String>, Fault> {
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let (root, top) = parse(text)?;
    let Some(servers) = walk(&top, at) else { return Ok(Some(text.to_owned())) };
    let Some(entry) = servers.get(name) else { return Ok(Some(text.to_owned())) };
    entry.remove();
    // What was made for the entry goes with it, unless a comment would go too.
    for depth in (0..at.len()).rev() {
        let holder = walk(&top, &at[..depth]).expect("walked before");
        let emptied = walk(&holder, &at[depth..=depth]).is_some_and(|object| is_bare(&object));
        let (text, count) = (root.to_string(), comments(&root.children()));
        match holder.get(at[depth]) {
            Some(property) if emptied => property.remove(),
            _ => break,
        }
        if comments(&root.children()) < count {
            return Ok(Some(text));
        }
    }
    let commented = root.children().iter().any(CstNode::is_comment);
    Ok((!is_bare(&top) || commented).then(|| root.to_string()))
}

pub(super) fn has(text: &str, at: &[&str], name: &str) -> Result<bool, Fault> {
    if text.trim().is_empty() {
        return Ok(false);
    }
    let (_, top) = parse(text)?;
    Ok(walk(&top, at).is_some_and(|servers| servers.get(name).is_some()))
}

/// Whether `at` leads to an object that holds objects or nothing, and so is no entry itself.
pub(super) fn has_object(text: &str, at: &[&str]) -> bool {
    let Ok((_, top)) = parse(text) else { return false };
    walk(&top, at).is_some_and(|object| {
        object.properties().iter().all(|property| property.object_value().is_some())
    })
}

/// The text and its outermost object.
fn parse(text: &str) -> Result<(CstRootNode, CstObject), Fault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options)
        .map_err(|error| Fault::at(error.line_display(), format!("not JSON: {}", error.kind())))?;
    let top = root.object_value().ok_or_else(|| Fault::new("it does not hold a JSON object"))?;
    Ok((root, top))
}

fn walk(top: &CstObject, at: &[&str]) -> Option<CstObject> {
    at.iter().try_fold(top.clone(), |object, key| object.object_value(key))
}

/// The object under `key`, made when nothing is there.
fn child(object: &CstObject, key: &str) -> Result<CstObject, Fault> {
    object
        .object_value_or_create(key)
        .ok_or_else(|| Fault::new(format!("`{key}` is something other than an object")))
}

/// Whether an object has neither properties nor comments.
fn is_bare(object: &CstObject) -> bool {
    object.properties().is_empty() && !object.children().iter().any(CstNode::is_comment)
}

/// How many comments there are among `nodes` and in them.
fn comments(nodes: &[CstNode]) -> usize {
    nodes.iter().map(|node| usize::from(node.is_comment()) + comments(&node.children())).sum()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(k, v)| (k.clone(), input(v))).collect())
        }
    }
}
