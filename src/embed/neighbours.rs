//! Here is a matrix: which rows are the nearest of each row? All pairs by blocked products.
//!
//! In: a [`Matrix`] and the rows in question. Out: for each of them its nearest others at or above a
//! least cosine, exact. A block of rows times the transpose of another is one matrix product, which
//! costs a third of as many single ones; each pair is computed once and told to both of its rows.
//! Sums of products of int8 values stay whole in f32 up to 1,000 dimensions, so the cosines are those of
//! [`Matrix::cosine`].

use std::sync::Mutex;

use ndarray::{Array2, linalg::general_mat_mul};
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
    (0..blocks.len()).into_par_iter().try_for_each(|a| -> Result<()> {
        let mut product = Product::new(matrix, blocks[a]);
        for b in a..blocks.len() {
            check()?;
            let near = product.near_pairs(matrix, blocks[b], a == b, min);
            if near.is_empty() {
                continue;
            }
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

/// The products of one block with others, in memory that is used again.
struct Product {
    left: Array2<f32>,
    left_norms: Vec<f32>,
    right: Array2<f32>,
    dots: Array2<f32>,
}

impl Product {
    fn new(matrix: &Matrix, rows: &[usize]) -> Self {
        let mut left = Array2::zeros((rows.len(), matrix.dim()));
        fill(&mut left, matrix, rows);
        Self {
            left,
            left_norms: norms(matrix, rows),
            right: Array2::zeros((0, 0)),
            dots: Array2::zeros((0, 0)),
        }
    }

    /// The pairs with the rows of another block that have a cosine of at least `min`; each pair once
    /// where it is the same block.
    fn near_pairs(
        &mut self,
        matrix: &Matrix,
        rows: &[usize],
        is_same: bool,
        min: f32,
    ) -> Vec<Pair> {
        if self.right.nrows() != rows.len() {
            self.right = Array2::zeros((rows.len(), matrix.dim()));
            self.dots = Array2::zeros((self.left.nrows(), rows.len()));
        }
        fill(&mut self.right, matrix, rows);
        general_mat_mul(1.0, &self.left, &self.right.t(), 0.0, &mut self.dots);
        let norms = norms(matrix, rows);
        let mut near = Vec::new();
        for (at, dots) in self.dots.outer_iter().enumerate() {
            let dots = dots.to_slice().expect("a product is laid out row by row");
            let from = if is_same { at + 1 } else { 0 };
            let row = Row { at, norm: self.left_norms[at], min };
            row.near(from, dots, &norms, &mut near);
        }
        near
    }
}

/// A row of a product.
struct Row {
    at: usize,
    norm: f32,
    min: f32,
}

impl Row {
    /// Collects the columns from `from` on that are near.
    fn near(&self, from: usize, dots: &[f32], norms: &[f32], near: &mut Vec<Pair>) {
        // Nearly all columns are far, so they are looked at many at a time.
        const STEP: usize = 32;
        if self.norm == 0.0 {
            return;
        }
        let steps = dots[from..].chunks(STEP).zip(norms[from..].chunks(STEP));
        for (start, (dots, norms)) in (from..).step_by(STEP).zip(steps) {
            let cosine = |dot: f32, norm: f32| dot * self.norm * norm;
            let nearest = dots.iter().zip(norms).map(|(dot, norm)| cosine(*dot, *norm));
            if nearest.fold(f32::NEG_INFINITY, f32::max) < self.min {
                continue;
            }
            for (b, (dot, norm)) in (start..).zip(dots.iter().zip(norms)) {
                let cosine = cosine(*dot, *norm);
                if cosine >= self.min && *norm > 0.0 {
                    near.push(Pair { a: self.at, b, cosine });
                }
            }
        }
    }
}

fn norms(matrix: &Matrix, rows: &[usize]) -> Vec<f32> {
    rows.iter().map(|row| matrix.inverse_norm(*row)).collect()
}

fn fill(block: &mut Array2<f32>, matrix: &Matrix, rows: &[usize]) {
    let block = block.as_slice_mut().expect("a block is laid out row by row");
    for (values, row) in block.chunks_exact_mut(matrix.dim()).zip(rows) {
        for (value, stored) in values.iter_mut().zip(matrix.row(*row)) {
            *value = f32::from(*stored);
        }
    }
}

/// Keeps `list` in order and at most `count` long.
fn insert(list: &mut Vec<Neighbour>, new: Neighbour, count: usize) {
    let is_before =
        |old: &Neighbour| new.cosine.total_cmp(&old.cosine).then(old.row.cmp(&new.row)).is_lt();
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
