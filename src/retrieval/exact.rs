//! Strings and regular expressions, found as they stand in the indexed files, by ripgrep's engine.

use std::collections::BTreeMap;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use rayon::prelude::*;

use super::catalog::{Catalog, FileEntry};
use super::filter::Filter;
use super::question::Question;
use super::rank::{Ranked, best_first};
use super::signals::{self, Points, Reason};
use crate::error::{Error, Result};
use crate::turn::Turn;

/// Matching lines that are counted in one file.
const FILE_MATCHES_MAX: usize = 1000;

/// Chunks that hold a match: definitions first, then by the number of matching lines.
pub(super) fn search(
    catalog: &Catalog,
    filter: &Filter,
    root: &Path,
    question: &Question,
    regex: bool,
    turn: &Turn,
) -> Result<Vec<Ranked>> {
    let matcher = matcher(&question.text, regex)?;
    let found: Vec<Vec<Ranked>> = (0..catalog.files.len())
        .into_par_iter()
        .filter(|&file| filter.admits_file(file))
        .map(|file| {
            turn.check()?;
            let lines = matching_lines(&matcher, root, &catalog.files[file]);
            Ok(by_chunk(catalog, filter, question, file, &lines))
        })
        .collect::<Result<_>>()?;
    let mut ranked: Vec<Ranked> = found.into_iter().flatten().collect();
    ranked.sort_by(best_first);
    Ok(ranked)
}

fn matcher(text: &str, regex: bool) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).case_smart(true);
    let built = if regex { builder.build(text) } else { builder.fixed_strings(true).build(text) };
    built.map_err(|error| {
        Error::usage(format!("bad regular expression `{text}`"))
            .because(error)
            .hint("escape special characters, or search for the plain string")
    })
}

/// 1-based numbers of the lines that match now on disk; none where the file cannot be read.
fn matching_lines(matcher: &RegexMatcher, root: &Path, file: &FileEntry) -> Vec<u32> {
    let path = file.row.path.under(root);
    let inside = path.canonicalize().is_ok_and(|real| real.starts_with(root));
    let mut lines = Vec::new();
    if inside {
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        // A file that went away or became binary in between has no matches.
        let _ = searcher.search_path(
            matcher,
            &path,
            Lossy(|line, _| {
                lines.push(u32::try_from(line).unwrap_or(u32::MAX));
                Ok(lines.len() < FILE_MATCHES_MAX)
            }),
        );
    }
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
        if at < chunks.len() && filter.admits(catalog, entry.chunks.start + at) {
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
            Ranked { chunk, points, similarity: None, line: Some(line) }
        })
        .collect()
}
