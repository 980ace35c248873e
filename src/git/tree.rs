//! Here is a commit: write the files of its tree into an empty folder.
//!
//! Files are written one by one from git's objects: no filter, attribute or hook runs, the repository
//! that is read stays as it is, and links are not made (nothing that is indexed lies behind one). The
//! folder becomes a work tree of its own, which tracks the same files, so that whoever lists it comes
//! to the same files as in a checkout.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{Index, ObjectType, Oid, Repository, RepositoryInitOptions, Tree};

use super::{commit_of, exclude_file, git_dir, inside, repository, top};
use crate::error::{Error, Result};
use crate::types::RelPath;

/// Folders in folders, at most: deeper ones are left out.
const DEPTH_MAX: usize = 256;

/// The kind of a tree's entry that is a file, and of one that may be run.
const FILE_MODES: [i32; 3] = [0o100_644, 0o100_755, 0o100_664];

/// Writes what `commit` holds under `root`, and the ignore files of the folders around it, into
/// `folder`, which is empty. Files larger than `bytes_max` are left out. Returns where `root` lies
/// there.
///
/// # Errors
/// Usage: no repository, or no such commit. Environment: an object cannot be read, or a file not be
/// written.
pub fn write_tree(root: &Path, commit: &str, folder: &Path, bytes_max: u64) -> Result<PathBuf> {
    let repository = repository(root)?;
    let top = top(root)?;
    let inside = inside(root, &top);
    let commit = commit_of(&repository, commit)?;
    let failed = |error: git2::Error| {
        Error::environment(format!("git cannot read the tree of `{}`", commit.id()))
            .hint("`git fsck` says what is damaged; a partial clone must hold the files")
            .because(error)
    };
    let tree = commit.tree().map_err(failed)?;
    make_work_tree(&tree, folder).map_err(failed)?;
    if let (Some(from), Some(to)) = (exclude_file(&top), exclude_file(folder))
        && from.is_file()
    {
        fs::copy(&from, &to).map_err(|error| unwritten(&to, error))?;
    }
    let writer = Writer { repository: &repository, folder, inside: &inside, bytes_max };
    writer.write(&tree, "", 0)?;
    let root = folder.join(&inside);
    fs::create_dir_all(&root).map_err(|error| unwritten(&root, error))?;
    Ok(root)
}

/// Makes `folder` a work tree that tracks the files of `tree`.
fn make_work_tree(tree: &Tree<'_>, folder: &Path) -> Result<(), git2::Error> {
    let mut options = RepositoryInitOptions::new();
    options.external_template(false).initial_head("main");
    Repository::init_opts(folder, &options)?;
    let Some(git_dir) = git_dir(folder) else { return Ok(()) };
    let mut index = Index::open(&git_dir.join("index"))?;
    index.read_tree(tree)?;
    index.write()
}

struct Writer<'a> {
    repository: &'a Repository,
    folder: &'a Path,
    /// Where the root lies below the top.
    inside: &'a Path,
    bytes_max: u64,
}

impl Writer<'_> {
    /// Writes what lies in a tree, which is the folder `path` (with `/` at its end, unless the top).
    fn write(&self, tree: &Tree<'_>, path: &str, depth: usize) -> Result<()> {
        for entry in tree {
            // No name that a file system could take for another place is written.
            let Ok(name) = entry.name() else { continue };
            let path = format!("{path}{name}");
            let is_plain = !name.contains(['/', '\\', '\0', ':']) && !is_git(name);
            if !is_plain || RelPath::new(Path::new(&path)).is_none() {
                continue;
            }
            match entry.kind() {
                Some(ObjectType::Tree) if self.leads_inside(&path) && depth < DEPTH_MAX => {
                    let inner = self.repository.find_tree(entry.id());
                    self.write(&inner.map_err(|e| unread(&path, e))?, &(path + "/"), depth + 1)?;
                }
                Some(ObjectType::Blob)
                    if FILE_MODES.contains(&entry.filemode()) && self.wants(&path, name) =>
                {
                    self.file(&path, entry.id())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a folder lies in the root or around it.
    fn leads_inside(&self, path: &str) -> bool {
        self.inside.starts_with(path) || Path::new(path).starts_with(self.inside)
    }

    fn wants(&self, path: &str, name: &str) -> bool {
        let is_ignore_file = name.starts_with('.') && name.ends_with("ignore");
        is_ignore_file || Path::new(path).starts_with(self.inside)
    }

    fn file(&self, path: &str, id: Oid) -> Result<()> {
        let object = self.repository.odb().and_then(|objects| objects.read_header(id));
        let (size, _) = object.map_err(|error| unread(path, error))?;
        if size as u64 > self.bytes_max {
            return Ok(());
        }
        let blob = self.repository.find_blob(id).map_err(|error| unread(path, error))?;
        let file = self.folder.join(path);
        let parent = file.parent().unwrap_or(self.folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&file, blob.content()))
            .map_err(|error| unwritten(&file, error))
    }
}

/// Whether a file system could take `name` for git's own folder.
fn is_git(name: &str) -> bool {
    let name = name.trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn unread(path: &str, error: git2::Error) -> Error {
    Error::environment(format!("git cannot read `{path}`"))
        .hint("`git fsck` says what is damaged; a partial clone must hold the files")
        .because(error)
}

fn unwritten(path: &Path, error: io::Error) -> Error {
    Error::environment(format!("cannot write `{}`", path.display()))
        .hint("`TMPDIR` names another folder for temporary files")
        .because(error)
}

#[cfg(test)]
mod tests;
