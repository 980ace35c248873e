//! Files of the tree that are looked into without the index: what lists them, reads them and looks
//! through them are different rooms.

use super::{Language, Place, RelPath};

/// Files that nobody hides, and what could not be listed.
#[derive(Clone, Debug, Default)]
pub struct TreeFiles {
    /// Sorted by path.
    pub files: Vec<TreeFile>,
    /// Files and folders that the file system does not let be read.
    pub unreadable: usize,
}

/// A file of the tree that may hold text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    pub path: RelPath,
    /// Bytes.
    pub size: u64,
    /// Whether its name and size let it into the index; its content may still keep it out.
    pub is_in_scope: bool,
}

/// What a file of the tree says.
#[derive(Clone, Debug)]
pub struct TreeText {
    /// Decoded, without a byte order mark.
    pub text: String,
    pub language: Language,
    pub place: Place,
    /// Whether the next sync puts it into the index.
    pub is_in_scope: bool,
}
