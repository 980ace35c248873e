//! From scores to an order: fuse, take the best, look at them and their files, spread over files.

use super::catalog::{Catalog, Map};
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
pub(super) const PLACE_OF_DEFINITION: f32 = 0.25;

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
    let mut scores = Scores::new(catalog, words, file_points(catalog, question));
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
struct Scores {
    /// BM25 by chunk; zero in semantic mode.
    words: Vec<f32>,
    has_words: bool,
    word_units: Units,
    /// Absent in lexical mode, and before it is known.
    meaning: Option<Meaning>,
    /// Signals that all chunks of a file share.
    files: Vec<Points>,
    /// Their sums.
    file_sums: Vec<f32>,
}

impl Scores {
    fn new(catalog: &Catalog, words: Option<Vec<f32>>, files: Vec<Points>) -> Self {
        let has_words = words.is_some();
        let words = words.unwrap_or_else(|| vec![0.0; catalog.chunks.len()]);
        Self {
            has_words,
            word_units: Units::of(&words),
            words,
            meaning: None,
            file_sums: files.iter().map(Points::sum).collect(),
            files,
        }
    }

    /// Offers `best` the chunks of an admitted file. Most are told by their sum that they are not
    /// among the best; the rest is looked at only then.
    fn offer(&self, catalog: &Catalog, filter: &Filter, file: usize, best: &mut Best) {
        let (words_weight, meaning_weight) = (weight(Reason::Words), weight(Reason::Meaning));
        let chunks = catalog.files[file].chunks.clone();
        let words = &self.words[chunks.clone()];
        let (cosines, cosine_units) = match &self.meaning {
            Some(meaning) => (&meaning.cosines()[chunks.clone()], meaning.units),
            // Measured in no units, anything says nothing.
            None => (words, Units::default()),
        };
        // With neither words nor meaning only its file speaks for a chunk.
        let all_found = !self.has_words && self.meaning.is_none();
        let file_sum = self.file_sums[file];
        for ((chunk, &word), &cosine) in chunks.zip(words).zip(cosines) {
            // A cosine that could be known and is not is not a number, and so is the sum: such a
            // chunk does not compete, for it is far, and nothing else brought it up.
            let sum = file_sum
                + words_weight * self.word_units.measure(word)
                + meaning_weight * cosine_units.measure(cosine);
            if sum > best.least
                && (all_found || cosine > 0.0 || word > 0.0)
                && filter.admits_kind(catalog, chunk)
            {
                best.offer(sum, chunk as u32);
            }
        }
    }

    fn ranked(&self, catalog: &Catalog, chunk: usize) -> Ranked {
        let mut points = self.files[catalog.chunks[chunk].file];
        let word = self.words[chunk];
        let meaning = self.meaning.as_ref();
        let similarity = meaning.and_then(|meaning| meaning.cosine(chunk));
        let measured = meaning.zip(similarity);
        points.set(Reason::Words, self.word_units.measure(word));
        points.set(
            Reason::Meaning,
            measured.map_or(0.0, |(meaning, cosine)| meaning.units.measure(cosine)),
        );
        Ranked { chunk, points, total: 0.0, similarity, line: None }
    }
}

/// The best chunks of those offered so far, and some that were; chunks are offered in order.
struct Best {
    count: usize,
    /// A chunk with this sum or less comes too late.
    least: f32,
    offered: Vec<(f32, u32)>,
}

impl Best {
    fn new(count: usize) -> Self {
        Self { count, least: f32::NEG_INFINITY, offered: Vec::with_capacity(2 * count) }
    }

    fn offer(&mut self, sum: f32, chunk: u32) {
        self.offered.push((sum, chunk));
        if self.offered.len() >= 2 * self.count {
            self.cut();
        }
    }

    /// Keeps only the best.
    fn cut(&mut self) {
        if self.offered.len() > self.count {
            let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            let (_, last, _) = self.offered.select_nth_unstable_by(self.count - 1, order);
            self.least = last.0;
            self.offered.truncate(self.count);
        }
    }
}

/// The `count` best by words, meaning and file, with every chunk that defines an asked symbol.
fn best_chunks(
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    scores: &Scores,
    count: usize,
) -> Vec<usize> {
    let mut best = Best::new(count);
    for file in (0..catalog.files.len()).filter(|file| filter.admits_file(*file)) {
        scores.offer(catalog, filter, file, &mut best);
    }
    best.cut();
    let defining = question
        .symbols
        .iter()
        .flat_map(|symbol| catalog.defining(&symbol.name))
        .filter(|chunk| filter.admits(catalog, *chunk as usize));
    let mut chunks: Vec<u32> =
        best.offered.iter().map(|(_, chunk)| *chunk).chain(defining).collect();
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
#[derive(Clone, Copy, Default)]
pub(super) struct Units {
    mean: f32,
    /// One over the standard deviation; 0 when all scores are equal.
    inverse_deviation: f32,
}

impl Units {
    pub(super) fn of(scores: &[f32]) -> Self {
        let count = scores.len().max(1) as f32;
        let mean = sum(scores, |score| score) / count;
        let variance = sum(scores, |score| (score - mean) * (score - mean)) / count;
        let deviation = variance.sqrt();
        Self { mean, inverse_deviation: if deviation > 0.0 { 1.0 / deviation } else { 0.0 } }
    }

    /// The score in standard deviations above the mean.
    fn measure(self, score: f32) -> f32 {
        (score - self.mean) * self.inverse_deviation
    }
}

/// The sum of a term over all scores, in sixteen sums side by side so that the compiler can use vector
/// registers.
fn sum(scores: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (blocks, rest) = scores.as_chunks::<16>();
    let mut sums = [0f32; 16];
    for block in blocks {
        for (sum, score) in sums.iter_mut().zip(block) {
            *sum += term(*score);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|score| term(*score)).sum::<f32>()
}

/// Signals that all chunks of a file share, for every file.
pub(super) fn file_points(catalog: &Catalog, question: &Question) -> Vec<Points> {
    let asked = catalog.names.ask(question);
    let cost = |place: &Place| signals::place(question, *place);
    let costs: Vec<f32> = Place::ALL.iter().map(cost).collect();
    let documentation = catalog.docs.scores(catalog, question);
    let shares = catalog.layout.shares(question);
    catalog
        .files
        .iter()
        .zip(shares)
        .enumerate()
        .map(|(at, (file, share))| {
            let mut points = Points::default();
            points.set(Reason::Documentation, documentation[at]);
            points.set(Reason::Module, share);
            let (name, beginning) = catalog.names.name(&asked, at);
            points.set(Reason::FileName, name);
            points.set(Reason::FileNameBeginning, beginning);
            points.set(Reason::Place, costs[file.row.place as usize]);
            let is_asked = question.asks_in(file.row.language);
            points.set(Reason::Language, f32::from(u8::from(is_asked)));
            points.set(Reason::Old, f32::from(u8::from(catalog.layout.is_old(at))));
            points
        })
        .collect()
}

/// A file whose other chunks answer as well is the better answer: the root of the sum of the squared
/// points of its candidates, and the points of the third one. `candidates` come best first.
fn add_agreement(catalog: &Catalog, candidates: &mut [Ranked]) {
    /// Candidates of one file so far: how many, the sum of their squares, the third one's points.
    #[derive(Clone, Copy, Default)]
    struct Others {
        count: u32,
        squares: f32,
        third: f32,
    }
    let mut others = Map::<usize, Others>::default();
    for candidate in candidates.iter() {
        let sum = candidate.total.max(0.0);
        let of_file = others.entry(catalog.chunks[candidate.chunk].file).or_default();
        of_file.count += 1;
        of_file.squares += sum * sum;
        if of_file.count == 3 {
            of_file.third = sum;
        }
    }
    for candidate in candidates.iter_mut() {
        let of_file = others.get(&catalog.chunks[candidate.chunk].file);
        let of_file = of_file.copied().unwrap_or_default();
        candidate.points.set(Reason::Agreement, of_file.squares.sqrt());
        candidate.points.set(Reason::Third, of_file.third);
        candidate.settle();
    }
    candidates.sort_unstable_by(best_first);
}

/// Further chunks of a file stand back, each a little more than the one before.
pub(super) fn spread(catalog: &Catalog, candidates: &mut [Ranked]) {
    let mut seen = Map::<usize, u16>::default();
    for candidate in candidates.iter_mut() {
        let before = seen.entry(catalog.chunks[candidate.chunk].file).or_default();
        candidate.points.set(Reason::Repeat, f32::from(*before).sqrt());
        candidate.settle();
        *before = before.saturating_add(1);
    }
    candidates.sort_unstable_by(best_first);
}

/// By points, then by place in the tree, so that equal scores have one order.
pub(super) fn best_first(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.total.total_cmp(&a.total).then(a.chunk.cmp(&b.chunk))
}
