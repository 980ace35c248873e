//! Here is a vector: how near is every row of a matrix? Exact cosines over int8.
//!
//! In: quantised vectors ([`quantise`]), one row a chunk. Out: one cosine a row, in row order. A zero
//! row, or a zero query, has the cosine 0 to everything. Knows nothing of chunks or of models.

use rayon::prelude::*;
use simsimd::SpatialSimilarity;

/// Below this many rows one thread is quicker than waking the others.
const PARALLEL_ROWS_MIN: usize = 20_000;

/// Rows that a thread takes at a time: 512 KiB at 256 dimensions.
const BLOCK_ROWS: usize = 2_048;

/// A unit vector as int8: `round(127 × x / max|x|)`; cosines are computed on these.
///
/// A zero vector stays zero. The length is kept.
pub fn quantise(vector: &[f32]) -> Vec<i8> {
    let largest = vector.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return vec![0; vector.len()];
    }
    let factor = 127.0 / largest;
    // Adding a half of the same sign and cutting off rounds as `f32::round` does, without a call.
    vector.iter().map(|x| (x * factor + 0.5f32.copysign(*x)) as i8).collect()
}

/// The dot product of two vectors, exact up to 130,000 dimensions.
///
/// # Panics
/// When the lengths differ.
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    i8::dot(a, b).expect("both vectors have the model's dimension") as i32
}

/// The cosine of two quantised vectors; 0 when one of them is zero.
///
/// # Panics
/// When the lengths differ.
pub fn cosine(a: &[i8], b: &[i8]) -> f32 {
    dot(a, b) as f32 * inverse_norm(a) * inverse_norm(b)
}

fn inverse_norm(row: &[i8]) -> f32 {
    let square = dot(row, row);
    if square == 0 { 0.0 } else { 1.0 / (square as f32).sqrt() }
}

/// Vectors of one model, row by row, ready to be compared with any other.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    dim: usize,
    values: Vec<i8>,
    inverse_norms: Vec<f32>,
}

impl Matrix {
    /// Takes the rows, one after the other, `dim` values each.
    ///
    /// # Panics
    /// When the values are not whole rows.
    pub fn new(dim: usize, values: Vec<i8>) -> Self {
        if dim == 0 {
            assert!(values.is_empty(), "{} values in rows of none", values.len());
            return Self::default();
        }
        assert!(
            values.len().is_multiple_of(dim),
            "{} values are not whole rows of {dim}",
            values.len()
        );
        let inverse_norms = if values.len() / dim < PARALLEL_ROWS_MIN {
            values.chunks_exact(dim).map(inverse_norm).collect()
        } else {
            values.par_chunks_exact(dim).map(inverse_norm).collect()
        };
        Self { dim, values, inverse_norms }
    }

    /// Adds rows, one after the other.
    ///
    /// # Panics
    /// When the values are not whole rows of the matrix's dimension.
    pub fn push(&mut self, values: &[i8]) {
        if values.is_empty() {
            return;
        }
        assert!(
            self.dim > 0 && values.len().is_multiple_of(self.dim),
            "{} values are not whole rows of {}",
            values.len(),
            self.dim
        );
        self.values.extend_from_slice(values);
        self.inverse_norms.extend(values.chunks_exact(self.dim).map(inverse_norm));
    }

    /// Values in a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.inverse_norms.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.inverse_norms.is_empty()
    }

    /// Row `at`, counted from 0.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, at: usize) -> &[i8] {
        &self.values[at * self.dim..][..self.dim]
    }

    /// One over the length of row `at`; 0 for a zero row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn inverse_norm(&self, at: usize) -> f32 {
        self.inverse_norms[at]
    }

    /// The cosine of rows `a` and `b`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn cosine(&self, a: usize, b: usize) -> f32 {
        dot(self.row(a), self.row(b)) as f32 * self.inverse_norms[a] * self.inverse_norms[b]
    }

    /// Fills `out` with the cosine of `query` to every row, in row order (-1 to 1). Large matrices
    /// are shared between the threads of rayon.
    ///
    /// # Panics
    /// When the query's length is not the matrix's dimension and there is a row.
    pub fn cosines(&self, query: &[i8], out: &mut Vec<f32>) {
        out.clear();
        out.resize(self.len(), 0.0);
        if self.is_empty() {
            return;
        }
        let query_norm = inverse_norm(query);
        if self.len() < PARALLEL_ROWS_MIN {
            self.fill(0, query, query_norm, out);
        } else {
            out.par_chunks_mut(BLOCK_ROWS).enumerate().for_each(|(block, part)| {
                self.fill(block * BLOCK_ROWS, query, query_norm, part);
            });
        }
    }

    /// The cosine of `query` to each of some rows, the same that [`Matrix::cosines`] gives.
    ///
    /// # Panics
    /// When there is no such row, or the query's length is not the matrix's dimension.
    pub fn cosines_at(&self, query: &[i8], rows: impl Iterator<Item = usize>) -> Vec<f32> {
        let query_norm = inverse_norm(query);
        rows.map(|at| dot(query, self.row(at)) as f32 * query_norm * self.inverse_norms[at])
            .collect()
    }

    /// Writes the cosines of the rows that start at `first`.
    fn fill(&self, first: usize, query: &[i8], query_norm: f32, out: &mut [f32]) {
        let rows = self.values[first * self.dim..].chunks_exact(self.dim);
        let norms = &self.inverse_norms[first..];
        for ((cosine, row), norm) in out.iter_mut().zip(rows).zip(norms) {
            *cosine = dot(query, row) as f32 * query_norm * norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain_dot(a: &[i8], b: &[i8]) -> i32 {
        a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
    }

    fn pseudo_random(count: usize) -> Vec<i8> {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as i8
        })
        .take(count)
        .collect()
    }

    #[test]
    fn quantising_keeps_signs_and_fills_the_range() {
        assert_eq!(quantise(&[0.5, -1.0, 0.0, 0.25]), [64, -127, 0, 32]);
        assert_eq!(quantise(&[0.0, 0.0]), [0, 0]);
        assert_eq!(quantise(&[]), Vec::<i8>::new());
        assert_eq!(quantise(&[f32::MIN_POSITIVE, 1.0]), [0, 127]);
    }

    #[test]
    fn odd_values_do_not_panic() {
        assert_eq!(quantise(&[f32::NAN, 1.0]), [0, 127]);
        assert_eq!(quantise(&[f32::INFINITY, 1.0]).len(), 2);
        assert_eq!(quantise(&[1e-45, -1e-45]).len(), 2);
    }

    #[test]
    fn extremes_do_not_overflow() {
        for dim in [1, 255, 256, 257, 4_096] {
            let low = vec![i8::MIN; dim];
            let high = vec![i8::MAX; dim];
            assert_eq!(dot(&low, &low), 16_384 * dim as i32);
            assert_eq!(dot(&low, &high), -16_256 * dim as i32);
        }
    }

    #[test]
    fn large_and_small_matrices_agree_with_the_definition() {
        let dim = 24;
        let values = pseudo_random(dim * (PARALLEL_ROWS_MIN + 77));
        let query = pseudo_random(dim);
        let large = Matrix::new(dim, values.clone());
        let small = Matrix::new(dim, values[..dim * 100].to_vec());
        let (mut all, mut few) = (Vec::new(), vec![9.0; 3]);
        large.cosines(&query, &mut all);
        small.cosines(&query, &mut few);
        assert_eq!(all.len(), PARALLEL_ROWS_MIN + 77);
        assert_eq!(all[..100], few);
        for (at, &found) in all.iter().enumerate() {
            let row = large.row(at);
            let norms = f64::from(plain_dot(row, row)) * f64::from(plain_dot(&query, &query));
            let expected = f64::from(plain_dot(row, &query)) / norms.sqrt();
            assert!((f64::from(found) - expected).abs() < 1e-6, "row {at}: {found} {expected}");
        }
        let some = [7, 0, PARALLEL_ROWS_MIN + 76, 7];
        assert_eq!(large.cosines_at(&query, some.into_iter()), some.map(|at| all[at]));
        assert!((large.cosine(5, 5) - 1.0).abs() < 1e-6);
        assert!((large.cosine(5, 6) - cosine(large.row(5), large.row(6))).abs() < 1e-6);
    }

    #[test]
    fn zero_rows_and_empty_matrices_answer() {
        let matrix = Matrix::new(2, vec![0, 0, 3, 4]);
        let mut out = Vec::new();
        matrix.cosines(&[6, 8], &mut out);
        assert!(out[0].abs() < 1e-6 && (out[1] - 1.0).abs() < 1e-6);
        matrix.cosines(&[0, 0], &mut out);
        assert_eq!(out, [0.0, 0.0]);
        for empty in [Matrix::new(0, Vec::new()), Matrix::new(8, Vec::new())] {
            empty.cosines(&[], &mut out);
            assert!(out.is_empty() && empty.is_empty());
        }
    }

    proptest! {
        #[test]
        fn dot_is_exact(pairs in prop::collection::vec(any::<(i8, i8)>(), 0..600)) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            prop_assert_eq!(dot(&a, &b), plain_dot(&a, &b));
        }

        #[test]
        fn quantising_rounds(vector in prop::collection::vec(-1f32..1f32, 1..64)) {
            let largest = vector.iter().fold(0f32, |m, x| m.max(x.abs()));
            prop_assume!(largest > 1e-6);
            for (found, x) in quantise(&vector).into_iter().zip(&vector) {
                prop_assert!((f32::from(found) - 127.0 * x / largest).abs() <= 0.5001);
            }
        }
    }
}
