//! What does each file's documentation say of the question? BM25 of the question's words over the
//! documentation of whole files: a word counts once for each chunk whose documentation has it.

use super::catalog::{Catalog, FileEntry};
use super::question::Question;
use crate::words::{WordIndex, idf, length_term};

/// BM25's saturation and length normalisation for the documentation of files.
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// How long the documentation of each file is.
#[derive(Debug, Default)]
pub(super) struct Docs {
    /// BM25's length term, by file.
    norms: Vec<f32>,
}

impl Docs {
    /// Measures all files, in their order.
    pub(super) fn new(files: &[FileEntry], words: &WordIndex) -> Self {
        let length = |file: &FileEntry| -> u32 {
            file.chunks.clone().map(|chunk| words.documentation_length(chunk)).sum()
        };
        let lengths: Vec<f32> = files.iter().map(|file| length(file) as f32).collect();
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
        Self { norms: lengths.iter().map(|length| length_term(K1, B, *length, mean)).collect() }
    }

    /// BM25 of every file.
    pub(super) fn scores(&self, catalog: &Catalog, question: &Question) -> Vec<f32> {
        let mut scores = vec![0.0; self.norms.len()];
        let mut files: Vec<(usize, f32)> = Vec::new();
        for term in &question.terms {
            files.clear();
            for chunk in catalog.words.documented(term) {
                let file = catalog.chunks[chunk].file;
                match files.last_mut() {
                    Some((last, count)) if *last == file => *count += 1.0,
                    _ => files.push((file, 1.0)),
                }
            }
            let idf = idf(scores.len(), files.len());
            for &(file, count) in &files {
                scores[file] += idf * count / (count + self.norms[file]);
            }
        }
        scores
    }
}
