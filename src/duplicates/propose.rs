//! Here are the vectors of chunks: which definitions do they hold for alike?
//!
//! Vectors only propose: tokens decide whether a pair is a copy. What tokens do not confirm can be
//! asked for as "same behaviour", and is never more than a lead.

use std::collections::{HashMap, HashSet};

use super::alike;
use super::code::{Corpus, Level};
use super::find::{Group, Piece, Wanted};
use super::linkage::{self, Link, Weights};
use super::report::CopyKind;
use crate::error::Result;
use crate::retrieval::{Catalog, CodeVectors, nearest};
use crate::turn::Turn;
use crate::types::Place;

/// The chunk in which each unit begins; positions in [`Catalog::chunks`], absent for files.
pub(super) fn chunks_of_units(catalog: &Catalog, corpus: &Corpus) -> Vec<Option<usize>> {
    let chunk = |file: usize, line: u32| {
        let chunks = catalog.files[corpus.files[file].at].chunks.clone();
        let of_file = &catalog.chunks[chunks.clone()];
        let at = of_file.partition_point(|chunk| chunk.lines.end < line);
        (at < of_file.len()).then_some(chunks.start + at)
    };
    corpus.units.iter().map(|unit| chunk(unit.file, unit.lines.start)).collect()
}

/// Pairs of functions that vectors hold for alike.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    /// Positions in [`Corpus::units`], the smaller first, with the cosine of their chunks.
    pairs: Vec<(usize, usize, f32)>,
}

impl Proposed {
    pub(super) fn units(&self) -> Vec<(usize, usize)> {
        self.pairs.iter().map(|(a, b, _)| (*a, *b)).collect()
    }
}

/// Pairs of functions that `admits` lets in whose chunks are among the `top_k` nearest of one another,
/// with a cosine of at least `min`.
///
/// # Errors
/// Stopped when `turn` ends.
pub(super) fn pairs(
    vectors: &CodeVectors,
    corpus: &Corpus,
    chunks: &[Option<usize>],
    admits: &dyn Fn(usize) -> bool,
    (top_k, min): (usize, f32),
    turn: &Turn,
) -> Result<Proposed> {
    let mut units: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, unit) in corpus.units.iter().enumerate() {
        let is_in = || unit.level == Level::Function && unit.is_large() && admits(at);
        if let Some(chunk) = chunks[at].filter(|_| is_in()) {
            units.entry(chunk).or_default().push(at);
        }
    }
    let mut rows: Vec<usize> = units.keys().copied().collect();
    rows.sort_unstable();
    let near = nearest(vectors, &rows, top_k, min, turn)?;
    let mut pairs = Vec::new();
    for (at, neighbours) in near.iter().enumerate() {
        for neighbour in neighbours {
            for a in &units[&rows[at]] {
                for b in &units[&rows[neighbour.row as usize]] {
                    let (a, b) = (*a.min(b), *a.max(b));
                    if !alike::overlaps(&corpus.units[a], &corpus.units[b]) {
                        pairs.push((a, b, neighbour.cosine));
                    }
                }
            }
        }
    }
    pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
    pairs.dedup_by_key(|(a, b, _)| (*a, *b));
    Ok(Proposed { pairs })
}

/// Groups of functions of the product's own code that only vectors hold for alike: no two members lie
/// in one of the groups `found`.
pub(super) fn behaviour(
    corpus: &Corpus,
    proposed: &Proposed,
    found: &[Group],
    wanted: Wanted,
) -> Vec<Group> {
    let mut known: HashMap<usize, HashSet<usize>> = HashMap::new();
    for (at, group) in found.iter().enumerate() {
        for unit in group.pieces.iter().filter_map(|piece| piece.unit) {
            known.entry(unit).or_default().insert(at);
        }
    }
    let are_copies = |a: usize, b: usize| {
        let groups = known.get(&a).zip(known.get(&b));
        groups.is_some_and(|(a, b)| !a.is_disjoint(b))
    };
    let is_in = |unit: usize| {
        let unit = &corpus.units[unit];
        unit.place == Place::Source && (wanted.marked || !unit.is_marked)
    };
    let links: Vec<Link> = proposed
        .pairs
        .iter()
        .filter(|(a, b, _)| is_in(*a) && is_in(*b) && !are_copies(*a, *b))
        .map(|(a, b, cosine)| Link { a: *a, b: *b, weight: *cosine })
        .collect();
    let weights = Weights::of(&links);
    let mut groups = linkage::complete(&links, 0.0);
    groups.retain(|group| group.len() >= wanted.size);
    groups.iter().filter_map(|group| behaviour_group(corpus, group, &weights)).collect()
}

fn behaviour_group(corpus: &Corpus, units: &[usize], weights: &Weights) -> Option<Group> {
    let hash = |unit: usize| alike::shape_hash(&corpus.codes[corpus.units[unit].tokens.clone()]);
    let medoid = weights.medoid(units, |_| 1, hash)?;
    let piece = |unit: &usize| Piece {
        file: corpus.units[*unit].file,
        tokens: corpus.units[*unit].tokens.clone(),
        lines: corpus.units[*unit].lines,
        unit: Some(*unit),
        symbol: corpus.units[*unit].symbol.clone(),
        place: corpus.units[*unit].place,
        hash: hash(*unit),
        similarity: weights.between(*unit, medoid),
    };
    let similarity = linkage::extent(linkage::pairs(units).map(|(a, b)| weights.between(a, b)));
    Some(Group {
        kind: CopyKind::Behaviour,
        place: Place::Source,
        pieces: units.iter().map(piece).collect(),
        medoid: units.iter().position(|unit| *unit == medoid)?,
        similarity,
        likeness: similarity.0,
        boilerplate: None,
    })
}
