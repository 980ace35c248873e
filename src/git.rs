//! Here is a folder: which repository is it in, at which commit, and what does git track there? The
//! only door to git2.
//!
//! Nothing here fails: without git, in a bare, damaged or distrusted repository the answer is
//! `None`, and whoever asks goes on without.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Index, Repository};

/// The work tree that holds `folder`, canonical, if any.
pub fn work_tree(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let work_tree = match Repository::discover(&folder) {
        Ok(repository) => fs::canonicalize(repository.workdir()?).ok()?,
        // libgit2 opens no repository of another user; where its work tree lies is plain to see.
        Err(e) if e.code() == ErrorCode::Owner => marked(&folder)?.to_path_buf(),
        Err(_) => return None,
    };
    // `core.worktree` may name any folder of the disk.
    folder.starts_with(&work_tree).then_some(work_tree)
}

/// The commit checked out in the work tree that holds `folder`, as 40 hex digits.
/// `None` without git, or before the first commit.
pub fn head(folder: &Path) -> Option<String> {
    let repository = Repository::discover(folder).ok()?;
    let commit = repository.head().ok()?.peel_to_commit().ok()?;
    Some(commit.id().to_string())
}

/// The files that git tracks in a work tree.
#[derive(Debug, Default)]
pub struct Tracked {
    /// Relative to the work tree, with `/`; sorted.
    paths: Vec<String>,
}

impl Tracked {
    /// What `work_tree` tracks; `None` when it is no work tree or its list cannot be read.
    pub fn of(work_tree: &Path) -> Option<Self> {
        let index = git_dir(work_tree)?.join("index");
        match fs::metadata(&index) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return None,
            // A repository in which nothing was added yet.
            Err(_) => return Some(Self::default()),
        }
        let index = Index::open(&index).ok()?;
        let paths = index.iter().filter_map(|entry| String::from_utf8(entry.path).ok());
        let mut paths: Vec<String> = paths.collect();
        paths.sort_unstable();
        Some(Self { paths })
    }

    /// Whether `path`, a file or submodule, is tracked.
    pub fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|tracked| tracked.as_str().cmp(path)).is_ok()
    }

    /// Whether a file inside `folder` is tracked; its path has no `/` at its end.
    pub fn has_inside(&self, folder: &str) -> bool {
        let start = format!("{folder}/");
        let pos = self.paths.partition_point(|tracked| *tracked < start);
        self.paths.get(pos).is_some_and(|tracked| tracked.starts_with(&start))
    }
}

/// The repository's own list of ignored files, `info/exclude`, which need not exist. Linked work
/// trees share it.
pub fn exclude_file(work_tree: &Path) -> Option<PathBuf> {
    let git_dir = git_dir(work_tree)?;
    let common = match one_line(&git_dir.join("commondir")) {
        Some(text) => git_dir.join(text.trim()),
        None => git_dir,
    };
    Some(common.join("info/exclude"))
}

/// Whether `folder` is the top of a work tree: of a repository, a submodule or a linked work tree.
pub fn is_work_tree(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

/// The nearest folder upward that is the top of a work tree.
fn marked(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| is_work_tree(folder))
}

/// Where the repository of a work tree keeps its data: `.git`, or what the file `.git` points to.
fn git_dir(work_tree: &Path) -> Option<PathBuf> {
    let dot_git = work_tree.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = one_line(&dot_git)?;
    Some(work_tree.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The text of a file that git writes a path into; `None` when it is anything else.
fn one_line(path: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 8 << 10;
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests;
