//! Here is a matrix: which rows are the nearest of each row? All pairs by blocked products.
//!
//! In: a [`Matrix`] and the rows in question. Out: for each of them its nearest others at or above a
//! least cosine, exact. A block of rows times the transpose of another is one matrix product, which
//! costs a third of as many single ones; each pair is computed once and told to both of its rows.
//! Sums of products of int8 values stay whole in f32 up to 1,000 dimensions, so the cosines are those of
//! [`Matrix::cosine`].

use std::sync::Mutex;

use ndarray::{Array2, ArrayView2, linalg::general_mat_mul};
use rayon::prelude::*;

use super::Matrix;
use crate::error::Result;

/// Rows of a block: its product with another takes 1 MiB.
const BLOCK_ROWS: usize = 512;

/// Another row, and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its position among the rows in question.
    pub row: u32,
    /// -1 to 1.
    pub cosine: f32,
}

/// The `count` nearest others of each of `rows`, nearest first, with a cosine of at least `min`;
/// among equals the one that comes first in `rows`. Rows are named by their position in `rows`.
/// Zero rows have no neighbours. `check` is asked between blocks whether to go on.
///
/// # Errors
/// What `check` says.
///
/// # Panics
/// When there is no such row.
pub fn neighbours(
    matrix: &Matrix,
    rows: &[usize],
    count: usize,
    min: f32,
    check: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Vec<Vec<Neighbour>>> {
    let blocks: Vec<&[usize]> = rows.chunks(BLOCK_ROWS).collect();
    let nearest: Vec<Mutex<Vec<Vec<Neighbour>>>> =
        blocks.iter().map(|block| Mutex::new(vec![Vec::new(); block.len()])).collect();
    let pairs: Vec<(usize, usize)> =
        (0..blocks.len()).flat_map(|a| (a..blocks.len()).map(move |b| (a, b))).collect();
    pairs.par_iter().try_for_each(|&(a, b)| -> Result<()> {
        check()?;
        let near = near_pairs(matrix, blocks[a], blocks[b], a == b, min);
        let (first_a, first_b) = (a * BLOCK_ROWS, b * BLOCK_ROWS);
        // One lock at a time: two blocks never wait for each other.
        let mut lists = nearest[a].lock().expect("no thread panics while it holds a block");
        for pair in &near {
            insert(&mut lists[pair.a], pair.other(first_b + pair.b), count);
        }
        drop(lists);
        let mut lists = nearest[b].lock().expect("no thread panics while it holds a block");
        for pair in &near {
            insert(&mut lists[pair.b], pair.other(first_a + pair.a), count);
        }
        Ok(())
    })?;
    let lists = nearest.into_iter().map(|block| block.into_inner().expect("all threads are done"));
    Ok(lists.flatten().collect())
}

/// Two rows that are near, by their positions in their blocks.
struct Pair {
    a: usize,
    b: usize,
    cosine: f32,
}

impl Pair {
    fn other(&self, row: usize) -> Neighbour {
        Neighbour { row: row as u32, cosine: self.cosine }
    }
}

/// The pairs between two blocks with a cosine of at least `min`; each pair once within one block.
fn near_pairs(matrix: &Matrix, a: &[usize], b: &[usize], is_same: bool, min: f32) -> Vec<Pair> {
    let (left, right) = (floats(matrix, a), floats(matrix, b));
    let mut dots = Array2::<f32>::zeros((a.len(), b.len()));
    general_mat_mul(1.0, &left, &right.t(), 0.0, &mut dots);
    let norms: Vec<f32> = b.iter().map(|row| matrix.inverse_norm(*row)).collect();
    let mut near = Vec::new();
    for (at, dots) in dots.outer_iter().enumerate() {
        let norm = matrix.inverse_norm(a[at]);
        let from = if is_same { at + 1 } else { 0 };
        let dots = dots.to_slice().expect("a product is laid out row by row");
        for ((other, dot), other_norm) in (from..).zip(&dots[from..]).zip(&norms[from..]) {
            let cosine = dot * norm * other_norm;
            if cosine >= min && norm > 0.0 && *other_norm > 0.0 {
                near.push(Pair { a: at, b: other, cosine });
            }
        }
    }
    near
}

fn floats(matrix: &Matrix, rows: &[usize]) -> Array2<f32> {
    let values: Vec<f32> =
        rows.iter().flat_map(|row| matrix.row(*row)).map(|value| f32::from(*value)).collect();
    let view = ArrayView2::from_shape((rows.len(), matrix.dim()), &values);
    view.expect("every row has the matrix's dimension").to_owned()
}

/// Keeps `list` in order and at most `count` long.
fn insert(list: &mut Vec<Neighbour>, new: Neighbour, count: usize) {
    let is_before = |old: &Neighbour| {
        old.cosine > new.cosine || (old.cosine == new.cosine && old.row < new.row)
    };
    let at = list.partition_point(is_before);
    if at < count {
        list.truncate(count - 1);
        list.insert(at, new);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: every pair, sorted.
    fn plainly(matrix: &Matrix, rows: &[usize], count: usize, min: f32) -> Vec<Vec<Neighbour>> {
        let is_zero = |row: usize| matrix.row(row).iter().all(|value| *value == 0);
        (0..rows.len())
            .map(|a| {
                let others = (0..rows.len()).filter(|b| *b != a);
                let others = others.filter(|b| !is_zero(rows[a]) && !is_zero(rows[*b]));
                let mut list: Vec<Neighbour> = others
                    .map(|b| {
                        let cosine = matrix.cosine(rows[a.min(b)], rows[a.max(b)]);
                        Neighbour { row: b as u32, cosine }
                    })
                    .filter(|found| found.cosine >= min)
                    .collect();
                list.sort_by(|x, y| y.cosine.total_cmp(&x.cosine).then(x.row.cmp(&y.row)));
                list.truncate(count);
                list
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn every_pair_is_seen_once(
            values in prop::collection::vec(-3i8..3, 8 * 40),
            picked in prop::collection::vec(0usize..40, 0..60),
            count in 1usize..6,
            min in -1f32..1.0,
        ) {
            let matrix = Matrix::new(8, values);
            let found = neighbours(&matrix, &picked, count, min, &|| Ok(())).unwrap();
            prop_assert_eq!(found, plainly(&matrix, &picked, count, min));
        }
    }

    #[test]
    fn blocks_meet() {
        // Every row has its only equal far away, in another block.
        let (dim, half) = (16, BLOCK_ROWS + 70);
        let row = |at: usize| {
            (0..dim)
                .map(move |bit| if at >> (bit % 12) & 1 == 1 { 9 } else { -7 + (bit / 12) as i8 })
        };
        let values = (0..2 * half).flat_map(|at| row(at % half + 1)).collect();
        let matrix = Matrix::new(dim, values);
        let rows: Vec<usize> = (0..2 * half).collect();
        let found = neighbours(&matrix, &rows, 1, 0.999, &|| Ok(())).unwrap();
        for (at, list) in found.iter().enumerate() {
            let wanted = if at < half { at + half } else { at - half };
            assert_eq!(list.iter().map(|n| n.row as usize).collect::<Vec<_>>(), [wanted]);
        }
    }

    #[test]
    fn it_ends_when_told_to() {
        let matrix = Matrix::new(2, vec![1, 2, 3, 4]);
        let stop = || Err(crate::error::Error::usage("enough"));
        assert!(neighbours(&matrix, &[0, 1], 1, 0.0, &stop).is_err());
        assert!(neighbours(&matrix, &[], 1, 0.0, &stop).unwrap().is_empty());
    }
}
