//! Here is a folder: which repository is it in, at which commit, and what does git track there? The
//! only door to git2.
//!
//! Without git, in a bare, damaged or distrusted repository the answer is `None`, and whoever asks
//! goes on without. Only a revision that somebody named, and what changed since, are errors when there
//! is no answer.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use git2::{Commit, Delta, DiffOptions, ErrorCode, Index, ObjectType, Oid, Repository, Tree};

use crate::error::{Error, Result};

mod added;
mod tree;

pub use added::{added_lines, base};
pub use tree::write_tree;

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

/// The commit that `revision` names in the repository of `folder`, as 40 hex digits.
///
/// # Errors
/// Usage, naming it: there is no such commit, or no repository.
pub fn commit(folder: &Path, revision: &str) -> Result<String> {
    Ok(commit_of(&repository(folder)?, revision)?.id().to_string())
}

/// The commit that a revision names.
fn commit_of<'r>(repository: &'r Repository, revision: &str) -> Result<Commit<'r>> {
    match named(repository, revision) {
        Some(commit) => Ok(commit),
        None if repository.is_shallow() => {
            let message = format!("`{revision}` names no commit that this shallow clone holds");
            Err(Error::usage(message).hint("`git fetch --unshallow` fetches the others"))
        }
        None => Err(Error::usage(format!("`{revision}` names no commit"))
            .hint("give a branch, a tag, a commit of `git log`, or `HEAD~1`")),
    }
}

/// The commit that a revision names. Searches through messages (`:/text`, `^{/text}`) are not
/// revisions here: they run a pattern over the whole history.
fn named<'r>(repository: &'r Repository, revision: &str) -> Option<Commit<'r>> {
    const BYTES_MAX: usize = 1 << 10;
    let is_name = !revision.contains([':', '\0']) && !revision.contains("{/");
    if !is_name || revision.len() > BYTES_MAX {
        return None;
    }
    repository.revparse_single(revision).ok()?.peel_to_commit().ok()
}

/// The repository whose work tree holds `folder`.
fn repository(folder: &Path) -> Result<Repository> {
    Repository::discover(folder).map_err(|error| {
        Error::usage(format!("there is no git repository at `{}`", folder.display()))
            .hint("without git, `sai sync` compares the whole tree")
            .because(error)
    })
}

/// The paths under `root` that differ between the commit `since` (HEAD when `None`) and the work
/// tree, untracked files included; with `staged` between `since` and what is staged. A renamed file
/// is there with both names. With `submodules`, what changed in them counts too.
///
/// # Errors
/// Usage: no repository, or `since` is not in it. Environment: git's own data cannot be read.
pub fn changes(
    root: &Path,
    since: Option<&str>,
    staged: bool,
    submodules: bool,
) -> Result<Vec<String>> {
    let repository = repository(root)?;
    let top = top(root)?;
    let since = match since {
        Some(since) => Some(named(&repository, since).ok_or_else(|| {
            Error::usage(format!("`{since}` names no commit of `{}`", top.display()))
        })?),
        None => repository.head().ok().and_then(|head| head.peel_to_commit().ok()),
    };
    let since = since.map(|commit| commit.tree()).transpose();
    let mut found = Found { staged, submodules, paths: Vec::new() };
    let answer = since.and_then(|since| found.collect(&repository, since.as_ref(), ""));
    answer.map_err(|error| untold(&top, error))?;
    let inside = inside(root, &top);
    let mut paths: Vec<String> = found
        .paths
        .iter()
        .filter_map(|path| Path::new(path).strip_prefix(&inside).ok()?.to_str().map(str::to_owned))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// The top of the work tree that holds `root`, canonical.
fn top(root: &Path) -> Result<PathBuf> {
    work_tree(root).ok_or_else(|| {
        Error::usage(format!("`{}` lies in no work tree of git", root.display()))
            .hint("without git, `sai sync` compares the whole tree")
    })
}

/// Where `root` lies below `top`; empty for the top itself.
fn inside(root: &Path, top: &Path) -> PathBuf {
    let root = fs::canonicalize(root).ok();
    let inside = root.as_deref().and_then(|root| root.strip_prefix(top).ok());
    inside.map(Path::to_path_buf).unwrap_or_default()
}

/// Git's own data cannot be read.
fn untold(top: &Path, error: git2::Error) -> Error {
    Error::environment(format!("git cannot tell what changed in `{}`", top.display()))
        .hint("`git status` says more")
        .because(error)
}

/// Collects changed paths, relative to the outermost work tree.
struct Found {
    staged: bool,
    submodules: bool,
    paths: Vec<String>,
}

impl Found {
    /// Adds what differs from `since` in a repository whose work tree lies at `prefix`.
    fn collect(
        &mut self,
        repository: &Repository,
        since: Option<&Tree<'_>>,
        prefix: &str,
    ) -> Result<(), git2::Error> {
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_typechange(true);
        // Looked at below, each in its own repository.
        options.ignore_submodules(true);
        let diff = if self.staged {
            repository.diff_tree_to_index(since, None, Some(&mut options))?
        } else {
            repository.diff_tree_to_workdir_with_index(since, Some(&mut options))?
        };
        for delta in diff.deltas().filter(|delta| delta.status() != Delta::Unmodified) {
            for path in [delta.old_file().path(), delta.new_file().path()].into_iter().flatten() {
                self.paths.extend(path.to_str().map(|path| format!("{prefix}{path}")));
            }
        }
        if self.submodules { self.collect_submodules(repository, since, prefix) } else { Ok(()) }
    }

    fn collect_submodules(
        &mut self,
        repository: &Repository,
        since: Option<&Tree<'_>>,
        prefix: &str,
    ) -> Result<(), git2::Error> {
        for submodule in repository.submodules()? {
            let Some(path) = submodule.path().to_str() else { continue };
            // One that is not checked out has no files.
            let Ok(inner) = submodule.open() else { continue };
            let before = since.and_then(|since| pinned(since, submodule.path()));
            let before = before.and_then(|id| inner.find_commit(id).ok()?.tree().ok());
            self.collect(&inner, before.as_ref(), &format!("{prefix}{path}/"))?;
        }
        Ok(())
    }
}

/// The commit that a tree pins for the submodule at `path`.
fn pinned(tree: &Tree<'_>, path: &Path) -> Option<Oid> {
    let entry = tree.get_path(path).ok()?;
    (entry.kind() == Some(ObjectType::Commit)).then(|| entry.id())
}

/// Where a repository keeps its hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksFolder {
    /// The folder, which need not exist.
    pub path: PathBuf,
    /// Whether `core.hooksPath` names it.
    pub is_configured: bool,
    /// The work tree that was asked for: hooks run at its top.
    pub work_tree: PathBuf,
    /// The repository's own data, which its work trees share.
    pub git_dir: PathBuf,
}

/// Where the hooks of the work tree that holds `folder` are.
///
/// # Errors
/// Usage: there is no work tree.
pub fn hooks_folder(folder: &Path) -> Result<HooksFolder> {
    let repository = repository(folder)?;
    let work_tree = work_tree(folder).ok_or_else(|| {
        Error::usage(format!("`{}` lies in no work tree of git", folder.display()))
            .hint("hooks run in work trees: name a folder of one with `--root`")
    })?;
    let git_dir = repository.commondir().to_path_buf();
    let configured = repository.config().and_then(|c| c.get_path("core.hooksPath")).ok();
    let configured = configured.filter(|path| !path.as_os_str().is_empty());
    let is_configured = configured.is_some();
    let path = configured.map_or_else(|| git_dir.join("hooks"), |path| work_tree.join(path));
    Ok(HooksFolder { path, is_configured, work_tree, git_dir })
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
