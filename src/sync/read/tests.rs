//! Bytes of every kind: what they are taken for, and that nothing panics on them.

use proptest::prelude::*;

use super::marks::{cut, is_minified, opts_out};
use super::*;

fn check(bytes: &[u8], expected: Option<(&str, &str)>) {
    let decoded = decode(bytes);
    let found = decoded.as_ref().map(|(text, encoding)| (text.as_str(), *encoding));
    assert_eq!(found, expected, "{bytes:?}");
}

fn wide(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn encodings_are_told_apart() {
    check(b"", Some(("", "utf-8")));
    check("fn größe() {}\r\n".as_bytes(), Some(("fn größe() {}\r\n", "utf-8")));
    check(b"\xEF\xBB\xBFint a;", Some(("int a;", "utf-8-bom")));
    check(b"// gr\xF6\xDFe\nint a;\n", Some(("// größe\nint a;\n", "latin-1")));
    check(b"a \x93b\x94", Some(("a “b”", "latin-1")));
    let mostly = "漢字かな交じり文のコメント".as_bytes();
    let broken = [b"// ", mostly, b"\xE6\n"].concat();
    check(&broken, Some(("// 漢字かな交じり文のコメント\u{FFFD}\n", "utf-8-lossy")));
    check(b"\xEF\xBB\xBFa\xFF", Some(("a\u{FFFD}", "utf-8-bom")));
}

#[test]
fn utf16_is_read_with_and_without_a_mark() {
    let text = "class A {} // größe 漢\r\nx\n";
    let little = wide(text, u16::to_le_bytes);
    let big = wide(text, u16::to_be_bytes);
    check(&[b"\xFF\xFE", &little[..]].concat(), Some((text, "utf-16le")));
    check(&[b"\xFE\xFF", &big[..]].concat(), Some((text, "utf-16be")));
    check(&little, Some((text, "utf-16le")));
    check(&big, Some((text, "utf-16be")));
    check(b"\xFF\xFE", Some(("", "utf-16le")));
    // UTF-32 and numbers in a file are no text.
    check(b"\xFF\xFE\0\0a\0\0\0", None);
    check(&wide("\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}", u16::to_le_bytes), None);
}

#[test]
fn what_is_no_text_is_binary() {
    check(b"int a;\0", None);
    check(&[b"a".repeat(20_000), b"\0".to_vec()].concat(), None);
    check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None);
    let noise: Vec<u8> =
        (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let without_nul: Vec<u8> = noise.into_iter().filter(|byte| *byte != 0).collect();
    check(&without_nul, None);
    check(b"\x01\x02\x03\x04 text", None);
    check(b"\x1b[31mred\x1b[0m\n\x0c", Some(("\x1b[31mred\x1b[0m\n\x0c", "utf-8")));
}

#[test]
fn minified_text_has_lines_that_nobody_writes() {
    use Language::{JavaScript, Json, Markdown, Rust};
    let line = "var a=1;".repeat(1000);
    assert!(is_minified(&line, JavaScript));
    assert!(is_minified(&format!("/* licence */\n{line}\n"), JavaScript));
    assert!(is_minified(&format!("{{\"a\": \"{}\"}}", "x".repeat(9000)), Json));
    assert!(!is_minified("var a=1;", JavaScript));
    assert!(!is_minified(&"let a = 1;\n".repeat(1000), Rust));
    // Code with one long literal in it stays.
    let literal = format!("const A: &str = \"{}\";\n", "x".repeat(40_000));
    assert!(!is_minified(&(literal + &"let a = 1;\n".repeat(20)), Rust));
    assert!(!is_minified(&("A paragraph on a line. ".repeat(60) + "\n").repeat(4), Markdown));
}

#[test]
fn a_comment_opts_a_file_out() {
    use Language::{Html, Markdown, Python, Rust, Sql};
    for (text, language) in [
        ("// sai-noindexing\nfn a() {}\n", Rust),
        ("\n  /* sai-noindexing: fixture */\n", Rust),
        ("/**\n * sai-noindexing\n */\n", Rust),
        ("//! sai-noindexing\n", Rust),
        ("#!/usr/bin/env python\n# sai-noindexing\n", Python),
        ("-- sai-noindexing\n", Sql),
        ("<!-- sai-noindexing -->\n", Html),
        ("<!--sai-noindexing-->\n# Title\n", Markdown),
    ] {
        assert!(opts_out(text, language), "{text:?}");
    }
    for (text, language) in [
        ("let a = \"sai-noindexing\";\n", Rust),
        ("// see sai-noindexing\n", Rust),
        ("// sai-noindexings\n", Rust),
        ("* sai-noindexing keeps a file out\n", Markdown),
        ("# sai-noindexing\n", Markdown),
        (&("\n".repeat(20) + "// sai-noindexing\n"), Rust),
    ] {
        assert!(!opts_out(text, language), "{text:?}");
    }
}

#[test]
fn text_is_cut_at_characters() {
    assert_eq!(cut("aé", 2), "a");
    assert_eq!(cut("aé", 3), "aé");
    assert_eq!(cut("", 5), "");
}

proptest! {
    #[test]
    fn any_bytes_decode_the_same_twice(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some((text, encoding)) = decode(&bytes) {
            prop_assert!(!text.contains('\0'));
            prop_assert_eq!(decode_as(&bytes, encoding), text.clone());
            let _ = (opts_out(&text, Language::Rust), is_minified(&text, Language::Rust));
        }
    }

    #[test]
    fn utf8_text_is_taken_as_it_is(text in "[^\\x00-\\x1f\\x7f\u{feff}]{0,80}") {
        prop_assert_eq!(decode(text.as_bytes()), Some((text, "utf-8")));
    }

    #[test]
    fn utf16_text_with_a_mark_is_taken_as_it_is(text in "[^\\x00]{0,80}") {
        let bytes = [b"\xFE\xFF".to_vec(), wide(&text, u16::to_be_bytes)].concat();
        prop_assert_eq!(decode(&bytes), Some((text, "utf-16be")));
    }
}
