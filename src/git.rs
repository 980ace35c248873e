//! Here is a folder: which repository is it in, and at which commit? The only door to git2.

use std::path::{Path, PathBuf};

/// The work tree that holds `folder`, if any.
pub fn work_tree(_folder: &Path) -> Option<PathBuf> {
    unimplemented!()
}

/// The commit checked out in the work tree that holds `folder`, as 40 hex digits.
/// `None` without git, or before the first commit.
pub fn head(_folder: &Path) -> Option<String> {
    unimplemented!()
}
