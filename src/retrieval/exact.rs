//! Strings and regular expressions, found as they stand in the indexed files, by ripgrep's engine.
//!
//! What is looked through is the text that was indexed: read from disk where the file is still the
//! same, from the index where it is not, so that lines and chunks always belong together.

use std::collections::BTreeMap;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::SearcherBuilder;
use grep_searcher::sinks::Bytes;
use memchr::memmem;
use rayon::prelude::*;

use super::catalog::{Catalog, FileEntry};
use super::filter::Filter;
use super::question::Question;
use super::rank::{Ranked, best_first};
use super::show;
use super::signals::{self, Points, Reason};
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
    /// Chunks that hold a match: definitions first, then by the number of matching lines.
    pub ranked: Vec<Ranked>,
    /// Files that are no longer as they were indexed, by their position.
    pub changed: Vec<usize>,
}

/// Looks through every file that `filter` admits.
pub(super) fn search(
    reader: &Reader,
    catalog: &Catalog,
    filter: &Filter,
    root: &Path,
    question: &Question,
    regex: bool,
    turn: &Turn,
) -> Result<Found> {
    let matcher = matcher(&question.text, regex)?;
    let admitted: Vec<usize> =
        (0..catalog.files.len()).filter(|&file| filter.admits_file(file)).collect();
    let mut lines: Vec<Option<Vec<u32>>> = admitted
        .par_iter()
        .map(|&file| {
            turn.check()?;
            let entry = &catalog.files[file];
            let bytes = show::indexed_bytes(root, entry);
            Ok(bytes.map(|bytes| matching_lines(&matcher, entry, &bytes)))
        })
        .collect::<Result<_>>()?;
    let mut changed = Vec::new();
    for (lines, &file) in lines.iter_mut().zip(&admitted).filter(|(lines, _)| lines.is_none()) {
        turn.check()?;
        let entry = &catalog.files[file];
        let bytes = reader.blob(entry.row.hash)?.unwrap_or_default();
        *lines = Some(matching_lines(&matcher, entry, &bytes));
        changed.push(file);
    }
    let by_file = admitted.iter().zip(lines.iter().flatten());
    let mut ranked: Vec<Ranked> = by_file
        .flat_map(|(&file, lines)| by_chunk(catalog, filter, question, file, lines))
        .collect();
    ranked.sort_by(best_first);
    Ok(Found { ranked, changed })
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
fn matching_lines(matcher: &RegexMatcher, file: &FileEntry, bytes: &[u8]) -> Vec<u32> {
    let decoded;
    let mut text = bytes;
    if file.row.encoding != "utf-8" || memmem::find(bytes, b"\r\n").is_some() {
        // `$` stands before the line feed; the number of lines stays.
        decoded = text::decode(bytes).text.replace("\r\n", "\n");
        text = decoded.as_bytes();
    }
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

/// The chunks of a file that hold the lines, with their points.
fn by_chunk(
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    file: usize,
    lines: &[u32],
) -> Vec<Ranked> {
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
    held.into_iter()
        .map(|(chunk, (line, count))| {
            let mut points = Points::default();
            points.set(Reason::Words, f32::from(count).ln_1p());
            points.set(Reason::Place, signals::place(question, entry.row.place));
            let defined = question.symbols.iter().map(|s| signals::definition(catalog, s, chunk));
            points.set(Reason::Definition, defined.fold(0.0, f32::max));
            let total = points.sum();
            Ranked { chunk, points, total, similarity: None, line: Some(line) }
        })
        .collect()
}
