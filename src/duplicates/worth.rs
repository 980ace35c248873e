//! Here is a group: how much is it worth a reader's time, and what lowers that whatever its size?

use super::alike;
use super::code::{Code, Corpus, Level, Unit, Work};
use super::find::{Group, Piece, common_symbol, is_one_file};
use super::report::CopyKind;
use super::shape;
use crate::retrieval::Catalog;
use crate::words;

/// What a reader gains from a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worth {
    /// Higher is better worth a reader's time.
    pub payoff: f32,
    /// What lowers the payoff, in words.
    pub discounts: Vec<&'static str>,
}

/// What a reader gains: the tokens that could go, in lines of [`LINE_TOKENS`], less where the medoid repeats
/// itself, where the members are less alike, share fewer names, are only parts of what they stand in, or are copies for a reason that
/// can be seen.
pub(super) fn worth(corpus: &Corpus, catalog: &Catalog, group: &Group) -> Worth {
    /// Tokens of an ordinary line.
    const LINE_TOKENS: f32 = 8.0;
    /// Fewer tokens than this are hardly worth a name of their own.
    const ENOUGH: f32 = 70.0;
    /// Each further member adds less: ten copies are one finding, all the more in one file.
    const FURTHER: f32 = 0.75;
    const FURTHER_NEAR: f32 = 0.5;
    /// A part of a function is harder to take out than a whole one.
    const FRAGMENT: f32 = 0.6;
    /// What shares no name at all is worth this much of what shares all.
    const STRANGERS: f32 = 0.3;
    /// A function of the same name elsewhere is one that somebody took along.
    const NAMESAKES: f32 = 1.5;
    let medoid = &group.pieces[group.medoid];
    let tokens = telling(&corpus.codes[medoid.tokens.clone()]) as f32;
    let is_fragment = group.kind == CopyKind::Fragment;
    let enough = if is_fragment { 2.0 * ENOUGH } else { ENOUGH };
    let size = tokens / LINE_TOKENS * (tokens / enough).min(1.0);
    let further = if is_one_file(&group.pieces) { FURTHER_NEAR } else { FURTHER };
    let further = (independent(group) as f32 - 1.0).powf(further);
    let kind = if is_fragment { FRAGMENT } else { 1.0 };
    let names = shape::shared_names(corpus, &group.pieces, group.medoid);
    let names = STRANGERS + (1.0 - STRANGERS) * names;
    let taken_along = if is_taken_along(corpus, group) { NAMESAKES } else { 1.0 };
    let (factors, discounts): (Vec<f32>, Vec<_>) =
        discounts(corpus, catalog, group).into_iter().unzip();
    let whole = size * further * likeness(group).powi(2) * kind * names * taken_along;
    Worth { payoff: whole * factors.iter().product::<f32>(), discounts }
}

/// How alike the members are: for a pair what it was found by, for more of them no more than a reader is
/// told, since what a family shares may be an idiom.
fn likeness(group: &Group) -> f32 {
    if group.pieces.len() > 2 { group.likeness.min(group.similarity.0) } else { group.likeness }
}

/// Tokens that count: those of ordinary code, but of a table with one row after the other hardly more than
/// those of a few rows.
fn telling(codes: &[Code]) -> usize {
    /// Ordinary code has half as many different grams as tokens, or more.
    const TOKENS_A_GRAM: usize = 2;
    codes.len().min(TOKENS_A_GRAM * alike::grams(codes).len())
}

/// Members that count: of fragments in one function one, which a reader sees together, but never fewer
/// than two.
fn independent(group: &Group) -> usize {
    let mut around: Vec<(usize, &str)> = Vec::new();
    for piece in &group.pieces {
        match (&piece.symbol, group.kind) {
            (Some(symbol), CopyKind::Fragment) => around.push((piece.file, symbol)),
            _ => return group.pieces.len(),
        }
    }
    around.sort_unstable();
    around.dedup();
    around.len().max(2)
}

/// What lowers a group's payoff: the factor, and the circumstance in words.
fn discounts(corpus: &Corpus, catalog: &Catalog, group: &Group) -> Vec<(f32, &'static str)> {
    /// Functions that somebody demands and that are no more alike are not copied from each other.
    const OWN_WAY: f32 = 0.8;
    let pieces = &group.pieces;
    let has = |wanted: fn(&Unit) -> bool| {
        move |piece: &Piece| piece.unit.is_some_and(|unit| wanted(&corpus.units[unit]))
    };
    // What is still the same is no older version.
    let is_superseded = |piece: &Piece| {
        group.kind != CopyKind::Exact && catalog.is_superseded(corpus.files[piece.file].at)
    };
    let is_deprecated = has(|unit| unit.is_deprecated);
    // Of two copies that stay one could go, whatever there is besides.
    let stays_once =
        |goes: &dyn Fn(&Piece) -> bool| pieces.iter().filter(|piece| !goes(piece)).count() < 2;
    let is_one_file = is_one_file(pieces);
    let work = shape::work(corpus, pieces);
    let are_namesakes = are_namesakes(pieces);
    let is_demanded = are_namesakes
        && pieces.iter().all(has(|unit| unit.implements))
        && likeness(group) < OWN_WAY;
    let rules = [
        // Languages without generics demand them.
        (is_one_file && are_namesakes, 0.2, "overloads of one name"),
        // Whoever edits the file sees them.
        (is_one_file && !are_namesakes, 0.8, "all in one file"),
        (work == Work::None, 0.4, "declarations without code"),
        (work == Work::HandsOn, 0.4, "functions that only hand on"),
        (work == Work::Lists, 0.3, "lists of values"),
        (is_demanded, 0.5, "each fulfils a demand in a way of its own"),
        // What will go by itself is not worth a change.
        (stays_once(&is_deprecated), 0.2, "deprecated code"),
        (stays_once(&is_superseded), 0.2, "an older version, kept beside its successor"),
        // Few languages let one body be both.
        (are_two_colours(corpus, catalog, pieces), 0.5, "one that waits and one that does not"),
        (are_for_each_type(pieces), 0.5, "one for each type or size"),
    ];
    rules.into_iter().filter(|rule| rule.0).map(|(_, factor, said)| (factor, said)).collect()
}

/// Whether pieces are whole and have one name.
fn are_namesakes(pieces: &[Piece]) -> bool {
    common_symbol(pieces).is_some() && pieces.iter().all(|piece| piece.unit.is_some())
}

/// Whether functions of one name lie in several files and are nearly the same. What three types have, an
/// interface may have asked for.
fn is_taken_along(corpus: &Corpus, group: &Group) -> bool {
    const LIKENESS: f32 = 0.9;
    const TYPES: usize = 3;
    let pieces = &group.pieces;
    let is_function = |unit: usize| {
        let unit = &corpus.units[unit];
        unit.level == Level::Function && (!unit.is_method || pieces.len() < TYPES)
    };
    pieces[0].unit.is_some_and(is_function)
        && group.likeness >= LIKENESS
        && are_namesakes(pieces)
        && !is_one_file(pieces)
}

/// Whether whole pieces are the synchronous and the asynchronous form of one thing: by their code, or by
/// what their paths and names say.
fn are_two_colours(corpus: &Corpus, catalog: &Catalog, pieces: &[Piece]) -> bool {
    const TOKENS: [Code; 3] =
        [Code::fixed(b"await"), Code::fixed(b"async"), Code::fixed(b"suspend")];
    const WORDS: &[&str] = &[
        "async",
        "asynchronous",
        "sync",
        "synchronous",
        "blocking",
        "nonblocking",
        "suspend",
        "suspending",
        "coroutine",
        "aio",
    ];
    let waits =
        |piece: &Piece| corpus.codes[piece.tokens.clone()].iter().any(|code| TOKENS.contains(code));
    let named = |piece: &Piece| {
        let path = &catalog.files[corpus.files[piece.file].at].row.path;
        format!("{path}/{}", piece.symbol.as_deref().unwrap_or_default())
    };
    let is_whole = pieces.iter().all(|piece| piece.unit.is_some());
    let waiting = pieces.iter().filter(|piece| waits(piece)).count();
    is_whole
        && ((1..pieces.len()).contains(&waiting)
            || differ_by(pieces.iter().map(named), |word| WORDS.contains(&word)))
}

/// Whether the names of whole pieces differ only in numbers and in names of primitive types.
fn are_for_each_type(pieces: &[Piece]) -> bool {
    const TYPES: &[&str] = &[
        "bool",
        "boolean",
        "byte",
        "sbyte",
        "char",
        "character",
        "short",
        "ushort",
        "int",
        "uint",
        "integer",
        "long",
        "ulong",
        "float",
        "double",
        "decimal",
        "number",
        "i",
        "u",
        "f",
    ];
    let is_type = |word: &str| TYPES.contains(&word) || word.bytes().all(|b| b.is_ascii_digit());
    let names = pieces.iter().map(|piece| piece.symbol.as_deref().filter(|_| piece.unit.is_some()));
    let names: Option<Vec<&str>> = names.collect();
    names.is_some_and(|names| differ_by(names, is_type))
}

/// Whether names have the same words but for some that are `dropped`, in which they differ.
fn differ_by(
    names: impl IntoIterator<Item = impl AsRef<str>>,
    dropped: impl Fn(&str) -> bool,
) -> bool {
    let split = |name: &str| {
        let mut parts: Vec<String> = Vec::new();
        words::parts(name, &mut |part| parts.push(part.to_ascii_lowercase()));
        parts.into_iter().partition::<Vec<String>, _>(|part| dropped(part))
    };
    let names: Vec<(Vec<String>, Vec<String>)> =
        names.into_iter().map(|name| split(name.as_ref())).collect();
    let (first_dropped, first_kept) = &names[0];
    names.iter().all(|(_, kept)| kept == first_kept && !kept.is_empty())
        && names.iter().any(|(dropped, _)| dropped != first_dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_by_words_that_say_nothing() {
        let by_number = |names: &[&str]| differ_by(names, |word| word.parse::<u32>().is_ok());
        assert!(by_number(&["Vector2Formatter", "Vector3Formatter"]));
        assert!(by_number(&["task_v1", "task_v2"]));
        assert!(!by_number(&["Vector2Formatter", "Vector2Formatter"]));
        assert!(!by_number(&["Vector2Formatter", "Color3Formatter"]));
        assert!(!by_number(&["1", "2"]));
    }
}
