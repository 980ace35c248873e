//! What a text says of itself, on texts of every kind.

use proptest::prelude::*;

use super::judge::{cut, is_binary, is_minified, opts_out};
use super::*;

fn check_binary(bytes: &[u8], expected: bool) {
    let decoded = text::decode(bytes);
    assert_eq!(is_binary(bytes, &decoded), expected, "{bytes:?} is {decoded:?}");
}

#[test]
fn what_is_no_text_is_binary() {
    let noise = (0..4096u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]);
    let without_nul: Vec<u8> = noise.filter(|byte| *byte != 0).collect();
    let late = [b"a".repeat(20_000), b"\0".to_vec()].concat();
    for bytes in [
        b"int a;\0",
        &late[..],
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        &without_nul,
        b"\x01\x02\x03\x04 text",
        // UTF-32 looks like UTF-16 at its start.
        b"\xFF\xFE\0\0a\0\0\0",
        b"\x01\0\x02\0\x03\0\x04\0\x05\0",
    ] {
        check_binary(bytes, true);
    }
    for bytes in [
        &b""[..],
        b"\x1b[31mred\x1b[0m\n\x0c",
        b"// gr\xF6\xDFe\nint a;\n",
        b"\xFF\xFEa\0\n\0",
        b"a\0b\0c\0d\0",
        "日本語".as_bytes(),
    ] {
        check_binary(bytes, false);
    }
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
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let decoded = text::decode(&bytes);
        let is_binary = is_binary(&bytes, &decoded);
        prop_assert!(is_binary || !decoded.text.contains('\0'));
        let _ = (opts_out(&decoded.text, Language::Rust), is_minified(&decoded.text, Language::Rust));
    }
}
