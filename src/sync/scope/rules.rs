//! What do the ignore files from the top down to a folder say of a path in it?
//!
//! `.saiignore` goes before `.ignore`, that before `.gitignore`, that before git's own lists; of
//! one kind the nearest file that speaks decides, and in it the last line.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::git;

/// What is read of an ignore file: more is cut off at the last whole line.
const BYTES_MAX: usize = 256 << 10;

/// Lines that are read of an ignore file. Compiling costs time and memory for each.
const LINES_MAX: usize = 5000;

/// What the ignore files say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing; a `!` line of git's files says no more.
    Silent,
    /// To be left out.
    Ignored,
    /// To be left out unless git tracks it, which is what git itself does.
    IgnoredByGit,
    /// Brought back by a `!` line of `.ignore`.
    Kept,
    /// Brought back by a `!` line of `.saiignore`, which overrules more than ignore files.
    Forced,
}

/// The ignore files of one folder, linked to those of the folders around it. Folders without any
/// have no layer.
#[derive(Debug)]
pub(super) struct Layer {
    outer: Option<Arc<Layer>>,
    /// Bytes of the folder's own path, with the last `/`, at the start of every path in it.
    prefix: usize,
    sai: Gitignore,
    ignore: Gitignore,
    git: Gitignore,
    /// `info/exclude` and the user's global excludes, at the top of a work tree.
    git_own: Gitignore,
    /// Whether the folder is the top of a work tree: git's files further out say nothing here.
    is_top: bool,
}

impl Layer {
    /// The layer inside `folder`, whose path from the outermost layer is `path` (empty, or with a
    /// `/` at its end): `outer` when the folder adds nothing.
    pub(super) fn inside(
        folder: &Path,
        path: &str,
        is_top: bool,
        outer: Option<Arc<Layer>>,
    ) -> Option<Arc<Layer>> {
        let layer = Self {
            outer,
            prefix: path.len(),
            sai: compiled(&[folder.join(".saiignore")]),
            ignore: compiled(&[folder.join(".ignore")]),
            git: compiled(&[folder.join(".gitignore")]),
            git_own: if is_top { own_lists(folder) } else { Gitignore::empty() },
            is_top,
        };
        let kinds = [&layer.sai, &layer.ignore, &layer.git, &layer.git_own];
        let adds = is_top || kinds.iter().any(|rules| !rules.is_empty());
        if adds { Some(Arc::new(layer)) } else { layer.outer }
    }

    /// What this layer and those around it say of `path`, which is given from the outermost layer.
    pub(super) fn verdict(&self, path: &str, is_folder: bool) -> Verdict {
        let nearest = |rules: fn(&Layer) -> &Gitignore, git: bool| {
            self.outward(git).find_map(|layer| {
                match matched(rules(layer), layer, path, is_folder) {
                    Match::None => None,
                    found => Some(found.is_whitelist()),
                }
            })
        };
        if let Some(kept) = nearest(|layer| &layer.sai, false) {
            return if kept { Verdict::Forced } else { Verdict::Ignored };
        }
        if let Some(kept) = nearest(|layer| &layer.ignore, false) {
            return if kept { Verdict::Kept } else { Verdict::Ignored };
        }
        let by_git = nearest(|layer| &layer.git, true);
        match by_git.or_else(|| nearest(|layer| &layer.git_own, true)) {
            Some(false) => Verdict::IgnoredByGit,
            Some(true) | None => Verdict::Silent,
        }
    }

    /// This layer and those around it, nearest first; with `git` up to the top of the work tree.
    fn outward(&self, git: bool) -> impl Iterator<Item = &Layer> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let layer = next?;
            next = if git && layer.is_top { None } else { layer.outer.as_deref() };
            Some(layer)
        })
    }
}

fn matched<'a>(
    rules: &'a Gitignore,
    layer: &Layer,
    path: &str,
    is_folder: bool,
) -> Match<&'a ignore::gitignore::Glob> {
    if rules.is_empty() { Match::None } else { rules.matched(&path[layer.prefix..], is_folder) }
}

/// The user's global excludes, then the repository's `info/exclude`, which wins.
fn own_lists(work_tree: &Path) -> Gitignore {
    // These are the user's own, and often links into a folder of settings.
    let lists = [gitconfig_excludes_path(), git::exclude_file(work_tree)];
    let lists: Vec<_> =
        lists.iter().flatten().filter_map(|list| fs::canonicalize(list).ok()).collect();
    compiled(&lists)
}

/// The rules of `files`, the last one winning. What does not exist or is no regular file has none;
/// a line that is no pattern is passed over, as git does.
fn compiled(files: &[PathBuf]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for file in files {
        let Some(text) = lines(file) else { continue };
        for line in text.lines().take(LINES_MAX) {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The text of an ignore file. A link is not followed: it could lead out of the root.
fn lines(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() > BYTES_MAX {
        let end = memchr::memrchr(b'\n', &bytes).unwrap_or(0);
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_start_matches('\u{feff}').to_owned())
}
