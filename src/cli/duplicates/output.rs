//! Here is a document and where it shall go: put it there whole, or leave everything as it is.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::super::print;
use crate::disk;
use crate::error::{Error, Result};

/// Where a document goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Standard output.
    Stdout,
    /// A file that is replaced in one step.
    File(PathBuf),
}

impl Output {
    /// What a command line's `FILE` names; `-` is standard output.
    pub(super) fn of(name: &Path) -> Self {
        if name == Path::new("-") { Self::Stdout } else { Self::File(name.to_owned()) }
    }

    /// Looks whether a document could be written, so that nobody waits for an answer in vain.
    ///
    /// # Errors
    /// Usage: it names a folder, or lies in one that is not there.
    pub(super) fn check(&self) -> Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        let shown = file.display();
        if file.is_dir() || file.file_name().is_none() {
            return Err(Error::usage(format!("`{shown}` is a folder"))
                .hint(format!("name a file: `{}`", file.join("duplicates").display())));
        }
        let folder = disk::folder(file);
        if !folder.is_dir() {
            return Err(Error::usage(format!("there is no folder `{}`", folder.display()))
                .hint(format!("`mkdir -p {}`", folder.display())));
        }
        Ok(())
    }

    /// Writes `text`.
    ///
    /// # Errors
    /// Environment: the file cannot be written; then it is as it was.
    pub(super) fn write(&self, text: &str) -> Result<()> {
        match self {
            Self::Stdout => print::out(text).map_err(|error| unwritten("stdout", error)),
            Self::File(file) => {
                replace(file, text).map_err(|error| unwritten(&file.display().to_string(), error))
            }
        }
    }
}

fn unwritten(what: &str, error: io::Error) -> Error {
    Error::environment(format!("cannot write `{what}`")).because(error)
}

/// Puts `text` in the place of what `file` names, through a link too. What is no ordinary file, such
/// as a pipe, is written to and stays what it is.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let found = fs::metadata(file).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        return fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes());
    }
    let real = if found.is_some() { fs::canonicalize(file)? } else { file.to_owned() };
    disk::replace(&real, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.html");
        for text in ["first, and long", "second"] {
            let output = Output::of(&file);
            output.check().unwrap();
            output.write(text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["a.html"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Output::of(&link).write("new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let in_the_way = Output::of(folder.path()).check().unwrap_err();
        assert!(in_the_way.to_string().contains("is a folder"), "{in_the_way}");
        let missing = Output::of(&folder.path().join("no/a.html")).check().unwrap_err();
        assert!(missing.next_step().unwrap().contains("mkdir"), "{missing}");
        assert_eq!(Output::of("-".as_ref()), Output::Stdout);
        Output::of("a.html".as_ref()).check().unwrap();
    }
}
