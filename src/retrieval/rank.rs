//! From scores to an order: fuse, take the best, look at them and their files, spread over files.

use std::collections::HashMap;

use super::catalog::Catalog;
use super::filter::Filter;
use super::meaning::Meaning;
use super::question::Question;
use super::signals::{self, Points, Reason, weight};
use crate::types::{Mode, Place};

/// Chunks whose own names are looked at.
const LOOKED_AT: usize = 1000;

/// Chunks that can lift the file they are in.
const CANDIDATES: usize = 400;

/// How much the place still counts for the definition of the very symbol that is asked for.
const PLACE_OF_DEFINITION: f32 = 0.25;

/// A chunk with what made its rank.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub chunk: usize,
    pub points: Points,
    /// The sum of the points, as of the last [`Ranked::settle`]; what the order goes by.
    pub total: f32,
    /// Cosine with the question's vector.
    pub similarity: Option<f32>,
    /// A line that matched, in exact mode.
    pub line: Option<u32>,
}

impl Ranked {
    /// Adds the points up again.
    pub(super) fn settle(&mut self) {
        self.total = self.points.sum();
    }
}

/// Ranks the chunks that `filter` admits, best first; at least `limit` when there are as many.
pub(super) fn rank(
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    mode: Mode,
    vector: Option<&[i8]>,
    limit: usize,
) -> Vec<Ranked> {
    let words = (mode != Mode::Semantic).then(|| word_scores(catalog, question));
    let mut scores = Scores {
        word_units: words.as_deref().map(Units::of),
        words: words.as_deref(),
        meaning: None,
        files: file_points(catalog, question),
    };
    scores.meaning = vector.map(|vector| {
        let by_words = || best_chunks(catalog, filter, question, &scores, LOOKED_AT);
        Meaning::of(catalog, filter, vector, by_words)
    });
    let mut ranked: Vec<Ranked> = best_chunks(catalog, filter, question, &scores, LOOKED_AT)
        .into_iter()
        .map(|chunk| scores.ranked(catalog, chunk))
        .collect();
    for found in &mut ranked {
        let symbols = question.symbols.iter();
        let defined = symbols.map(|symbol| signals::definition(catalog, symbol, found.chunk));
        let defined = defined.fold(0.0, f32::max);
        found.points.set(Reason::Definition, defined);
        if question.is_symbol && defined > 0.0 {
            // Who names a symbol wants its definition, wherever it is.
            found.points.scale(Reason::Place, PLACE_OF_DEFINITION);
        }
        let words = signals::definition_words(catalog, question, found.chunk);
        found.points.set(Reason::DefinitionWords, words);
        found.settle();
    }
    ranked.sort_unstable_by(best_first);
    ranked.truncate(CANDIDATES.max(limit));
    add_agreement(catalog, &mut ranked);
    spread(catalog, &mut ranked);
    ranked
}

/// What is known of every chunk before any is looked at closely.
struct Scores<'a> {
    words: Option<&'a [f32]>,
    word_units: Option<Units>,
    /// Absent in lexical mode, and before it is known.
    meaning: Option<Meaning>,
    /// Signals that all chunks of a file share.
    files: Vec<Points>,
}

impl Scores<'_> {
    fn word(&self, chunk: usize) -> f32 {
        self.words.map_or(0.0, |scores| scores[chunk])
    }

    fn similarity(&self, chunk: usize) -> Option<f32> {
        self.meaning.as_ref().and_then(|meaning| meaning.cosine(chunk))
    }

    /// Whether anything speaks for a chunk. One whose cosine could be known and is not does not
    /// compete: it is far, and nothing else brought it up. With neither words nor meaning only its
    /// file speaks.
    fn found(&self, chunk: usize) -> bool {
        match (&self.meaning, self.similarity(chunk)) {
            (None, _) => self.words.is_none() || self.word(chunk) > 0.0,
            (Some(_), None) => false,
            (Some(_), Some(cosine)) => cosine > 0.0 || self.word(chunk) > 0.0,
        }
    }

    fn words_measured(&self, chunk: usize) -> f32 {
        self.word_units.map_or(0.0, |units| units.measure(self.word(chunk)))
    }

    fn meaning_measured(&self, chunk: usize) -> f32 {
        let measured = self.meaning.as_ref().zip(self.similarity(chunk));
        measured.map_or(0.0, |(meaning, cosine)| meaning.units.measure(cosine))
    }

    fn ranked(&self, catalog: &Catalog, chunk: usize) -> Ranked {
        let mut points = self.files[catalog.chunks[chunk].file];
        points.set(Reason::Words, self.words_measured(chunk));
        points.set(Reason::Meaning, self.meaning_measured(chunk));
        Ranked { chunk, points, total: 0.0, similarity: self.similarity(chunk), line: None }
    }
}

/// The `count` best by words, meaning and file, with every chunk that defines an asked symbol.
fn best_chunks(
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    scores: &Scores<'_>,
    count: usize,
) -> Vec<usize> {
    let file_sums: Vec<f32> = scores.files.iter().map(Points::sum).collect();
    let (words, meaning) = (weight(Reason::Words), weight(Reason::Meaning));
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(catalog.chunks.len());
    for (chunk, entry) in catalog.chunks.iter().enumerate() {
        if scores.found(chunk) && filter.admits(catalog, chunk) {
            let sum = file_sums[entry.file]
                + words * scores.words_measured(chunk)
                + meaning * scores.meaning_measured(chunk);
            best.push((sum, chunk as u32));
        }
    }
    if best.len() > count {
        best.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(count);
    }
    let defining = question
        .symbols
        .iter()
        .flat_map(|symbol| catalog.defining(&symbol.name))
        .filter(|chunk| filter.admits(catalog, **chunk as usize));
    let mut chunks: Vec<u32> =
        best.iter().map(|(_, chunk)| *chunk).chain(defining.copied()).collect();
    chunks.sort_unstable();
    chunks.dedup();
    chunks.into_iter().map(|chunk| chunk as usize).collect()
}

/// BM25 of every chunk.
fn word_scores(catalog: &Catalog, question: &Question) -> Vec<f32> {
    let mut scores = vec![0.0; catalog.chunks.len()];
    for term in &question.terms {
        catalog.words.score(term, &mut scores);
    }
    scores
}

/// Mean and standard deviation of a score over all chunks.
#[derive(Clone, Copy)]
pub(super) struct Units {
    mean: f32,
    /// One over the standard deviation; 0 when all scores are equal.
    inverse_deviation: f32,
}

impl Units {
    pub(super) fn of(scores: &[f32]) -> Self {
        let count = scores.len().max(1) as f32;
        let mean = scores.iter().sum::<f32>() / count;
        let variance = scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f32>() / count;
        let deviation = variance.sqrt();
        Self { mean, inverse_deviation: if deviation > 0.0 { 1.0 / deviation } else { 0.0 } }
    }

    /// The score in standard deviations above the mean.
    fn measure(self, score: f32) -> f32 {
        (score - self.mean) * self.inverse_deviation
    }
}

/// Signals that all chunks of a file share, for every file.
fn file_points(catalog: &Catalog, question: &Question) -> Vec<Points> {
    let asked = catalog.names.ask(question);
    let mut cost_of = HashMap::<Place, f32>::new();
    catalog
        .files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let mut points = Points::default();
            let (name, beginning) = catalog.names.name(&asked, at);
            let place = file.row.place;
            let cost = cost_of.entry(place).or_insert_with(|| signals::place(question, place));
            points.set(Reason::FileName, name);
            points.set(Reason::FileNameBeginning, beginning);
            points.set(Reason::Place, *cost);
            points.set(Reason::Old, f32::from(u8::from(catalog.names.is_old(at))));
            points
        })
        .collect()
}

/// A file whose other chunks answer as well is the better answer: the root of the sum of the squared
/// points of its candidates.
fn add_agreement(catalog: &Catalog, candidates: &mut [Ranked]) {
    let mut squares = HashMap::<usize, f32>::new();
    for candidate in candidates.iter() {
        let sum = candidate.total.max(0.0);
        *squares.entry(catalog.chunks[candidate.chunk].file).or_default() += sum * sum;
    }
    for candidate in candidates.iter_mut() {
        let square = squares.get(&catalog.chunks[candidate.chunk].file).copied().unwrap_or(0.0);
        candidate.points.set(Reason::Agreement, square.sqrt());
        candidate.settle();
    }
    candidates.sort_unstable_by(best_first);
}

/// Further chunks of a file stand back, each more than the one before.
fn spread(catalog: &Catalog, candidates: &mut [Ranked]) {
    let mut seen = HashMap::<usize, u16>::new();
    for candidate in candidates.iter_mut() {
        let before = seen.entry(catalog.chunks[candidate.chunk].file).or_default();
        candidate.points.set(Reason::Repeat, f32::from(*before));
        candidate.settle();
        *before = before.saturating_add(1);
    }
    candidates.sort_unstable_by(best_first);
}

/// By points, then by place in the tree, so that equal scores have one order.
pub(super) fn best_first(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.total.total_cmp(&a.total).then(a.chunk.cmp(&b.chunk))
}
