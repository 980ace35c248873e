//! Here is a file's text before and after: show the difference, and write it without losing the old.
//!
//! A link is written through, as an editor does, so that a person's linked settings stay linked; in
//! a project it must not lead out of the project, since a repository could bring it along.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use textdiff::TextDiff;

use crate::disk;
use crate::error::{Error, Result};

/// The longest file that is read, in bytes: settings are far smaller.
const BYTES_MAX: u64 = 64 << 20;

/// Backups beside a file, at most.
const BACKUPS_MAX: usize = 1000;

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// Its text now; `None` when there is no such file.
    pub before: Option<String>,
    /// Its text afterwards; `None` when there shall be no such file.
    pub after: Option<String>,
    /// The folder that the file must lie in, links followed.
    pub(super) within: Option<PathBuf>,
    /// The folder up to which emptied folders are removed.
    pub(super) top: PathBuf,
}

/// What writing a change did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Where the old text lies; `None` when there was none, or when the file was SAI's alone.
    pub backup: Option<PathBuf>,
}

impl Change {
    /// Whether the file is as wanted already.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// The change as a unified diff; empty when there is none.
    pub fn diff(&self) -> String {
        if self.is_nothing() {
            return String::new();
        }
        let name = self.file.display().to_string();
        let side = |text: &Option<String>| {
            if text.is_some() { name.clone() } else { "/dev/null".to_owned() }
        };
        let old = self.before.as_deref().unwrap_or_default();
        let new = self.after.as_deref().unwrap_or_default();
        TextDiff::from_lines(old, new)
            .unified_diff()
            .context_radius(3)
            .header(&side(&self.before), &side(&self.after))
            .to_string()
    }

    /// Writes the change: the old text is kept beside the file, and the file is replaced in one step
    /// with its permissions kept.
    ///
    /// # Errors
    /// Usage: the file, links followed, lies outside of the project. Environment: the file has
    /// changed meanwhile, or the disk is in the way. The file is then as it was.
    pub fn write(&self) -> Result<Written> {
        if self.is_nothing() {
            return Ok(Written { backup: None });
        }
        let file = self.real()?;
        if read(&file)? != self.before {
            let shown = self.file.display();
            return Err(Error::environment(format!("`{shown}` has changed meanwhile"))
                .hint("nothing was written; run the command again"));
        }
        let Some(after) = &self.after else {
            fs::remove_file(&file).map_err(|e| self.failed("remove", e))?;
            if file != self.file && fs::symlink_metadata(&self.file).is_ok() {
                // A link to nothing would be in the way of the next who makes the file.
                fs::remove_file(&self.file).map_err(|e| self.failed("remove", e))?;
            }
            self.remove_empty_folders();
            return Ok(Written { backup: None });
        };
        fs::create_dir_all(disk::folder(&file))
            .map_err(|e| self.failed("make the folder of", e))?;
        let backup = match &self.before {
            Some(before) => Some(self.back_up(&file, before)?),
            None => None,
        };
        disk::replace(&file, after).map_err(|e| self.failed("write", e))?;
        Ok(Written { backup })
    }

    /// The file that is meant, links followed.
    fn real(&self) -> Result<PathBuf> {
        let real = match fs::symlink_metadata(&self.file) {
            Ok(_) => fs::canonicalize(&self.file).map_err(|e| self.failed("follow the link", e))?,
            Err(_) => self.file.clone(),
        };
        let Some(within) = &self.within else { return Ok(real) };
        // Of a file that is not there yet, the folders that are there decide.
        let there = real.ancestors().find(|path| path.exists()).unwrap_or(&real);
        let canonical = |path: &Path| fs::canonicalize(path).map_err(|e| self.failed("find", e));
        if canonical(there)?.starts_with(canonical(within)?) {
            return Ok(real);
        }
        let (shown, outside) = (self.file.display(), there.display());
        Err(Error::usage(format!("`{shown}` leads out of the project, to `{outside}`"))
            .hint("nothing was written; replace the link by a file or folder of the project"))
    }

    /// Keeps the text of `file` beside it under a name that is free.
    fn back_up(&self, file: &Path, before: &str) -> Result<PathBuf> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for number in 0..BACKUPS_MAX {
            let end = if number == 0 { String::new() } else { format!(".{number}") };
            let backup = file.with_file_name(format!("{name}.bak{end}"));
            let mut made = match fs::File::create_new(&backup) {
                Ok(made) => made,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(self.failed("back up", error)),
            };
            let kept = made
                .set_permissions(
                    fs::metadata(file).map_err(|e| self.failed("read", e))?.permissions(),
                )
                .and_then(|()| made.write_all(before.as_bytes()))
                .and_then(|()| made.sync_all());
            kept.map_err(|e| self.failed("back up", e))?;
            return Ok(backup);
        }
        Err(Error::environment(format!("`{}` has too many backups", self.file.display()))
            .hint(format!("remove some of `{name}.bak.*` beside it")))
    }

    /// Removes the folders that the file leaves empty, up to `top`.
    fn remove_empty_folders(&self) {
        for folder in self.file.ancestors().skip(1) {
            let is_inside = folder != self.top && folder.starts_with(&self.top);
            // A folder with something in it cannot be removed; nor has it to be.
            if !is_inside || fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }

    fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::environment(format!("cannot {what} `{}`", self.file.display()))
            .hint("nothing was changed; look at the permissions of the file and its folder")
            .because(error)
    }
}

/// The text of `file`; `None` when there is no such file.
///
/// # Errors
/// Usage: it is no text, or far too long for settings. Environment: it cannot be read.
pub(super) fn read(file: &Path) -> Result<Option<String>> {
    let shown = file.display();
    let unreadable = |e: io::Error| Error::environment(format!("cannot read `{shown}`")).because(e);
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) => {
            // A link to nothing is not a missing file: writing there would make its target.
            let is_link = fs::symlink_metadata(file).is_ok();
            let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            return if missing.contains(&error.kind()) && !is_link {
                Ok(None)
            } else {
                Err(unreadable(error))
            };
        }
    };
    if !metadata.is_file() || metadata.len() > BYTES_MAX {
        return Err(Error::usage(format!("`{shown}` is no file of settings")));
    }
    let bytes = fs::read(file).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', valid).count() + 1;
        Error::usage(format!("`{shown}` line {line}: not UTF-8"))
            .hint("nothing was changed; save the file as UTF-8")
    })?;
    Ok(Some(text))
}
