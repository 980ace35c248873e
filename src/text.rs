//! Here are bytes: which text do they stand for?
//!
//! UTF-8 with or without a byte-order mark, UTF-16 with one, and Windows-1252 (which holds Latin-1)
//! for everything else. Decoding never fails, and lines of the text are lines of the original.

use std::borrow::Cow;

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// A text and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without a byte-order mark.
    pub text: Cow<'a, str>,
    /// `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be` or `latin-1`.
    pub encoding: &'static str,
}

/// Decodes `bytes`.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => {
            Decoded { text: String::from_utf8_lossy(rest), encoding: "utf-8-bom" }
        }
        [0xff, 0xfe, rest @ ..] => {
            Decoded { text: UTF_16LE.decode_without_bom_handling(rest).0, encoding: "utf-16le" }
        }
        [0xfe, 0xff, rest @ ..] => {
            Decoded { text: UTF_16BE.decode_without_bom_handling(rest).0, encoding: "utf-16be" }
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Decoded { text: Cow::Borrowed(text), encoding: "utf-8" },
            Err(_) => Decoded {
                text: WINDOWS_1252.decode_without_bom_handling(bytes).0,
                encoding: "latin-1",
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str, encoding: &str) {
        assert_eq!(decode(bytes), Decoded { text: text.into(), encoding: match encoding {
            "utf-8" => "utf-8",
            "utf-8-bom" => "utf-8-bom",
            "utf-16le" => "utf-16le",
            "utf-16be" => "utf-16be",
            _ => "latin-1",
        } });
    }

    #[test]
    fn each_encoding_is_told_apart() {
        check("naïve 日本".as_bytes(), "naïve 日本", "utf-8");
        check(b"\xef\xbb\xbfa\n", "a\n", "utf-8-bom");
        check(b"\xff\xfea\0\n\0", "a\n", "utf-16le");
        check(b"\xfe\xff\0a\0\n", "a\n", "utf-16be");
        check(b"caf\xe9", "café", "latin-1");
        check(b"", "", "utf-8");
    }
}
