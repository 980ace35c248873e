//! Here are units: which of them are copies of each other, and how sure are we?
//!
//! Units of the same shape (tokens, names and literals aside) are one *form*; small units only when they
//! are the same to the last name. Two forms are as similar as their sets of grams (five tokens in a row)
//! have in common: |A ∩ B| / |A ∪ B|, the Jaccard index. Candidates are forms that share sampled grams
//! which are not everywhere, and what the vectors of chunks propose.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::code::{Code, Corpus, Level, Unit};
use super::sets::{jaccard, jaccard_of_distinct, overlap};
use crate::error::Result;
use crate::turn::Turn;
use crate::types::Hash;

/// Tokens of a gram.
const GRAM: usize = 5;

/// Two functions are near when they are at least so similar. On labelled pairs no stranger reaches it
/// (docs/duplicates.md).
pub(super) const NEAR: f32 = 0.5;

/// So much is enough for functions that share so many of their names and literals: strangers of one
/// style share the one or the other, seldom both. A short function has too few to tell.
const NEAR_NAMED: f32 = 0.4;
const NAMES_SHARED: f32 = 0.35;
const NAMED_TOKENS: usize = 60;

/// What repeats itself may be near by its different grams and yet hold little that is the same: counted as
/// often as they occur, grams have at least so much in common.
const SHARED_MIN: f32 = 0.4;

/// Types and files hold functions, which are compared by themselves: only what is nearly all the same
/// is more than the sum of them.
const NEAR_WHOLE: f32 = 0.8;

/// A gram in more forms than this proposes nothing.
const GRAM_FORMS_MAX: usize = 100;

/// One gram of so many is sampled.
const SAMPLE: u32 = 4;

/// Forms with so few grams keep all of them as their sample.
const SMALL_GRAMS: usize = 64;

/// The share of sampled grams in common from which two forms are compared.
const CANDIDATE: f32 = 0.15;

/// Units of one level and shape.
#[derive(Debug)]
pub(super) struct Form {
    pub level: Level,
    /// Positions in [`Corpus::units`], ascending.
    pub units: Vec<usize>,
    /// Hashes of the grams, ascending, each once; none for small units.
    pub grams: Vec<u32>,
    /// Hashes of the shorter grams of the tokens with their names, ascending, as often as they occur;
    /// made when the form is first compared by them.
    exact_grams: OnceLock<Vec<u32>>,
    /// Of the tokens without names and literals; of small units with them.
    pub hash: Hash,
}

/// Two forms that are near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    /// Positions in [`Forms::list`]; `a` is the smaller.
    pub a: usize,
    pub b: usize,
    pub similarity: f32,
}

/// All forms and which of them are near.
#[derive(Debug)]
pub(super) struct Forms {
    pub list: Vec<Form>,
    /// By `a`, then `b`.
    pub edges: Vec<Edge>,
    /// By position in [`Corpus::units`].
    pub of_unit: Vec<usize>,
}

/// Compares the units of a corpus.
///
/// # Errors
/// Stopped when `turn` ends.
pub(super) fn forms(corpus: &Corpus, turn: &Turn) -> Result<Forms> {
    let forms = group(corpus);
    let mut of_unit = vec![0; corpus.units.len()];
    for (at, form) in forms.iter().enumerate() {
        form.units.iter().for_each(|unit| of_unit[*unit] = at);
    }
    let pairs = candidates(&forms, turn)?;
    let mut all = Forms { list: forms, edges: Vec::new(), of_unit };
    all.confirm(corpus, pairs);
    Ok(all)
}

impl Forms {
    /// What two forms have in common, 0 to 1, for a reader.
    pub(super) fn shared(&self, corpus: &Corpus, a: usize, b: usize) -> f32 {
        if a == b { 1.0 } else { shared(corpus, &self.list[a], &self.list[b]) }
    }

    /// Whether a unit has no copy.
    pub(super) fn alone(&self) -> Vec<bool> {
        let mut alone: Vec<bool> = self.list.iter().map(|form| form.units.len() == 1).collect();
        for edge in &self.edges {
            alone[edge.a] = false;
            alone[edge.b] = false;
        }
        self.of_unit.iter().map(|form| alone[*form]).collect()
    }

    /// Adds those of some pairs of units that are near.
    pub(super) fn add(&mut self, corpus: &Corpus, units: &[(usize, usize)]) {
        let pairs = units.iter().filter_map(|(a, b)| {
            let (a, b) = (self.of_unit[*a], self.of_unit[*b]);
            let is_large = |form: usize| !self.list[form].grams.is_empty();
            let can_be = a != b && self.list[a].level == self.list[b].level;
            (can_be && is_large(a) && is_large(b)).then_some((a.min(b), a.max(b)))
        });
        self.confirm(corpus, pairs.collect());
    }

    /// Keeps the pairs of forms that are near.
    fn confirm(&mut self, corpus: &Corpus, mut pairs: Vec<(usize, usize)>) {
        pairs.par_sort_unstable();
        pairs.dedup();
        let known: HashSet<(usize, usize)> =
            self.edges.iter().map(|edge| (edge.a, edge.b)).collect();
        pairs.retain(|pair| !known.contains(pair));
        let forms = &self.list;
        let near = |(a, b): &(usize, usize)| {
            let similarity = similarity(corpus, &forms[*a], &forms[*b]);
            let [first, other] = [*a, *b].map(|form| &corpus.units[forms[form].units[0]]);
            let is_near = match first.level {
                Level::Function => {
                    let named = || similarity >= NEAR_NAMED && share_names(corpus, first, other);
                    similarity >= NEAR || named()
                }
                Level::Type | Level::File => similarity >= NEAR_WHOLE,
            };
            let is_near = is_near
                && !overlaps(first, other)
                && shared(corpus, &forms[*a], &forms[*b]) >= SHARED_MIN;
            is_near.then_some(Edge { a: *a, b: *b, similarity })
        };
        self.edges.par_extend(pairs.par_iter().filter_map(near));
        self.edges.sort_unstable_by_key(|edge| (edge.a, edge.b));
    }
}

/// Brings units of the same shape together, in the order of their first units.
fn group(corpus: &Corpus) -> Vec<Form> {
    // A small one must be the same to the last name.
    let of = |unit: &Unit| if unit.is_large() { Code::shape } else { Code::exact };
    let codes = |unit: &Unit| &corpus.codes[unit.tokens.clone()];
    let hashes: Vec<Hash> =
        corpus.units.par_iter().map(|unit| hash(codes(unit), of(unit))).collect();
    let mut known: HashMap<(Level, Hash), usize> = HashMap::new();
    let mut groups: Vec<(Level, Hash, Vec<usize>)> = Vec::new();
    for (at, unit) in corpus.units.iter().enumerate() {
        let key = (unit.level, hashes[at]);
        let group = *known.entry(key).or_insert_with(|| {
            groups.push((key.0, key.1, Vec::new()));
            groups.len() - 1
        });
        groups[group].2.push(at);
    }
    let form = |(level, hash, units): (Level, Hash, Vec<usize>)| {
        let first = &corpus.units[units[0]];
        let is_large = first.is_large();
        let grams = if is_large { grams(&corpus.codes[first.tokens.clone()]) } else { Vec::new() };
        Form { level, units, grams, exact_grams: OnceLock::new(), hash }
    };
    groups.into_par_iter().map(form).collect()
}

/// The hash of tokens without their names and literals.
pub(super) fn shape_hash(codes: &[Code]) -> Hash {
    hash(codes, Code::shape)
}

fn hash(codes: &[Code], of: fn(Code) -> u32) -> Hash {
    let bytes: Vec<u8> = codes.iter().flat_map(|code| of(*code).to_le_bytes()).collect();
    Hash::of(&bytes)
}

/// Hashes of the grams, ascending, each once.
pub(super) fn grams(codes: &[Code]) -> Vec<u32> {
    let mut grams = all_grams(codes, GRAM, Code::shape);
    grams.dedup();
    grams
}

/// Hashes of the grams, ascending.
fn all_grams(codes: &[Code], count: usize, of: fn(Code) -> u32) -> Vec<u32> {
    let hash = |window: &[Code]| {
        let mixed = window.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |hash, code| {
            (hash ^ u64::from(of(*code))).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
        });
        (mixed ^ (mixed >> 32)) as u32
    };
    let mut grams: Vec<u32> = codes.windows(count).map(hash).collect();
    grams.sort_unstable();
    grams
}

/// Pairs of forms that share enough of their sampled grams.
fn candidates(forms: &[Form], turn: &Turn) -> Result<Vec<(usize, usize)>> {
    let sample = |form: &Form| -> Vec<u32> {
        let all = form.grams.len() <= SMALL_GRAMS;
        form.grams.iter().copied().filter(|gram| all || gram % SAMPLE == 0).collect()
    };
    let samples: Vec<Vec<u32>> = forms.par_iter().map(sample).collect();
    // Forms of a gram, for grams that are neither alone nor everywhere. The small forms keep all of
    // their grams, so that the large ones are looked up with all of theirs too.
    let mut postings: Vec<(u32, u32)> = samples
        .iter()
        .enumerate()
        .flat_map(|(at, grams)| grams.iter().map(move |gram| (*gram, at as u32)))
        .collect();
    postings.par_sort_unstable();
    let mut ranges: HashMap<u32, Range<usize>, foldhash::fast::RandomState> = HashMap::default();
    let mut start = 0;
    for group in postings.chunk_by(|a, b| a.0 == b.0) {
        if (2..=GRAM_FORMS_MAX).contains(&group.len()) {
            ranges.insert(group[0].0, start..start + group.len());
        }
        start += group.len();
    }
    // What every second form has says nothing about a pair.
    let telling: Vec<Vec<u32>> = samples
        .into_par_iter()
        .map(|grams| grams.into_iter().filter(|gram| ranges.contains_key(gram)).collect())
        .collect();
    let of_form = |at: usize| -> Result<Vec<(usize, usize)>> {
        turn.check()?;
        let mut shared: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
        for gram in &telling[at] {
            let others = postings[ranges[gram].clone()].iter().map(|(_, form)| *form);
            for other in others.filter(|other| (*other as usize) < at) {
                *shared.entry(other).or_default() += 1;
            }
        }
        let is_near = |(other, count): &(u32, u32)| {
            let (mine, theirs) = (&forms[at], &forms[*other as usize]);
            let of = |form: usize, other: &Form| {
                // A small form's sample is all of its grams, of which a large one kept a few.
                let grams = &telling[form];
                let is_cut =
                    forms[form].grams.len() <= SMALL_GRAMS && other.grams.len() > SMALL_GRAMS;
                grams.len() as f32 / if is_cut { SAMPLE as f32 } else { 1.0 }
            };
            let all = of(at, theirs) + of(*other as usize, mine) - *count as f32;
            mine.level == theirs.level && *count as f32 >= CANDIDATE * all
        };
        let found = shared.into_iter().filter(is_near);
        Ok(found.map(|(other, _)| (other as usize, at)).collect())
    };
    let lists: Vec<Vec<(usize, usize)>> =
        (0..forms.len()).into_par_iter().map(of_form).collect::<Result<_>>()?;
    Ok(lists.into_iter().flatten().collect())
}

/// Names make three tokens as telling as five without.
const EXACT_GRAM: usize = 3;

/// How similar two forms are: by grams of shapes; where those are too few, by shorter grams of the tokens
/// themselves.
fn similarity(corpus: &Corpus, a: &Form, b: &Form) -> f32 {
    let by_shape = jaccard(&a.grams, &b.grams);
    if by_shape >= NEAR {
        return by_shape;
    }
    by_shape.max(jaccard_of_distinct(exact_grams(corpus, a), exact_grams(corpus, b)))
}

/// What two forms have in common, 0 to 1: as [`similarity`], but each gram counts as often as it occurs.
/// That tells more truly how much is alike, but finds less where code repeats itself.
fn shared(corpus: &Corpus, a: &Form, b: &Form) -> f32 {
    let shapes = |form: &Form| all_grams(codes(corpus, form), GRAM, Code::shape);
    let by_shape = jaccard(&shapes(a), &shapes(b));
    by_shape.max(jaccard(exact_grams(corpus, a), exact_grams(corpus, b)))
}

fn exact_grams<'a>(corpus: &Corpus, form: &'a Form) -> &'a [u32] {
    form.exact_grams.get_or_init(|| all_grams(codes(corpus, form), EXACT_GRAM, Code::exact))
}

/// The tokens of a form's first unit.
fn codes<'a>(corpus: &'a Corpus, form: &Form) -> &'a [Code] {
    &corpus.codes[corpus.units[form.units[0]].tokens.clone()]
}

/// Whether two units share many of their names and literals.
fn share_names(corpus: &Corpus, a: &Unit, b: &Unit) -> bool {
    let is_long = |unit: &Unit| unit.tokens.len() >= NAMED_TOKENS;
    let open = |unit: &Unit| open_codes(&corpus.codes[unit.tokens.clone()]);
    is_long(a) && is_long(b) && overlap(&open(a), &open(b)) >= NAMES_SHARED
}

/// Names and literals, ascending.
pub(super) fn open_codes(codes: &[Code]) -> Vec<Code> {
    let mut open: Vec<Code> = codes.iter().copied().filter(|code| !code.is_fixed()).collect();
    open.sort_unstable();
    open
}

/// Whether two units share tokens.
pub(super) fn overlaps(a: &Unit, b: &Unit) -> bool {
    a.tokens.start < b.tokens.end && b.tokens.start < a.tokens.end
}
