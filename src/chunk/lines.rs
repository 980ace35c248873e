//! The lines of a text: where they begin, how long they are, which are blank.
//!
//! Rows count from 0, ranges of rows are end-exclusive. A line ends with `\n`; a `\r` before it is a
//! part of the line.

use std::ops::Range;

use super::Chunk;
use crate::types::{ChunkKind, LineRange};

/// How unlikely a line without a blank one above is to begin something.
const NOT_AFTER_BLANK: u32 = 1_000;

/// The lines of a text.
pub(super) struct Lines<'t> {
    /// The text.
    pub text: &'t str,
    /// Where each row begins; the text's length at the end.
    starts: Vec<usize>,
    /// Characters before each row.
    chars: Vec<usize>,
    /// Characters that are not blank before each row.
    ink: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub(super) fn of(text: &'t str) -> Self {
        let guess = text.len() / 32 + 2;
        let mut lines = Self {
            text,
            starts: Vec::with_capacity(guess),
            chars: Vec::with_capacity(guess),
            ink: Vec::with_capacity(guess),
        };
        let (mut start, mut chars, mut ink) = (0, 0, 0);
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        for end in ends.chain(
            Some(text.len()).filter(|end| !text.is_empty() && !text.ends_with('\n') && *end > 0),
        ) {
            lines.push(start, chars, ink);
            let line = &text[start..end];
            let (line_chars, line_ink) = measure(line);
            (start, chars, ink) = (end, chars + line_chars, ink + line_ink);
        }
        lines.push(start, chars, ink);
        lines
    }

    fn push(&mut self, start: usize, chars: usize, ink: usize) {
        self.starts.push(start);
        self.chars.push(chars);
        self.ink.push(ink);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of rows.
    pub(super) fn bytes(&self, rows: &Range<usize>) -> Range<usize> {
        self.starts[rows.start]..self.starts[rows.end]
    }

    /// The text of rows.
    pub(super) fn str(&self, rows: &Range<usize>) -> &'t str {
        &self.text[self.bytes(rows)]
    }

    /// The characters of rows, blanks and line breaks included.
    pub(super) fn chars(&self, rows: &Range<usize>) -> usize {
        self.chars[rows.end] - self.chars[rows.start]
    }

    /// The characters of rows that are not blank.
    pub(super) fn ink(&self, rows: &Range<usize>) -> usize {
        self.ink[rows.end] - self.ink[rows.start]
    }

    /// Whether a row has no ink.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        self.ink[row] == self.ink[row + 1]
    }

    /// The row that holds a byte.
    pub(super) fn row(&self, byte: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= byte)
            .saturating_sub(1)
            .min(self.count().saturating_sub(1))
    }

    /// The rows that hold a range of bytes, without the blank ends of the range.
    pub(super) fn rows(&self, bytes: &Range<usize>) -> Range<usize> {
        let first = self.row(bytes.start);
        let mut last = self.row(bytes.end.saturating_sub(1).max(bytes.start));
        while last > first && self.is_blank(last) {
            last -= 1;
        }
        first..last + 1
    }

    /// Whether only blanks stand before a byte in its row.
    pub(super) fn begins_row(&self, byte: usize) -> bool {
        let start = self.starts[self.row(byte)];
        self.text.get(start..byte).is_some_and(|before| before.trim_start().is_empty())
    }

    /// Rows without the blank ones at their ends; `None` when all are blank.
    pub(super) fn trim(&self, rows: Range<usize>) -> Option<Range<usize>> {
        let first = rows.clone().find(|row| !self.is_blank(*row))?;
        let last = rows.rev().find(|row| !self.is_blank(*row))?;
        Some(first..last + 1)
    }

    /// How unlikely it is, by its looks, that something begins in a row: deeply indented lines and
    /// lines with text just above are unlikely, a line of closing brackets more so.
    pub(super) fn looks(&self, row: usize) -> u32 {
        let line = self.str(&(row..row + 1));
        let indent = line.len() - line.trim_start().len();
        let closes = line.trim_start().starts_with(['}', ')', ']', '<']);
        let after_blank = row == 0 || self.is_blank(row - 1);
        let indent = u32::try_from(indent).unwrap_or(u32::MAX).min(NOT_AFTER_BLANK / 2);
        indent + if closes { 4 } else { 0 } + if after_blank { 0 } else { NOT_AFTER_BLANK }
    }

    /// A chunk of rows, not yet described.
    pub(super) fn chunk(&self, rows: Range<usize>, kind: ChunkKind) -> Chunk {
        let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        Chunk {
            lines: LineRange { start: line(rows.start + 1), end: line(rows.end) },
            bytes: self.bytes(&rows),
            kind,
            symbol: None,
            defines: Vec::new(),
            parents: Vec::new(),
            signature: None,
            doc: None,
        }
    }
}

/// A line's characters, and those that are not blank.
fn measure(line: &str) -> (usize, usize) {
    if line.is_ascii() {
        // The same characters that `char::is_whitespace` names among the first 128.
        let is_blank = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        return (line.len(), line.len() - line.bytes().filter(|byte| is_blank(byte)).count());
    }
    let blank = |c: &char| !c.is_whitespace();
    (line.chars().count(), line.chars().filter(blank).count())
}
