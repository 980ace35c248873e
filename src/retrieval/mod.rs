//! Here is a question: which chunks answer it, in what order, and why?
//!
//! Every chunk in scope is scored by its words and by its vector; signals that a reader can name
//! order the best of them ([`signals`]); what is shown is checked against the disk ([`show`]). All
//! of it runs on the [`Catalog`], which holds one generation in memory.

mod alike;
mod catalog;
mod docs;
mod exact;
mod filter;
mod layout;
mod meaning;
mod names;
mod question;
mod rank;
mod show;
mod signals;
mod similar;
#[cfg(test)]
mod tests;
mod unindexed;
mod window;

use serde::Serialize;

use crate::config::Config;
use crate::embed::{Embedder, quantise};
use crate::error::{Error, Result};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::{ChunkKind, Language, Mode, Place, RelPath};
use crate::words::stem;

pub use alike::{CodeVectors, Members, PathFilter, nearest};
pub use catalog::{Catalog, ChunkEntry, FileEntry};
pub use meaning::VectorSearch;
pub use similar::{SimilarQuery, SimilarReply, Subject, similar};
pub use unindexed::Tree;

use filter::Filter;
use question::Question;
use rank::Ranked;
use show::Show;
use window::Wanted;

/// A longer question is refused: it is a file, not a question.
pub const QUERY_BYTES_MAX: usize = 16 << 10;

/// The most hits one call gives.
pub const LIMIT_MAX: usize = 50;

/// A question. Absent values take the configured default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchQuery {
    /// Words, a sentence, a symbol, code; in exact mode a string or a regular expression.
    pub text: String,
    pub mode: Option<Mode>,
    /// Hits wanted; clamped to 1..=50.
    pub limit: Option<usize>,
    /// Any of these, when given.
    pub languages: Vec<Language>,
    /// Globs over paths; any of these, when given. One that starts with `!` excludes.
    pub paths: Vec<String>,
    /// Any of these, when given.
    pub kinds: Vec<ChunkKind>,
    /// Exact mode: `text` is a regular expression, not a plain string.
    pub regex: bool,
    /// Return each chunk's whole text instead of a snippet (8 lines and 800 characters at most).
    pub include_text: bool,
    /// Say for each hit which signals made its score.
    pub explain: bool,
}

/// Hits, best first, and what they were found in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchReply {
    pub query: String,
    pub mode: Mode,
    /// The generation that answered.
    pub generation: u64,
    pub searched: Searched,
    pub hits: Vec<Hit>,
    /// Files that the answer met and that are no longer as they were indexed: those of hits, also when
    /// they are new, and in exact mode all that were searched as they were indexed.
    pub changed: Vec<RelPath>,
    /// What a reader should know, a sentence each: filters that matched nothing, near symbols when
    /// nothing was found. Often empty.
    pub notes: Vec<String>,
}

/// What was searched, after the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Searched {
    pub files: usize,
    pub chunks: usize,
}

/// Whether a hit's file is as it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// As indexed.
    Unchanged,
    /// The file changed, the chunk's text is still there; its lines are the present ones.
    Moved,
    /// The chunk's text is no longer in the file; the hit shows what was indexed.
    Changed,
    /// The file is gone; the hit shows what was indexed.
    Missing,
    /// The lines are not in the index: it leaves the file out, or is older. The hit shows the file as it
    /// is.
    NotIndexed,
}

/// A ranked result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub path: RelPath,
    /// 1-based, included.
    pub start_line: u32,
    /// 1-based, included.
    pub end_line: u32,
    pub symbol: Option<String>,
    /// Enclosing definitions, outermost first.
    pub parents: Vec<String>,
    pub kind: ChunkKind,
    pub language: Language,
    pub place: Place,
    pub signature: Option<String>,
    /// Fused relevance, 0..1.
    pub score: f32,
    /// The cosine with the question's vector; absent in exact and lexical mode.
    pub similarity: Option<f32>,
    /// The snippet, or the whole text when asked for.
    pub snippet: String,
    /// The line on which `snippet` starts, 1-based.
    pub snippet_line: u32,
    /// Lines of the chunk that `snippet` leaves out at its end.
    pub lines_cut: u32,
    pub freshness: Freshness,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl Hit {
    /// The signature, where the snippet does not begin with it or has it not at all.
    pub fn signature_apart(&self) -> Option<&str> {
        let signature = self.signature.as_deref()?;
        let first = signature.lines().next()?.trim();
        let is_shown = self.snippet.lines().any(|line| line.contains(first));
        (!is_shown && self.snippet_line > self.start_line).then_some(signature)
    }
}

/// What made a hit's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Sum of all points; the score is a monotone map of it to 0..1.
    pub points: f32,
    /// In table order; signals that gave nothing are left out.
    pub signals: Vec<Signal>,
}

/// One reason for a rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    pub name: &'static str,
    /// What was measured, in the signal's own unit.
    pub value: f32,
    /// What it gave: value × weight.
    pub points: f32,
}

/// Answers a question from one generation; in exact mode also from the tree beside it.
///
/// # Errors
/// Usage for an empty or too long question, a bad glob or a bad regular expression; Stopped when
/// `turn` ends.
pub fn search(
    reader: &Reader,
    catalog: &Catalog,
    embedder: &mut Embedder,
    config: &Config,
    query: &SearchQuery,
    tree: &Tree<'_>,
    turn: &Turn,
) -> Result<SearchReply> {
    let text = query.text.trim();
    check_length(text)?;
    let mode = mode(config, query)?;
    let limit = query.limit.unwrap_or(config.search.limit).clamp(1, LIMIT_MAX);
    let filter = Filter::new(catalog, &config.root, &query.languages, &query.paths, &query.kinds)?;
    let question = Question::new(text);
    let mut changed = Vec::new();
    let mut unindexed = None;
    let ranked = match mode {
        Mode::Exact => {
            let sources = exact::Sources { reader, catalog, root: &config.root, tree };
            let matcher = exact::matcher(text, query.regex)?;
            let found = exact::search(&sources, &filter, &question, &matcher, turn)?;
            changed.extend(found.changed.iter().map(|at| catalog.files[*at].row.path.clone()));
            unindexed = Some((matcher, found.unindexed));
            found.ranked
        }
        Mode::Semantic | Mode::Lexical | Mode::Hybrid => {
            let vector = match mode {
                Mode::Lexical => None,
                _ => Some(quantise(&embedder.query(text, |word| weigh(catalog, word))?)),
            };
            turn.check()?;
            rank::rank(catalog, &filter, &question, mode, vector.as_deref(), limit)
        }
    };
    turn.check()?;
    let found = |ranked: &Ranked| show::Found {
        chunk: ranked.chunk,
        score: relevance(ranked.total),
        similarity: ranked.similarity,
        line: ranked.line,
        named: question.named(&catalog.chunks[ranked.chunk].defines),
        explanation: query.explain.then(|| ranked.points.explain()),
    };
    let best = ranked.iter().take(limit).map(found).collect();
    let picks_lines = mode != Mode::Exact && !query.include_text;
    let wanted = picks_lines.then(|| Wanted::of(&question, catalog));
    let show = if query.include_text { Show::Whole } else { Show::Snippet(wanted.as_ref()) };
    let mut hits = show::hits(reader, catalog, &config.root, best, show)?;
    if let Some((matcher, found)) = &unindexed {
        let least = ranked.get(limit - 1).map_or(f32::NEG_INFINITY, |last| last.total);
        let excerpts = found.best(limit, least);
        changed.extend(unindexed::add(tree, matcher, excerpts, query.explain, limit, &mut hits));
    }
    let mut notes = notes(catalog, &filter, &question, &hits);
    if let Some((_, found)) = unindexed.filter(|_| hits.len() < limit) {
        notes.extend(found.notes(hits.is_empty()));
    }
    changed.extend(changed_files(&hits));
    changed.sort_unstable();
    changed.dedup();
    let searched = filter.searched();
    let generation = reader.generation().number;
    Ok(SearchReply { query: query.text.clone(), mode, generation, searched, hits, changed, notes })
}

/// How much a word of a question counts in its vector: words that are everywhere in the repository,
/// its own name for one, say little.
fn weigh(catalog: &Catalog, word: &str) -> f32 {
    catalog.words.rarity(&stem(word)).sqrt()
}

/// Whether a question can be asked at all, told without an index.
///
/// # Errors
/// Usage, as [`search`] would say it.
pub fn check(config: &Config, query: &SearchQuery) -> Result<()> {
    let text = query.text.trim();
    check_length(text)?;
    filter::Globs::new(&config.root, &query.paths)?;
    if mode(config, query)? == Mode::Exact {
        exact::matcher(text, query.regex)?;
    }
    Ok(())
}

fn mode(config: &Config, query: &SearchQuery) -> Result<Mode> {
    query.mode.map_or_else(|| Mode::from_name(&config.search.mode), Ok)
}

fn check_length(text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::usage("the query is empty")
            .hint("pass words, a symbol or a question, for example `retry with backoff`"));
    }
    if text.len() > QUERY_BYTES_MAX {
        return Err(Error::usage(format!(
            "the query has {} bytes, more than {QUERY_BYTES_MAX}",
            text.len()
        ))
        .hint("ask with a sentence or the few lines that matter"));
    }
    Ok(())
}

/// What a reader should know beside the hits.
fn notes(catalog: &Catalog, filter: &Filter, question: &Question, hits: &[Hit]) -> Vec<String> {
    let mut notes = Vec::new();
    if catalog.chunks.is_empty() {
        notes.push(
            "the index is empty: no file of the root is in scope; `sai status --skipped` says why"
                .to_owned(),
        );
    } else if filter.searched().chunks == 0 {
        notes.push("no indexed file passes the filters".to_owned());
    } else if hits.is_empty() {
        let near = catalog.near_symbols(question);
        if !near.is_empty() {
            notes.push(format!("symbols with a like name: {}", near.join(", ")));
        }
    }
    notes
}

/// The files of hits that are no longer as they were indexed.
fn changed_files(hits: &[Hit]) -> Vec<RelPath> {
    let changed = hits
        .iter()
        .filter(|hit| !matches!(hit.freshness, Freshness::Unchanged | Freshness::NotIndexed));
    let mut changed: Vec<RelPath> = changed.map(|hit| hit.path.clone()).collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// The relevance in 0..1: a logistic map of the points, fixed so that scores of different questions
/// can be compared.
fn relevance(points: f32) -> f32 {
    const MIDDLE: f32 = 2.5;
    const WIDTH: f32 = 1.5;
    1.0 / (1.0 + (-(points - MIDDLE) / WIDTH).exp())
}
