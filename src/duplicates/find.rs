//! Here is a corpus: which groups of copies are in it? Whole definitions first, then fragments of those
//! that are no copies as a whole.
//!
//! The product's own code makes the main *section*. Every other kind of place has a section of its own:
//! what is alike among it and the product's code, with at least one member from it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rayon::prelude::*;

use super::alike::{self, Edge, Form, Forms};
use super::code::Corpus;
use super::fragments::{self, Match, Stretch};
use super::linkage::{self, Link, Weights};
use super::report::CopyKind;
use super::shape;
use crate::error::Result;
use crate::turn::Turn;
use crate::types::{Hash, LineRange, Place};

/// A member of a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// Position in [`Corpus::files`].
    pub file: usize,
    /// Positions in [`Corpus::codes`].
    pub tokens: Range<usize>,
    pub lines: LineRange,
    /// Position in [`Corpus::units`]; absent for a fragment.
    pub unit: Option<usize>,
    /// The definition, or the one around a fragment.
    pub symbol: Option<String>,
    pub place: Place,
    /// That of its form; of a fragment's tokens without names and literals.
    pub hash: Hash,
    /// How like the medoid it is, 0 to 1.
    pub similarity: f32,
}

/// The name that all of some pieces have, or that of what is around them.
pub(super) fn common_symbol(pieces: &[Piece]) -> Option<&str> {
    let first = pieces.first()?.symbol.as_deref()?;
    pieces.iter().all(|piece| piece.symbol.as_deref() == Some(first)).then_some(first)
}

/// Whether pieces stand in one file.
pub(super) fn is_one_file(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| piece.file == pieces[0].file)
}

/// Pieces that are copies of each other.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub kind: CopyKind,
    /// The section it belongs to.
    pub place: Place,
    /// By file and place.
    pub pieces: Vec<Piece>,
    /// Position in `pieces` of the one most like all others.
    pub medoid: usize,
    /// The lowest and the highest similarity of any two.
    pub similarity: (f32, f32),
    /// The lowest similarity of any two by which they were found.
    pub likeness: f32,
    /// Why it is of no interest, in words.
    pub boilerplate: Option<&'static str>,
}

/// What is sought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The least members of a group.
    pub size: usize,
    /// Whether what markers hide is sought too.
    pub marked: bool,
    /// The least similarity of any two members, 0 to 1; 0 for what makes a copy anyway.
    pub least: f32,
}

/// All groups of every section. Uses the threads of the rayon pool it is called in.
///
/// # Errors
/// Stopped when `turn` ends.
pub(super) fn groups(
    corpus: &Corpus,
    forms: &Forms,
    wanted: Wanted,
    turn: &Turn,
) -> Result<Vec<Group>> {
    let matches = fragments::matches(corpus, turn)?;
    let mut groups = Vec::new();
    for place in Place::ALL.iter().copied() {
        turn.check()?;
        let section = Section { corpus, forms, wanted, place };
        let mut found = section.whole();
        found.extend(section.fragments(&matches, &found));
        groups.extend(unnested(found));
    }
    Ok(groups)
}

/// How many units markers hide that have a copy.
pub(super) fn hidden(corpus: &Corpus, forms: &Forms) -> usize {
    let linked: HashSet<usize> = forms.edges.iter().flat_map(|edge| [edge.a, edge.b]).collect();
    let has_copy = |at: usize| forms.list[at].units.len() > 1 || linked.contains(&at);
    let is_hidden =
        |(at, _): &(usize, &usize)| corpus.units[*at].is_marked && has_copy(forms.of_unit[*at]);
    forms.of_unit.iter().enumerate().filter(is_hidden).count()
}

struct Section<'a> {
    corpus: &'a Corpus,
    forms: &'a Forms,
    wanted: Wanted,
    place: Place,
}

impl Section<'_> {
    fn admits(&self, place: Place) -> bool {
        place == self.place || place == Place::Source
    }

    /// Whether pieces make a group of this section.
    fn counts(&self, pieces: &[Piece]) -> bool {
        pieces.len() >= self.wanted.size && pieces.iter().any(|piece| piece.place == self.place)
    }

    /// Whether two forms are as similar as was asked for, as a reader is told.
    fn is_alike_enough(&self, edge: &Edge) -> bool {
        let least = self.wanted.least;
        least <= 0.0 || self.forms.shared(self.corpus, edge.a, edge.b) >= least
    }

    /// The units of a form that are compared here.
    fn units(&self, form: &Form) -> Vec<usize> {
        let is_in = |unit: &usize| {
            let unit = &self.corpus.units[*unit];
            self.admits(unit.place) && (self.wanted.marked || !unit.is_marked)
        };
        form.units.iter().copied().filter(is_in).collect()
    }

    /// Groups of whole definitions and files.
    fn whole(&self) -> Vec<Group> {
        let units: Vec<Vec<usize>> = self.forms.list.iter().map(|form| self.units(form)).collect();
        let links: Vec<Link> = self
            .forms
            .edges
            .iter()
            .filter(|edge| !units[edge.a].is_empty() && !units[edge.b].is_empty())
            .filter(|edge| self.is_alike_enough(edge))
            .map(|edge| Link { a: edge.a, b: edge.b, weight: edge.similarity })
            .collect();
        let weights = Weights::of(&links);
        let mut groups = linkage::complete(&links, alike::NEAR);
        let joined: HashSet<usize> = groups.iter().flatten().copied().collect();
        let alone = (0..units.len()).filter(|at| units[*at].len() > 1 && !joined.contains(at));
        groups.extend(alone.map(|form| vec![form]));
        // Groups of the product's own code alone come up in every section, and count in one.
        let is_here = |unit: &usize| self.corpus.units[*unit].place == self.place;
        groups.retain(|group| group.iter().any(|form| units[*form].iter().any(is_here)));
        groups.par_iter().filter_map(|group| self.group(group, &units, &weights)).collect()
    }

    /// The group of some forms.
    fn group(&self, forms: &[usize], units: &[Vec<usize>], weights: &Weights) -> Option<Group> {
        let hash = |form: usize| self.forms.list[form].hash;
        let medoid = weights.medoid(forms, |form| units[form].len(), hash)?;
        let mut pieces: Vec<Piece> = Vec::new();
        for form in forms {
            let like_medoid = self.forms.shared(self.corpus, *form, medoid);
            let piece = |unit: &usize| self.piece(*unit, hash(*form), like_medoid);
            pieces.extend(units[*form].iter().map(piece));
        }
        pieces.sort_by_key(|piece| (piece.tokens.start, std::cmp::Reverse(piece.tokens.end)));
        // What lies in another member is a part of it.
        pieces.dedup_by(|next, kept| next.tokens.start < kept.tokens.end);
        if !self.counts(&pieces) {
            return None;
        }
        let medoid = pieces.iter().position(|piece| piece.hash == hash(medoid))?;
        let kind = self.kind(&pieces);
        let pairs = linkage::pairs(forms);
        let (likeness, _) = linkage::extent(pairs.clone().map(|(a, b)| weights.between(a, b)));
        let same = forms.iter().any(|form| units[*form].len() > 1).then_some(1.0);
        let shared = pairs.map(|(a, b)| self.forms.shared(self.corpus, a, b)).chain(same);
        let similarity = linkage::extent(shared);
        let boilerplate = shape::boilerplate(self.corpus, &pieces, medoid, kind);
        Some(Group { kind, place: self.place, pieces, medoid, similarity, likeness, boilerplate })
    }

    fn piece(&self, at: usize, hash: Hash, similarity: f32) -> Piece {
        let unit = &self.corpus.units[at];
        Piece {
            file: unit.file,
            tokens: unit.tokens.clone(),
            lines: unit.lines,
            unit: Some(at),
            symbol: unit.symbol.clone(),
            place: unit.place,
            hash,
            similarity,
        }
    }

    /// How whole pieces are alike.
    fn kind(&self, pieces: &[Piece]) -> CopyKind {
        let codes = |piece: &Piece| &self.corpus.codes[piece.tokens.clone()];
        let first = &pieces[0];
        if pieces.iter().any(|piece| piece.hash != first.hash) {
            CopyKind::Near
        } else if pieces.iter().all(|piece| codes(piece) == codes(first)) {
            CopyKind::Exact
        } else {
            CopyKind::Renamed
        }
    }

    /// Groups of fragments that lie in no two members of one of the groups `whole`.
    fn fragments(&self, matches: &[Match], whole: &[Group]) -> Vec<Group> {
        let around = Around::of(whole);
        let is_in = |stretch: &Stretch| self.admits(self.corpus.regions[stretch.region].place);
        let is_new = |found: &&Match| {
            let region = |stretch: &Stretch| self.corpus.regions[stretch.region].file;
            let (a, b) = (&found.a, &found.b);
            is_in(a) && is_in(b) && !around.holds((region(a), &a.tokens), (region(b), &b.tokens))
        };
        let mine: Vec<&Match> = matches.iter().filter(is_new).collect();
        let groups = fragments::groups(self.corpus, &mine);
        let mut found: Vec<Group> =
            groups.iter().filter_map(|group| self.fragment_group(group)).collect();
        found.sort_by_key(|group| {
            let tokens = &group.pieces[0].tokens;
            (std::cmp::Reverse(tokens.len() * group.pieces.len()), tokens.start)
        });
        uncovered(found)
    }

    fn fragment_group(&self, stretches: &[Stretch]) -> Option<Group> {
        let piece = |stretch: &Stretch| {
            let region = &self.corpus.regions[stretch.region];
            let (first, last) = (stretch.tokens.start, stretch.tokens.end - 1);
            let line = |token| self.corpus.line(region.file, token);
            Piece {
                file: region.file,
                tokens: stretch.tokens.clone(),
                lines: LineRange { start: line(first), end: line(last) },
                unit: None,
                symbol: region
                    .symbol
                    .map(|symbol| self.corpus.symbols[symbol as usize].clone())
                    .filter(|symbol| !symbol.is_empty()),
                place: region.place,
                hash: alike::shape_hash(&self.corpus.codes[stretch.tokens.clone()]),
                similarity: 1.0,
            }
        };
        let pieces: Vec<Piece> = stretches.iter().map(piece).collect();
        let kind = CopyKind::Fragment;
        self.counts(&pieces).then(|| Group {
            kind,
            place: self.place,
            boilerplate: shape::boilerplate(self.corpus, &pieces, 0, kind),
            pieces,
            medoid: 0,
            similarity: (1.0, 1.0),
            likeness: 1.0,
        })
    }
}

/// Which groups have a member around a place.
struct Around {
    /// By file: tokens of a member, its group and its position there.
    members: HashMap<usize, Vec<(Range<usize>, usize, usize)>>,
}

impl Around {
    fn of(groups: &[Group]) -> Self {
        let mut members: HashMap<usize, Vec<(Range<usize>, usize, usize)>> = HashMap::new();
        for (at, group) in groups.iter().enumerate() {
            for (position, piece) in group.pieces.iter().enumerate() {
                let of_file = members.entry(piece.file).or_default();
                of_file.push((piece.tokens.clone(), at, position));
            }
        }
        Self { members }
    }

    /// The groups and members around some tokens of a file.
    fn around<'a>(
        &'a self,
        file: usize,
        tokens: &'a Range<usize>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let of_file = self.members.get(&file).into_iter().flatten();
        let holds =
            |member: &Range<usize>| member.start <= tokens.start && tokens.end <= member.end;
        of_file.filter(move |(member, ..)| holds(member)).map(|(_, group, at)| (*group, *at))
    }

    /// Whether two stretches lie in two members of one group.
    fn holds(&self, a: (usize, &Range<usize>), b: (usize, &Range<usize>)) -> bool {
        let around_a: Vec<(usize, usize)> = self.around(a.0, a.1).collect();
        self.around(b.0, b.1).any(|(group, member)| {
            around_a.iter().any(|(other, at)| *other == group && *at != member)
        })
    }
}

/// Drops fragments most of whose tokens lie in fragments before them.
fn uncovered(groups: Vec<Group>) -> Vec<Group> {
    const COVERED: f32 = 0.5;
    let mut taken: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
    let mut kept = Vec::new();
    for group in groups {
        let covered: usize = group
            .pieces
            .iter()
            .map(|piece| {
                let of_file = taken.get(&piece.file).into_iter().flatten();
                let both = |other: &Range<usize>| {
                    let (a, b) = (&piece.tokens, other);
                    a.end.min(b.end).saturating_sub(a.start.max(b.start))
                };
                of_file.map(both).max().unwrap_or(0)
            })
            .sum();
        let all: usize = group.pieces.iter().map(|piece| piece.tokens.len()).sum();
        if (covered as f32) < COVERED * all as f32 {
            for piece in &group.pieces {
                taken.entry(piece.file).or_default().push(piece.tokens.clone());
            }
            kept.push(group);
        }
    }
    kept
}

/// Drops groups whose every member lies in a member of its own of another group, which says it all.
fn unnested(groups: Vec<Group>) -> Vec<Group> {
    let around = Around::of(&groups);
    let is_nested = |at: usize| {
        let group = &groups[at];
        let first = &group.pieces[0];
        let outer: Vec<usize> =
            around.around(first.file, &first.tokens).map(|(outer, _)| outer).collect();
        outer.into_iter().any(|outer| {
            let larger = groups[outer].pieces[0].tokens.len() > first.tokens.len();
            larger && groups[outer].boilerplate.is_none() && covers(&around, outer, group)
        })
    };
    let nested: Vec<bool> = (0..groups.len()).map(is_nested).collect();
    let kept = groups.into_iter().zip(nested).filter(|(_, nested)| !nested);
    kept.map(|(group, _)| group).collect()
}

/// Whether each member of `group` lies in another member of the group `outer`.
fn covers(around: &Around, outer: usize, group: &Group) -> bool {
    let mut used = HashSet::new();
    group.pieces.iter().all(|piece| {
        let mut members = around.around(piece.file, &piece.tokens);
        members.any(|(holder, member)| holder == outer && used.insert(member))
    })
}
