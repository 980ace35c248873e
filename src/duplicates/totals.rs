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
    let all = |lines| LineRange::joined(lines).into_iter().map(LineRange::count).sum::<usize>();
    let with_code = |(file, lines)| {
        let lines = LineRange::joined(lines);
        lines.iter().map(|lines| corpus.code_lines(file, *lines)).sum::<usize>()
    };
    Totals {
        lines: (0..corpus.files.len()).map(lines).sum(),
        copied_lines: copied.into_values().map(all).sum(),
        import_lines: corpus.files.iter().map(|file| file.ignored.imports).sum(),
        licence_lines: corpus.files.iter().map(|file| file.ignored.licence).sum(),
        spare_lines: spare.into_iter().map(with_code).sum(),
    }
}
