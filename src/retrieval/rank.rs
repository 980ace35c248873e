//! From scores to an order: fuse, take the best, look at their files, spread over files.

use super::catalog::Catalog;
use super::filter::Filter;
use super::question::Question;
use super::signals::{self, Points, Reason};
use crate::types::Mode;

/// Chunks that are looked at more closely.
const CANDIDATES: usize = 400;

/// A chunk with what made its rank.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub chunk: usize,
    pub points: Points,
    /// Cosine with the question's vector.
    pub similarity: Option<f32>,
    /// A line that matched, in exact mode.
    pub line: Option<u32>,
}

/// Ranks every chunk that `filter` admits, best first; at least `limit` when there are as many.
pub(super) fn rank(
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    mode: Mode,
    cosines: Option<&[f32]>,
    limit: usize,
) -> Vec<Ranked> {
    let words = match mode {
        Mode::Semantic => None,
        _ => Some(word_scores(catalog, question)),
    };
    let word_units = words.as_deref().map(Units::of);
    let cosine_units = cosines.map(Units::of);
    let file_points = FilePoints::of(catalog, question);
    let mut candidates: Vec<Ranked> = (0..catalog.chunks.len())
        .filter(|&chunk| filter.admits(catalog, chunk))
        .filter_map(|chunk| {
            let word_score = words.as_ref().map_or(0.0, |scores| scores[chunk]);
            let similarity = cosines.map(|cosines| cosines[chunk]);
            if word_score <= 0.0 && similarity.is_none_or(|cosine| cosine <= 0.0) {
                return None;
            }
            let mut points = file_points.of_file[catalog.chunks[chunk].file];
            points.set(Reason::Words, word_units.map_or(0.0, |units| units.measure(word_score)));
            let meaning = cosine_units.zip(similarity).map_or(0.0, |(units, c)| units.measure(c));
            points.set(Reason::Meaning, meaning);
            Some(Ranked { chunk, points, similarity, line: None })
        })
        .collect();
    add_definitions(catalog, question, &mut candidates);
    keep_best(&mut candidates, CANDIDATES.max(limit));
    add_agreement(catalog, &mut candidates);
    spread(catalog, &mut candidates);
    candidates
}

/// BM25 of every chunk.
fn word_scores(catalog: &Catalog, question: &Question) -> Vec<f32> {
    let mut scores = vec![0.0; catalog.chunks.len()];
    for term in &question.terms {
        catalog.words.score(term, 1.0, &mut scores);
    }
    scores
}

/// Mean and standard deviation of a score over all chunks.
#[derive(Clone, Copy)]
struct Units {
    mean: f32,
    deviation: f32,
}

impl Units {
    fn of(scores: &[f32]) -> Self {
        let count = scores.len().max(1) as f32;
        let mean = scores.iter().sum::<f32>() / count;
        let variance = scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f32>() / count;
        Self { mean, deviation: variance.sqrt() }
    }

    /// The score in standard deviations above the mean.
    fn measure(self, score: f32) -> f32 {
        if self.deviation > 0.0 { (score - self.mean) / self.deviation } else { 0.0 }
    }
}

/// Signals that all chunks of a file share.
struct FilePoints {
    of_file: Vec<Points>,
}

impl FilePoints {
    fn of(catalog: &Catalog, question: &Question) -> Self {
        let of_file = (0..catalog.files.len())
            .map(|file| {
                let mut points = Points::default();
                points.set(Reason::FileName, signals::file_name(catalog, question, file));
                points.set(Reason::Folders, signals::folders(catalog, question, file));
                points.set(Reason::Place, signals::place(question, catalog.files[file].row.place));
                points
            })
            .collect();
        Self { of_file }
    }
}

/// Marks the chunks that define what the question names.
fn add_definitions(catalog: &Catalog, question: &Question, candidates: &mut [Ranked]) {
    for symbol in &question.symbols {
        for &chunk in catalog.defining(&symbol.name) {
            let value = signals::definition(catalog, symbol, chunk as usize);
            // Candidates are still in chunk order.
            if let Ok(at) = candidates.binary_search_by_key(&(chunk as usize), |c| c.chunk) {
                candidates[at].points.set(Reason::Definition, value);
            }
        }
    }
}

/// Keeps the `count` best, sorted.
fn keep_best(candidates: &mut Vec<Ranked>, count: usize) {
    if candidates.len() > count {
        candidates.select_nth_unstable_by(count, best_first);
        candidates.truncate(count);
    }
    candidates.sort_unstable_by(best_first);
}

/// A file whose other chunks answer as well is the better answer: the root of the sum of the squared
/// points of its candidates.
fn add_agreement(catalog: &Catalog, candidates: &mut [Ranked]) {
    let mut squares = std::collections::HashMap::<usize, f32>::new();
    for candidate in candidates.iter() {
        let sum = candidate.points.sum().max(0.0);
        *squares.entry(catalog.chunks[candidate.chunk].file).or_default() += sum * sum;
    }
    for candidate in candidates.iter_mut() {
        let square = squares.get(&catalog.chunks[candidate.chunk].file).copied().unwrap_or(0.0);
        candidate.points.set(Reason::Agreement, square.sqrt());
    }
    candidates.sort_unstable_by(best_first);
}

/// Further chunks of a file stand back, each more than the one before.
fn spread(catalog: &Catalog, candidates: &mut [Ranked]) {
    let mut seen = std::collections::HashMap::<usize, u16>::new();
    for candidate in candidates.iter_mut() {
        let before = seen.entry(catalog.chunks[candidate.chunk].file).or_default();
        candidate.points.set(Reason::Repeat, f32::from(*before));
        *before = before.saturating_add(1);
    }
    candidates.sort_unstable_by(best_first);
}

/// By points, then by place in the tree, so that equal scores have one order.
pub(super) fn best_first(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.points.sum().total_cmp(&a.points.sum()).then(a.chunk.cmp(&b.chunk))
}
