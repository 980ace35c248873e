//! Here are regions of code: which stretches inside of them repeat?
//!
//! Winnowing (Schleimer, Wilkerson, Aiken 2003): of every window of hashes of so many tokens in a row
//! the smallest is kept, so that two equal stretches of [`MATCH_TOKENS`] always share one. What shares
//! one is extended as far as the tokens go together, names and literals aside, and counts when most of
//! its names and literals are the same too. Stretches that lie in the same places are one group.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::code::{Code, Corpus};
use super::shape::is_repetition;
use crate::error::Result;
use crate::turn::Turn;
use crate::types::Place;

/// Tokens of a hash.
const HASH_TOKENS: usize = 20;

/// Equal stretches of so many tokens are always met.
const MATCH_TOKENS: usize = 30;

/// Hashes of a window of which one is kept.
const WINDOW: usize = MATCH_TOKENS - HASH_TOKENS + 1;

/// What is kept in more places is a pattern of the language, not a copy.
const PLACES_MAX: usize = 64;

/// A fragment has at least so many tokens …
const TOKENS_MIN: usize = 50;

/// … or so many lines, with at least this many tokens.
const LINES_MIN: u32 = 6;
const LINES_TOKENS_MIN: usize = MATCH_TOKENS;

/// The least share of names and literals that are the same on both sides.
const SAME_MIN: f32 = 0.7;

/// Two stretches are at one place when they have so much in common.
const SAME_PLACE: f32 = 0.8;

/// A stretch of tokens in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Position in [`Corpus::regions`].
    pub region: usize,
    /// Positions in [`Corpus::codes`].
    pub tokens: Range<usize>,
}

/// Two stretches of the same shape.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub a: Stretch,
    pub b: Stretch,
}

/// Every pair of stretches that counts as a fragment, each side in a region that no marker hides.
///
/// # Errors
/// Stopped when `turn` ends.
pub(super) fn matches(corpus: &Corpus, turn: &Turn) -> Result<Vec<Match>> {
    let kept = fingerprints(corpus, turn)?;
    let pairs: Vec<Vec<Pair>> = kept
        .par_chunk_by(|a, b| a.hash == b.hash)
        .filter(|same| (2..=PLACES_MAX).contains(&same.len()))
        .map(|same| {
            turn.check()?;
            Ok(compared(corpus, same).filter_map(|(a, b)| extend(corpus, a, b)).collect())
        })
        .collect::<Result<_>>()?;
    let mut pairs: Vec<Pair> = pairs.into_iter().flatten().collect();
    pairs.par_sort_unstable_by_key(|pair| (pair.tokens.start, pair.tokens.end, pair.distance));
    pairs.dedup();
    Ok(pairs.into_par_iter().filter_map(|pair| fragment(corpus, &pair)).collect())
}

/// Brings matches together that lie at the same places: groups of two or more stretches of one shape
/// and length, whole lines, none overlapping another of its group.
pub(super) fn groups(corpus: &Corpus, matches: &[&Match]) -> Vec<Vec<Stretch>> {
    let mut order = matches.to_vec();
    order.sort_by_key(|found| {
        (std::cmp::Reverse(found.a.tokens.len()), found.a.tokens.start, found.b.tokens.start)
    });
    let mut groups: Vec<Group> = Vec::new();
    // Groups with a member in a region.
    let mut in_region: HashMap<usize, Vec<usize>> = HashMap::new();
    for Match { a, b } in order {
        let at = |stretch: &Stretch| -> Option<usize> {
            let near = in_region.get(&stretch.region)?;
            near.iter().copied().find(|group| groups[*group].is_at(stretch))
        };
        let target = match (at(a), at(b)) {
            (Some(_), Some(_)) => None,
            (Some(group), None) => groups[group].add(a, b).then_some((group, b)),
            (None, Some(group)) => groups[group].add(b, a).then_some((group, a)),
            (None, None) => {
                let group = groups.len();
                in_region.entry(a.region).or_default().push(group);
                groups.push(Group { members: vec![a.clone(), b.clone()] });
                Some((group, b))
            }
        };
        if let Some((group, member)) = target {
            in_region.entry(member.region).or_default().push(group);
        }
    }
    let mut groups: Vec<Vec<Stretch>> =
        groups.into_iter().filter_map(|group| group.whole(corpus)).collect();
    groups.iter_mut().for_each(|group| group.sort_by_key(|member| member.tokens.start));
    groups
}

/// A kept hash and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fingerprint {
    hash: u64,
    /// Position in [`Corpus::codes`].
    at: usize,
    /// Position in [`Corpus::regions`].
    region: u32,
}

/// All fingerprints by hash, then place.
fn fingerprints(corpus: &Corpus, turn: &Turn) -> Result<Vec<Fingerprint>> {
    let of_region = |at: usize| -> Result<Vec<Fingerprint>> {
        turn.check()?;
        let region = &corpus.regions[at];
        if region.is_marked || region.tokens.len() < MATCH_TOKENS {
            return Ok(Vec::new());
        }
        let kept = winnow(&hashes(&corpus.codes[region.tokens.clone()]));
        let print = |(offset, hash)| Fingerprint {
            hash,
            at: region.tokens.start + offset,
            region: at as u32,
        };
        Ok(kept.into_iter().map(print).collect())
    };
    let lists: Vec<Vec<Fingerprint>> =
        (0..corpus.regions.len()).into_par_iter().map(of_region).collect::<Result<_>>()?;
    let mut all: Vec<Fingerprint> = lists.into_iter().flatten().collect();
    all.par_sort_unstable();
    Ok(all)
}

/// The hash of each stretch of [`HASH_TOKENS`] tokens, rolled along (Rabin and Karp).
fn hashes(codes: &[Code]) -> Vec<u64> {
    const BASE: u64 = 0x0000_0100_0000_01b3;
    let shape = |code: &Code| u64::from(code.shape()).wrapping_add(1);
    if codes.len() < HASH_TOKENS {
        return Vec::new();
    }
    let top = (1..HASH_TOKENS).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let first = codes[..HASH_TOKENS]
        .iter()
        .fold(0_u64, |hash, code| hash.wrapping_mul(BASE).wrapping_add(shape(code)));
    let mut hash = first;
    let mut all = Vec::with_capacity(codes.len() - HASH_TOKENS + 1);
    all.push(mix(hash));
    for at in HASH_TOKENS..codes.len() {
        let gone = shape(&codes[at - HASH_TOKENS]).wrapping_mul(top);
        hash = hash.wrapping_sub(gone).wrapping_mul(BASE).wrapping_add(shape(&codes[at]));
        all.push(mix(hash));
    }
    all
}

/// Spreads a rolling hash, whose low bits know the last tokens only.
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// The smallest hash of every window with its place, each once; the last of equal ones.
fn winnow(hashes: &[u64]) -> Vec<(usize, u64)> {
    let mut kept: Vec<(usize, u64)> = Vec::new();
    let mut smallest: Option<usize> = None;
    for end in WINDOW.min(hashes.len())..=hashes.len() {
        let window = end.saturating_sub(WINDOW)..end;
        if window.is_empty() {
            break;
        }
        let is_gone = smallest.is_none_or(|at| at < window.start);
        let newest = end - 1;
        let at = match smallest {
            Some(at) if !is_gone => {
                if hashes[newest] <= hashes[at] {
                    newest
                } else {
                    at
                }
            }
            _ => window.rev().min_by_key(|at| hashes[*at]).expect("a window is not empty"),
        };
        if smallest != Some(at) {
            kept.push((at, hashes[at]));
            smallest = Some(at);
        }
    }
    kept
}

/// Tokens that go together with others of the same shape, so many further on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    /// Positions in [`Corpus::codes`].
    tokens: Range<usize>,
    distance: usize,
    /// Of the tokens, and of the others.
    regions: [u32; 2],
}

/// Which of the places of one fingerprint are compared: each with the first one in the product's own
/// code, and with the first one of its own kind of place. What goes further with another one has
/// further fingerprints there, among which the first is not.
fn compared<'a>(
    corpus: &'a Corpus,
    same: &'a [Fingerprint],
) -> impl Iterator<Item = (Fingerprint, Fingerprint)> + 'a {
    let place = |print: &Fingerprint| corpus.regions[print.region as usize].place;
    let first = move |of: Place| same.iter().position(|print| place(print) == of);
    (0..same.len()).flat_map(move |at| {
        let firsts = [first(Place::Source), first(place(&same[at]))];
        let mut others: Vec<usize> =
            firsts.into_iter().flatten().filter(|other| *other != at).collect();
        others.dedup();
        others.into_iter().map(move |other| (same[at.min(other)], same[at.max(other)]))
    })
}

/// The tokens around `a` that go together with those around `b`, as far as both regions go; `None` when
/// both are stretches of one repetition.
fn extend(corpus: &Corpus, a: Fingerprint, b: Fingerprint) -> Option<Pair> {
    let [ours, theirs] = [a, b].map(|print| &corpus.regions[print.region as usize].tokens);
    let distance = b.at - a.at;
    let same = |at: usize| corpus.codes[at].shape() == corpus.codes[at + distance].shape();
    let mut start = a.at;
    while start > ours.start && start + distance > theirs.start && same(start - 1) {
        start -= 1;
    }
    let mut end = a.at;
    while end < ours.end && end + distance < theirs.end && same(end) {
        end += 1;
    }
    let is_apart = end - start <= distance;
    (end - start >= HASH_TOKENS && is_apart).then_some(Pair {
        tokens: start..end,
        distance,
        regions: [a.region, b.region],
    })
}

/// The whole lines of a pair, when there is enough of them and most of what they name is the same.
fn fragment(corpus: &Corpus, pair: &Pair) -> Option<Match> {
    let regions = pair.regions.map(|region| region as usize);
    let tokens = whole_lines(corpus, pair.tokens.clone(), pair.distance, regions)?;
    let moved = tokens.start + pair.distance..tokens.end + pair.distance;
    let (a, b) = (&corpus.codes[tokens.clone()], &corpus.codes[moved.clone()]);
    let lines = |region: usize, tokens: &Range<usize>| {
        let file = corpus.regions[region].file;
        corpus.line(file, tokens.end - 1) - corpus.line(file, tokens.start) + 1
    };
    let lines = lines(regions[0], &tokens).min(lines(regions[1], &moved));
    let is_long =
        tokens.len() >= TOKENS_MIN || (lines >= LINES_MIN && tokens.len() >= LINES_TOKENS_MIN);
    let counts = is_long && same_share(a, b) >= SAME_MIN && !is_repetition(a);
    counts.then_some(Match {
        a: Stretch { region: regions[0], tokens },
        b: Stretch { region: regions[1], tokens: moved },
    })
}

/// Cuts a match at the ends of lines on both sides, so that every bracket in it is opened and closed in it.
fn whole_lines(
    corpus: &Corpus,
    range: Range<usize>,
    distance: usize,
    regions: [usize; 2],
) -> Option<Range<usize>> {
    // Whole lines within what is balanced may be unbalanced again, by a bracket that shares its line.
    const ROUNDS: usize = 4;
    let mut range = range;
    for _ in 0..ROUNDS {
        let lines = cut_lines(corpus, range, distance, regions)?;
        let inner = balanced(&corpus.codes[lines.clone()]);
        range = lines.start + inner.start..lines.start + inner.end;
        if range == lines {
            return Some(lines);
        }
    }
    None
}

/// The longest stretch of codes in which every bracket is opened and closed.
fn balanced(codes: &[Code]) -> Range<usize> {
    // Where each bracket that is open now was opened, over the place where the last stretch may begin.
    let mut open = vec![0];
    let mut longest = 0..0;
    for (at, code) in codes.iter().enumerate() {
        if code.opens() {
            open.push(at + 1);
        } else if code.closes() {
            open.pop();
            if open.is_empty() {
                open.push(at + 1);
            }
        }
        let start = *open.last().expect("one is always there");
        // A stretch inside of a bracket that stays open counts from that bracket on.
        if at + 1 - start > longest.len() {
            longest = start..at + 1;
        }
    }
    longest
}

/// Cuts a match at the ends of lines on both sides.
fn cut_lines(
    corpus: &Corpus,
    range: Range<usize>,
    distance: usize,
    regions: [usize; 2],
) -> Option<Range<usize>> {
    let [file, other] = regions.map(|region| corpus.regions[region].file);
    let begins = |at: usize| {
        let begins_in = |file, at| corpus.first_in_line(file, corpus.line(file, at)) == at;
        begins_in(file, at) && begins_in(other, at + distance)
    };
    let ends = |at: usize| {
        let ends_in = |file: usize, at: usize| {
            at == corpus.files[file].tokens.end || corpus.line(file, at) > corpus.line(file, at - 1)
        };
        ends_in(file, at) && ends_in(other, at + distance)
    };
    let start = range.clone().find(|at| begins(*at))?;
    let end = (start + 1..=range.end).rev().find(|at| ends(*at))?;
    Some(start..end)
}

/// The share of names and literals that are the same at the same place.
fn same_share(a: &[Code], b: &[Code]) -> f32 {
    let open = || a.iter().zip(b).filter(|(a, _)| !a.is_fixed());
    let same = open().filter(|(a, b)| a == b).count();
    let all = open().count();
    if all == 0 { 1.0 } else { same as f32 / all as f32 }
}

/// Stretches of one shape and length.
struct Group {
    members: Vec<Stretch>,
}

impl Group {
    /// Whether a member lies where `stretch` does.
    fn is_at(&self, stretch: &Stretch) -> bool {
        self.members.iter().any(|member| {
            let (a, b) = (&member.tokens, &stretch.tokens);
            let both = a.end.min(b.end).saturating_sub(a.start.max(b.start));
            both as f32 >= SAME_PLACE * (a.len() + b.len() - both) as f32
        })
    }

    /// Adds `other`, whose match `here` lies at a member, and shortens all members to what is the same
    /// in all of them; whether it could.
    fn add(&mut self, here: &Stretch, other: &Stretch) -> bool {
        let overlaps = |member: &Stretch| {
            member.tokens.start < other.tokens.end && other.tokens.start < member.tokens.end
        };
        if self.members.iter().any(overlaps) {
            return false;
        }
        let at = self.members.iter().position(|member| {
            member.tokens.start < here.tokens.end && here.tokens.start < member.tokens.end
        });
        let Some(member) = at.map(|at| self.members[at].tokens.clone()) else { return false };
        let start = member.start.max(here.tokens.start);
        let end = member.end.min(here.tokens.end);
        let (cut, length) = (start - member.start, end - start);
        for member in &mut self.members {
            member.tokens.start += cut;
            member.tokens.end = member.tokens.start + length;
        }
        let first = other.tokens.start + (start - here.tokens.start);
        self.members.push(Stretch { region: other.region, tokens: first..first + length });
        true
    }

    /// Its members, cut at the ends of lines once more; `None` when too little is left.
    fn whole(self, corpus: &Corpus) -> Option<Vec<Stretch>> {
        let first = &self.members[0];
        let mut range = first.tokens.clone();
        for member in &self.members[1..] {
            let distance = member.tokens.start.abs_diff(first.tokens.start);
            let (low, regions) = if member.tokens.start > first.tokens.start {
                (range.clone(), [first.region, member.region])
            } else {
                let low = range.start - distance..range.end - distance;
                (low, [member.region, first.region])
            };
            let cut = whole_lines(corpus, low, distance, regions)?;
            range = if member.tokens.start > first.tokens.start {
                cut
            } else {
                cut.start + distance..cut.end + distance
            };
        }
        let (cut, length) = (range.start - first.tokens.start, range.len());
        let moved = |member: &Stretch| {
            let start = member.tokens.start + cut;
            Stretch { region: member.region, tokens: start..start + length }
        };
        (length >= LINES_TOKENS_MIN).then(|| self.members.iter().map(moved).collect())
    }
}
