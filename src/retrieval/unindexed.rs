//! Which files of the tree that are not in the index hold what exact mode looks for?
//!
//! Files that are too large for the index, data, generated, or newer than it: so that nothing found
//! means that nothing is there. They have no chunks; a hit is an excerpt of lines around what matched.

use std::collections::HashSet;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use rayon::prelude::*;

use super::catalog::Catalog;
use super::exact::matching_lines;
use super::filter::Filter;
use super::names::stemmed_parts;
use super::question::Question;
use super::show::{SNIPPET_CHARS, SNIPPET_LINES};
use super::signals::{self, Points, Reason};
use super::{Freshness, Hit, LIMIT_MAX, relevance};
use crate::error::Result;
use crate::turn::Turn;
use crate::types::{ChunkKind, LineRange, Place, RelPath, TreeFile, TreeFiles, TreeText};

/// A larger file is not looked through, and a note says so.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// All files together; those beyond, by path, are not looked through.
const TREE_BYTES_MAX: u64 = 1 << 30;

/// Files that are in memory at a time.
const BATCH_BYTES: u64 = 64 << 20;

/// Lines shown above and below what matched.
const CONTEXT_LINES: u32 = 2;

/// Lines from the first match of an excerpt to its last, at most: with the context they fill a snippet.
const MATCHED_LINES_MAX: u32 = SNIPPET_LINES as u32 - 2 * CONTEXT_LINES;

/// The tree beside the index, as far as a search may look into it.
pub struct Tree<'a> {
    /// Lists the files that may be looked into, in the index or not.
    pub list: &'a (dyn Fn(&Turn) -> Result<TreeFiles> + Sync),
    /// Reads one of them; `None` when there is no text that may be looked at.
    pub read: &'a (dyn Fn(&TreeFile) -> Result<Option<TreeText>> + Sync),
}

impl std::fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").finish_non_exhaustive()
    }
}

/// What was found, and what was not looked through.
#[derive(Debug, Default)]
pub(super) struct Unindexed {
    /// Best first.
    excerpts: Vec<Excerpt>,
    /// Files that were looked through.
    looked: usize,
    /// Files of more than [`FILE_BYTES_MAX`] bytes.
    too_large: Vec<RelPath>,
    /// Files beyond [`TREE_BYTES_MAX`].
    beyond: usize,
    /// Files and folders that could not be read.
    unreadable: usize,
}

/// Lines of a file that is not in the index, around what matched.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    file: TreeFile,
    /// From the first matching line to the last.
    matched: LineRange,
    points: Points,
    total: f32,
}

/// Looks through the files that `filter` admits and the index does not have, and through those of
/// `changed`, which it has otherwise.
pub(super) fn search(
    tree: &Tree<'_>,
    catalog: &Catalog,
    filter: &Filter,
    question: &Question,
    matcher: &RegexMatcher,
    changed: &HashSet<&RelPath>,
    turn: &Turn,
) -> Result<Unindexed> {
    let mut found = Unindexed::default();
    if !filter.admits_unindexed() {
        return Ok(found);
    }
    let mut listed = (tree.list)(turn)?;
    listed.files.retain(|file| {
        let is_indexed = || catalog.file(&file.path).is_some() && !changed.contains(&file.path);
        filter.admits_path(&file.path) && !is_indexed()
    });
    found.unreadable = listed.unreadable;
    let files = found.within_bounds(listed.files);
    for batch in batches(&files) {
        let look = |file| {
            turn.check()?;
            Ok(look(tree, filter, question, matcher, file))
        };
        let looked: Vec<Looked> = batch.par_iter().map(look).collect::<Result<_>>()?;
        looked.into_iter().for_each(|looked| found.add(looked));
    }
    // The sort keeps what is equally good in the order of the tree.
    found.excerpts.sort_by(|a, b| b.total.total_cmp(&a.total));
    Ok(found)
}

/// What became of one file.
enum Looked {
    Through(Vec<Excerpt>),
    /// There is no text in it that is in question.
    Past,
    Unreadable,
}

fn look(
    tree: &Tree<'_>,
    filter: &Filter,
    question: &Question,
    matcher: &RegexMatcher,
    file: &TreeFile,
) -> Looked {
    match (tree.read)(file) {
        Ok(Some(text)) if filter.speaks(text.language) => {
            let lines = matching_lines(matcher, text.text.as_bytes());
            Looked::Through(excerpts(question, file, &text, &lines))
        }
        Ok(_) => Looked::Past,
        Err(error) => {
            tracing::debug!("{error}");
            Looked::Unreadable
        }
    }
}

/// The files, so many at a time that they stay within [`BATCH_BYTES`] and at least one.
fn batches(files: &[TreeFile]) -> impl Iterator<Item = &[TreeFile]> {
    let mut bytes = files.first().map_or(0, |file| file.size);
    let mut is_within = move |file: &TreeFile| {
        bytes += file.size;
        let is_within = bytes <= BATCH_BYTES;
        bytes = if is_within { bytes } else { file.size };
        is_within
    };
    files.chunk_by(move |_, next| is_within(next))
}

/// The excerpts of one file, with their points; `lines` are those that match, ascending.
fn excerpts(question: &Question, file: &TreeFile, text: &TreeText, lines: &[u32]) -> Vec<Excerpt> {
    let mut held: Vec<(LineRange, u16)> = Vec::new();
    for &line in lines {
        match held.last_mut() {
            Some((range, count)) if line - range.start < MATCHED_LINES_MAX => {
                range.end = line;
                *count += 1;
            }
            _ => held.push((LineRange { start: line, end: line }, 1)),
        }
    }
    // The most matches first, as in `exact`; the sort keeps the order of lines.
    held.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    held.truncate(LIMIT_MAX);
    let mut of_file = Points::default();
    of_file.set(Reason::FileName, name_share(question, &file.path));
    let place = signals::place(question, text.place);
    // What the index leaves out for its kind is no better than what a program wrote.
    let generated = signals::place(question, Place::Generated);
    of_file.set(Reason::Place, if text.is_in_scope { place } else { place.min(generated) });
    let excerpt = |(before, (matched, count)): (usize, (LineRange, u16))| {
        let mut points = of_file;
        points.set(Reason::Words, f32::from(count).ln_1p());
        points.set(Reason::Repeat, before as f32);
        Excerpt { file: file.clone(), matched, points, total: points.sum() }
    };
    held.into_iter().enumerate().map(excerpt).collect()
}

/// The share of the words of the file's name that the question names.
fn name_share(question: &Question, path: &RelPath) -> f32 {
    let words = stemmed_parts(path.stem());
    let named = words.iter().filter(|word| question.stems.contains(word)).count();
    named as f32 / words.len().max(1) as f32
}

/// Adds excerpts to `hits`, which stay at most `limit`, best first; returns those files that the next
/// sync takes up. What is no longer there is left out.
pub(super) fn add(
    tree: &Tree<'_>,
    matcher: &RegexMatcher,
    mut excerpts: Vec<&Excerpt>,
    explain: bool,
    limit: usize,
    hits: &mut Vec<Hit>,
) -> Vec<RelPath> {
    // One text at a time: each may be large.
    excerpts.sort_by(|a, b| a.file.path.cmp(&b.file.path));
    let mut new = Vec::new();
    for of_file in excerpts.chunk_by(|a, b| a.file.path == b.file.path) {
        let Ok(Some(text)) = (tree.read)(&of_file[0].file) else { continue };
        let lines: Vec<&str> = text.text.lines().collect();
        hits.extend(of_file.iter().filter_map(|of| hit(matcher, of, &text, &lines, explain)));
        if text.is_in_scope {
            new.push(of_file[0].file.path.clone());
        }
    }
    // Of what is equally good the index's comes first: the sort keeps the order.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits.truncate(limit);
    new.retain(|path| hits.iter().any(|hit| hit.path == *path));
    new
}

fn hit(
    matcher: &RegexMatcher,
    excerpt: &Excerpt,
    text: &TreeText,
    lines: &[&str],
    explain: bool,
) -> Option<Hit> {
    let first = excerpt.matched.start.saturating_sub(CONTEXT_LINES).max(1);
    let last = excerpt.matched.end.saturating_add(CONTEXT_LINES).min(lines.len() as u32);
    let shown = lines.get(first as usize - 1..last as usize)?;
    let matched = lines.get(excerpt.matched.start as usize - 1)?;
    let chars: usize = shown.iter().map(|line| line.len() + 1).sum();
    let (snippet, snippet_line) = if chars <= SNIPPET_CHARS {
        (shown.join("\n"), first)
    } else {
        (around_match(matcher, matched), excerpt.matched.start)
    };
    let lines_cut = if chars <= SNIPPET_CHARS { 0 } else { last - snippet_line };
    Some(Hit {
        path: excerpt.file.path.clone(),
        start_line: first,
        end_line: last,
        symbol: None,
        parents: Vec::new(),
        kind: ChunkKind::Window,
        language: text.language,
        place: text.place,
        signature: None,
        score: relevance(excerpt.total),
        similarity: None,
        snippet,
        snippet_line,
        lines_cut,
        freshness: Freshness::NotIndexed,
        explanation: explain.then(|| excerpt.points.explain()),
    })
}

/// A line, cut to a snippet that holds what matched; dots stand where it was cut.
fn around_match(matcher: &RegexMatcher, line: &str) -> String {
    const BYTES_BEFORE: usize = 200;
    let found = matcher.find(line.as_bytes()).ok().flatten();
    let at = found.map_or(0, |found| found.start());
    let start = line.floor_char_boundary(at.saturating_sub(BYTES_BEFORE));
    let end = line[start..].char_indices().nth(SNIPPET_CHARS - 2).map(|(end, _)| start + end);
    let before = if start > 0 { "…" } else { "" };
    let after = if end.is_some() { "…" } else { "" };
    format!("{before}{}{after}", &line[start..end.unwrap_or(line.len())])
}

impl Unindexed {
    /// Those of `files` that are looked through; counts the rest.
    fn within_bounds(&mut self, files: Vec<TreeFile>) -> Vec<TreeFile> {
        let mut bytes = 0;
        let mut within = Vec::new();
        for file in files {
            if file.size > FILE_BYTES_MAX {
                self.too_large.push(file.path);
                continue;
            }
            bytes += file.size;
            if bytes > TREE_BYTES_MAX {
                self.beyond += 1;
            } else {
                within.push(file);
            }
        }
        within
    }

    fn add(&mut self, looked: Looked) {
        match looked {
            Looked::Through(mut excerpts) => {
                self.looked += 1;
                self.excerpts.append(&mut excerpts);
            }
            Looked::Past => {}
            Looked::Unreadable => self.unreadable += 1,
        }
    }

    /// At most `limit` excerpts with more than `least` points, best first.
    pub(super) fn best(&self, limit: usize, least: f32) -> Vec<&Excerpt> {
        self.excerpts.iter().take(limit).filter(|excerpt| excerpt.total > least).collect()
    }

    /// What a reader should know when fewer hits were found than asked for.
    pub(super) fn notes(&self, nothing_found: bool) -> Vec<String> {
        const NAMED_MAX: usize = 3;
        let mut notes = Vec::new();
        if nothing_found && self.looked > 0 {
            let files = counted(self.looked);
            notes.push(format!("looked through {files} outside of the index as well"));
        }
        if !self.too_large.is_empty() {
            let mut names: Vec<&str> =
                self.too_large.iter().take(NAMED_MAX).map(RelPath::as_str).collect();
            if self.too_large.len() > NAMED_MAX {
                names.push("…");
            }
            let (files, mib) = (counted(self.too_large.len()), FILE_BYTES_MAX >> 20);
            let names = names.join(", ");
            notes.push(format!("not looked through: {files} of more than {mib} MiB ({names})"));
        }
        if self.beyond > 0 {
            let (files, gib) = (counted(self.beyond), TREE_BYTES_MAX >> 30);
            notes.push(format!(
                "not looked through: {files} beyond {gib} GiB outside of the index; narrow with a path"
            ));
        }
        if self.unreadable > 0 {
            let what = if self.unreadable == 1 { "file or folder" } else { "files or folders" };
            let unreadable = self.unreadable;
            notes.push(format!("not looked through: {unreadable} {what} that cannot be read"));
        }
        notes
    }
}

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::exact;
    use super::*;

    fn file(path: &str, size: u64) -> TreeFile {
        let path = RelPath::new(Path::new(path)).unwrap();
        TreeFile { path, size, is_in_scope: true }
    }

    fn text(text: &str, is_in_scope: bool) -> TreeText {
        let (language, place) = (crate::types::Language::Text, Place::Source);
        TreeText { text: text.to_owned(), language, place, is_in_scope }
    }

    #[test]
    fn matches_that_are_near_share_an_excerpt() {
        let of = |lines: &[u32]| -> Vec<(u32, u32)> {
            let question = Question::new("beryl");
            let excerpts = excerpts(&question, &file("a.txt", 1), &text("", true), lines);
            assert!(excerpts.windows(2).all(|pair| pair[0].total >= pair[1].total));
            excerpts.iter().map(|excerpt| (excerpt.matched.start, excerpt.matched.end)).collect()
        };
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[7]), [(7, 7)]);
        assert_eq!(of(&[1, 3, 4, 9, u32::MAX]), [(1, 4), (9, 9), (u32::MAX, u32::MAX)]);
        assert_eq!(of(&[1, 9, 10]), [(9, 10), (1, 1)], "more matches first");
        let many: Vec<u32> = (0..10_000).map(|line| line * 10 + 1).collect();
        assert_eq!(of(&many).len(), LIMIT_MAX);
    }

    #[test]
    fn what_the_index_leaves_out_for_its_kind_comes_last() {
        let question = Question::new("beryl");
        let best = |path, is_in_scope| {
            excerpts(&question, &file(path, 1), &text("", is_in_scope), &[1])[0].total
        };
        assert!(best("a.txt", true) > best("a.txt", false));
        assert!(best("beryl.txt", true) > best("a.txt", true));
    }

    #[test]
    fn a_long_line_is_cut_around_what_matched() {
        let matcher = exact::matcher("beryl", false).unwrap();
        let long = "ö".repeat(3000);
        for line in ["beryl".to_owned(), format!("{long}beryl"), format!("{long}beryl{long}")] {
            let cut = around_match(&matcher, &line);
            assert!(cut.contains("beryl") && cut.chars().count() <= SNIPPET_CHARS, "{cut}");
            assert_eq!(cut.starts_with('…'), line.starts_with('ö'), "{cut}");
            assert_eq!(cut.ends_with('…'), line.ends_with('ö'), "{cut}");
        }
        assert_eq!(around_match(&matcher, ""), "");
    }

    #[test]
    fn bounds_are_kept_and_told() {
        let mut found = Unindexed { looked: 2, unreadable: 1, ..Unindexed::default() };
        let mib = |path: &str, mib: u64| file(path, mib << 20);
        let mut files = vec![mib("a", 17), mib("b", 16), mib("c", 16)];
        files.extend((0..70).map(|n| mib(&format!("d{n}"), 15)));
        let within = found.within_bounds(files);
        assert_eq!(within[0].path.as_str(), "b");
        assert_eq!((found.too_large.len(), found.beyond, within.len()), (1, 4, 68));
        let sizes: Vec<usize> = batches(&within).map(<[TreeFile]>::len).collect();
        assert_eq!((sizes.iter().sum::<usize>(), &sizes[..2]), (68, &[4, 4][..]));
        assert_eq!(batches(&[]).count(), 0);
        assert_eq!(
            found.notes(true),
            [
                "looked through 2 files outside of the index as well",
                "not looked through: 1 file of more than 16 MiB (a)",
                "not looked through: 4 files beyond 1 GiB outside of the index; narrow with a path",
                "not looked through: 1 file or folder that cannot be read",
            ]
        );
        assert_eq!(found.notes(false).len(), 3);
        assert!(Unindexed::default().notes(true).is_empty());
    }
}
