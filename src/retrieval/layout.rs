//! Where in the repository does a file stand? How large its module is beside the largest one, and
//! whether it is kept only for those who use an older version.

use std::collections::HashSet;

use super::catalog::{FileEntry, Map};
use super::names::stemmed_parts;
use super::question::Question;
use crate::types::{Place, RelPath};

type Set<T> = HashSet<T, foldhash::fast::RandomState>;

/// Folders of code that is kept for those who still use it.
const OLD_FOLDERS: &[&str] =
    &["attic", "compat", "deprecated", "legacy", "obsolete", "old", "outdated"];

/// Files that make their folder a module.
const MANIFESTS: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.zig",
    "cargo.toml",
    "cmakelists.txt",
    "composer.json",
    "go.mod",
    "mix.exs",
    "package.json",
    "package.swift",
    "pom.xml",
    "pyproject.toml",
    "setup.py",
];
/// What the names of such files end with where the name is the module's own.
const MANIFEST_ENDINGS: &[&str] = &[".cabal", ".csproj", ".gemspec"];
/// What the root of a whole repository has, even where it has no manifest.
const FRONT_PAGES: &[&str] = &["changelog", "license", "readme"];

/// Bytes of code that every module is taken to have at least, so that the smallest do not vanish.
const MODULE_BYTES_MIN: u64 = 1_000;
/// Modules with less than about a 150th of the largest one's code all stay behind as far.
const SHARE_MIN: f32 = -5.0;

/// The layout of a repository.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// By file: its module, if the root is a repository with modules.
    modules: Vec<u32>,
    /// By module: the logarithm of its share of the largest one's code, [`SHARE_MIN`] to 0.
    shares: Vec<f32>,
    /// By module: the stemmed words of its folders that the largest module's folders do not have.
    words: Vec<Vec<String>>,
    is_old: Vec<bool>,
}

impl Layout {
    /// Looks at all files, in their order.
    pub(super) fn new(files: &[FileEntry]) -> Self {
        let paths = || files.iter().map(|file| &file.row.path);
        let old = Versions::new(paths());
        let is_old = paths().map(|path| old.is_old(path)).collect();
        let folders: Set<&str> = paths().filter(|path| is_manifest(path)).map(folder).collect();
        let is_repository = folders.contains("")
            || paths().any(|path| folder(path).is_empty() && is_front_page(path));
        if !is_repository {
            return Self { is_old, ..Self::default() };
        }
        let mut ids: Map<&str, u32> = Map::default();
        let mut names: Vec<&str> = Vec::new();
        let mut bytes: Vec<u64> = Vec::new();
        let mut modules = Vec::with_capacity(files.len());
        for file in files {
            let name = module(&file.row.path, &folders);
            let id = *ids.entry(name).or_insert_with(|| {
                names.push(name);
                bytes.push(MODULE_BYTES_MIN);
                names.len() as u32 - 1
            });
            if file.row.place == Place::Source {
                bytes[id as usize] += file.row.size;
            }
            modules.push(id);
        }
        let largest = (0..bytes.len()).max_by_key(|id| bytes[*id]).unwrap_or(0);
        let share = |size: &u64| (*size as f32 / bytes[largest] as f32).ln().max(SHARE_MIN);
        let common = names.get(largest).map_or_else(Vec::new, |name| stemmed_parts(name));
        let own = |name: &&str| {
            stemmed_parts(name).into_iter().filter(|word| !common.contains(word)).collect()
        };
        Self {
            modules,
            shares: bytes.iter().map(share).collect(),
            words: names.iter().map(own).collect(),
            is_old,
        }
    }

    /// By file: how far its module stays behind the largest one: the logarithm of its share of that
    /// one's code, 0 where the question names the module.
    pub(super) fn shares(&self, question: &Question) -> impl Iterator<Item = f32> {
        let asked = |words: &Vec<String>| words.iter().any(|word| question.stems.contains(word));
        let shares: Vec<f32> = self
            .shares
            .iter()
            .zip(&self.words)
            .map(|(share, words)| if asked(words) { 0.0 } else { *share })
            .collect();
        (0..self.is_old.len())
            .map(move |file| self.modules.get(file).map_or(0.0, |module| shares[*module as usize]))
    }

    /// Whether the file lies in a folder of legacy code or of an older version (`v1` beside `v2`, or
    /// beside files of the same names without a version).
    pub(super) fn is_old(&self, file: usize) -> bool {
        self.is_old[file]
    }
}

/// The folder that holds a file.
fn folder(path: &RelPath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The nearest folder above a file that has a manifest, or else the first one below the root.
fn module<'a>(path: &'a RelPath, manifests: &Set<&str>) -> &'a str {
    let mut above = folder(path);
    let mut first = above;
    while !above.is_empty() {
        if manifests.contains(above) {
            return above;
        }
        first = above;
        above = above.rsplit_once('/').map_or("", |(above, _)| above);
    }
    first
}

fn is_manifest(path: &RelPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    MANIFESTS.contains(&name.as_str())
        || MANIFEST_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_front_page(path: &RelPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    FRONT_PAGES.iter().any(|page| name.starts_with(page))
}

/// Which folders are named after versions, and which of these are old.
struct Versions<'a> {
    /// By the path of the folder that holds them: the newest.
    newest: Map<&'a str, u32>,
    /// Paths of version folders, files of which stand above as well, without a version.
    superseded: Vec<&'a str>,
}

/// So many files of a version folder must stand beside it too, and one of so many of its files.
const SUPERSEDED_FILES_MIN: usize = 2;
const SUPERSEDED_PART: usize = 3;

impl<'a> Versions<'a> {
    fn new(paths: impl Iterator<Item = &'a RelPath> + Clone) -> Self {
        let mut newest = Map::default();
        // By version folder: its files, and how many of them stand beside it too.
        let mut files: Map<&str, (usize, usize)> = Map::default();
        let mut known: Set<&str> = Set::default();
        for path in paths.clone() {
            for (above, name, _) in folders(path.as_str()) {
                if let Some(version) = version(name) {
                    let greatest = newest.entry(above).or_insert(version);
                    *greatest = version.max(*greatest);
                }
            }
        }
        if !newest.is_empty() {
            known.extend(paths.clone().map(RelPath::as_str));
        }
        for path in paths.filter(|_| !newest.is_empty()) {
            for (above, name, whole) in folders(path.as_str()) {
                if version(name).is_some() {
                    let beside = format!("{above}{}", &path.as_str()[whole.len() + 1..]);
                    let count = files.entry(whole).or_default();
                    count.0 += 1;
                    count.1 += usize::from(known.contains(beside.as_str()));
                }
            }
        }
        let is_superseded = |(all, beside): &(usize, usize)| {
            *beside >= SUPERSEDED_FILES_MIN && beside * SUPERSEDED_PART >= *all
        };
        let superseded = files.into_iter().filter(|(_, count)| is_superseded(count));
        Self { newest, superseded: superseded.map(|(folder, _)| folder).collect() }
    }

    fn is_old(&self, path: &RelPath) -> bool {
        folders(path.as_str()).any(|(above, name, whole)| {
            let is_older = |version: u32| self.newest.get(above).is_some_and(|n| *n > version);
            OLD_FOLDERS.contains(&name)
                || version(name).is_some_and(is_older)
                || self.superseded.contains(&whole)
        })
    }
}

/// `v3` is version 3.
fn version(folder: &str) -> Option<u32> {
    folder.strip_prefix('v')?.parse().ok()
}

/// Each folder of a path: the path of the one that holds it, with its slash; its name; its path.
fn folders(path: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut next = 0;
    path.match_indices('/').map(move |(end, _)| {
        let start = std::mem::replace(&mut next, end + 1);
        (&path[..start], &path[start..end], &path[..end])
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn paths(names: &[&str]) -> Vec<RelPath> {
        names.iter().map(|path| RelPath::new(Path::new(path)).expect("a path")).collect()
    }

    fn old(names: &[&str]) -> Vec<bool> {
        let paths = paths(names);
        let versions = Versions::new(paths.iter());
        paths.iter().map(|path| versions.is_old(path)).collect()
    }

    #[test]
    fn older_versions_and_legacy_folders_are_told_apart() {
        let tree = ["api/v1/a.rs", "api/v2/a.rs", "v1/only.rs", "legacy/b.rs", "src/v1.rs"];
        assert_eq!(old(&tree), [true, false, false, true, false]);
    }

    #[test]
    fn a_version_whose_files_stand_beside_it_is_old() {
        let tree = ["lib/v1/a.py", "lib/v1/b.py", "lib/v1/c.py", "lib/a.py", "lib/b.py"];
        assert_eq!(old(&tree), [true, true, true, false, false]);
        let only_one = ["lib/v1/a.py", "lib/v1/b.py", "lib/a.py"];
        assert_eq!(old(&only_one), [false, false, false]);
    }

    #[test]
    fn a_module_is_the_nearest_folder_with_a_manifest() {
        let tree = paths(&["core/Cargo.toml", "core/src/a.rs", "tools/x/y.rs", "README.md"]);
        let manifests: Set<&str> =
            tree.iter().filter(|path| is_manifest(path)).map(folder).collect();
        let modules: Vec<&str> = tree.iter().map(|path| module(path, &manifests)).collect();
        assert_eq!(modules, ["core", "core", "tools", ""]);
    }
}
