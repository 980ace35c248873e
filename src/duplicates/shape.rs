//! Here are copies: is their shape one that repeats by its nature?
//!
//! Rules that can be told in a sentence, decided by the medoid's tokens; none of them looks at a name.

use super::alike::{grams, open_codes};
use super::code::{Code, Corpus, Level, Unit, Work};
use super::find::{Piece, common_symbol, is_one_file};
use super::report::CopyKind;
use super::sets::overlap;

/// The largest share of strings and numbers among all that is not fixed.
const LITERALS_MAX: f32 = 0.6;

/// An implementation of somebody else's demand has more tokens than this when it is worth sharing.
const IMPLEMENTATION_TOKENS: usize = 40;

/// A function of one statement with more tokens than this has a head that says something.
const THIN_TOKENS: usize = 60;

/// What repeats itself is a copy all the same when so many of its names are the same.
const SAME_NAMES: f32 = 0.5;

/// So many names in common, and a fragment is what it is, whatever else is in it.
const VERBATIM: f32 = 0.95;

/// Declarations that share so many of their names declare the same thing.
const DECLARED_NAMES: f32 = 0.8;

/// Members that are compared with the medoid.
const COMPARED_MAX: usize = 20;

/// Why copies are boilerplate, in words; `None` when they are not. Whole pieces that are the same to the
/// last name never are.
pub(super) fn boilerplate(
    corpus: &Corpus,
    pieces: &[Piece],
    medoid: usize,
    kind: CopyKind,
) -> Option<&'static str> {
    let codes = &corpus.codes[pieces[medoid].tokens.clone()];
    let implements = |piece: &Piece| piece.unit.is_some_and(|unit| corpus.units[unit].implements);
    let is_thin = |piece: &Piece| {
        let unit = piece.unit.map(|unit| &corpus.units[unit]);
        unit.is_some_and(|unit| match unit.level {
            Level::Function => unit.work == Work::HandsOn && unit.tokens.len() < THIN_TOKENS,
            Level::Type => unit.work == Work::HandsOn,
            Level::File => false,
        })
    };
    if kind == CopyKind::Exact {
        None
    } else if pieces.iter().all(is_thin) {
        Some("one statement each")
    } else if kind == CopyKind::Fragment
        && has_period(codes)
        && shared_names(corpus, pieces, medoid) < VERBATIM
    {
        Some("a pattern within itself")
    } else if is_repetition(codes) && shared_names(corpus, pieces, medoid) < SAME_NAMES {
        Some("one line or branch again and again")
    } else if literals(codes) > LITERALS_MAX {
        Some("mostly strings and numbers")
    } else if codes.len() < IMPLEMENTATION_TOKENS
        && (pieces.iter().all(implements) || are_namesakes(corpus, pieces))
    {
        Some("implementations of one interface")
    } else if are_overloads(corpus, pieces) {
        Some("overloads of one name")
    } else if is_declaration(corpus, pieces)
        && shared_names(corpus, pieces, medoid) < DECLARED_NAMES
    {
        Some("declarations without code")
    } else if kind == CopyKind::Near
        && work(corpus, pieces) == Work::Lists
        && shared_names(corpus, pieces, medoid) < DECLARED_NAMES
    {
        Some("lists of values")
    } else {
        None
    }
}

/// What the one of some pieces does that does most; a fragment is taken out of what does something.
pub(super) fn work(corpus: &Corpus, pieces: &[Piece]) -> Work {
    let work = |piece: &Piece| piece.unit.map_or(Work::Does, |unit| corpus.units[unit].work);
    pieces.iter().map(work).max().unwrap_or(Work::Does)
}

/// Whether code is one line or branch again and again with other names and values: few different
/// sequences of tokens, for its length and in all.
pub(super) fn is_repetition(codes: &[Code]) -> bool {
    const VARIETY: f32 = 0.34;
    const DIFFERENT: usize = 32;
    let different = grams(codes).len();
    different < DIFFERENT && (different as f32) < VARIETY * codes.len() as f32
}

/// Whether code is like itself some tokens further on: the copies are inside of it.
fn has_period(codes: &[Code]) -> bool {
    const TOKENS_MAX: usize = 2_000;
    const SAME: f32 = 0.95;
    let is_period = |period: usize| {
        let pairs = codes.iter().zip(&codes[period..]);
        let all = codes.len() - period;
        let same = pairs.filter(|(a, b)| a.shape() == b.shape()).count();
        same as f32 >= SAME * all as f32
    };
    codes.len() <= TOKENS_MAX && (4..=codes.len() / 2).any(is_period)
}

/// Whether three or more pieces of one file have one name, in a language that asks for one a type.
fn are_overloads(corpus: &Corpus, pieces: &[Piece]) -> bool {
    is_one_file(pieces) && have_one_name(corpus, pieces, |unit| unit.can_overload)
}

/// Whether pieces are methods of one name in several types: an interface demands them, said or not.
fn are_namesakes(corpus: &Corpus, pieces: &[Piece]) -> bool {
    have_one_name(corpus, pieces, |unit| unit.is_method)
}

/// Whether three or more pieces have one name and are whole units of a kind.
fn have_one_name(corpus: &Corpus, pieces: &[Piece], is_kind: fn(&Unit) -> bool) -> bool {
    const COUNT: usize = 3;
    let is_kind = |piece: &Piece| piece.unit.is_some_and(|unit| is_kind(&corpus.units[unit]));
    pieces.len() >= COUNT && common_symbol(pieces).is_some() && pieces.iter().all(is_kind)
}

/// Whether types or files hold no function of their own: what they declare is alike because what they
/// describe is.
fn is_declaration(corpus: &Corpus, pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| {
        piece.unit.is_some_and(|unit| {
            let unit = &corpus.units[unit];
            unit.level != Level::Function && unit.work == Work::None
        })
    })
}

/// The share of literals among names and literals.
fn literals(codes: &[Code]) -> f32 {
    let literals = codes.iter().filter(|code| code.is_literal()).count();
    let open = codes.iter().filter(|code| !code.is_fixed()).count();
    if open == 0 { 0.0 } else { literals as f32 / open as f32 }
}

/// The share of names and literals that the medoid has in common with the others on average, each
/// counted as often as it occurs, 0 to 1.
pub(super) fn shared_names(corpus: &Corpus, pieces: &[Piece], medoid: usize) -> f32 {
    let open = |piece: &Piece| open_codes(&corpus.codes[piece.tokens.clone()]);
    let others = pieces.iter().enumerate().filter(|(at, _)| *at != medoid);
    let medoid = open(&pieces[medoid]);
    let others = others.take(COMPARED_MAX);
    let (count, sum) = others.fold((0, 0.0), |(count, sum), (_, piece)| {
        (count + 1, sum + overlap(&medoid, &open(piece)))
    });
    if count == 0 { 0.0 } else { sum / count as f32 }
}
