//! Which file is the index now? `CURRENT`, the names of files, and what is swept away.
//!
//! `CURRENT` is one line: generation, file name, its size in bytes, when it was published
//! (nanoseconds since 1970) and a checksum of what stands before. It is only ever replaced by a
//! rename, so a reader sees the old line or the new one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::Generation;
use super::compared::{self, COMPARED};
use super::explain::{disk, rebuild};
use crate::error::{Error, Result};
use crate::types::Hash;

const CURRENT: &str = "CURRENT";
const CURRENT_NEW: &str = "CURRENT.tmp";
/// No line that SAI wrote is longer.
const LINE_BYTES_MAX: u64 = 256;

/// The published file of a generation.
pub(super) fn published_name(number: u64) -> String {
    format!("code-{number}.duckdb")
}

/// The file that a writer works on before it is published as `number`.
pub(super) fn private_name(number: u64) -> String {
    format!("code-{number}.tmp-{}.duckdb", std::process::id())
}

/// The published file of an HNSW index that was built for generation `number`.
pub(super) fn hnsw_name(number: u64) -> String {
    format!("hnsw-{number}.duckdb")
}

/// The file that an HNSW index for generation `number` is built in.
pub(super) fn private_hnsw_name(number: u64) -> String {
    format!("hnsw-{number}.tmp-{}.duckdb", std::process::id())
}

/// What `CURRENT` in `dir` names; `None` when there is none.
pub(super) fn current(dir: &Path) -> Result<Option<Generation>> {
    let mut missing: Option<Generation> = None;
    loop {
        let Some(line) = read_line(dir)? else { return Ok(None) };
        let Some(named) = parse(dir, &line) else { return Err(garbage(dir, &line)) };
        match fs::metadata(&named.file) {
            Ok(found) if found.is_file() => return Ok(Some(named)),
            Ok(_) => return Err(absent(&named)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(disk("look at", &named.file, error));
            }
            // A writer may have published twice since the line was read, and swept the file.
            Err(_) if missing.as_ref() == Some(&named) => return Err(absent(&named)),
            Err(_) => missing = Some(named),
        }
    }
}

fn read_line(dir: &Path) -> Result<Option<String>> {
    use std::io::Read;
    let path = dir.join(CURRENT);
    let mut line = Vec::with_capacity(128);
    match File::open(&path).and_then(|file| file.take(LINE_BYTES_MAX).read_to_end(&mut line)) {
        Ok(_) => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(disk("read", &path, error)),
    }
}

fn parse(dir: &Path, line: &str) -> Option<Generation> {
    let (body, checksum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    if checksum != checksum_of(body) {
        return None;
    }
    let mut fields = body.split(' ');
    let number = fields.next()?.parse().ok()?;
    let file = fields.next().filter(|name| *name == published_name(number))?;
    let bytes = fields.next()?.parse().ok()?;
    let stamp_ns = fields.next()?.parse().ok()?;
    fields.next().is_none().then(|| Generation { number, file: dir.join(file), bytes, stamp_ns })
}

fn line_of(generation: &Generation) -> String {
    let Generation { number, bytes, stamp_ns, .. } = generation;
    let body = format!("{number} {} {bytes} {stamp_ns}", published_name(*number));
    let checksum = checksum_of(&body);
    format!("{body} {checksum}\n")
}

pub(super) fn checksum_of(body: &str) -> String {
    Hash::of(body.as_bytes()).0[..8].iter().fold(String::new(), |hex, b| hex + &format!("{b:02x}"))
}

fn garbage(dir: &Path, line: &str) -> Error {
    let shown: String = line.trim_end().chars().take(48).collect();
    Error::index(format!(
        "`{}` is damaged: `{}` names no generation of the index",
        dir.join(CURRENT).display(),
        shown.escape_default()
    ))
    .hint(rebuild())
}

fn absent(named: &Generation) -> Error {
    Error::index(format!(
        "index file `{}`, which `CURRENT` names, is not there",
        named.file.display()
    ))
    .hint(rebuild())
}

/// Gives the finished file `private` its published name and points `CURRENT` at it. Everything is
/// on disk before the next step begins; a death in between leaves the generation before.
pub(super) fn publish(dir: &Path, private: &Path, number: u64) -> Result<Generation> {
    let bytes = sync_file(private).map_err(|error| disk("write", private, error))?;
    let stamp_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let generation = Generation { number, file: dir.join(published_name(number)), bytes, stamp_ns };
    fs::rename(private, &generation.file)
        .and_then(|()| sync_folder(dir))
        .map_err(|error| disk("write", &generation.file, error))?;

    let (new, current) = (dir.join(CURRENT_NEW), dir.join(CURRENT));
    write_synced(&new, line_of(&generation).as_bytes())
        .and_then(|()| fs::rename(&new, &current))
        .and_then(|()| sync_folder(dir))
        .map_err(|error| disk("write", &current, error))?;
    Ok(generation)
}

/// Gives the finished HNSW index `private` its published name; nothing names it yet. Returns its
/// size.
pub(super) fn publish_hnsw(dir: &Path, private: &Path, number: u64) -> Result<u64> {
    let published = dir.join(hnsw_name(number));
    let bytes = sync_file(private).map_err(|error| disk("write", private, error))?;
    fs::rename(private, &published)
        .and_then(|()| sync_folder(dir))
        .map_err(|error| disk("write", &published, error))?;
    Ok(bytes)
}

fn sync_file(path: &Path) -> io::Result<u64> {
    let file = File::options().write(true).open(path)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes renames in the folder survive a loss of power. Windows opens no folder as a file.
fn sync_folder(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Removes the files of the index in `dir` that `stays` does not keep; returns the bytes freed.
/// A file that cannot be removed now (Windows: a reader has it open) is left to the next sweep.
fn remove_all_but(dir: &Path, stays: impl Fn(&OsStr) -> bool) -> io::Result<u64> {
    let mut freed = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours =
            [b"code-", b"hnsw-"].iter().any(|start| name.as_encoded_bytes().starts_with(*start))
                || name == CURRENT_NEW;
        if !ours || stays(&name) {
            continue;
        }
        let found = entry.metadata();
        let removed = match &found {
            // DuckDB spills into a folder beside its file.
            Ok(found) if found.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
        if let (Ok(()), Ok(found)) = (removed, found) {
            freed += found.len();
        }
    }
    Ok(freed)
}

/// Removes everything but the current generation and the one before it: older ones, unpublished
/// ones, and what dead writers left. HNSW indexes that were published stay: see [`sweep_hnsw`]. Only
/// the holder of the writer's lock may sweep.
pub(super) fn sweep(dir: &Path, current: Option<&Generation>) -> Result<u64> {
    let stays: Vec<String> = current
        .map(|c| [published_name(c.number), published_name(c.number.saturating_sub(1))])
        .into_iter()
        .flatten()
        .collect();
    let newest = current.map_or(0, |current| current.number);
    remove_all_but(dir, |name| {
        stays.iter().any(|stay| name == stay.as_str())
            || hnsw_number(name).is_some_and(|number| number <= newest)
    })
    .map_err(|error| disk("list", dir, error))
}

/// Removes every HNSW index but the one that was built for generation `kept`. A reader that is still
/// to open another one searches exactly until it moves over.
pub(super) fn sweep_hnsw(dir: &Path, kept: Option<u64>) -> Result<u64> {
    remove_all_but(dir, |name| match hnsw_number(name) {
        Some(number) => Some(number) == kept,
        None => true,
    })
    .map_err(|error| disk("list", dir, error))
}

/// Removes what dead writers left, but no published file, known or not.
pub(super) fn sweep_private(dir: &Path) -> Result<u64> {
    remove_all_but(dir, |name| published_number(name).or(hnsw_number(name)).is_some())
        .map_err(|error| disk("list", dir, error))
}

/// Removes every generation and leftover, `CURRENT` first: no reader is led to a file that goes.
pub(super) fn flush(dir: &Path) -> Result<u64> {
    let current = dir.join(CURRENT);
    compared::remove(dir).map_err(|error| disk("remove", &dir.join(COMPARED), error))?;
    let line_bytes = fs::metadata(&current).map_or(0, |m| m.len());
    match fs::remove_file(&current).and_then(|()| sync_folder(dir)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(disk("remove", &current, error)),
    }
    let freed = remove_all_but(dir, |_| false).map_err(|error| disk("list", dir, error))?;
    Ok(freed + line_bytes)
}

/// A number above that of every file in `dir`, published or not.
pub(super) fn next_number(dir: &Path) -> Result<u64> {
    let entries = fs::read_dir(dir).map_err(|error| disk("list", dir, error))?;
    let number = |name: &OsStr| published_number(name).or(hnsw_number(name));
    let highest = entries.flatten().filter_map(|entry| number(&entry.file_name())).max();
    Ok(highest.unwrap_or(0) + 1)
}

fn published_number(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_prefix("code-")?.strip_suffix(".duckdb")?.parse().ok()
}

fn hnsw_number(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_prefix("hnsw-")?.strip_suffix(".duckdb")?.parse().ok()
}

/// A writer's file, removed with all that DuckDB keeps beside it when dropped.
#[derive(Debug)]
pub(super) struct PrivateFile(pub(super) PathBuf);

impl PrivateFile {
    /// `<file>.wal`, DuckDB's log of changes.
    pub(super) fn wal(&self) -> PathBuf {
        self.beside(".wal")
    }

    /// `<file>.spill`, where DuckDB puts what exceeds its memory.
    pub(super) fn spill(&self) -> PathBuf {
        self.beside(".spill")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.0.clone().into_os_string();
        path.push(ending);
        path.into()
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        // What is not there need not go; what cannot go is swept by the next writer.
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(self.wal());
        let _ = fs::remove_dir_all(self.spill());
    }
}
