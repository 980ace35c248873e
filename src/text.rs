//! Here are bytes: which text do they stand for?
//!
//! UTF-8 with or without a byte order mark, UTF-16, and Windows-1252 (which holds Latin-1). Lines of
//! the text are lines of the original.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16BE_BOM: &[u8] = b"\xFE\xFF";

/// How many bytes are looked at to tell text from other data.
const SAMPLE_BYTES: usize = 8 << 10;

/// The text that `bytes` stand for, without a byte order mark, and the name of the encoding; `None`
/// when they are no text.
///
/// Names: `utf-8`, `utf-8-bom`, `utf-8-lossy` (UTF-8 with a few broken sequences, replaced),
/// `utf-16le`, `utf-16be`, `latin-1` (read as Windows-1252, as browsers do).
pub fn decode(bytes: &[u8]) -> Option<(String, &'static str)> {
    let encoding = encoding_of(bytes)?;
    let text = decode_as(bytes, encoding);
    // No text holds NUL; in UTF-16 it shows only now.
    let is_text = memchr::memchr(0, text.as_bytes()).is_none();
    is_text.then_some((text, encoding))
}

/// The text of `bytes` in the encoding that [`decode`] named: the same text, each time. An unknown
/// name is read as UTF-8 with broken sequences replaced.
pub fn decode_as(bytes: &[u8], encoding: &str) -> String {
    let wide = |encoding: &'static Encoding, bom: &[u8]| {
        let bytes = bytes.strip_prefix(bom).unwrap_or(bytes);
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    };
    match encoding {
        "utf-16le" => wide(UTF_16LE, UTF16LE_BOM),
        "utf-16be" => wide(UTF_16BE, UTF16BE_BOM),
        "latin-1" => wide(WINDOWS_1252, b""),
        _ => String::from_utf8_lossy(bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes)).into_owned(),
    }
}

fn encoding_of(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(UTF16LE_BOM) {
        return Some("utf-16le");
    }
    if bytes.starts_with(UTF16BE_BOM) {
        return Some("utf-16be");
    }
    if let Some(wide) = wide_without_bom(bytes) {
        return Some(wide);
    }
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    let encoding = match bytes.strip_prefix(UTF8_BOM) {
        Some(_) => "utf-8-bom",
        None if std::str::from_utf8(bytes).is_ok() => "utf-8",
        None if is_mostly_utf8(bytes) => "utf-8-lossy",
        None => "latin-1",
    };
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let is_single = encoding == "latin-1";
    let controls = sample.iter().filter(|byte| is_control(**byte, is_single)).count();
    // A terminal's log may hold some; in random bytes they are one in ten.
    let bytes_per_control = if is_single { 50 } else { 10 };
    (controls * bytes_per_control <= sample.len()).then_some(encoding)
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

/// UTF-16 that does not say so: every other byte of mostly Latin text is NUL.
fn wide_without_bom(bytes: &[u8]) -> Option<&'static str> {
    const UNITS_MIN: usize = 4;
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES) & !1];
    let units = sample.len() / 2;
    if units < UNITS_MIN || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let (name, encoding) = match (even, odd) {
        (0, odd) if odd * 2 > units => ("utf-16le", UTF_16LE),
        (even, 0) if even * 2 > units => ("utf-16be", UTF_16BE),
        _ => return None,
    };
    let (text, broken) = encoding.decode_without_bom_handling(sample);
    let controls = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (!broken && controls * 50 <= units).then_some(name)
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
