//! Here is a short text: which of its bytes are keywords, names, strings, comments?

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use tree_sitter_highlight::{HighlightConfiguration, HighlightEvent, Highlighter};

use super::languages::{self, GRAMMARS};
use crate::types::Language;

/// Longer texts are not highlighted.
const HIGHLIGHTED_BYTES_MAX: usize = 64 << 10;

/// What a stretch of text is, as far as colours go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Highlight {
    /// A word of the language.
    Keyword,
    /// The name of a function, method or macro.
    Function,
    /// The name of a type or module.
    Type,
    /// A string or a character.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A constant, also a built-in one.
    Constant,
    /// A field or property.
    Property,
    /// Something else that the grammar tells apart: operators, attributes, variables.
    Other,
}

/// Capture names and what they stand for. The longest name that begins a capture's name counts.
const NAMES: &[(&str, Highlight)] = &[
    ("attribute", Highlight::Other),
    ("boolean", Highlight::Constant),
    ("character", Highlight::String),
    ("comment", Highlight::Comment),
    ("conditional", Highlight::Keyword),
    ("constant", Highlight::Constant),
    ("constructor", Highlight::Type),
    ("embedded", Highlight::Other),
    ("escape", Highlight::String),
    ("exception", Highlight::Keyword),
    ("field", Highlight::Property),
    ("float", Highlight::Number),
    ("function", Highlight::Function),
    ("import", Highlight::Keyword),
    ("include", Highlight::Keyword),
    ("keyword", Highlight::Keyword),
    ("label", Highlight::Other),
    ("method", Highlight::Function),
    ("module", Highlight::Type),
    ("namespace", Highlight::Type),
    ("number", Highlight::Number),
    ("operator", Highlight::Other),
    ("preproc", Highlight::Keyword),
    ("property", Highlight::Property),
    ("repeat", Highlight::Keyword),
    ("storageclass", Highlight::Keyword),
    ("string", Highlight::String),
    ("tag", Highlight::Type),
    ("type", Highlight::Type),
    ("variable", Highlight::Other),
    ("variable.member", Highlight::Property),
];

/// What each byte range of a text is, in order, without overlap; text between them is plain.
///
/// Empty when the language has no highlighting query, the text is longer than 64 KiB, or it costs the
/// parser too much.
pub fn highlight(language: Language, text: &str) -> Vec<(Range<usize>, Highlight)> {
    if text.len() > HIGHLIGHTED_BYTES_MAX {
        return Vec::new();
    }
    let Some(grammar) = languages::find(language) else { return Vec::new() };
    let Some(configuration) = configuration(language) else { return Vec::new() };
    // PHP is text until a tag says otherwise; a piece of a file has none.
    let tag = if language == Language::Php && !text.contains("<?") { "<?php " } else { "" };
    let tagged = (grammar.mask)(&format!("{tag}{text}")).into_owned();
    // The highlighter's own parse has no bound, so a text must pass ours first.
    if super::parse(grammar, &tagged, None).is_none() {
        return Vec::new();
    }
    let mut ranges = coloured(configuration, &tagged).unwrap_or_default();
    ranges.retain(|(range, _)| range.start >= tag.len());
    for (range, _) in &mut ranges {
        *range = range.start - tag.len()..range.end - tag.len();
    }
    ranges
}

/// The highlighting query of a language, compiled once.
fn configuration(language: Language) -> Option<&'static HighlightConfiguration> {
    static COMPILED: LazyLock<Vec<OnceLock<Option<HighlightConfiguration>>>> =
        LazyLock::new(|| GRAMMARS.iter().map(|_| OnceLock::new()).collect());
    let row = GRAMMARS.iter().position(|row| row.language == language)?;
    let compile = || {
        let grammar = &GRAMMARS[row];
        let query = general_first(grammar.highlights);
        if query.is_empty() {
            return None;
        }
        let name = language.name();
        let tree_sitter = (grammar.parser)();
        let mut compiled = HighlightConfiguration::new(tree_sitter, name, &query, "", "").ok()?;
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        compiled.configure(&names);
        Some(compiled)
    };
    COMPILED[row].get_or_init(compile).as_ref()
}

/// The queries as one, with patterns for whole kinds (`(identifier) @variable`) at the beginning: a
/// later pattern wins, but some grammars write the general ones last.
fn general_first(queries: &[&str]) -> String {
    let is_general = |line: &&str| {
        let pattern = line.strip_prefix('(').and_then(|line| line.split_once(") @"));
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
        pattern.is_some_and(|(kind, capture)| is_name(kind) && is_name(capture.trim_end()))
    };
    let lines = || queries.iter().flat_map(|query| query.lines());
    let (general, special) = (lines().filter(is_general), lines().filter(|l| !is_general(l)));
    general.chain(special).flat_map(|line| [line, "\n"]).collect()
}

/// The coloured ranges; where highlights nest, the innermost counts.
fn coloured(
    configuration: &HighlightConfiguration,
    text: &str,
) -> Option<Vec<(Range<usize>, Highlight)>> {
    let mut highlighter = Highlighter::new();
    let events =
        highlighter.highlight(configuration, text.as_bytes(), None, None, |_| None).ok()?;
    let mut open: Vec<Highlight> = Vec::new();
    let mut ranges: Vec<(Range<usize>, Highlight)> = Vec::new();
    for event in events {
        match event.ok()? {
            HighlightEvent::HighlightStart(name) => open.push(NAMES[name.0].1),
            HighlightEvent::HighlightEnd => {
                open.pop();
            }
            HighlightEvent::Source { start, end } => {
                let Some(highlight) = open.last().copied().filter(|_| start < end) else {
                    continue;
                };
                match ranges.last_mut() {
                    Some((range, last)) if *last == highlight && range.end == start => {
                        range.end = end;
                    }
                    _ => ranges.push((start..end, highlight)),
                }
            }
        }
    }
    Some(ranges)
}
