//! Here is a piece of code: which indexed chunks are like it?
//!
//! The piece is a text, or the chunk that holds a line. Compared are the vectors of code alone
//! ([`CodeVectors`]), so that a copy is found in whatever file it lies.

use std::path::Path;

use serde::Serialize;

use super::alike::CodeVectors;
use super::catalog::Catalog;
use super::filter::Filter;
use super::{Hit, LIMIT_MAX, Searched, changed_files, show};
use crate::config::Config;
use crate::embed::{Embedder, Passage, quantise};
use crate::error::{Error, Result};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::{Language, RelPath};

/// Longer code is refused: it is a file, not a piece of one.
const CODE_BYTES_MAX: usize = 64 << 10;

/// What others are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A piece of code.
    Code(String),
    /// The indexed chunk that holds a line.
    Place {
        /// Relative to the root, or absolute inside it.
        path: String,
        /// 1-based, as the file is now.
        line: u32,
    },
}

impl Subject {
    /// What was given: either code, or a path with a line.
    ///
    /// # Errors
    /// Usage, saying what is missing or what does not go together.
    pub fn read(code: Option<String>, path: Option<String>, line: Option<u32>) -> Result<Self> {
        const EITHER: &str = "give either `code`, or both `path` and `line`";
        let wrong = |what: &str| Err(Error::usage(what).hint(EITHER));
        match (code, path, line) {
            (Some(code), None, None) => Ok(Self::Code(code)),
            (None, Some(path), Some(line)) => Ok(Self::Place { path, line }),
            (Some(_), Some(_), Some(_)) => wrong("`code` does not go with `path` and `line`"),
            (Some(_), Some(_), None) => wrong("`code` does not go with `path`"),
            (Some(_), None, Some(_)) => wrong("`code` does not go with `line`"),
            (None, Some(_), None) => wrong("`path` is given without `line`"),
            (None, None, Some(_)) => wrong("`line` is given without `path`"),
            (None, None, None) => wrong("neither `code` nor `path` and `line` are given"),
        }
    }
}

/// Which code is like this? Absent values take the configured default.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarQuery {
    pub subject: Subject,
    /// Hits wanted; clamped to 1..=50.
    pub limit: Option<usize>,
    /// The least cosine of a hit; brought into 0..1. 0 shows all scores, also those below it.
    pub min_score: Option<f32>,
    /// Any of these, when given.
    pub languages: Vec<Language>,
    /// Globs over paths, as in a search.
    pub paths: Vec<String>,
    /// Return each chunk's whole text instead of a snippet.
    pub include_text: bool,
}

/// Hits, most alike first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarReply {
    /// The chunk that others were compared with, when it is an indexed one.
    pub subject: Option<Hit>,
    /// The least cosine that counted.
    pub min_score: f32,
    /// The generation that answered.
    pub generation: u64,
    pub searched: Searched,
    pub hits: Vec<Hit>,
    /// Files of hits that are no longer as they were indexed.
    pub changed: Vec<RelPath>,
    /// What a reader should know, a sentence each. Often empty.
    pub notes: Vec<String>,
}

/// Compares every chunk in scope with the subject.
///
/// # Errors
/// Usage for empty or too long code and a bad glob; Index when no chunk holds the line; Environment
/// when the model fails; Stopped when `turn` ends.
pub fn similar(
    reader: &Reader,
    catalog: &Catalog,
    vectors: &CodeVectors,
    embedder: &mut Embedder,
    config: &Config,
    query: &SimilarQuery,
    turn: &Turn,
) -> Result<SimilarReply> {
    let root = &config.root;
    let min_score = min_score(config, query.min_score);
    let limit = query.limit.unwrap_or(config.similarity.top_k).clamp(1, LIMIT_MAX);
    let filter = Filter::new(catalog, root, &query.languages, &query.paths, &[])?;
    let (itself, vector) = match &query.subject {
        Subject::Code(code) => (None, embed(embedder, code)?),
        Subject::Place { path, line } => {
            let chunk = chunk_at(reader, catalog, root, path, *line)?;
            (Some(chunk), vectors.row(chunk).to_vec())
        }
    };
    turn.check()?;
    let cosines = vectors.cosines(&vector);
    let mut others: Vec<usize> = (0..cosines.len())
        .filter(|chunk| Some(*chunk) != itself && filter.admits(catalog, *chunk))
        .collect();
    others.sort_unstable_by(|a, b| cosines[*b].total_cmp(&cosines[*a]).then(a.cmp(b)));
    let nearest = others.first().map(|chunk| cosines[*chunk]);
    // 0 asks for the raw scores, which may be below it.
    others.retain(|chunk| cosines[*chunk] >= min_score || min_score <= 0.0);
    others.truncate(limit);
    let found = |chunk: usize, cosine: f32| show::Found {
        chunk,
        score: cosine.clamp(0.0, 1.0),
        similarity: Some(cosine),
        line: None,
        named: None,
        explanation: None,
    };
    let shown = itself.into_iter().chain(others);
    let shown = shown.map(|chunk| found(chunk, cosines[chunk])).collect();
    let show = if query.include_text { show::Show::Whole } else { show::Show::Snippet(None) };
    let mut hits = show::hits(reader, catalog, root, shown, show)?;
    let subject = itself.map(|_| hits.remove(0));
    let mut notes = Vec::new();
    if filter.searched().chunks == 0 {
        notes.push("no indexed file passes the filters".to_owned());
    } else if vector.iter().all(|value| *value == 0) {
        notes.push("the code has no word that the model knows, so nothing is like it".to_owned());
    } else if let (true, Some(nearest)) = (hits.is_empty(), nearest) {
        notes
            .push(format!("the nearest chunk has {nearest:.2}, below the least of {min_score:.2}"));
    }
    let changed = changed_files(&hits);
    let (generation, searched) = (reader.generation().number, filter.searched());
    Ok(SimilarReply { subject, min_score, generation, searched, hits, changed, notes })
}

/// The least cosine: as asked for, else as configured; in 0..1.
fn min_score(config: &Config, asked: Option<f32>) -> f32 {
    asked.unwrap_or(config.similarity.find_similar_min_score).clamp(0.0, 1.0)
}

/// The vector of a piece of code, as a passage has it.
fn embed(embedder: &mut Embedder, code: &str) -> Result<Vec<i8>> {
    if code.trim().is_empty() {
        return Err(Error::usage("the code is empty")
            .hint("pass the lines that others may be like, or a path with a line"));
    }
    if code.len() > CODE_BYTES_MAX {
        let message = format!("the code has {} bytes, more than {CODE_BYTES_MAX}", code.len());
        return Err(Error::usage(message).hint("pass one function or type"));
    }
    let vectors = embedder.passages(&[Passage { path: "", names: "", context: "", code }])?;
    Ok(quantise(&vectors[0]))
}

/// The chunk that holds a line of a file as it is now.
fn chunk_at(
    reader: &Reader,
    catalog: &Catalog,
    root: &Path,
    path: &str,
    line: u32,
) -> Result<usize> {
    let none = || Error::index(format!("no indexed chunk at {path}:{line}"));
    let inside = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
    let wanted = RelPath::new(inside).ok_or_else(none)?;
    let file = catalog.files.binary_search_by(|file| file.row.path.cmp(&wanted));
    let file = &catalog.files[file.map_err(|_| none())?];
    let present = show::present(reader, catalog, root, file)?;
    let holds = |(lines, _): &(crate::types::LineRange, super::Freshness)| {
        (lines.start..=lines.end).contains(&line)
    };
    Ok(file.chunks.start + present.iter().position(holds).ok_or_else(none)?)
}
