//! Texts that a grammar cannot read as they stand, changed without moving a byte.
//!
//! A mask replaces bytes by spaces (never line breaks), so that every place found in the masked text
//! is a place of the text.

use std::borrow::Cow;

/// The text as it is.
pub(super) fn none(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
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

/// Literate Haskell: the lines that begin with `>`, without it.
pub(super) fn birds(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.starts_with("> ")) || text.lines().any(|line| line.starts_with("module ")) {
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
    masked.extend(line.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }));
}
