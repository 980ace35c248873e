//! How is a reply given as JSON? The same as text and as structured content, within a budget:
//! clients differ in which of the two a model sees.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use super::argument::{Argument, Arguments, Shape};
use super::hits::chars;
use crate::error::{Error, ErrorKind, Result};
use crate::request::Hit;
use crate::types::unknown;

/// Room for a note that says what was cut.
const CUT_NOTE_CHARS: usize = 100;

const FORMATS: [&str; 2] = ["text", "json"];

/// The argument that chooses between the two forms.
pub(super) const FORMAT: Argument = Argument {
    name: "format",
    aliases: &["output_format", "response_format"],
    shape: Shape::Choice(|| FORMATS.to_vec()),
    required: false,
    about: "text (default) to read; json for programs.",
};

/// Whether JSON was asked for.
///
/// # Errors
/// Usage: neither text nor JSON.
pub(super) fn is_asked(given: &Arguments) -> Result<bool> {
    match given.word("format")?.map(|name| name.to_lowercase()).as_deref() {
        None | Some("text") => Ok(false),
        Some("json") => Ok(true),
        Some(other) => Err(unknown("format", other, FORMATS.into_iter())),
    }
}

/// A reply as text and as structured content.
pub(super) fn result(reply: &impl Serialize) -> Result<CallToolResult> {
    let text = written(reply)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(&text)]);
    // From the text rather than from the reply, so that both hold the same numbers.
    result.structured_content = Some(serde_json::from_str(&text).map_err(unwritable)?);
    Ok(result)
}

/// A reply whose hits and notes are its `parts`, with as many hits as fit into `chars_max`
/// characters.
pub(super) fn hits<R: Serialize>(
    mut reply: R,
    parts: impl Fn(&mut R) -> (&mut Vec<Hit>, &mut Vec<String>),
    chars_max: usize,
) -> Result<CallToolResult> {
    let mut hits = std::mem::take(parts(&mut reply).0);
    let (shown, found) = (fitting(&reply, &hits, chars_max)?, hits.len());
    hits.truncate(shown);
    let (kept, notes) = parts(&mut reply);
    *kept = hits;
    if shown < found {
        notes.push(cut_note(shown, found, "hits", chars_max));
    }
    result(&reply)
}

/// How many of `items` fit beside `bare`, the reply without them, into `chars_max` characters; at
/// least one.
pub(super) fn fitting<T: Serialize>(
    bare: &impl Serialize,
    items: &[T],
    chars_max: usize,
) -> Result<usize> {
    let mut used = chars(&written(bare)?) + CUT_NOTE_CHARS;
    for (pos, item) in items.iter().enumerate() {
        used += chars(&written(item)?) + 1;
        if used > chars_max {
            return Ok(pos.max(1));
        }
    }
    Ok(items.len())
}

/// Says that only some of what was found is shown.
pub(super) fn cut_note(shown: usize, found: usize, what: &str, chars_max: usize) -> String {
    format!("{shown} of {found} {what} are shown: more do not fit into {chars_max} characters.")
}

/// A value as JSON text.
pub(super) fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "the reply cannot be written as JSON").because(error)
}
