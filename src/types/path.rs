//! A path inside the root: relative, with `/`, never leaving it.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file's path relative to the root, with `/` between its parts and no `.`, `..` or empty part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RelPath(String);

impl RelPath {
    /// The path, when `path` is relative, valid UTF-8, and stays inside the root.
    pub fn new(path: &Path) -> Option<Self> {
        // Most paths are as they should be; only what is not is taken apart.
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        if let Some(text) = path.to_str()
            && cfg!(unix)
            && text.split('/').all(is_part)
        {
            return Some(Self(text.to_owned()));
        }
        let mut parts = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str()?),
                Component::CurDir => {}
                _ => return None,
            }
        }
        (!parts.is_empty()).then(|| Self(parts.join("/")))
    }

    /// The text, with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the file lies under `root`.
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }

    /// The folders from the root down, without the file's name.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = &str> {
        let folders = self.0.rsplit_once('/').map_or("", |(folders, _)| folders);
        folders.split('/').filter(|folder| !folder.is_empty())
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }

    /// The file's name without its last extension (a leading dot starts no extension).
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if name[..dot].bytes().any(|b| b != b'.') => &name[..dot],
            _ => name,
        }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
