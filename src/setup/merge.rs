//! Here is a text and an entry: what does the text look like with it, or without it?
//!
//! The formats work on `\n` alone; a byte order mark and each line's own end are put back here, so
//! that a line that did not change keeps every byte.

use textdiff::{Algorithm, DiffTag, capture_diff_slices};

use super::clients::{Client, Format};
use super::launch::Field;
use super::{SERVER_NAME, json, toml, yaml};

/// Why a text is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// 1-based.
    pub(super) line: Option<usize>,
    /// A lower-case fragment.
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    pub(super) fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }
}

const BOM: char = '\u{feff}';

/// `text` with the entry as `fields` say.
pub(super) fn set(client: &Client, text: &str, fields: &[Field]) -> Result<String, Fault> {
    let at = keys(client, text);
    let edited = edit(text, |plain| {
        let after = match client.format {
            Format::Json => json::set(plain, at, SERVER_NAME, fields),
            Format::Toml => toml::set(plain, at, SERVER_NAME, fields),
            Format::Yaml => yaml::set(plain, at, SERVER_NAME, fields),
        };
        after.map(Some)
    })?;
    Ok(edited.expect("a text with an entry is not empty"))
}

/// `text` without the entry; `None` when nothing else was in it.
pub(super) fn unset(client: &Client, text: &str) -> Result<Option<String>, Fault> {
    let at = keys(client, text);
    edit(text, |plain| match client.format {
        Format::Json => json::unset(plain, at, SERVER_NAME),
        Format::Toml => toml::unset(plain, at, SERVER_NAME),
        Format::Yaml => yaml::unset(plain, at, SERVER_NAME),
    })
}

/// Whether `text` has an entry.
pub(super) fn has(client: &Client, text: &str) -> Result<bool, Fault> {
    let plain = plain(text);
    let at = keys(client, text);
    match client.format {
        Format::Json => json::has(&plain, at, SERVER_NAME),
        Format::Toml => toml::has(&plain, at, SERVER_NAME),
        Format::Yaml => yaml::has(&plain, at, SERVER_NAME),
    }
}

/// The keys that lead to the servers in `text`: the client's newer ones where the text has them.
fn keys(client: &Client, text: &str) -> &'static [&'static str] {
    match client.newer_keys {
        Some(newer) if json::has_object(&plain(text), newer) => newer,
        _ => client.keys,
    }
}

fn plain(text: &str) -> String {
    text.strip_prefix(BOM).unwrap_or(text).replace("\r\n", "\n")
}

/// What `change` makes of `text`, with the byte order mark and the line ends that it had.
pub(super) fn edit(
    text: &str,
    change: impl FnOnce(&str) -> Result<Option<String>, Fault>,
) -> Result<Option<String>, Fault> {
    let old = plain(text);
    let Some(new) = change(&old)? else { return Ok(None) };
    if new == old {
        return Ok(Some(text.to_owned()));
    }
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let mut out = String::with_capacity(text.len() + 256);
    if body.len() < text.len() {
        out.push(BOM);
    }
    out.push_str(&with_ends_of(body, &new));
    Ok(Some(out))
}

/// The lines of `new` (which end with `\n`); those that are in `old` too end as they do there, the
/// others as the first line of `old` does.
fn with_ends_of(old: &str, new: &str) -> String {
    let bare = |line: &str| line.trim_end_matches('\n').trim_end_matches('\r').to_owned();
    let originals: Vec<&str> = old.split_inclusive('\n').collect();
    let old_lines: Vec<String> = originals.iter().map(|line| bare(line)).collect();
    let new_lines: Vec<String> = new.split_inclusive('\n').map(bare).collect();
    let end =
        if originals.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(new.len() + new_lines.len());
    for op in capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
        match op.tag() {
            DiffTag::Delete => {}
            DiffTag::Equal => originals[op.old_range()].iter().for_each(|line| {
                out.push_str(line);
                // What was the last line may have another after it now.
                if !line.ends_with('\n') {
                    out.push_str(end);
                }
            }),
            DiffTag::Insert | DiffTag::Replace => {
                for line in &new_lines[op.new_range()] {
                    out.extend([line.as_str(), end]);
                }
            }
        }
    }
    if !new.ends_with('\n') {
        let kept = out.trim_end_matches('\n').trim_end_matches('\r').len();
        out.truncate(kept);
    }
    out
}
