//! Here is a file that a team keeps beside its code: read it without trust, write it in one step.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::disk;
use crate::error::{Error, Result};

/// The text of `file`; `None` when there is no such file.
///
/// # Errors
/// Usage: it is no file, has more than `bytes_max` bytes, or is not UTF-8. Environment: it cannot be
/// read.
pub(super) fn text(file: &Path, bytes_max: u64) -> Result<Option<String>> {
    let shown = file.display();
    let unreadable = |error| Error::environment(format!("cannot read `{shown}`")).because(error);
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    // Whatever else could be read from, such as a pipe, might never end.
    if !metadata.is_file() {
        return Err(Error::usage(format!("`{shown}` is no file")));
    }
    let mut bytes = Vec::new();
    let read =
        fs::File::open(file).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    read.map_err(unreadable)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Error::usage(format!("`{shown}` has more than {bytes_max} bytes")));
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::usage(format!("`{shown}` is not UTF-8")))
}

/// Puts `text` in the place of `file` in one step; says whether it is another text than before. A link
/// is replaced, not followed.
///
/// # Errors
/// Environment: it cannot be written; the file is then as it was.
pub(super) fn replace(file: &Path, text: &str) -> Result<bool> {
    if fs::read(file).is_ok_and(|before| before == text.as_bytes()) {
        return Ok(false);
    }
    disk::replace(file, text).map(|()| true).map_err(|error| {
        Error::environment(format!("cannot write `{}`", file.display()))
            .hint("nothing was changed; look at the folder and its permissions")
            .because(error)
    })
}
