//! Here are rows that are too long for one chunk: where are they cut?

use std::ops::Range;

use super::lines::Lines;

/// How long pieces may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Characters that a piece is aimed at.
    pub target: usize,
    /// Characters that no piece of several rows exceeds.
    pub most: usize,
    /// Rows that a piece is aimed at.
    pub lines: usize,
}

/// Cuts rows into pieces within the limits, about equally long, where `level` is lowest.
///
/// Rows at the ends of pieces that are blank belong to none. A single row is never cut.
pub(super) fn split(
    lines: &Lines,
    rows: Range<usize>,
    limits: &Limits,
    level: impl Fn(usize) -> u32,
) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut rest = lines.trim(rows);
    while let Some(rows) = rest {
        let at =
            if fits(lines, &rows, limits) { rows.end } else { cut(lines, &rows, limits, &level) };
        pieces.extend(lines.trim(rows.start..at));
        rest = lines.trim(at..rows.end);
    }
    pieces
}

/// Whether rows need no cut.
fn fits(lines: &Lines, rows: &Range<usize>, limits: &Limits) -> bool {
    rows.len() == 1
        || lines.chars(rows) <= limits.most && rows.len() <= limits.lines.saturating_mul(3) / 2
}

/// The row where the first piece ends, always after its first row.
fn cut(lines: &Lines, rows: &Range<usize>, limits: &Limits, level: impl Fn(usize) -> u32) -> usize {
    let chars = lines.chars(rows);
    let parts = (chars + limits.target / 2) / limits.target;
    let parts = parts.max(rows.len().div_ceil(limits.lines)).max(2);
    let ideal = (chars / parts).min(limits.most);
    let ideal_rows = rows.len() / parts;
    let most = (ideal * 3 / 2).min(limits.most);
    let size = |row: usize| lines.chars(&(rows.start..row));
    let inner = rows.start + 1..rows.end;
    let is_near = |row: &usize| {
        let chars = size(*row);
        let count = row - rows.start;
        let long_enough = chars >= ideal / 2 || count >= ideal_rows.max(1);
        long_enough && chars <= most && count <= (ideal_rows * 3 / 2).max(1)
    };
    let by_rows = limits.lines < usize::MAX;
    let near = inner
        .clone()
        .take_while(|row| size(*row) <= most)
        .filter(|row| if by_rows { is_near(row) } else { size(*row) >= ideal / 2 });
    let best = near.min_by_key(|row| (level(*row), size(*row).abs_diff(ideal)));
    let longest = || inner.clone().take_while(|row| size(*row) <= limits.most).last();
    best.or_else(longest).unwrap_or(rows.start + 1)
}
