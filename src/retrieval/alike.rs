//! Here are the chunks of a generation: how alike are they as code, wherever they lie?
//!
//! A chunk's stored vector also says where the chunk is, which a search wants and a comparison of
//! code with code does not: the same function in two files would look different, two functions of one
//! file alike. Here the place is taken out of the vectors again.

use std::collections::HashMap;
use std::path::Path;

use super::catalog::Catalog;
use super::filter::Filter;
use super::{Freshness, Searched, show};
use crate::config::Config;
use crate::embed::{self, Embedder, Matrix, Neighbour, StoredVector};
use crate::error::Result;
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::LineRange;

/// The vectors of a generation's chunks as code alone, one row a chunk.
#[derive(Debug)]
pub struct CodeVectors {
    matrix: Matrix,
}

impl CodeVectors {
    /// Of every chunk of `catalog`, whose vectors `embedder` made.
    pub fn new(catalog: &Catalog, embedder: &Embedder) -> Self {
        let names: Vec<String> = catalog
            .chunks
            .iter()
            .map(|chunk| embed::passage_names(&chunk.defines, &chunk.parents))
            .collect();
        let stored: Vec<StoredVector<'_>> = catalog
            .chunks
            .iter()
            .zip(&names)
            .enumerate()
            .map(|(at, (chunk, names))| StoredVector {
                path: catalog.files[chunk.file].row.path.as_str(),
                names,
                values: catalog.stored_vector(at),
            })
            .collect();
        Self { matrix: embedder.code_matrix(&stored) }
    }

    /// The vector of a chunk.
    pub(super) fn row(&self, chunk: usize) -> &[i8] {
        self.matrix.row(chunk)
    }

    /// The cosine of two chunks.
    pub fn cosine(&self, a: usize, b: usize) -> f32 {
        self.matrix.cosine(a, b)
    }

    /// The cosine of every chunk with a vector, in chunk order.
    pub(super) fn cosines(&self, vector: &[i8]) -> Vec<f32> {
        let mut cosines = Vec::new();
        self.matrix.cosines(vector, &mut cosines);
        cosines
    }
}

/// The `count` nearest others of each of `chunks` among them, with a cosine of at least `min`; they are
/// named by their position in `chunks`.
///
/// # Errors
/// Stopped when `turn` ends.
pub fn nearest(
    vectors: &CodeVectors,
    chunks: &[usize],
    count: usize,
    min: f32,
    turn: &Turn,
) -> Result<Vec<Vec<Neighbour>>> {
    embed::neighbours(&vectors.matrix, chunks, count, min, &|| turn.check())
}

/// The files under some paths.
pub struct PathFilter(Filter);

impl PathFilter {
    /// Of globs over paths; none admits every file.
    ///
    /// # Errors
    /// Usage for a bad glob.
    pub fn new(catalog: &Catalog, root: &Path, paths: &[String]) -> Result<Self> {
        Filter::new(catalog, root, &[], paths, &[]).map(Self)
    }

    /// Whether a file passes: its position in [`Catalog::files`].
    pub fn admits_file(&self, file: usize) -> bool {
        self.0.admits_file(file)
    }

    /// How much passes.
    pub fn searched(&self) -> Searched {
        self.0.searched()
    }
}

/// Where chunks are now.
pub struct Members<'a> {
    reader: &'a Reader,
    catalog: &'a Catalog,
    config: &'a Config,
    /// By file.
    known: HashMap<usize, Vec<(LineRange, Freshness)>>,
}

impl<'a> Members<'a> {
    /// Of one generation. Looks at each file once.
    pub fn new(reader: &'a Reader, catalog: &'a Catalog, config: &'a Config) -> Self {
        Self { reader, catalog, config, known: HashMap::new() }
    }

    /// The present lines of a chunk, and whether its file is as it was indexed.
    ///
    /// # Errors
    /// Index: it is damaged.
    pub fn present(&mut self, chunk: usize) -> Result<(LineRange, Freshness)> {
        let at = self.catalog.chunks[chunk].file;
        let file = &self.catalog.files[at];
        if !self.known.contains_key(&at) {
            let present = show::present(self.reader, self.catalog, &self.config.root, file)?;
            self.known.insert(at, present);
        }
        Ok(self.known[&at][chunk - file.chunks.start])
    }
}
