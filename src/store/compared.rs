//! When was the current generation last found equal to the tree, and at which commit? Kept beside it
//! in `COMPARED`, so that a comparison that finds nothing to do needs no new generation.
//!
//! One line: the generation's number and stamp, when the comparison began, the commit or `-`, and a
//! checksum. A line that is missing, damaged or of another generation only means that files are
//! looked at more closely the next time.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::Generation;
use super::explain::disk;
use super::generation::checksum_of;
use crate::error::Result;

pub(super) const COMPARED: &str = "COMPARED";
const COMPARED_NEW: &str = "COMPARED.tmp";
/// No line that SAI wrote is longer.
const LINE_BYTES_MAX: u64 = 256;

/// A comparison of a generation with the whole tree, after which they were equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// When it began, by the clock of the index's file system: nanoseconds since 1970. Whatever
    /// changed before was seen.
    pub began_ns: i64,
    /// The commit that was checked out, if any.
    pub head: Option<String>,
}

/// What is known of `generation`.
pub(super) fn read(dir: &Path, generation: &Generation) -> Option<Compared> {
    let mut line = String::new();
    File::open(dir.join(COMPARED)).ok()?.take(LINE_BYTES_MAX).read_to_string(&mut line).ok()?;
    let (body, checksum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    let body =
        body.strip_prefix(&start_of(generation)).filter(|_| checksum == checksum_of(body))?;
    let (began_ns, head) = body.split_once(' ')?;
    let head = (head != "-").then(|| head.to_owned());
    Some(Compared { began_ns: began_ns.parse().ok()?, head })
}

/// Keeps `compared` for `generation`. Only the holder of the writer's lock may write.
pub(super) fn write(dir: &Path, generation: &Generation, compared: &Compared) -> Result<()> {
    let head = compared.head.as_deref().unwrap_or("-");
    let body = format!("{}{} {head}", start_of(generation), compared.began_ns);
    let line = format!("{body} {}\n", checksum_of(&body));
    let (new, kept) = (dir.join(COMPARED_NEW), dir.join(COMPARED));
    fs::write(&new, line)
        .and_then(|()| fs::rename(&new, &kept))
        .map_err(|error| disk("write", &kept, error))
}

/// Forgets what was kept.
pub(super) fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_file(dir.join(COMPARED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn start_of(generation: &Generation) -> String {
    format!("{} {} ", generation.number, generation.stamp_ns)
}
