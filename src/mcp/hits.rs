//! How are hits shown to a model, so that the text stands on its own and within a budget?
//!
//! A line that says what was asked and searched; the hits in rank order with numbered lines, inside
//! one fence; notes and the next step at the end. Hits are shown whole as long as they fit; those
//! after them keep at least their line of place and symbol. Everything that comes from the
//! repository is escaped, and no line of it can end the fence.

use std::fmt::Write as _;

use super::escape::{block, clip, line};
use crate::request::{Freshness, Hit, SearchQuery, SearchReply};
use crate::types::{Mode, Place};

/// Characters of the query that are repeated in the answer.
const QUERY_CHARS: usize = 120;

/// Characters of a note, a name or a path.
const NAME_CHARS: usize = 300;

/// Opens and closes the hits. No line between can start with it: lines of code begin with their
/// number, and names are escaped.
const FENCE: &str = "```";

/// The whole answer, in `chars_max` characters or little more.
pub(super) fn text(reply: &SearchReply, query: &SearchQuery, chars_max: usize) -> String {
    let mut out = header(reply);
    let mut tail = notes(&reply.notes);
    if reply.hits.is_empty() {
        tail.push_str(&nothing_found(query));
    } else {
        let used = chars(&out) + chars(&tail) + CUT_CHARS;
        let shown = fenced(reply, chars_max.saturating_sub(used));
        out.push_str(&shown.text);
        tail.push_str(&cut(&shown, reply, query));
    }
    out.push_str(&tail);
    out.truncate(out.trim_end().len());
    out
}

/// Room for fences and for what [`cut`] says.
const CUT_CHARS: usize = 400;

fn header(reply: &SearchReply) -> String {
    format!(
        "{} for {:?} ({}, generation {}, searched {} / {})\n",
        counted(reply.hits.len(), "hit"),
        clip(&reply.query, QUERY_CHARS),
        reply.mode,
        reply.generation,
        counted(reply.searched.files, "file"),
        counted(reply.searched.chunks, "chunk"),
    )
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
fn fenced(reply: &SearchReply, room: usize) -> Shown {
    let mut shown = Shown { text: format!("{FENCE}\n"), whole: 0, placed: 0 };
    let mut left = room;
    for hit in &reply.hits {
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
fn cut(shown: &Shown, reply: &SearchReply, query: &SearchQuery) -> String {
    let found = reply.hits.len();
    if shown.whole == found {
        return String::new();
    }
    let first_cut = &reply.hits[shown.whole.min(found - 1)];
    let mut out = format!("{} of {} shown whole", shown.whole, counted(found, "hit"));
    if shown.placed > shown.whole {
        let _ = write!(out, ", {} by place only", shown.placed - shown.whole);
    }
    if found > shown.placed {
        let _ = write!(out, ", {} left out", found - shown.placed);
    }
    out.push_str(" to keep the answer short. ");
    let again = if query.include_text { "without include_text, or " } else { "" };
    let path = name(first_cut.path.as_str());
    let _ = writeln!(out, "Next: read those places, or ask again {again}with path_glob {path:?}.");
    out
}

/// What to do when there is no hit.
fn nothing_found(query: &SearchQuery) -> String {
    let mut filters = Vec::new();
    for language in &query.languages {
        filters.push(format!("language {:?}", language.name()));
    }
    for path in &query.paths {
        filters.push(format!("path_glob {:?}", clip(path, NAME_CHARS)));
    }
    for kind in &query.kinds {
        filters.push(format!("kind {:?}", kind.name()));
    }
    let next = match query.mode {
        Some(Mode::Exact) => "ask with mode hybrid, which also finds what is worded otherwise",
        _ => "try other words or a symbol's name, or mode exact for a literal string",
    };
    let without = match filters.join(", ") {
        filters if filters.is_empty() => String::new(),
        filters => format!("ask again without {filters}; or "),
    };
    format!("Next: {without}{next}. sai_index_status tells what is indexed.\n")
}

fn notes(notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes {
        out.push_str(&block(&clip(note, 2 * NAME_CHARS)));
        out.push('\n');
    }
    out
}

/// A name from the repository, on one line.
fn name(text: &str) -> String {
    line(&clip(text, NAME_CHARS)).into_owned()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests;
