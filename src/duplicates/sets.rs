//! Here are two ascending lists: how much have they in common?

use std::cmp::Ordering;

/// How many items are in both; one that is in both more than once counts as often.
fn common<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut at, mut other, mut both) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        match a[at].cmp(&b[other]) {
            Ordering::Less => at += 1,
            Ordering::Greater => other += 1,
            Ordering::Equal => {
                both += 1;
                at += 1;
                other += 1;
            }
        }
    }
    both
}

/// The common items as a share of all of both, 0 to 1 (the Jaccard index); 0 for empty lists.
pub(super) fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f32 {
    let both = common(a, b);
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f32 / all as f32 }
}

/// [`jaccard`] of the different items of two lists, each of which counts once.
pub(super) fn jaccard_of_distinct<T: Ord>(a: &[T], b: &[T]) -> f32 {
    let distinct = |list: &[T]| list.chunk_by(T::eq).count();
    let (mut a_groups, mut b_groups) = (a.chunk_by(T::eq).peekable(), b.chunk_by(T::eq).peekable());
    let mut both = 0;
    while let (Some(next), Some(other)) = (a_groups.peek(), b_groups.peek()) {
        let order = next[0].cmp(&other[0]);
        both += usize::from(order.is_eq());
        if order.is_le() {
            a_groups.next();
        }
        if order.is_ge() {
            b_groups.next();
        }
    }
    let all = distinct(a) + distinct(b) - both;
    if all == 0 { 0.0 } else { both as f32 / all as f32 }
}

/// The common items as a share of the longer list, 0 to 1; 1 for empty lists.
pub(super) fn overlap<T: Ord>(a: &[T], b: &[T]) -> f32 {
    let longer = a.len().max(b.len());
    if longer == 0 { 1.0 } else { common(a, b) as f32 / longer as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_both_counts() {
        assert_eq!(common(&[1, 2, 2, 5], &[2, 2, 2, 6]), 2);
        assert!((jaccard(&[1, 2, 3], &[2, 3, 4]) - 0.5).abs() < 1e-6);
        assert!((overlap(&[1, 2, 3], &[2, 3]) - 2.0 / 3.0).abs() < 1e-6);
        assert!((jaccard_of_distinct(&[1, 2, 2, 3], &[2, 3, 3, 4]) - 0.5).abs() < 1e-6);
        assert!(jaccard::<u8>(&[], &[]) < 1e-6 && overlap::<u8>(&[], &[]) > 0.999);
    }
}
