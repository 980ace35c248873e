//! Here are the chunks of a generation: how alike are they as code, wherever they lie?
//!
//! A chunk's stored vector also says where the chunk is, which a search wants and a comparison of
//! code with code does not: the same function in two files would look different, two functions of one
//! file alike. Here the place is taken out of the vectors again.

use std::collections::HashMap;

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

/// The neighbours of the chunks under some paths.
#[derive(Debug)]
pub struct Neighbourhood {
    /// Positions in [`Catalog::chunks`], ascending.
    pub chunks: Vec<usize>,
    /// The nearest others of each of `chunks`, which are named by their position there.
    pub neighbours: Vec<Vec<Neighbour>>,
    pub searched: Searched,
}

/// The `count` nearest others of each chunk under `paths` (globs, all when empty) among them, with a
/// cosine of at least `min`.
///
/// # Errors
/// Usage for a bad glob; Stopped when `turn` ends.
pub fn alike(
    catalog: &Catalog,
    vectors: &CodeVectors,
    config: &Config,
    paths: &[String],
    count: usize,
    min: f32,
    turn: &Turn,
) -> Result<Neighbourhood> {
    let filter = Filter::new(catalog, &config.root, &[], paths, &[])?;
    let chunks: Vec<usize> =
        (0..catalog.chunks.len()).filter(|chunk| filter.admits(catalog, *chunk)).collect();
    let neighbours = embed::neighbours(&vectors.matrix, &chunks, count, min, &|| turn.check())?;
    Ok(Neighbourhood { chunks, neighbours, searched: filter.searched() })
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
