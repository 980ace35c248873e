//! Here are two pieces of code: which of their tokens differ?

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use textdiff::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::code::Code;

/// A difference that takes longer is told coarsely.
const TIME_MAX: Duration = Duration::from_millis(200);

/// Stretches of tokens that differ, positions in each side's tokens; one of them may be empty.
pub(super) type Changes = Vec<(Range<usize>, Range<usize>)>;

/// How two sides differ, in order.
pub(super) fn changes(a: &[Code], b: &[Code]) -> Changes {
    let is_renamed = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.shape() == b.shape());
    if is_renamed {
        let differ = (0..a.len()).filter(|at| a[*at] != b[*at]);
        return differ.map(|at| (at..at + 1, at..at + 1)).collect();
    }
    let deadline = Some(Instant::now() + TIME_MAX);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, a, b, deadline);
    let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed.map(|op| (op.old_range(), op.new_range())).collect()
}

/// What differs, counted: names, literals, other tokens; and the pairs of tokens that nearly always stand
/// for each other, as positions, each pair of codes once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub names: usize,
    pub literals: usize,
    pub tokens: usize,
    pub pairs: Vec<(usize, usize)>,
}

/// Counts changes. A name that always stands for the same other one counts once.
pub(super) fn count(a: &[Code], b: &[Code], changes: &Changes) -> Counted {
    const MOSTLY: f32 = 0.8;
    let mut counted = Counted::default();
    let mut seen: BTreeMap<(Code, Code), (usize, (usize, usize))> = BTreeMap::new();
    let mut occurs: BTreeMap<Code, usize> = BTreeMap::new();
    for (ours, theirs) in changes {
        let is_pairwise = ours.len() == theirs.len()
            && ours
                .clone()
                .zip(theirs.clone())
                .all(|(x, y)| a[x].shape() == b[y].shape() && !a[x].is_fixed());
        if !is_pairwise {
            counted.tokens += ours.len() + theirs.len();
            continue;
        }
        for (x, y) in ours.clone().zip(theirs.clone()) {
            *occurs.entry(a[x]).or_default() += 1;
            seen.entry((a[x], b[y])).or_insert((0, (x, y))).0 += 1;
        }
    }
    for ((ours, _), (count, at)) in seen {
        if ours.is_name() {
            counted.names += 1;
        } else {
            counted.literals += 1;
        }
        if count as f32 >= MOSTLY * occurs[&ours] as f32 {
            counted.pairs.push(at);
        }
    }
    counted.pairs.sort_unstable();
    counted
}
