//! Here are two members of a cluster: which of their lines stand beside each other?

use std::ops::Range;

use textdiff::{Algorithm, DiffOp, capture_diff_slices};

/// Two lines that stand beside each other, or one alone; positions, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) left: Option<usize>,
    pub(super) right: Option<usize>,
    /// Whether they hold the same but for layout.
    pub(super) is_same: bool,
}

/// The bytes of each line, without its end.
pub(super) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let end = line.strip_suffix('\n').unwrap_or(line);
        let end = end.strip_suffix('\r').unwrap_or(end);
        lines.push(start..start + end.len());
        start += line.len();
    }
    lines
}

/// The parts of `marks` (in order, without overlap) that lie in `bytes`.
pub(super) fn within(
    bytes: &Range<usize>,
    marks: &[Range<usize>],
) -> impl Iterator<Item = Range<usize>> {
    let first = marks.partition_point(|mark| mark.end <= bytes.start);
    let (start, end) = (bytes.start, bytes.end);
    let marks = marks[first..].iter().take_while(move |mark| mark.start < end);
    marks.map(move |mark| mark.start.max(start)..mark.end.min(end))
}

/// Cuts `bytes` where marks begin and end; each piece with whether it is marked.
pub(super) fn cut(bytes: &Range<usize>, marks: &[Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let mut pieces = Vec::new();
    let mut at = bytes.start;
    for mark in within(bytes, marks) {
        pieces.push((at..mark.start, false));
        at = mark.end;
        pieces.push((mark, true));
    }
    pieces.push((at..bytes.end, false));
    pieces.retain(|(bytes, _)| !bytes.is_empty());
    pieces
}

/// A text with the bytes that differ from the other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked<'a> {
    pub(super) text: &'a str,
    pub(super) marks: &'a [Range<usize>],
}

/// Puts the lines of two texts beside each other. Lines that differ in marked bytes alone stand
/// beside each other; so a renamed copy lines up whole.
pub(super) fn rows(left: Marked<'_>, right: Marked<'_>) -> Vec<Row> {
    let [left_lines, right_lines] = [lines(left.text), lines(right.text)];
    let keys = |side: Marked<'_>, lines: &[Range<usize>]| -> Vec<String> {
        lines.iter().map(|line| key(side, line)).collect()
    };
    let [left_keys, right_keys] = [keys(left, &left_lines), keys(right, &right_lines)];
    let ops = capture_diff_slices(Algorithm::Patience, &left_keys, &right_keys);
    let is_bare = |at: usize, bt: usize| {
        within(&left_lines[at], left.marks).next().is_none()
            && within(&right_lines[bt], right.marks).next().is_none()
    };
    let mut rows = Vec::with_capacity(left_lines.len().max(right_lines.len()));
    for op in ops {
        let (mut old, mut new) = (op.old_range(), op.new_range());
        let is_equal = matches!(op, DiffOp::Equal { .. });
        loop {
            let (left, right) = (old.next(), new.next());
            if left.is_none() && right.is_none() {
                break;
            }
            let is_same = is_equal && left.zip(right).is_some_and(|(at, bt)| is_bare(at, bt));
            rows.push(Row { left, right, is_same });
        }
    }
    rows
}

/// What a line is compared by: no blanks, and a placeholder for what is marked.
fn key(side: Marked<'_>, line: &Range<usize>) -> String {
    let mut key = String::with_capacity(line.len());
    for (bytes, is_marked) in cut(line, side.marks) {
        if is_marked {
            key.push('\0');
        } else {
            // A mark may begin or end where no character does only in a text that lies.
            let text = side.text.get(bytes).unwrap_or_default();
            key.extend(text.chars().filter(|c| !c.is_whitespace()));
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text whose marked bytes stand between `‹` and `›`.
    fn marked(text: &str) -> (String, Vec<Range<usize>>) {
        let (mut bare, mut marks, mut start) = (String::new(), Vec::new(), 0);
        for c in text.chars() {
            match c {
                '‹' => start = bare.len(),
                '›' => marks.push(start..bare.len()),
                _ => bare.push(c),
            }
        }
        (bare, marks)
    }

    fn aligned(left: &str, right: &str) -> Vec<(Option<usize>, Option<usize>, bool)> {
        let ((left, left_marks), (right, right_marks)) = (marked(left), marked(right));
        let left = Marked { text: &left, marks: &left_marks };
        let right = Marked { text: &right, marks: &right_marks };
        rows(left, right).into_iter().map(|row| (row.left, row.right, row.is_same)).collect()
    }

    #[test]
    fn renamed_lines_stand_beside_each_other() {
        assert_eq!(
            aligned("fn ‹a›() {\n  x\n}\n", "fn ‹long›() {\r\n\tx\r\n}"),
            [(Some(0), Some(0), false), (Some(1), Some(1), true), (Some(2), Some(2), true),]
        );
    }

    #[test]
    fn lines_of_one_side_stand_alone() {
        assert_eq!(
            aligned("a\n‹b;\nc;›\nd", "a\nd"),
            [
                (Some(0), Some(0), true),
                (Some(1), None, false),
                (Some(2), None, false),
                (Some(3), Some(1), true),
            ]
        );
        assert_eq!(aligned("", "a"), [(None, Some(0), false)]);
        assert_eq!(aligned("", ""), []);
    }

    #[test]
    fn a_changed_comment_is_no_mark_and_not_the_same() {
        assert_eq!(
            aligned("x // one\ny", "x // two\ny"),
            [(Some(0), Some(0), false), (Some(1), Some(1), true)]
        );
    }

    #[test]
    fn a_line_is_cut_at_its_marks() {
        assert_eq!(
            cut(&(2..9), &[0..3, 5..6, 8..20]),
            [(2..3, true), (3..5, false), (5..6, true), (6..8, false), (8..9, true)]
        );
        assert_eq!(cut(&(4..4), &[0..5, 7..9]), []);
    }
}
