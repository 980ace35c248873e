//! Light stemming: `parsing`, `parser`, `parsed` and `parse` are one word.

use std::borrow::Cow;

/// Endings that go when at least three characters stay, longest first.
const ENDINGS: &[&str] = &["ation", "ing", "ion", "ed", "er", "or", "e"];

/// Cuts the plural and the common English endings of a lower-case ASCII word; short words and words
/// in other letters stay as they are.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    if word.len() > 4
        && let Some(root) = word.strip_suffix("ies")
    {
        return Cow::Owned(format!("{root}y"));
    }
    let mut root = word;
    if root.ends_with('s') && !root.ends_with("ss") && !root.ends_with("us") {
        root = &root[..root.len() - 1];
    }
    if root.len() <= 4 {
        return Cow::Borrowed(root);
    }
    let shorter = ENDINGS
        .iter()
        .find_map(|ending| root.strip_suffix(ending).filter(|shorter| shorter.len() >= 3));
    let root = shorter.unwrap_or(root);
    let bytes = root.as_bytes();
    if bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
        return Cow::Borrowed(&root[..root.len() - 1]);
    }
    Cow::Borrowed(root)
}
