//! The reasons for a rank: one table of weights, one small function a signal.

use super::catalog::{Catalog, normal_name};
use super::question::{Question, Symbol};
use super::{Explanation, Signal};
use crate::types::{ChunkKind, Place};

/// A reason for a rank. The order is that of [`WEIGHTS`] and of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Words,
    Meaning,
    FileName,
    Folders,
    Definition,
    Place,
    Agreement,
    Repeat,
}

/// How many reasons there are.
const REASONS: usize = 8;

/// What one unit of each signal is worth, with what is measured. Units: standard deviations over all
/// chunks for words and meaning, shares (0..1) for names, as the functions below say for the rest.
const WEIGHTS: [(Reason, &str, f32); REASONS] = [
    // BM25 over the chunk's words, in standard deviations.
    (Reason::Words, "words", 0.4),
    // Cosine of the vectors, in standard deviations.
    (Reason::Meaning, "meaning", 0.6),
    // Share of the file name that the question names, rare words counting more.
    (Reason::FileName, "file name", 1.0),
    // Share of the last two folders that the question names.
    (Reason::Folders, "folders", 0.5),
    // The chunk defines the symbol that is asked for.
    (Reason::Definition, "definition", 2.0),
    // Tests, examples, documentation and the like, unless asked for.
    (Reason::Place, "place", 1.0),
    // How much else of the file answers the question.
    (Reason::Agreement, "rest of the file", 0.1),
    // Further chunks of a file whose better chunks are above.
    (Reason::Repeat, "same file again", -2.0),
];

/// The points of one chunk, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Points {
    values: [f32; REASONS],
}

impl Points {
    /// Sets what a signal measured.
    pub(super) fn set(&mut self, reason: Reason, value: f32) {
        self.values[reason as usize] = value;
    }

    /// All points together.
    pub(super) fn sum(&self) -> f32 {
        WEIGHTS.iter().map(|(reason, _, weight)| weight * self.values[*reason as usize]).sum()
    }

    /// What a reader is told.
    pub(super) fn explain(&self) -> Explanation {
        let signals = WEIGHTS
            .iter()
            .map(|(reason, name, weight)| {
                let value = self.values[*reason as usize];
                Signal { name, value, points: weight * value }
            })
            .filter(|signal| signal.value != 0.0)
            .collect();
        Explanation { points: self.sum(), signals }
    }
}

/// The share of the file's name that the question names, each word weighed by how telling it is.
pub(super) fn file_name(catalog: &Catalog, question: &Question, file: usize) -> f32 {
    let words = &catalog.files[file].name_words;
    let idf = |word: &String| catalog.name_word_idf(word);
    let all: f32 = words.iter().map(idf).sum();
    let named: f32 = words.iter().filter(|word| question.stems.contains(word)).map(idf).sum();
    if all > 0.0 { named / all } else { 0.0 }
}

/// The share of the words of the last two folders that the question names.
pub(super) fn folders(catalog: &Catalog, question: &Question, file: usize) -> f32 {
    let words = &catalog.files[file].folder_words;
    let named = words.iter().filter(|word| question.stems.contains(word)).count();
    named as f32 / words.len().max(1) as f32
}

/// How well a chunk defines a symbol of the question: 1 for the very name, 0.8 for the same name in
/// another case or style, half as much again when what stands before the name fits as well.
pub(super) fn definition(catalog: &Catalog, symbol: &Symbol, chunk: usize) -> f32 {
    let entry = &catalog.chunks[chunk];
    let wanted = normal_name(&symbol.name);
    let exact = entry.defines.contains(&symbol.name);
    let name = match entry.defines.iter().any(|define| normal_name(define) == wanted) {
        _ if exact => 1.0,
        true => 0.8,
        false => return 0.0,
    };
    let fits = symbol.qualifiers.last().is_some_and(|qualifier| {
        let qualifier = normal_name(qualifier);
        entry.parents.iter().any(|parent| normal_name(parent) == qualifier)
    });
    let shape = if entry.kind == ChunkKind::Block { 0.75 } else { 1.0 };
    name * shape * if fits { 1.5 } else { 1.0 }
}

/// What a file's place costs when the question does not ask for such files.
pub(super) fn place(question: &Question, place: Place) -> f32 {
    if question.asks_for(place) {
        return 0.0;
    }
    match place {
        Place::Source => 0.0,
        Place::Test => -1.0,
        Place::Config => -1.0,
        Place::Example | Place::Docs | Place::Generated | Place::Vendored => -2.0,
    }
}
