//! Here are all groups of a report: what do they amount to, and what is not among them?

use std::collections::{BTreeMap, HashMap};

use super::code::Corpus;
use super::rank::Draft;
use super::report::{LeftOut, Omission, Totals};
use crate::retrieval::Catalog;
use crate::types::LineRange;

/// What was left out, by reason.
pub(super) fn left_out(drafts: &[Draft]) -> Vec<LeftOut> {
    let mut counts: BTreeMap<Omission, (usize, usize)> = BTreeMap::new();
    for draft in drafts {
        if let Some(reason) = draft.omission {
            let (clusters, members) = counts.entry(reason).or_default();
            *clusters += 1;
            *members += draft.group.pieces.len();
        }
    }
    let left_out = |(reason, (clusters, members))| LeftOut { reason, clusters, members };
    counts.into_iter().map(left_out).collect()
}

/// Sums over the groups of a report.
pub(super) fn totals(corpus: &Corpus, catalog: &Catalog, drafts: &[Draft]) -> Totals {
    let lines = |file: usize| catalog.files[corpus.files[file].at].row.lines as usize;
    let mut copied: HashMap<usize, Vec<LineRange>> = HashMap::new();
    let mut spare: HashMap<usize, Vec<LineRange>> = HashMap::new();
    for draft in drafts {
        for (at, piece) in draft.group.pieces.iter().enumerate() {
            copied.entry(piece.file).or_default().push(piece.lines);
            if at != draft.group.medoid {
                spare.entry(piece.file).or_default().push(piece.lines);
            }
        }
    }
    let all = |lines: Vec<LineRange>| union(lines).into_iter().map(count).sum::<usize>();
    let with_code = |(file, lines)| {
        let lines = union(lines);
        lines.iter().map(|lines| corpus.code_lines(file, *lines)).sum::<usize>()
    };
    Totals {
        lines: (0..corpus.files.len()).map(lines).sum(),
        copied_lines: copied.into_values().map(all).sum(),
        spare_lines: spare.into_iter().map(with_code).sum(),
    }
}

fn count(lines: LineRange) -> usize {
    (lines.end - lines.start + 1) as usize
}

/// The ranges that some ranges cover together.
fn union(mut ranges: Vec<LineRange>) -> Vec<LineRange> {
    ranges.sort_unstable();
    let mut merged: Vec<LineRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once() {
        let lines = |start, end| LineRange { start, end };
        let together = union(vec![lines(5, 9), lines(1, 3), lines(8, 10), lines(6, 7)]);
        assert_eq!(together, [lines(1, 3), lines(5, 10)]);
        assert_eq!(union(vec![lines(1, 1), lines(2, 2)]).into_iter().map(count).sum::<usize>(), 2);
        assert!(union(Vec::new()).is_empty());
    }
}
