//! Here are bytes: which text do they stand for?
//!
//! UTF-8 with or without a byte-order mark, UTF-16 with or without one, and Windows-1252 (which
//! holds Latin-1) for everything else. Decoding never fails, the same bytes always give the same
//! text, and lines of the text are lines of the original.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// A text and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without a byte-order mark.
    pub text: Cow<'a, str>,
    /// `utf-8`, `utf-8-bom`, `utf-8-lossy` (with a few broken sequences, replaced), `utf-16le`,
    /// `utf-16be` or `latin-1`.
    pub encoding: &'static str,
}

/// Decodes `bytes`.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => {
            Decoded { text: String::from_utf8_lossy(rest), encoding: "utf-8-bom" }
        }
        [0xff, 0xfe, rest @ ..] => wide(rest, UTF_16LE),
        [0xfe, 0xff, rest @ ..] => wide(rest, UTF_16BE),
        _ => match without_mark(bytes) {
            Some(encoding) => wide(bytes, encoding),
            None => narrow(bytes),
        },
    }
}

fn wide<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Decoded<'a> {
    let name = if encoding == UTF_16LE { "utf-16le" } else { "utf-16be" };
    Decoded { text: encoding.decode_without_bom_handling(bytes).0, encoding: name }
}

fn narrow(bytes: &[u8]) -> Decoded<'_> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded { text: Cow::Borrowed(text), encoding: "utf-8" };
    }
    if is_mostly_utf8(bytes) {
        return Decoded { text: String::from_utf8_lossy(bytes), encoding: "utf-8-lossy" };
    }
    let text = WINDOWS_1252.decode_without_bom_handling(bytes).0;
    Decoded { text, encoding: "latin-1" }
}

/// UTF-16 that does not say so: every other byte of mostly Latin text is NUL.
fn without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    const SAMPLE_BYTES: usize = 8 << 10;
    const UNITS_MIN: usize = 4;
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES) & !1];
    let units = sample.len() / 2;
    if units < UNITS_MIN || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let encoding = match (zeros(0), zeros(1)) {
        (0, odd) if odd * 2 > units => UTF_16LE,
        (even, 0) if even * 2 > units => UTF_16BE,
        _ => return None,
    };
    let (text, is_broken) = encoding.decode_without_bom_handling(sample);
    let controls = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (!is_broken && controls * 50 <= units).then_some(encoding)
}

/// Whether bytes that are not UTF-8 hold far more good sequences than broken ones.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    const GOOD_PER_BROKEN: usize = 8;
    let (mut good, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    good >= GOOD_PER_BROKEN * broken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &[u8], text: &str, encoding: &str) {
        let found = decode(bytes);
        assert_eq!((&*found.text, found.encoding), (text, encoding), "{bytes:?}");
    }

    fn units(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn each_encoding_is_told_apart() {
        check("naïve 日本".as_bytes(), "naïve 日本", "utf-8");
        check(b"\xef\xbb\xbfa\n", "a\n", "utf-8-bom");
        check(b"\xef\xbb\xbfa\xff", "a\u{fffd}", "utf-8-bom");
        check(b"\xff\xfea\0\n\0", "a\n", "utf-16le");
        check(b"\xfe\xff\0a\0\n", "a\n", "utf-16be");
        check(b"caf\xe9", "café", "latin-1");
        check(b"a \x93b\x94", "a “b”", "latin-1");
        check(b"", "", "utf-8");
    }

    #[test]
    fn a_broken_sequence_does_not_spoil_the_others() {
        let broken = ["// 漢字かな交じり文".as_bytes(), b"\xe6\n"].concat();
        check(&broken, "// 漢字かな交じり文\u{fffd}\n", "utf-8-lossy");
    }

    #[test]
    fn utf16_is_known_without_a_mark() {
        let text = "class A {} // größe 漢\r\nx\n";
        check(&units(text, u16::to_le_bytes), text, "utf-16le");
        check(&units(text, u16::to_be_bytes), text, "utf-16be");
        let numbers = units("\u{1}\u{2}\u{3}\u{4}\u{5}", u16::to_le_bytes);
        assert_eq!(decode(&numbers).encoding, "utf-8");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let lines = decode(&bytes).text.lines().count();
            prop_assert!(lines <= bytes.len());
        }

        #[test]
        fn utf8_is_taken_as_it_is(text in "[^\\x00\u{feff}]{0,80}") {
            let found = decode(text.as_bytes());
            prop_assert_eq!((&*found.text, found.encoding), (text.as_str(), "utf-8"));
        }

        #[test]
        fn utf16_with_a_mark_is_taken_as_it_is(text in "\\PC{0,80}") {
            let bytes = [b"\xfe\xff".to_vec(), units(&text, u16::to_be_bytes)].concat();
            prop_assert_eq!(&*decode(&bytes).text, text.as_str());
        }
    }
}
