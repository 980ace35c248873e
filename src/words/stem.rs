//! Light stemming: `parsing`, `parser`, `parsed` and `parse` are one word.

/// Endings that go when at least three characters stay, longest first.
const ENDINGS: &[&str] = &["ations", "ation", "ings", "ing", "ions", "ion", "ers", "ed", "er", "or", "e"];

/// Cuts the common English endings of a lower-case ASCII word; other words stay as they are.
pub fn stem(word: &str) -> std::borrow::Cow<'_, str> {
    use std::borrow::Cow;
    if word.len() <= 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    if let Some(root) = word.strip_suffix("ies") {
        return Cow::Owned(format!("{root}y"));
    }
    let mut root = word;
    if root.ends_with('s') && !root.ends_with("ss") && !root.ends_with("us") {
        root = &root[..root.len() - 1];
    }
    for ending in ENDINGS {
        if let Some(shorter) = root.strip_suffix(ending)
            && shorter.len() >= 3
        {
            root = shorter;
            break;
        }
    }
    let bytes = root.as_bytes();
    if bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
        root = &root[..root.len() - 1];
    }
    Cow::Borrowed(root)
}
