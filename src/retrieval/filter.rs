//! Which chunks are in question at all: language, path, kind.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{Catalog, Searched};
use crate::error::{Error, Result};
use crate::types::{ChunkKind, Language, RelPath};

/// The filters of one search, decided for every file.
pub(super) struct Filter {
    files: Vec<bool>,
    globs: Globs,
    languages: Vec<Language>,
    kinds: Vec<ChunkKind>,
    searched: Searched,
}

impl Filter {
    /// Decides for every file of `catalog`, which was indexed under `root`; an empty list admits
    /// everything.
    ///
    /// # Errors
    /// Usage for a bad glob, naming it.
    pub(super) fn new(
        catalog: &Catalog,
        root: &Path,
        languages: &[Language],
        paths: &[String],
        kinds: &[ChunkKind],
    ) -> Result<Self> {
        let globs = Globs::new(root, paths)?;
        let files: Vec<bool> = catalog
            .files
            .iter()
            .map(|file| {
                (languages.is_empty() || languages.contains(&file.row.language))
                    && globs.admit(file.row.path.as_str())
            })
            .collect();
        let (languages, kinds) = (languages.to_vec(), kinds.to_vec());
        let mut filter = Self { files, globs, languages, kinds, searched: Searched::default() };
        filter.searched = filter.count(catalog);
        Ok(filter)
    }

    /// Whether a chunk is in question.
    pub(super) fn admits(&self, catalog: &Catalog, chunk: usize) -> bool {
        self.files[catalog.chunks[chunk].file] && self.admits_kind(catalog, chunk)
    }

    /// Whether a chunk of an admitted file is in question.
    pub(super) fn admits_kind(&self, catalog: &Catalog, chunk: usize) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&catalog.chunks[chunk].kind)
    }

    /// Whether a file is in question.
    pub(super) fn admits_file(&self, file: usize) -> bool {
        self.files[file]
    }

    /// Whether files without chunks are in question at all: they have no kinds.
    pub(super) fn admits_unindexed(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether a file that is not in the index is in question, as far as its path tells.
    pub(super) fn admits_path(&self, path: &RelPath) -> bool {
        let by_path = || Language::of(path, "");
        self.globs.admit(path.as_str())
            && (self.languages.is_empty()
                // The first line may still tell the language.
                || by_path() == Language::Other
                || self.speaks(by_path()))
    }

    /// Whether a language is in question.
    pub(super) fn speaks(&self, language: Language) -> bool {
        self.languages.is_empty() || self.languages.contains(&language)
    }

    /// How much is in question.
    pub(super) fn searched(&self) -> Searched {
        self.searched
    }

    fn count(&self, catalog: &Catalog) -> Searched {
        let mut searched = Searched::default();
        for (file, _) in catalog.files.iter().zip(&self.files).filter(|(_, admitted)| **admitted) {
            if self.kinds.is_empty() {
                searched.files += 1;
                searched.chunks += file.chunks.len();
                continue;
            }
            let chunks = file.chunks.clone().filter(|chunk| self.admits(catalog, *chunk)).count();
            searched.files += usize::from(chunks > 0);
            searched.chunks += chunks;
        }
        searched
    }
}

/// The path globs of a search, compiled.
#[derive(Debug)]
pub(super) struct Globs {
    wanted: GlobSet,
    unwanted: GlobSet,
}

impl Globs {
    /// Compiles globs; one that starts with `!` excludes. Blank ones are passed over.
    ///
    /// # Errors
    /// Usage, naming the glob.
    pub(super) fn new(root: &Path, globs: &[String]) -> Result<Self> {
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for glob in globs.iter().map(|glob| glob.trim()).filter(|glob| !glob.is_empty()) {
            let set = if glob.starts_with('!') { &mut unwanted } else { &mut wanted };
            add(set, root, glob)?;
        }
        let built = |set: GlobSetBuilder| {
            set.build().map_err(|error| {
                Error::usage("the path globs are too large together")
                    .because(error)
                    .hint("name a folder instead of its files")
            })
        };
        Ok(Self { wanted: built(wanted)?, unwanted: built(unwanted)? })
    }

    /// Whether a relative path is wanted.
    pub(super) fn admit(&self, path: &str) -> bool {
        // An empty set still takes the path apart before it says no.
        (self.wanted.is_empty() || self.wanted.is_match(path))
            && (self.unwanted.is_empty() || !self.unwanted.is_match(path))
    }
}

/// Adds a glob, read as `files.include` is: without `/` it matches a name anywhere, otherwise it is
/// read from the root; `*` and `?` match no `/`; what it matches may be a folder, which stands for
/// everything in it. A path under `root` may also be absolute; a `!` in front is passed over.
fn add(set: &mut GlobSetBuilder, root: &Path, written: &str) -> Result<()> {
    const HINT: &str = "for example `src/**/*.rs`, `tests/`, `!vendor/`";
    let bad = |why: &str| {
        let shown: String = written.chars().take(80).collect();
        let dots = if shown.len() < written.len() { "…" } else { "" };
        Error::usage(format!("bad path glob `{shown}{dots}`: {why}")).hint(HINT)
    };
    let glob = written.strip_prefix('!').unwrap_or(written);
    if glob.is_empty() {
        return Err(bad("it names nothing"));
    }
    let inside = Path::new(glob).strip_prefix(root).ok().and_then(Path::to_str);
    let from_root = inside
        .or_else(|| glob.strip_prefix("./"))
        .or_else(|| glob.strip_prefix('/'))
        .or_else(|| (glob == ".").then_some(""));
    let inner = from_root.unwrap_or(glob).trim_end_matches('/');
    let patterns = if inner.is_empty() {
        vec!["**".to_owned()]
    } else {
        let anywhere = if from_root.is_none() && !inner.contains('/') { "**/" } else { "" };
        vec![format!("{anywhere}{inner}"), format!("{anywhere}{inner}/**")]
    };
    for pattern in patterns {
        let built =
            GlobBuilder::new(&pattern).literal_separator(true).backslash_escape(true).build();
        set.add(built.map_err(|error| bad(&error.kind().to_string()))?);
    }
    Ok(())
}
