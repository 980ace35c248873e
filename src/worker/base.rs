//! Here is a revision: what would SAI say of the code as it was there?
//!
//! The files of the revision are written into a temporary folder and indexed there by a worker of
//! their own, with the same settings. Nothing of the tree that is worked on, of its index or of its
//! repository is touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::Handle;
use crate::config::{Config, SearchConfig};
use crate::duplicates::VERDICTS_FILE;
use crate::error::{Error, Result};
use crate::git;

/// How long a run that writes the temporary index may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A revision's files with a worker; gone when dropped.
#[derive(Debug)]
pub struct Base {
    /// Ends before the folder goes.
    handle: Option<Handle>,
    folder: Option<TempDir>,
    commit: String,
}

impl Base {
    /// Writes the files of the commit at which HEAD left `revision` (their merge base) and starts a
    /// worker on them. There is no index yet: ask for one first.
    ///
    /// # Errors
    /// Usage: no repository, or no such commit. Environment: git's objects cannot be read, or the
    /// temporary folder not be written.
    pub fn start(config: &Config, revision: &str) -> Result<Self> {
        let commit = git::base(&config.root, revision)?;
        let failed = |error| {
            Error::environment("cannot make a temporary folder")
                .hint("`TMPDIR` names another folder for temporary files")
                .because(error)
        };
        let folder = tempfile::Builder::new().prefix("sai-base-").tempdir().map_err(failed)?;
        let path = fs::canonicalize(folder.path()).map_err(failed)?;
        let bytes_max = config.files.file_bytes_max;
        let root = git::write_tree(&config.root, &commit, &path, bytes_max)?;
        take_verdicts(&config.root, &root).map_err(failed)?;
        let config = Config {
            index_dir: PathBuf::from(".index"),
            search: SearchConfig { vss_extension: config.vss_extension(), ..config.search.clone() },
            root,
            ..config.clone()
        };
        Ok(Self { handle: Some(Handle::start(config)), folder: Some(folder), commit })
    }

    /// Reaches the worker.
    pub fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("only a drop takes it")
    }

    /// The commit, as 40 hex digits.
    pub fn commit(&self) -> &str {
        &self.commit
    }
}

/// Puts the verdicts of `from` into `to`: what a person decided since holds for the older code too.
fn take_verdicts(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (from.join(VERDICTS_FILE), to.join(VERDICTS_FILE));
    if fs::symlink_metadata(&from).is_ok_and(|metadata| metadata.is_file()) {
        return fs::copy(&from, &to).map(drop);
    }
    match fs::remove_file(&to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.end_jobs(PATIENCE);
        }
        if let Some(folder) = self.folder.take() {
            // Whatever cannot be removed lies among temporary files.
            let _ = folder.close();
        }
    }
}
