//! Who may write? One process at a time, told by an operating-system lock on `writer.lock`.
//!
//! The system releases the lock when its holder dies, however it dies. The file's text (pid and
//! start time) only serves the message for whoever finds the lock taken.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::explain::disk;
use super::generation;
use super::{Compared, Generation, IndexDir, WriterInfo, compared};
use crate::error::{Error, ErrorKind, Result};

const LOCK: &str = "writer.lock";
/// Held by the one patient writer that waits for [`LOCK`].
const WAITER: &str = "waiter.lock";
const POLL: Duration = Duration::from_millis(10);
/// Looks at least so often: [`holder`] takes the lock for an instant to see whether it is free.
const TRIES_MIN: u32 = 4;

/// The writer's lock: one holder among all processes; let go when dropped or when the holder dies.
#[derive(Debug)]
pub struct WriterLock {
    file: File,
    dir: IndexDir,
}

impl WriterLock {
    /// Removes every generation, `CURRENT` and leftovers; the folder stays, and so do the lock and
    /// files that are not the index's. Returns bytes freed.
    ///
    /// # Errors
    /// Environment: the folder cannot be changed.
    pub fn flush(&self) -> Result<u64> {
        generation::flush(self.dir.path())
    }

    /// Removes what dead writers left; every generation stays. Returns bytes freed.
    ///
    /// # Errors
    /// Environment: the folder cannot be changed.
    pub fn sweep(&self) -> Result<u64> {
        generation::sweep_private(self.dir.path())
    }

    /// When the lock was taken, by the clock of its file system: nanoseconds since 1970. What is
    /// looked at from here on is newer.
    pub fn taken_ns(&self) -> i64 {
        let ns = |time: SystemTime| {
            time.duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_nanos()).unwrap_or(0))
        };
        let signed = self.file.metadata().and_then(|metadata| metadata.modified());
        let now = ns(SystemTime::now());
        signed.map_or(now, |signed| ns(signed).min(now))
    }

    /// Keeps when `generation` was found equal to the tree.
    ///
    /// # Errors
    /// Environment: the folder cannot be written to.
    pub fn set_compared(&self, generation: &Generation, compared: &Compared) -> Result<()> {
        compared::write(self.dir.path(), generation, compared)
    }

    /// Fails when the lock keeps nobody out any more, since somebody removed its file.
    pub(super) fn check(&self) -> Result<()> {
        let path = self.dir.path().join(LOCK);
        if is_at(&self.file, &path) {
            return Ok(());
        }
        let message = format!("`{}` was removed while it was held", path.display());
        Err(Error::new(ErrorKind::Busy, message)
            .hint("run the command again; SAI removes what must go by itself"))
    }

    /// The folder that is locked.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // The next holder must not be taken for this process while it has not signed yet.
        let _ = self.file.set_len(0);
    }
}

/// Takes the lock of `dir`, making the folder, and waits up to `wait` for it.
pub(super) fn take(dir: &IndexDir, wait: Duration) -> Result<WriterLock> {
    make_folder(dir.path())?;
    let path = dir.path().join(LOCK);
    let open = || open(&path).map_err(|error| disk("write", &path, error));
    let mut file = open()?;
    let started = Instant::now();
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => break,
            // Somebody removed the file in between: the others lock the one that is there now.
            Ok(()) => {
                file = open()?;
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(disk("lock", &path, error)),
            Err(TryLockError::WouldBlock) => {}
        }
        tries += 1;
        if tries >= TRIES_MIN && started.elapsed() >= wait {
            return Err(busy(dir.path(), &read_info(&path)));
        }
        thread::sleep(POLL);
    }
    let lock = WriterLock { file, dir: dir.clone() };
    sign(&lock.file).map_err(|error| disk("write", &path, error))?;
    Ok(lock)
}

/// The right to wait for the writer's lock of `dir`: `None` when another process waits already.
/// Whoever waits begins later than whoever asks, so it sees all that the other would have seen.
pub(super) fn wait_alone(dir: &IndexDir) -> Result<Option<File>> {
    make_folder(dir.path())?;
    let path = dir.path().join(WAITER);
    let file = open(&path).map_err(|error| disk("write", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(disk("lock", &path, error)),
    }
}

/// Who holds the lock of `dir`; pid 0 when the holder has not signed.
pub(super) fn holder(dir: &Path) -> Option<WriterInfo> {
    let path = dir.join(LOCK);
    let file = File::open(&path).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| read_info(&path))
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Whether `path` still names the open `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let (open, named) = (file.metadata().map(identity), fs::metadata(path).map(identity));
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

/// Whether `path` still names the open `file`, which cannot be removed while it is open.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// Makes the folder, with a `.gitignore` that keeps all of it out of the repository.
fn make_folder(dir: &Path) -> Result<()> {
    if fs::metadata(dir).is_ok_and(|found| !found.is_dir()) {
        let taken = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(disk("make the index folder", dir, taken));
    }
    fs::create_dir_all(dir).map_err(|error| disk("make the index folder", dir, error))?;
    let ignore = dir.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").map_err(|error| disk("write", &ignore, error))?;
    }
    Ok(())
}

fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{} {}\n", std::process::id(), now_s()).as_bytes())
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// The holder's signature. It signs right after locking, so an empty file is looked at again.
fn read_info(path: &Path) -> WriterInfo {
    for _ in 0..TRIES_MIN {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(64).read_to_string(&mut text));
        if read.is_ok()
            && let Some((pid, since)) = text.strip_suffix('\n').and_then(|t| t.split_once(' '))
            && let (Ok(pid), Ok(since_s)) = (pid.parse(), since.parse())
        {
            return WriterInfo { pid, since_s };
        }
        thread::sleep(Duration::from_millis(1));
    }
    WriterInfo { pid: 0, since_s: 0 }
}

fn busy(dir: &Path, holder: &WriterInfo) -> Error {
    let WriterInfo { pid, since_s } = *holder;
    let (who, hint) = if pid == 0 {
        ("another process".to_owned(), "try again when it has finished".to_owned())
    } else {
        let seconds = now_s().saturating_sub(since_s);
        let who = format!("process {pid}, which began {seconds} s ago");
        (who, format!("try again when process {pid} has finished, or end it"))
    };
    let message = format!("the index at `{}` is being written by {who}", dir.display());
    Error::new(ErrorKind::Busy, message).hint(hint)
}
