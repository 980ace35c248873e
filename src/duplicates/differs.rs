//! Here are two pieces of code: which of their tokens differ?

use std::collections::BTreeMap;
use std::ops::Range;

use textdiff::{Algorithm, DiffOp, capture_diff_slices};

use super::code::Code;

/// Of longer sides only so many tokens are compared; the rest counts as changed. A bound on time would make
/// the answer depend on the machine.
const TOKENS_MAX: usize = 4_000;

/// Stretches of tokens that differ, positions in each side's tokens; one of them may be empty.
pub(super) type Changes = Vec<(Range<usize>, Range<usize>)>;

/// How two sides differ, in order.
pub(super) fn changes(a: &[Code], b: &[Code]) -> Changes {
    let is_renamed = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.shape() == b.shape());
    if is_renamed {
        let differ = (0..a.len()).filter(|at| a[*at] != b[*at]);
        return differ.map(|at| (at..at + 1, at..at + 1)).collect();
    }
    let (head, other) = (&a[..a.len().min(TOKENS_MAX)], &b[..b.len().min(TOKENS_MAX)]);
    let ops = capture_diff_slices(Algorithm::Myers, head, other);
    let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let mut changes: Changes = changed.map(|op| (op.old_range(), op.new_range())).collect();
    if head.len() < a.len() || other.len() < b.len() {
        changes.push((head.len()..a.len(), other.len()..b.len()));
    }
    changes
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

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<Code> {
        text.split(' ').map(|word| Code::fixed(word.as_bytes())).collect()
    }

    #[test]
    fn what_one_side_alone_has_is_a_change() {
        let (a, b) = (codes("if a then b end"), codes("if a then c d end"));
        assert_eq!(changes(&a, &b), [(3..4, 3..5)]);
        assert_eq!(count(&a, &b, &changes(&a, &b)).tokens, 3);
        assert!(changes(&a, &a).is_empty());
    }

    #[test]
    fn what_lies_beyond_the_bound_counts_as_changed() {
        let long = codes(&vec!["x"; TOKENS_MAX + 10].join(" "));
        let longer = codes(&vec!["x"; TOKENS_MAX + 30].join(" "));
        let beyond = (TOKENS_MAX..TOKENS_MAX + 10, TOKENS_MAX..TOKENS_MAX + 30);
        assert_eq!(changes(&long, &longer), [beyond]);
    }
}
