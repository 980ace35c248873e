//! Which chunks are in question at all: language, path, kind.

use globset::{Glob, GlobMatcher};

use super::{Catalog, SearchQuery, Searched};
use crate::error::{Error, Result};
use crate::types::ChunkKind;

/// The filters of one search, decided for every file.
pub(super) struct Filter {
    files: Vec<bool>,
    kinds: Vec<ChunkKind>,
    searched: Searched,
}

impl Filter {
    /// Decides the filters of `query` for every file of `catalog`.
    ///
    /// # Errors
    /// Usage for a bad glob, naming it.
    pub(super) fn new(catalog: &Catalog, query: &SearchQuery) -> Result<Self> {
        let mut wanted = Vec::new();
        let mut unwanted = Vec::new();
        for glob in query.paths.iter().map(|glob| glob.trim()).filter(|glob| !glob.is_empty()) {
            match glob.strip_prefix('!') {
                Some(glob) => unwanted.extend(compile(glob)?),
                None => wanted.extend(compile(glob)?),
            }
        }
        let files: Vec<bool> = catalog
            .files
            .iter()
            .map(|file| {
                let path = file.row.path.as_str();
                (query.languages.is_empty() || query.languages.contains(&file.row.language))
                    && (wanted.is_empty() || wanted.iter().any(|glob| glob.is_match(path)))
                    && !unwanted.iter().any(|glob| glob.is_match(path))
            })
            .collect();
        let mut filter = Self { files, kinds: query.kinds.clone(), searched: Searched::default() };
        filter.searched = filter.count(catalog);
        Ok(filter)
    }

    /// Whether a chunk is in question.
    pub(super) fn admits(&self, catalog: &Catalog, chunk: usize) -> bool {
        let chunk = &catalog.chunks[chunk];
        self.files[chunk.file] && (self.kinds.is_empty() || self.kinds.contains(&chunk.kind))
    }

    /// Whether a file is in question.
    pub(super) fn admits_file(&self, file: usize) -> bool {
        self.files[file]
    }

    /// How much is in question.
    pub(super) fn searched(&self) -> Searched {
        self.searched
    }

    fn count(&self, catalog: &Catalog) -> Searched {
        if self.kinds.is_empty() {
            let admitted = catalog.files.iter().zip(&self.files).filter(|(_, admitted)| **admitted);
            return admitted.fold(Searched::default(), |sum, (file, _)| Searched {
                files: sum.files + 1,
                chunks: sum.chunks + file.chunks.len(),
            });
        }
        let mut searched = Searched::default();
        for (at, file) in catalog.files.iter().enumerate().filter(|(at, _)| self.files[*at]) {
            let chunks = file.chunks.clone().filter(|chunk| self.admits(catalog, *chunk)).count();
            debug_assert!(self.files[at]);
            searched.files += usize::from(chunks > 0);
            searched.chunks += chunks;
        }
        searched
    }
}

/// A glob over whole paths. One without `/` matches a file name anywhere; one that names a folder
/// matches everything below it.
fn compile(glob: &str) -> Result<Vec<GlobMatcher>> {
    let cleaned = glob.trim_start_matches("./").trim_end_matches('/');
    let mut patterns = vec![cleaned.to_owned(), format!("{cleaned}/**")];
    if !cleaned.contains('/') {
        patterns = vec![format!("**/{cleaned}"), format!("**/{cleaned}/**")];
    }
    patterns
        .iter()
        .map(|pattern| match Glob::new(pattern) {
            Ok(compiled) => Ok(compiled.compile_matcher()),
            Err(error) => Err(Error::usage(format!("bad path glob `{glob}`: {}", error.kind()))
                .hint("for example `src/**/*.rs`, `tests/`, `!vendor/`")),
        })
        .collect()
}
