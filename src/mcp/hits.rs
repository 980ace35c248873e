//! How are hits shown to a model, so that the text stands on its own and within a budget?
//!
//! A line that says what was asked and searched; the hits in rank order with numbered lines, inside
//! one fence; notes and the next step at the end. Hits are shown whole as long as they fit; those
//! after them keep at least their line of place and symbol. Everything that comes from the
//! repository is escaped, and no line of it can end the fence.

use std::fmt::Write as _;

use super::escape::{block, clip, line};
use crate::request::{Freshness, Hit};
use crate::types::Place;

/// Characters of the query that are repeated in the answer.
const QUERY_CHARS: usize = 120;

/// Characters of a note, a name or a path.
const NAME_CHARS: usize = 300;

/// Opens and closes the hits. No line between can start with it: lines of code begin with their
/// number, and names are escaped.
const FENCE: &str = "```";

/// An answer that is a list of hits.
pub(super) struct Answer<'a> {
    /// One line: what was asked, and of what.
    pub(super) header: String,
    pub(super) hits: &'a [Hit],
    pub(super) notes: &'a [String],
    /// What to do when there is no hit.
    pub(super) nothing: String,
    /// Whether hits are whole chunks.
    pub(super) include_text: bool,
}

/// The whole answer, in `chars_max` characters or little more.
pub(super) fn text(answer: &Answer<'_>, chars_max: usize) -> String {
    let mut out = format!("{}\n", answer.header);
    let mut tail = notes(answer.notes);
    if answer.hits.is_empty() {
        tail.push_str(&answer.nothing);
    } else {
        let used = chars(&out) + chars(&tail) + CUT_CHARS;
        let shown = fenced(answer.hits, chars_max.saturating_sub(used));
        out.push_str(&shown.text);
        tail.push_str(&cut(&shown, answer));
    }
    out.push_str(&tail);
    out.truncate(out.trim_end().len());
    out
}

/// Room for fences and for what [`cut`] says.
const CUT_CHARS: usize = 400;

/// Text that was asked with, on one line in quotes and cut.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", clip(text, QUERY_CHARS))
}

/// What became of the hits.
struct Shown {
    text: String,
    /// Hits shown whole.
    whole: usize,
    /// Hits of which at least the place is shown.
    placed: usize,
}

/// The hits inside a fence, in about `room` characters.
fn fenced(hits: &[Hit], room: usize) -> Shown {
    let mut shown = Shown { text: format!("{FENCE}\n"), whole: 0, placed: 0 };
    let mut left = room;
    for hit in hits {
        let place = place(hit);
        let whole = format!("{place}{}\n", code(hit));
        let (piece, is_whole) = match shown.placed {
            placed if placed == shown.whole && chars(&whole) <= left => (whole, true),
            // Even when nothing fits, the best hit is worth the beginning of its text.
            0 => (beginning(&whole, left), false),
            _ => (place, false),
        };
        if chars(&piece) > left && shown.placed > 0 {
            break;
        }
        left = left.saturating_sub(chars(&piece));
        shown.text.push_str(&piece);
        shown.whole += usize::from(is_whole);
        shown.placed += 1;
    }
    shown.text.truncate(shown.text.trim_end().len());
    shown.text.push_str("\n```\n");
    shown
}

/// One line: where, what, how good, and what is odd about it. With a second one when explained.
fn place(hit: &Hit) -> String {
    let path = name(hit.path.as_str());
    let mut out = format!("{path}:{}-{}  {}", hit.start_line, hit.end_line, hit.kind);
    if let Some(symbol) = &hit.symbol {
        let _ = write!(out, " {}", name(symbol));
    }
    if !hit.parents.is_empty() {
        let _ = write!(out, " (in {})", name(&hit.parents.join(" > ")));
    }
    let _ = write!(out, "  [{:.2}]", hit.score);
    if hit.place != Place::Source {
        let _ = write!(out, " {}", hit.place);
    }
    out.push_str(match hit.freshness {
        Freshness::Unchanged => "",
        Freshness::Moved => " (file changed; lines are the present ones)",
        Freshness::Changed => " (CHANGED since it was indexed: read the file)",
        Freshness::Missing => " (file is GONE; this is what was indexed)",
        Freshness::NotIndexed => " (not in the index; this is the file as it is)",
    });
    out.push('\n');
    if let Some(explanation) = &hit.explanation {
        let _ = write!(out, "  why: {:.2} =", explanation.points);
        for (pos, signal) in explanation.signals.iter().enumerate() {
            let plus = if pos == 0 { "" } else { " +" };
            let _ = write!(out, "{plus} {} {:.2}", signal.name, signal.points);
        }
        out.push('\n');
    }
    out
}

/// The hit's lines with their numbers.
fn code(hit: &Hit) -> String {
    let lines: Vec<&str> = hit.snippet.lines().collect();
    let first = hit.snippet_line as usize;
    let width = (first + lines.len().saturating_sub(1)).to_string().len();
    let mut out = String::with_capacity(hit.snippet.len() + lines.len() * (width + 2));
    if let Some(signature) = hit.signature_apart() {
        let _ = writeln!(out, "{:>width$}| {}", "…", name(signature));
    }
    for (number, text) in (first..).zip(lines) {
        let _ = writeln!(out, "{number:>width$}| {}", block(text));
    }
    if hit.lines_cut > 0 {
        let _ = writeln!(out, "{:>width$}  … {} more", "", counted(hit.lines_cut as usize, "line"));
    }
    out
}

/// The first lines of `text` that fit into `room` characters; a line that does not fit by itself is
/// cut, but never the first one.
fn beginning(text: &str, room: usize) -> String {
    let mut out = String::new();
    let mut left = room;
    for (pos, line) in text.lines().enumerate() {
        if pos > 0 && left < 8 {
            break;
        }
        let line = if pos == 0 { line.into() } else { clip(line, left - 1) };
        left = left.saturating_sub(chars(&line) + 1);
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Says what was cut and how to see it; empty when everything is shown.
fn cut(shown: &Shown, answer: &Answer<'_>) -> String {
    let found = answer.hits.len();
    if shown.whole == found {
        return String::new();
    }
    let first_cut = &answer.hits[shown.whole.min(found - 1)];
    let mut out = format!("{} of {} shown whole", shown.whole, counted(found, "hit"));
    if shown.placed > shown.whole {
        let _ = write!(out, ", {} by place only", shown.placed - shown.whole);
    }
    if found > shown.placed {
        let _ = write!(out, ", {} left out", found - shown.placed);
    }
    out.push_str(" to keep the answer short. ");
    let again = if answer.include_text { "without include_text, or " } else { "" };
    let path = name(first_cut.path.as_str());
    let _ = writeln!(out, "Next: read those places, or ask again {again}with path_glob {path:?}.");
    out
}

/// A line a note.
pub(super) fn notes(notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes {
        out.push_str(&block(&clip(note, 2 * NAME_CHARS)));
        out.push('\n');
    }
    out
}

/// A name from the repository, on one line.
pub(super) fn name(text: &str) -> String {
    line(&clip(text, NAME_CHARS)).into_owned()
}

/// How many characters a text has.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// `1 hit`, `2 hits`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests;
