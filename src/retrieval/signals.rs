//! The reasons for a rank: one table of weights, one small function a signal.

use super::catalog::{Catalog, normal_name};
use super::names::each_stem;
use super::question::{Question, Symbol};
use super::{Explanation, Signal};
use crate::types::{ChunkKind, Place};

/// A reason for a rank. The order is that of [`WEIGHTS`] and of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Words,
    Meaning,
    FileName,
    FileNameBeginning,
    Definition,
    DefinitionWords,
    Documentation,
    Place,
    Module,
    Language,
    Old,
    Agreement,
    Third,
    Repeat,
}

/// How many reasons there are.
const REASONS: usize = 14;

/// What one unit of each signal is worth, with what is measured. Units: standard deviations over all
/// chunks for words and meaning, shares (0..1) for names, as the functions below say for the rest.
/// Weights were chosen by coordinate search on the development half of the retrieval benchmark
/// (docs/benchmarks.md), library folders, whole checkouts and commit subjects together.
const WEIGHTS: [(Reason, &str, f32); REASONS] = [
    // BM25 over the chunk's words, in standard deviations.
    (Reason::Words, "words", 0.2),
    // Cosine of the vectors, in standard deviations.
    (Reason::Meaning, "meaning", 0.3),
    // Share of the file name that the question names, rare words counting more.
    (Reason::FileName, "file name", 0.5),
    // Share of the file name whose words the question begins, or that begin words of it.
    (Reason::FileNameBeginning, "file name, in part", 0.3),
    // The chunk defines the symbol that is asked for.
    (Reason::Definition, "definition", 1.05),
    // Share of the words of the best defined name that the question names.
    (Reason::DefinitionWords, "defined name", 0.65),
    // BM25 over the documentation of the whole file.
    (Reason::Documentation, "documentation of the file", 0.037),
    // Tests, examples, documentation and the like, unless asked for.
    (Reason::Place, "place", 0.85),
    // Logarithm of the share that the file's module has of the largest module's code.
    (Reason::Module, "smaller module", 0.2),
    // The question says in which language the answer is written. No set of questions has enough of these
    // to search a weight with: as much as the definition of an asked symbol.
    (Reason::Language, "language", 1.0),
    // Legacy folders, and version folders with a newer one beside them.
    (Reason::Old, "older version", -2.5),
    // How much else of the file answers the question.
    (Reason::Agreement, "rest of the file", 0.1),
    // Points of the third-best chunk of the file.
    (Reason::Third, "third-best chunk of the file", 0.18),
    // Root of the number of better chunks of the file: the second chunk stands back most.
    (Reason::Repeat, "same file again", -2.1),
];

/// What a signal's unit is worth.
pub(super) fn weight(reason: Reason) -> f32 {
    WEIGHTS[reason as usize].2
}

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

    /// Multiplies what a signal measured.
    pub(super) fn scale(&mut self, reason: Reason, factor: f32) {
        self.values[reason as usize] *= factor;
    }

    /// All points together.
    pub(super) fn sum(&self) -> f32 {
        WEIGHTS.iter().zip(&self.values).map(|((_, _, weight), value)| weight * value).sum()
    }

    /// What a reader is told.
    pub(super) fn explain(&self) -> Explanation {
        let signals = WEIGHTS
            .iter()
            .zip(&self.values)
            .filter(|(_, value)| **value != 0.0)
            .map(|((_, name, weight), &value)| Signal { name, value, points: weight * value })
            .collect();
        Explanation { points: self.sum(), signals }
    }
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

/// Names of one chunk that are compared with the question's words.
const NAMES_COMPARED: usize = 8;

/// Of the chunk's names the best: the share of its words that the question names, long names fully
/// named counting more than short ones. Nothing for a question that is a symbol: see [`definition`].
pub(super) fn definition_words(catalog: &Catalog, question: &Question, chunk: usize) -> f32 {
    if question.is_symbol {
        return 0.0;
    }
    let names = catalog.chunks[chunk].defines.iter().take(NAMES_COMPARED);
    names.fold(0.0, |best, name| {
        let (mut words, mut named) = (0u16, 0u16);
        each_stem(name, &mut |word| {
            words += 1;
            named += u16::from(question.stems.iter().any(|asked| asked == word));
        });
        best.max(f32::from(named) / (f32::from(words) + 1.0))
    })
}

/// What a file's place costs when the question does not ask for such files.
pub(super) fn place(question: &Question, place: Place) -> f32 {
    let cost = match place {
        Place::Source => 0.0,
        Place::Test | Place::Config | Place::Example => -1.5,
        Place::Docs | Place::Generated | Place::Vendored => -3.0,
    };
    cost * (1.0 - question.asks_for(place))
}
