//! How near is each chunk in meaning to the question? Every cosine, or those that can matter.
//!
//! Exactly: the question is compared with every vector. With an HNSW index ([`VectorSearch`]): with
//! the vectors that the index proposes, those that it does not cover, and those of the best chunks by
//! words and file. A cosine is computed the same way in both, so a chunk's score does not depend on how it was
//! found, up to the mean and the deviation, which the second way takes from a sample.

use std::sync::atomic::{AtomicBool, Ordering};

use super::catalog::Catalog;
use super::filter::Filter;
use super::rank::Units;
use crate::config::Config;
use crate::error::Result;
use crate::store::{Hnsw, Reader, find_vss};

/// Admitted chunks wanted from an HNSW index. Further ones matter only when words or names speak for
/// them, and then they are found by these.
const WANTED: usize = 400;
/// An HNSW index is asked for so many vectors at most; comparing all is quicker than more.
const PROPOSED_MAX: usize = 8 * WANTED;
/// Chunks that the mean and the deviation of all cosines are taken from.
const SAMPLE: usize = 16_384;

/// How vectors are searched; decided when a generation is loaded.
#[derive(Debug, Default)]
pub enum VectorSearch {
    /// The question is compared with every vector.
    #[default]
    Exact,
    /// An HNSW index proposes vectors.
    Hnsw(Box<Proposer>),
}

impl VectorSearch {
    /// Its name in a status. An index that failed is not asked again.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hnsw(proposer) if !proposer.hnsw.has_failed() => "hnsw",
            _ => "exact",
        }
    }

    /// What is wrong with it, and what to do; `None` when it answers.
    pub(super) fn failure(&self) -> Option<&'static str> {
        match self {
            Self::Hnsw(proposer) if proposer.hnsw.has_failed() => {
                Some("the HNSW index could not be read; run `sai index --force`")
            }
            _ => None,
        }
    }
}

/// An HNSW index and what it takes to come from its vectors to chunks.
#[derive(Debug)]
pub struct Proposer {
    hnsw: Hnsw,
    /// Whether a question came before: the first one is answered exactly, since reading the index
    /// takes seconds where there are many vectors, and a process that asks once never needs it.
    asked: AtomicBool,
    /// Every chunk, by its vector's row.
    by_vector: Vec<u32>,
    /// Chunks whose vectors came after the index was built.
    uncovered: Vec<u32>,
}

/// Decides how the vectors of `catalog` are searched, and says why when that is not as configured.
/// `before` is the way of the generation before: an index that is open already stays open.
pub(super) fn decide(
    config: &Config,
    reader: &Reader,
    catalog: &Catalog,
    before: VectorSearch,
) -> (VectorSearch, Option<String>) {
    if !config.search.wants_hnsw(catalog.chunks.len()) {
        return (VectorSearch::Exact, None);
    }
    let open = match before {
        VectorSearch::Hnsw(proposer) if Some(proposer.hnsw.mark()) == reader.hnsw() => {
            Ok(Some((proposer.hnsw, proposer.asked)))
        }
        _ => find_vss(config.vss_extension().as_deref())
            .and_then(|vss| Hnsw::open(reader, &vss, config.limits.duckdb_memory_mib))
            .map(|hnsw| Some((hnsw?, AtomicBool::default()))),
    };
    match open {
        Ok(Some((hnsw, asked))) => {
            (VectorSearch::Hnsw(Box::new(Proposer::new(hnsw, asked, catalog))), None)
        }
        Ok(None) => {
            let why = "no HNSW index was built for this generation; run `sai index`";
            (VectorSearch::Exact, Some(why.to_owned()))
        }
        Err(error) => {
            let hint = error.next_step().map_or_else(String::new, |hint| format!("; {hint}"));
            (VectorSearch::Exact, Some(format!("{error}{hint}")))
        }
    }
}

impl Proposer {
    fn new(hnsw: Hnsw, asked: AtomicBool, catalog: &Catalog) -> Self {
        let count = catalog.chunks.len() as u32;
        let mut by_vector: Vec<u32> = (0..count).collect();
        by_vector.sort_by_key(|&chunk| catalog.vector_rows()[chunk as usize]);
        let first = hnsw.mark().next_vector;
        let is_new = |chunk: &u32| catalog.vector_id(*chunk as usize) >= first;
        Self { hnsw, asked, uncovered: (0..count).filter(is_new).collect(), by_vector }
    }

    /// Chunks with the nearest vectors, enough of them admitted; `None` when comparing all is
    /// quicker.
    fn propose(
        &self,
        catalog: &Catalog,
        filter: &Filter,
        question: &[i8],
    ) -> Result<Option<Vec<u32>>> {
        if !self.asked.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let all = catalog.chunks.len();
        let admitted = filter.searched().chunks;
        // A filter that admits one in ten asks for ten times as many.
        let mut count = (WANTED * all).checked_div(admitted).unwrap_or(usize::MAX);
        while count <= PROPOSED_MAX {
            let ids = self.hnsw.nearest(question, count)?;
            let rows = ids.iter().filter_map(|id| catalog.vector_row(*id));
            let chunks: Vec<u32> = rows.flat_map(|row| self.chunks_of(catalog, row)).collect();
            let found =
                chunks.iter().filter(|chunk| filter.admits(catalog, **chunk as usize)).count();
            if found >= WANTED.min(admitted) || ids.len() < count {
                return Ok(Some(chunks));
            }
            count *= 2;
        }
        Ok(None)
    }

    /// The chunks that share a row of the matrix.
    fn chunks_of(&self, catalog: &Catalog, row: usize) -> impl Iterator<Item = u32> {
        let row_of = |chunk: &u32| catalog.vector_rows()[*chunk as usize] as usize;
        let start = self.by_vector.partition_point(|chunk| row_of(chunk) < row);
        let same = self.by_vector[start..].iter().take_while(move |chunk| row_of(chunk) == row);
        same.copied()
    }
}

/// The cosines of a question with chunks.
pub(super) struct Meaning {
    /// By chunk; not a number where it is not known.
    cosines: Vec<f32>,
    pub(super) units: Units,
}

impl Meaning {
    /// Compares a question's vector with the chunks that can matter under `filter`; `by_words` are
    /// the best without it, by words and file.
    pub(super) fn of(
        catalog: &Catalog,
        filter: &Filter,
        question: &[i8],
        by_words: impl FnOnce() -> Vec<usize>,
    ) -> Self {
        let proposer = match &catalog.search {
            VectorSearch::Hnsw(proposer) if !proposer.hnsw.has_failed() => proposer,
            _ => return Self::exact(catalog, question),
        };
        match proposer.propose(catalog, filter, question) {
            Ok(Some(proposed)) => {
                let by_words = by_words().into_iter().map(|chunk| chunk as u32);
                let uncovered = proposer.uncovered.iter().copied();
                let chunks: Vec<u32> =
                    proposed.into_iter().chain(uncovered).chain(by_words).collect();
                Self::of_some(catalog, question, &chunks)
            }
            Ok(None) => Self::exact(catalog, question),
            Err(error) => {
                tracing::warn!(%error, "vectors are searched exactly from here on");
                Self::exact(catalog, question)
            }
        }
    }

    fn exact(catalog: &Catalog, question: &[i8]) -> Self {
        let cosines = catalog.cosines(question);
        Self { units: Units::of(&cosines), cosines }
    }

    fn of_some(catalog: &Catalog, question: &[i8], chunks: &[u32]) -> Self {
        let all = catalog.chunks.len();
        let step = all.div_ceil(SAMPLE).max(1);
        let sample: Vec<u32> = (0..all as u32).step_by(step).collect();
        let units = Units::of(&catalog.cosines_of(question, &sample));
        let mut cosines = vec![f32::NAN; all];
        for (chunk, cosine) in chunks.iter().zip(catalog.cosines_of(question, chunks)) {
            cosines[*chunk as usize] = cosine;
        }
        Self { cosines, units }
    }

    /// The cosines by chunk; not a number where it is not known.
    pub(super) fn cosines(&self) -> &[f32] {
        &self.cosines
    }

    /// The cosine of a chunk, when it is known.
    pub(super) fn cosine(&self, chunk: usize) -> Option<f32> {
        Some(self.cosines[chunk]).filter(|cosine| !cosine.is_nan())
    }
}
