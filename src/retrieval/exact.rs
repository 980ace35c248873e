//! Strings and regular expressions, found as they stand in the files, by ripgrep's engine.
//!
//! What is looked through is the text that was indexed: read from disk where the file is still the
//! same, from the index where it is not, so that lines and chunks always belong together. What the
//! index does not have is looked through as it is now (`unindexed`).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::SearcherBuilder;
use grep_searcher::sinks::Bytes;
use memchr::memmem;
use rayon::prelude::*;

use super::catalog::{Catalog, FileEntry};
use super::filter::Filter;
use super::question::{Question, Symbol};
use super::rank::{self, PLACE_OF_DEFINITION, Ranked};
use super::show;
use super::signals::{self, Points, Reason};
use super::unindexed::{self, Tree, Unindexed};
use crate::error::{Error, Result};
use crate::store::Reader;
use crate::text;
use crate::turn::Turn;

/// Matching lines that are counted in one file.
const FILE_MATCHES_MAX: usize = 1000;

/// A pattern that compiles to more is refused.
const PATTERN_BYTES_MAX: usize = 10 << 20;

/// What was found, and which files were looked through as they were when they were indexed.
pub(super) struct Found {
    /// Chunks that hold a match, best first.
    pub ranked: Vec<Ranked>,
    /// Files that are no longer as they were indexed, by their position.
    pub changed: Vec<usize>,
    /// What the index does not have.
    pub unindexed: Unindexed,
}

/// What is searched: one generation, and the tree beside it.
pub(super) struct Sources<'a> {
    pub reader: &'a Reader,
    pub catalog: &'a Catalog,
    pub root: &'a Path,
    pub tree: &'a Tree<'a>,
}

/// Looks through every file that `filter` admits.
pub(super) fn search(
    sources: &Sources<'_>,
    filter: &Filter,
    question: &Question,
    matcher: &RegexMatcher,
    turn: &Turn,
) -> Result<Found> {
    let Sources { reader, catalog, root, tree } = *sources;
    let admitted: Vec<usize> =
        (0..catalog.files.len()).filter(|&file| filter.admits_file(file)).collect();
    let mut lines: Vec<Option<Vec<u32>>> = admitted
        .par_iter()
        .map(|&file| {
            turn.check()?;
            let entry = &catalog.files[file];
            let bytes = show::indexed_bytes(root, entry);
            Ok(bytes.map(|bytes| lines_of_indexed(matcher, entry, &bytes)))
        })
        .collect::<Result<_>>()?;
    let (mut changed, mut unmatched) = (Vec::new(), HashSet::new());
    for (lines, &file) in lines.iter_mut().zip(&admitted).filter(|(lines, _)| lines.is_none()) {
        turn.check()?;
        let entry = &catalog.files[file];
        let bytes = reader.blob(entry.row.hash)?.unwrap_or_default();
        let matching = lines_of_indexed(matcher, entry, &bytes);
        if matching.is_empty() {
            unmatched.insert(&entry.row.path);
        }
        *lines = Some(matching);
        changed.push(file);
    }
    let of_files = rank::file_points(catalog, question);
    let by_file = admitted.iter().zip(lines.iter().flatten());
    let mut ranked: Vec<Ranked> = by_file
        .flat_map(|(&file, lines)| by_chunk(catalog, filter, file, lines))
        .map(|held| ranked_of(catalog, question, matcher, &of_files, &held))
        .collect();
    ranked.sort_unstable_by(rank::best_first);
    rank::spread(catalog, &mut ranked);
    let unindexed = unindexed::search(tree, catalog, filter, question, matcher, &unmatched, turn)?;
    Ok(Found { ranked, changed, unindexed })
}

/// Compiles what is looked for.
///
/// # Errors
/// Usage, naming it: no regular expression, or text of several lines.
pub(super) fn matcher(text: &str, regex: bool) -> Result<RegexMatcher> {
    let bad = |why: &str| {
        let shown: String = text.chars().take(80).collect();
        let dots = if shown.len() < text.len() { "…" } else { "" };
        Error::usage(format!("{why} `{shown}{dots}`"))
    };
    if !regex && text.contains('\n') {
        return Err(bad("exact mode looks within one line, not for the lines of")
            .hint("search for one of the lines"));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).multi_line(true);
    builder.size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let built = if regex { builder.build(text) } else { builder.fixed_strings(true).build(text) };
    built.map_err(|error| {
        bad("bad regular expression")
            .because(error)
            .hint("escape special characters, or search for the plain string")
    })
}

/// 1-based numbers of the lines of a file's indexed text that match.
fn lines_of_indexed(matcher: &RegexMatcher, file: &FileEntry, bytes: &[u8]) -> Vec<u32> {
    if file.row.encoding == "utf-8" {
        return matching_lines(matcher, bytes);
    }
    matching_lines(matcher, text::decode(bytes).text.as_bytes())
}

/// 1-based numbers of the lines of a text in UTF-8 that match.
pub(super) fn matching_lines(matcher: &RegexMatcher, text: &[u8]) -> Vec<u32> {
    // `$` stands before the line feed; the number of lines stays.
    let plain = memmem::find(text, b"\r\n").map(|_| without_returns(text));
    let text = plain.as_deref().unwrap_or(text);
    let mut lines = Vec::new();
    let mut searcher = SearcherBuilder::new().line_number(true).bom_sniffing(false).build();
    let sink = Bytes(|line, _| {
        lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        Ok(lines.len() < FILE_MATCHES_MAX)
    });
    // Text in memory is read without fail, and the sink never fails.
    let _ = searcher.search_slice(matcher, text, sink);
    lines
}

/// The text with `\n` for every `\r\n`.
fn without_returns(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memmem::find(rest, b"\r\n") {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    plain.extend_from_slice(rest);
    plain
}

/// A chunk with the first of its lines that match, and how many do.
struct Held {
    chunk: usize,
    line: u32,
    count: u16,
}

/// The chunks of a file that hold the lines.
fn by_chunk(catalog: &Catalog, filter: &Filter, file: usize, lines: &[u32]) -> Vec<Held> {
    let entry = &catalog.files[file];
    let mut held: BTreeMap<usize, (u32, u16)> = BTreeMap::new();
    for &line in lines {
        let chunks = &catalog.chunks[entry.chunks.clone()];
        let at = chunks.partition_point(|chunk| chunk.lines.end < line);
        let holds = chunks.get(at).is_some_and(|chunk| chunk.lines.start <= line);
        if holds && filter.admits(catalog, entry.chunks.start + at) {
            let count = held.entry(entry.chunks.start + at).or_insert((line, 0));
            count.1 = count.1.saturating_add(1);
        }
    }
    held.into_iter().map(|(chunk, (line, count))| Held { chunk, line, count }).collect()
}

/// A chunk with its points: those of its file, how often the pattern matches, and whether it matches
/// what the chunk defines.
fn ranked_of(
    catalog: &Catalog,
    question: &Question,
    matcher: &RegexMatcher,
    of_files: &[Points],
    held: &Held,
) -> Ranked {
    let &Held { chunk, line, count } = held;
    let mut points = of_files[catalog.chunks[chunk].file];
    points.set(Reason::Words, f32::from(count).ln_1p());
    let asked = question.symbols.iter().map(|s| signals::definition(catalog, s, chunk));
    let asked = asked.fold(0.0, f32::max);
    let (name, share) = best_name(matcher, &catalog.chunks[chunk].defines);
    let whole = name.filter(|_| share >= 1.0).map_or(0.0, |name| {
        let symbol = Symbol { name: name.to_owned(), qualifiers: Vec::new() };
        signals::definition(catalog, &symbol, chunk)
    });
    points.set(Reason::Definition, asked.max(whole));
    points.set(Reason::DefinitionWords, if asked.max(whole) > 0.0 { 0.0 } else { share });
    if whole > 0.0 || question.is_symbol && asked > 0.0 {
        // Who names a symbol wants its definition, wherever it is.
        points.scale(Reason::Place, PLACE_OF_DEFINITION);
    }
    Ranked { chunk, points, total: points.sum(), similarity: None, line: Some(line) }
}

/// The name of which the pattern matches most, and the share of it that matches.
fn best_name<'a>(matcher: &RegexMatcher, names: &'a [String]) -> (Option<&'a str>, f32) {
    names.iter().fold((None, 0.0), |best, name| {
        let found = matcher.find(name.as_bytes()).ok().flatten();
        let share = found.map_or(0.0, |found| found.len() as f32 / name.len() as f32);
        if share > best.1 { (Some(name.as_str()), share) } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_the_same_with_any_line_end() {
        let matcher = matcher(r"b$", true).unwrap();
        assert_eq!(matching_lines(&matcher, b"a\nb\n\nab\nb"), [2, 4, 5]);
        assert_eq!(matching_lines(&matcher, b"a\r\nb\r\n\r\nab\r\nb"), [2, 4, 5]);
        assert_eq!(without_returns(b"\r\n\r\r\nx\r"), b"\n\r\nx\r");
        assert!(matching_lines(&matcher, b"").is_empty());
    }

    #[test]
    fn the_best_name_is_the_one_that_matches_most() {
        let names = ["evict", "evict_oldest", "other"].map(str::to_owned);
        let best = |text: &str, regex| best_name(&matcher(text, regex).unwrap(), &names);
        assert_eq!(best("evict", false), (Some("evict"), 1.0));
        assert_eq!(best(r"evict_\w+", true), (Some("evict_oldest"), 1.0));
        assert_eq!(best("oldest", false), (Some("evict_oldest"), 0.5));
        assert_eq!(best("x*", true), (None, 0.0));
        assert_eq!(best("nothing", false), (None, 0.0));
    }
}
