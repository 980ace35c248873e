//! Here are groups: what is said about each, and which are worth a reader's time first?

use std::collections::HashMap;
use std::ops::Range;

use super::code::Corpus;
use super::find::{Group, Piece};
use super::report::{ClusterOrder, CopyKind, Omission};
use super::touched::{self, Added};
use super::verdicts::Verdicts;
use super::worth::{self, Worth};
use crate::error::{Error, Result};
use crate::retrieval::Catalog;
use crate::types::{Hash, Place};

/// Hex digits of a hash in an id.
const ID_DIGITS: usize = 12;

/// A group with what is said about it, before its members are looked at.
#[derive(Clone, Debug)]
pub(super) struct Draft<'a> {
    pub group: &'a Group,
    /// [`super::Cluster::id`].
    pub id: String,
    /// Lines that could go.
    pub lines: usize,
    pub worth: Worth,
    pub omission: Option<Omission>,
    pub reason: Option<String>,
}

/// What is said about a group.
pub(super) fn draft<'a>(
    corpus: &Corpus,
    catalog: &Catalog,
    group: &'a Group,
    verdicts: &Verdicts,
) -> Draft<'a> {
    let medoid = &group.pieces[group.medoid];
    let lines = spare_lines(corpus, group);
    let omission = by_place(group.place).or(group.boilerplate.map(|_| Omission::Boilerplate));
    let (hash, members) = (hex(medoid.hash), group.pieces.len());
    let (judged, said) = verdicts.on(&hash, members).unzip();
    Draft {
        group,
        id: format!("{hash}-{members}"),
        lines,
        worth: worth::worth(corpus, catalog, group),
        omission: judged.flatten().or(omission),
        reason: said.or_else(|| group.boilerplate.map(str::to_owned)),
    }
}

/// Whether lines that a change added lie in a member.
pub(super) fn is_touched(draft: &Draft, corpus: &Corpus, catalog: &Catalog, added: &Added) -> bool {
    draft.group.pieces.iter().any(|piece| {
        let file = &catalog.files[corpus.files[piece.file].at];
        touched::lies_in(added, file.row.path.as_str(), piece.lines)
    })
}

/// The beginning of a hash, in hex digits.
pub(super) fn hex(hash: Hash) -> String {
    let mut digits: String = hash.0.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(ID_DIGITS);
    digits
}

/// Why a section is not shown by default.
fn by_place(place: Place) -> Option<Omission> {
    match place {
        Place::Source => None,
        Place::Test => Some(Omission::Tests),
        Place::Example => Some(Omission::Examples),
        Place::Docs => Some(Omission::Docs),
        Place::Generated => Some(Omission::Generated),
        Place::Vendored => Some(Omission::Vendored),
        Place::Config => Some(Omission::Config),
    }
}

/// Lines with code that could go if a group became one piece: those of all members but the medoid, as
/// far as they are alike.
fn spare_lines(corpus: &Corpus, group: &Group) -> usize {
    let others = group.pieces.iter().enumerate().filter(|(at, _)| *at != group.medoid);
    let lines = |piece: &Piece| corpus.code_lines(piece.file, piece.lines) as f32;
    let spare: f32 = others.map(|(_, piece)| lines(piece) * piece.similarity).sum();
    spare.round() as usize
}

/// Brings drafts into order; among equals the content decides, then the place.
pub(super) fn order(drafts: &mut [Draft], order: ClusterOrder) {
    let by_size = |draft: &Draft| match order {
        ClusterOrder::Size => draft.group.pieces.len(),
        ClusterOrder::Payoff => 0,
    };
    drafts.sort_by(|a, b| {
        by_size(b)
            .cmp(&by_size(a))
            .then(b.worth.payoff.total_cmp(&a.worth.payoff))
            .then_with(|| a.id.cmp(&b.id))
            .then_with(|| {
                let place = |draft: &Draft| draft.group.pieces[0].tokens.start;
                place(a).cmp(&place(b))
            })
    });
}

/// Drops, of drafts in order, those that repeat one before them: fragments half of which stand in two
/// members of it, and types or files of which its members make up most.
pub(super) fn uncovered(drafts: &mut Vec<Draft>) {
    const FRAGMENT: f32 = 0.5;
    const WHOLE: f32 = 0.6;
    // By file: members of drafts before, and the numbers of those.
    let mut taken: HashMap<usize, Vec<(Range<usize>, usize)>> = HashMap::new();
    let mut is_fragment: Vec<bool> = Vec::new();
    drafts.retain(|draft| {
        let pieces = &draft.group.pieces;
        let fragment = draft.group.kind == CopyKind::Fragment;
        let most = if fragment { FRAGMENT } else { WHOLE };
        // How many members of this draft each of those before covers.
        let mut covers: HashMap<usize, usize> = HashMap::new();
        for piece in pieces {
            let of_file = taken.get(&piece.file).into_iter().flatten();
            let mut by_group: HashMap<usize, usize> = HashMap::new();
            for (tokens, group) in of_file.filter(|(_, group)| fragment || !is_fragment[*group]) {
                let start = tokens.start.max(piece.tokens.start);
                let end = tokens.end.min(piece.tokens.end);
                *by_group.entry(*group).or_default() += end.saturating_sub(start);
            }
            let enough = most * piece.tokens.len() as f32;
            let covering = by_group.into_iter().filter(|(_, shared)| *shared as f32 >= enough);
            covering.for_each(|(group, _)| *covers.entry(group).or_default() += 1);
        }
        let is_new = covers.values().all(|count| *count < pieces.len());
        if is_new {
            for piece in pieces {
                let of_file = taken.entry(piece.file).or_default();
                of_file.push((piece.tokens.clone(), is_fragment.len()));
            }
            is_fragment.push(fragment);
        }
        is_new
    });
}

/// The cluster that `id` names, whole or up to the dash.
pub(super) fn find_cluster<'a>(drafts: Vec<Draft<'a>>, id: &str) -> Result<Draft<'a>> {
    let wanted = id.trim();
    let hash = |id: &str| id.split('-').next().unwrap_or_default().to_owned();
    let exact = drafts.iter().position(|draft| draft.id == wanted);
    // The same cluster with another count is what an older report meant.
    let of_hash = || drafts.iter().position(|draft| hash(&draft.id) == hash(wanted));
    let at = exact.or_else(of_hash);
    at.and_then(|at| drafts.into_iter().nth(at)).ok_or_else(|| {
        Error::usage(format!("no cluster has the id `{wanted}`"))
            .hint("`sai duplicates` lists the ids; they change with the code")
    })
}
