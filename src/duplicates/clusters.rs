//! What belongs together? Union-find over edges, and how alike the members of a cluster are.

use rayon::prelude::*;

use crate::retrieval::CodeVectors;

/// The groups of `0..count` that `edges` connect, singles included: members ascending, groups in the
/// order of their first member.
pub(super) fn connected(
    count: usize,
    edges: impl IntoIterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..count).collect();
    for (a, b) in edges {
        let (a, b) = (top(&mut parents, a), top(&mut parents, b));
        // The smaller one leads, so that a group is known by its first member.
        parents[a.max(b)] = a.min(b);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count];
    for at in 0..count {
        groups[top(&mut parents, at)].push(at);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The leader of a group; the way to it is halved.
fn top(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

/// The lowest and the highest cosine of any two of `chunks`, of which there are at least two.
pub(super) fn extremes(vectors: &CodeVectors, chunks: &[usize]) -> (f32, f32) {
    let pairs_of = |at: usize| {
        let others = &chunks[at + 1..];
        others.iter().map(move |other| vectors.cosine(chunks[at], *other))
    };
    let widest = |a: (f32, f32), b: (f32, f32)| (a.0.min(b.0), a.1.max(b.1));
    let none = || (f32::INFINITY, f32::NEG_INFINITY);
    let of_row =
        |at: usize| pairs_of(at).fold(none(), |found, cosine| widest(found, (cosine, cosine)));
    (0..chunks.len()).into_par_iter().map(of_row).reduce(none, widest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chains_are_one_group_and_singles_stay_alone() {
        let groups = connected(7, [(5, 1), (1, 3), (6, 2), (2, 6)]);
        assert_eq!(groups, [vec![0], vec![1, 3, 5], vec![2, 6], vec![4]]);
        assert!(connected(0, []).is_empty());
    }

    proptest! {
        #[test]
        fn two_are_together_exactly_when_a_way_leads_from_one_to_the_other(
            edges in prop::collection::vec((0usize..12, 0usize..12), 0..20)
        ) {
            let groups = connected(12, edges.iter().copied());
            let mut reaches = [[false; 12]; 12];
            for (at, row) in reaches.iter_mut().enumerate() {
                row[at] = true;
            }
            for &(a, b) in &edges {
                reaches[a][b] = true;
                reaches[b][a] = true;
            }
            for via in 0..12 {
                let onward = reaches[via];
                for row in &mut reaches {
                    if row[via] {
                        row.iter_mut().zip(onward).for_each(|(reaches, more)| *reaches |= more);
                    }
                }
            }
            let group_of = |at: usize| groups.iter().position(|group| group.contains(&at)).unwrap();
            for (a, row) in reaches.iter().enumerate() {
                for (b, reached) in row.iter().enumerate() {
                    prop_assert_eq!(*reached, group_of(a) == group_of(b));
                }
            }
            prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 12);
        }
    }
}
