//! Texts that a grammar cannot read as they stand, changed without moving a byte.
//!
//! A mask replaces bytes by spaces (never line breaks), so that every place found in the masked text
//! is a place of the text. Some masks hide what makes a grammar's C code abort the whole process.

use std::borrow::Cow;

/// Ruby's scanner has a byte for the length of a heredoc's end word.
const HEREDOC_CHARS_MAX: usize = 200;

/// Python's scanner has room for some five hundred indents; nobody writes so many.
const INDENTS_MAX: usize = 200;

/// The text as it is.
pub(super) fn none(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// C and C++ without the macros that a parser takes for types: a macro alone on a line before a
/// definition or between blank lines, and one between `class` and the name.
pub(super) fn macros(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    let mut at = 0;
    let mut before = "";
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let after = lines.peek().map_or("", |line| line.trim());
        let found = macro_after_keyword(line).or_else(|| macro_alone(before, line, after));
        if let Some((start, length)) = found {
            let blank = " ".repeat(length);
            masked.to_mut().replace_range(at + start..at + start + length, &blank);
        }
        before = line.trim();
        at += line.len();
    }
    masked
}

/// Whether a word looks like a macro's name.
fn is_macro(word: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    word.len() >= 4 && word.contains('_') && word.bytes().all(is_upper)
}

/// The place and length of a macro between `class` or `struct` and the name.
fn macro_after_keyword(line: &str) -> Option<(usize, usize)> {
    let start = line.trim_start();
    let rest = start.strip_prefix("class ").or_else(|| start.strip_prefix("struct "))?;
    let word = rest.split([' ', '\t']).next().unwrap_or_default();
    let name = rest[word.len()..].trim_start();
    let has_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_macro(word) && has_name).then_some((line.len() - rest.len(), word.len()))
}

/// The place and length of a macro that has its line for itself.
fn macro_alone(before: &str, line: &str, after: &str) -> Option<(usize, usize)> {
    const DEFINERS: &[&str] = &["class ", "struct ", "template", "namespace ", "enum ", "union "];
    let word = line.trim();
    if !line.starts_with(|c: char| c.is_ascii_uppercase()) || !is_macro(word) {
        return None;
    }
    let stands_alone = after.is_empty() && (before.is_empty() || before.ends_with("*/"));
    let leads = DEFINERS.iter().any(|definer| after.starts_with(definer));
    (stands_alone || leads).then_some((0, word.len()))
}

/// Bats tests (`@test "title" {`) as functions.
pub(super) fn bats(text: &str) -> Cow<'_, str> {
    if !text.contains("@test") {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let opens = body.strip_suffix('{').filter(|head| head.trim_start().starts_with("@test "));
        match opens {
            Some(head) => {
                let indent = head.len() - head.trim_start().len();
                masked.push_str(&head[..indent]);
                masked.push_str("_t() ");
                masked.extend(std::iter::repeat_n(' ', head.len() - indent - "_t() ".len()));
                masked.push_str(&line[head.len()..]);
            }
            None => masked.push_str(line),
        }
    }
    Cow::Owned(masked)
}

/// Ruby without the heredocs whose end word is too long: the scanner stores its length in a byte, and
/// a failed assertion ends the process.
pub(super) fn heredocs(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    for (at, mark) in text.match_indices("<<") {
        let word = text[at + mark.len()..].trim_start_matches(['-', '~']);
        let mut chars = word.chars();
        let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
        let length = match chars.next() {
            Some(quote @ ('"' | '\'' | '`')) => chars.take(256).take_while(|c| *c != quote).count(),
            Some(first) if is_word(&first) => chars.take(256).take_while(is_word).count(),
            _ => 0,
        };
        if length > HEREDOC_CHARS_MAX {
            masked.to_mut().replace_range(at..at + mark.len(), "  ");
        }
    }
    masked
}

/// Python without the lines that use more different indents than the scanner has room for.
pub(super) fn indents(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    let mut widths: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c');
        let indent = line.bytes().take_while(blank);
        let width = indent.map(|byte| if byte == b'\t' { 8 } else { 1 }).sum();
        match widths.binary_search(&width) {
            Err(place) if widths.len() < INDENTS_MAX => widths.insert(place, width),
            Err(_) => {
                let mut spaces = String::with_capacity(line.len());
                push_blank(&mut spaces, line);
                masked.to_mut().replace_range(at..at + line.len(), &spaces);
            }
            Ok(_) => {}
        }
        at += line.len();
    }
    masked
}

/// Literate Haskell: the lines that begin with `>`, without it.
pub(super) fn birds(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.starts_with("> "))
        || text.lines().any(|line| line.starts_with("module "))
    {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_prefix('>') {
            Some(code) => {
                masked.push(' ');
                masked.push_str(code);
            }
            None => push_blank(&mut masked, line),
        }
    }
    Cow::Owned(masked)
}

/// The scripts of a single-file component.
pub(super) fn scripts(text: &str) -> Cow<'_, str> {
    /// Where a line of the component stands.
    #[derive(PartialEq)]
    enum At {
        Outside,
        OpeningTag,
        Script,
    }
    let mut masked = String::with_capacity(text.len());
    let mut at = At::Outside;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if at == At::Script && start.starts_with("</script") {
            at = At::Outside;
        }
        if at == At::Script {
            masked.push_str(line);
            continue;
        }
        push_blank(&mut masked, line);
        if at == At::Outside && start.starts_with("<script") && !start.contains("</script") {
            at = At::OpeningTag;
        }
        if at == At::OpeningTag && line.trim_end().ends_with('>') {
            at = At::Script;
        }
    }
    Cow::Owned(masked)
}

/// As many spaces as the line has bytes, with its line break.
fn push_blank(masked: &mut String, line: &str) {
    masked.extend(
        line.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }),
    );
}
