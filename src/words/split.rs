//! From text to words.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::stem::stem;

/// A run of letters and digits longer than this is data, not a word.
const RUN_CHARS_MAX: usize = 80;

/// Calls `each` with every word of `text`, in order: each identifier whole (lower case, without
/// underscores) when it has several parts, then its parts, stemmed. Repeated words repeat.
pub fn terms(text: &str, each: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut word = String::with_capacity(RUN_CHARS_MAX);
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            let end = at + run(&bytes[at..], |b| b.is_ascii_alphanumeric() || b == b'_');
            if bytes.get(end).is_none_or(u8::is_ascii) {
                ascii_run(&text[at..end], &mut word, each);
                at = end;
                continue;
            }
        } else if byte.is_ascii() {
            at += 1;
            continue;
        }
        at = other_run(text, at, each);
    }
}

/// Calls `each` with the parts of an ASCII identifier as they stand: `HTTPServer_v2` gives `HTTP`,
/// `Server`, `v`, `2`.
pub fn parts<'a>(run_text: &'a str, each: &mut impl FnMut(&'a str)) {
    let bytes = run_text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let end = at + part(&bytes[at..]);
        each(&run_text[at..end]);
        at = end;
    }
}

/// Length of the part that `bytes` starts with; its first byte is a letter or digit.
fn part(bytes: &[u8]) -> usize {
    if bytes[0].is_ascii_digit() {
        return run(bytes, |b| b.is_ascii_digit());
    }
    if bytes[0].is_ascii_lowercase() {
        return run(bytes, |b| b.is_ascii_lowercase());
    }
    let upper = run(bytes, |b| b.is_ascii_uppercase());
    match bytes.get(upper) {
        // The last capital of a run belongs to the lower-case word behind it.
        Some(b) if b.is_ascii_lowercase() && upper > 1 => upper - 1,
        Some(b) if b.is_ascii_lowercase() => 1 + run(&bytes[1..], |b| b.is_ascii_lowercase()),
        _ => upper,
    }
}

fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !wanted(b)).unwrap_or(bytes.len())
}

fn ascii_run(identifier: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    if identifier.len() > RUN_CHARS_MAX {
        return;
    }
    let mut count = 0;
    parts(identifier, &mut |_| count += 1);
    if count > 1 {
        word.clear();
        identifier.split('_').for_each(|piece| word.push_str(piece));
        word.make_ascii_lowercase();
        each(word);
    }
    parts(identifier, &mut |part| {
        word.clear();
        word.push_str(part);
        word.make_ascii_lowercase();
        each(&stem(word));
    });
}

/// A run with characters outside ASCII: folded, lower case, and in scripts without spaces by pairs.
/// Returns where it ends.
fn other_run(text: &str, start: usize, each: &mut impl FnMut(&str)) -> usize {
    let rest = &text[start..];
    let end = rest
        .char_indices()
        .find(|(_, c)| !(c.is_alphanumeric() || *c == '_' || is_combining_mark(*c)))
        .map_or(text.len(), |(at, _)| start + at);
    if end == start {
        return start + rest.chars().next().map_or(1, char::len_utf8);
    }
    let folded: Vec<char> = text[start..end]
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .nfc()
        .flat_map(char::to_lowercase)
        .collect();
    let mut from = 0;
    while from < folded.len() {
        let spaceless = is_spaceless(folded[from]);
        let to = from
            + folded[from..]
                .iter()
                .position(|c| is_spaceless(*c) != spaceless)
                .unwrap_or(folded.len() - from);
        let piece = &folded[from..to];
        if spaceless {
            pairs(piece, each);
        } else {
            let piece: String = piece.iter().filter(|c| **c != '_').collect();
            if !piece.is_empty() && piece.len() <= RUN_CHARS_MAX {
                each(&stem(&piece));
            }
        }
        from = to;
    }
    end
}

/// Overlapping pairs of characters; a single character stands alone.
fn pairs(piece: &[char], each: &mut impl FnMut(&str)) {
    if let [only] = piece {
        return each(&only.to_string());
    }
    for pair in piece.windows(2) {
        each(&pair.iter().collect::<String>());
    }
}

/// Scripts that are written without spaces between words: Han, Kana, Hangul (whose words carry
/// endings), Thai, Lao, Khmer, Burmese.
fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF
        | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0x20000..=0x3134F)
}
