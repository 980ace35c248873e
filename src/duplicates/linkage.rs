//! Here are things that are alike in pairs: which groups are alike throughout?
//!
//! Complete linkage: two groups become one only when every pair across them is alike. A chain of small
//! steps joins nobody that its ends do not join.

use std::collections::{HashMap, HashSet};

use crate::types::Hash;

/// Two things that are alike; positions of things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub a: usize,
    pub b: usize,
    /// The higher, the sooner they are joined.
    pub weight: f32,
}

/// How alike linked things are.
pub(super) struct Weights(HashMap<(usize, usize), f32>);

impl Weights {
    pub(super) fn of(links: &[Link]) -> Self {
        Self(
            links
                .iter()
                .map(|link| ((link.a.min(link.b), link.a.max(link.b)), link.weight))
                .collect(),
        )
    }

    /// The weight between two things, which are linked or the same.
    pub(super) fn between(&self, a: usize, b: usize) -> f32 {
        if a == b { 1.0 } else { self.0[&(a.min(b), a.max(b))] }
    }

    /// The one of a group that is most like all others, of which each counts `times`. Among equals the
    /// least hash decides, so that a renamed file changes nothing. `None` for no things.
    pub(super) fn medoid(
        &self,
        group: &[usize],
        times: impl Fn(usize) -> usize,
        hash: impl Fn(usize) -> Hash,
    ) -> Option<usize> {
        let toward_all = |thing: usize| -> f32 {
            group.iter().map(|other| self.between(thing, *other) * times(*other) as f32).sum()
        };
        group.iter().copied().max_by(|a, b| {
            let by_hash = || hash(*b).cmp(&hash(*a));
            toward_all(*a).total_cmp(&toward_all(*b)).then_with(by_hash)
        })
    }
}

/// All pairs of a group.
pub(super) fn pairs(group: &[usize]) -> impl Iterator<Item = (usize, usize)> + Clone {
    group.iter().enumerate().flat_map(|(at, a)| group[at + 1..].iter().map(move |b| (*a, *b)))
}

/// The lowest and the highest of some values from 0 to 1; `(1, 0)` when there is none.
pub(super) fn extent(values: impl Iterator<Item = f32>) -> (f32, f32) {
    values.fold((1.0, 0.0), |(low, high), value| (f32::min(low, value), f32::max(high, value)))
}

/// Groups of two or more, each ascending, in the order of their first members. A link lighter than
/// `strong` makes a pair of two that have nobody else, and counts for nothing in larger groups.
/// Deterministic: among links of one weight the one with the smaller positions comes first.
pub(super) fn complete(links: &[Link], strong: f32) -> Vec<Vec<usize>> {
    let mut order: Vec<&Link> = links.iter().collect();
    order.sort_by(|x, y| y.weight.total_cmp(&x.weight).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut linked: HashMap<usize, HashSet<usize>> = HashMap::new();
    for link in links.iter().filter(|link| link.weight >= strong) {
        linked.entry(link.a).or_default().insert(link.b);
        linked.entry(link.b).or_default().insert(link.a);
    }
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for link in order {
        let [a, b] = [link.a, link.b].map(|thing| {
            *group_of.entry(thing).or_insert_with(|| {
                groups.push(vec![thing]);
                groups.len() - 1
            })
        });
        let all_alike = || {
            groups[a].iter().all(|x| {
                groups[b].iter().all(|y| linked.get(x).is_some_and(|linked| linked.contains(y)))
            })
        };
        let are_single = groups[a].len() == 1 && groups[b].len() == 1;
        if a != b && (are_single || all_alike()) {
            let (into, from) = if groups[a].len() >= groups[b].len() { (a, b) } else { (b, a) };
            let moved = std::mem::take(&mut groups[from]);
            moved.iter().for_each(|thing| {
                group_of.insert(*thing, into);
            });
            groups[into].extend(moved);
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable();
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(a: usize, b: usize, weight: f32) -> Link {
        Link { a, b, weight }
    }

    #[test]
    fn a_chain_joins_nobody_that_its_ends_do_not_join() {
        let chain = [link(0, 1, 0.9), link(1, 2, 0.8), link(2, 3, 0.9)];
        assert_eq!(complete(&chain, 0.0), [vec![0, 1], vec![2, 3]]);
        let ring = [link(0, 1, 0.9), link(1, 2, 0.8), link(0, 2, 0.6)];
        assert_eq!(complete(&ring, 0.0), [vec![0, 1, 2]]);
        assert_eq!(complete(&ring, 0.7), [vec![0, 1]]);
        assert_eq!(complete(&[link(3, 5, 0.6)], 0.7), [vec![3, 5]]);
        assert!(complete(&[], 0.0).is_empty());
    }

    proptest! {
        #[test]
        fn every_pair_of_a_group_is_linked_and_no_two_groups_could_be_one(
            found in prop::collection::btree_map((0usize..9, 0usize..9), 0u8..9, 0..24)
        ) {
            let links: Vec<Link> = found
                .iter()
                .filter(|((a, b), _)| a < b)
                .map(|((a, b), weight)| link(*a, *b, f32::from(*weight)))
                .collect();
            let linked = |a: usize, b: usize| {
                links.iter().any(|l| (l.a, l.b) == (a.min(b), a.max(b)))
            };
            let groups = complete(&links, 0.0);
            for (at, group) in groups.iter().enumerate() {
                for x in group {
                    prop_assert!(group.iter().all(|y| x == y || linked(*x, *y)));
                }
                for other in &groups[at + 1..] {
                    prop_assert!(!group.iter().all(|x| other.iter().all(|y| linked(*x, *y))));
                }
            }
            let mut backward = links.clone();
            backward.reverse();
            prop_assert_eq!(complete(&backward, 0.0), groups);
        }
    }
}
