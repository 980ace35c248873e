//! How is a repository's text shown so that it cannot pretend to be something else?
//!
//! Control, bidirectional and invisible characters are written as `\u{…}`: they could hide text
//! from the person who reads over an agent's shoulder, or drive a terminal.

use std::borrow::Cow;

use crate::types::is_deceptive;

/// `text` with hidden characters written out; line ends and tabs stay.
pub(super) fn block(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_deceptive(c) && c != '\n' && c != '\t')
}

/// `text` as part of one line: line ends, tabs and backticks are written out too, so that a name
/// can neither end its line nor open or close a fence.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_deceptive(c) || c == '`')
}

/// The first `chars_max` characters of `text`, with `…` when something was cut.
pub(super) fn clip(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

fn escaped(text: &str, unwanted: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&unwanted) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if unwanted(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out() {
        assert_eq!(block("a\u{202e}b\u{1b}[31m\r\n\tc"), "a\\u{202e}b\\u{1b}[31m\\u{d}\n\tc");
        assert_eq!(block("x\u{e0041}\u{200b}\u{feff}"), "x\\u{e0041}\\u{200b}\\u{feff}");
        assert_eq!(block("\u{85}"), "\\u{85}");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["", "fn main() {}", "naïve — Ünïcode 日本語 ✓ 👩", "a\n\tb`c`"] {
            assert!(matches!(block(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_name_stays_on_its_line_and_out_of_fences() {
        assert_eq!(line("a\n```\tb"), "a\\u{a}\\u{60}\\u{60}\\u{60}\\u{9}b");
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("日本語", 3), "日本語");
        assert_eq!(clip("日本語", 2), "日本…");
        assert_eq!(clip("", 0), "");
    }
}
