//! What does a text say of itself: is it text at all, minified, or opted out?

use crate::text::Decoded;
use crate::types::Language;

/// Whether bytes that were decoded to `decoded` are no text: a NUL anywhere, or many control
/// characters near the start.
pub(super) fn is_binary(bytes: &[u8], decoded: &Decoded<'_>) -> bool {
    const SAMPLE_BYTES: usize = 8 << 10;
    if memchr::memchr(0, decoded.text.as_bytes()).is_some() {
        return true;
    }
    if decoded.encoding.starts_with("utf-16") {
        return false;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let is_single = decoded.encoding == "latin-1";
    let controls = sample.iter().filter(|byte| is_control(**byte, is_single)).count();
    // A terminal's log may hold some; in random bytes they are one in ten.
    let bytes_per_control = if is_single { 50 } else { 10 };
    controls * bytes_per_control > sample.len()
}

/// Whether a byte is a control character other than white space, a bell, a backspace or an escape;
/// in Windows-1252 (`is_single`) also one of the places that are empty.
fn is_control(byte: u8, is_single: bool) -> bool {
    match byte {
        0x07..=0x0D | 0x1B => false,
        0x00..=0x1F | 0x7F => true,
        0x81 | 0x8D | 0x8F | 0x90 | 0x9D => is_single,
        _ => false,
    }
}

/// `text` cut at a character boundary to at most `bytes_max` bytes.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Whether the lines are too long to be written by hand. Prose may keep a paragraph on a line, and
/// code of some length one line with data in it.
pub(super) fn is_minified(text: &str, language: Language) -> bool {
    const BYTES_MIN: usize = 4 << 10;
    const LINES_OF_CODE: usize = 20;
    if text.len() < BYTES_MIN {
        return false;
    }
    let is_prose = matches!(language, Language::Markdown | Language::Text | Language::Html);
    let average_max = if is_prose { 5000 } else { 500 };
    let (mut lines, mut longest) = (0, 0);
    for line in text.lines() {
        lines += 1;
        longest = longest.max(line.len());
    }
    if lines < LINES_OF_CODE {
        let is_one_line = longest > 10 * average_max && longest > text.len() / 2;
        return is_one_line || text.len() / lines.max(1) > average_max;
    }
    (text.len() - longest) / lines > average_max
}

/// The marker that keeps a file out of the index.
const OPT_OUT: &str = "sai-noindexing";

/// Whether a comment in the first lines says `sai-noindexing`, as its first word.
pub(super) fn opts_out(text: &str, language: Language) -> bool {
    const LINES_MAX: usize = 20;
    const LINE_BYTES_MAX: usize = 1 << 10;
    let openers = openers(language);
    let says_so = |line: &str| {
        let line = cut(line, LINE_BYTES_MAX).trim_start();
        let Some(comment) = openers.iter().find_map(|opener| line.strip_prefix(opener)) else {
            return false;
        };
        let decoration = |c: char| c.is_whitespace() || "/*#-;!%=".contains(c);
        let rest = comment.trim_start_matches(decoration).strip_prefix(OPT_OUT);
        rest.is_some_and(|rest| !rest.trim_start_matches('-').starts_with(char::is_alphanumeric))
    };
    text.lines().take(LINES_MAX).any(says_so)
}

/// How a line of comment begins. In prose `#` and `*` begin a heading or an item.
fn openers(language: Language) -> &'static [&'static str] {
    use Language::{Html, Markdown, Svelte, Text, Vue, Xml};
    match language {
        Markdown | Html | Xml | Vue | Svelte => &["<!--"],
        Text => &["<!--", "..", "//", "%"],
        _ => &["//", "/*", "*", "#", "--", "{-", "(*", ";", "%", "<!--", "'", "\"", "REM ", "rem "],
    }
}
