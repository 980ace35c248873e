//! Small repositories from one string, and the binary run in them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature, Time};
use sai::config::{Config, Sources};
use sai::store::IndexDir;
use sai::worker::Handle;
use tempfile::TempDir;

/// A folder with files, gone when dropped.
pub(crate) struct Repo {
    /// Keeps the folder alive.
    _folder: TempDir,
    /// The canonical path, so that it compares equal to what SAI prints.
    path: PathBuf,
}

/// A git repository with one commit of the files in `text`:
///
/// ```text
/// //- /src/a.rs
/// fn a() {}
/// //- /README.md
/// # Title
/// ```
pub(crate) fn repo(text: &str) -> Repo {
    let repo = folder(text);
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").external_template(false);
    Repository::init_opts(repo.path(), &options).expect("a repository in a fresh folder");
    repo.commit("start");
    repo
}

/// The same files in a plain folder, without git.
pub(crate) fn folder(text: &str) -> Repo {
    let folder = tempfile::Builder::new().prefix("sai-").tempdir().expect("a temporary folder");
    let path = folder.path().canonicalize().expect("the folder was just made");
    let repo = Repo { _folder: folder, path };
    for (path, text) in files(text) {
        repo.write(path, &text);
    }
    repo
}

impl Repo {
    /// The root.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, with its folders.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.path.join(path);
        fs::create_dir_all(file.parent().expect("a file lies in a folder")).expect("its folders");
        fs::write(file, content).expect("a file in our own folder");
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path.join(path)).expect("a file that a test wrote");
    }

    /// Commits everything that git does not ignore; returns the commit's 40 hex digits.
    pub(crate) fn commit(&self, message: &str) -> String {
        let repo = Repository::open(&self.path).expect("made by `repo`");
        let mut index = repo.index().expect("a git index");
        index.add_all(["*"], IndexAddOption::DEFAULT, None).expect("add");
        index.update_all(["*"], None).expect("forget removed files");
        index.write().expect("write the git index");
        let tree = repo.find_tree(index.write_tree().expect("a tree")).expect("the tree");
        let author = Signature::new("Test", "test@example.com", &Time::new(1_700_000_000, 0))
            .expect("a fixed author");
        let parent = repo.head().ok().map(|head| head.peel_to_commit().expect("a commit"));
        let parents: Vec<_> = parent.iter().collect();
        repo.commit(Some("HEAD"), &author, &author, message, &tree, &parents)
            .expect("a commit")
            .to_string()
    }

    /// Runs `sai` in the root.
    pub(crate) fn sai(&self, args: &[&str]) -> Output {
        sai(&self.path, args)
    }
}

/// Splits a fixture at its `//- /path` lines.
fn files(text: &str) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- /") {
            files.push((path.trim_end(), String::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.push_str(line);
        } else {
            assert!(line.trim().is_empty(), "a fixture starts with `//- /path`: {line:?}");
        }
    }
    files
}

/// What a process said, as text.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; -1 when a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Asserts the exit code, showing both streams when it is another one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Variables that would change what a command does or prints.
const FOREIGN: &[&str] = &[
    "SAI_ROOT",
    "CLAUDE_PROJECT_DIR",
    "SAI_LOG",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "RUST_BACKTRACE",
];

/// The `sai` command in `root`, free of what the surrounding shell may have set; for tests that need
/// another environment or other pipes.
pub(crate) fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sai"));
    command.current_dir(root).args(args).stdin(Stdio::null());
    for name in FOREIGN {
        command.env_remove(name);
    }
    command
}

/// Runs `sai` in `root`.
pub(crate) fn sai(root: &Path, args: &[&str]) -> Output {
    output(command(root, args).output().expect("the binary starts"))
}

/// Runs `sai` in `root` with `stdin`.
pub(crate) fn sai_with_stdin(root: &Path, args: &[&str], stdin: &str) -> Output {
    let mut child = command(root, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("piped above");
    let stdin = stdin.to_owned();
    let writer = std::thread::spawn(move || {
        // A process that fails early closes its end; what it printed tells the test.
        let _ = pipe.write_all(stdin.as_bytes());
    });
    let done = child.wait_with_output().expect("the process ends");
    writer.join().expect("the writer does not panic");
    output(done)
}

/// What a process that has ended said.
pub(crate) fn output(done: std::process::Output) -> Output {
    Output {
        code: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8(done.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

/// A worker on `root` with the default configuration.
pub(crate) fn handle(root: &Path) -> Handle {
    handle_with(root, &[])
}

/// A worker on `root` with some settings of its own.
pub(crate) fn handle_with(root: &Path, settings: &[(&str, &str)]) -> Handle {
    let overrides = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let overrides = overrides.collect();
    let sources = Sources { root: root.to_owned(), file: None, overrides };
    Handle::start(Config::load(&sources).expect("the settings are valid").config)
}

/// What a run that did not end well could leave in the index's folder: anything but the published
/// files and the lock.
pub(crate) fn leftovers(root: &Path) -> Vec<String> {
    let index = root.join(".index");
    let names = fs::read_dir(&index).into_iter().flatten().flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let start = ["code-", "hnsw-"].iter().any(|start| name.starts_with(start));
            let published = start && !name.contains("tmp");
            let kept = [".gitignore", "COMPARED", "CURRENT", "waiter.lock", "writer.lock"]
                .contains(&name.as_str());
            !(kept || published && name.ends_with(".duckdb"))
        })
        .collect()
}

/// Everything that the index in `dir` says of the tree, by path, without ids and times.
pub(crate) fn content(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let reader = IndexDir::new(dir).open(256).expect("readable").expect("published");
    let words: BTreeMap<u32, String> = reader.words().expect("words").into_iter().collect();
    let vectors = reader.vectors().expect("vectors");
    let dim = reader.meta().dim;
    let files = reader.files().expect("files");
    let mut out: BTreeMap<String, Vec<String>> = files
        .iter()
        .map(|file| {
            let bytes =
                reader.blob(file.hash).expect("blobs").expect("every file's bytes are kept");
            (file.path.to_string(), vec![format!("{:?} {:?} {:?}", file.hash, file.place, bytes)])
        })
        .collect();
    let path_of: BTreeMap<u32, String> =
        files.iter().map(|file| (file.id, file.path.to_string())).collect();
    let mut rows = Vec::new();
    reader.chunks(&mut |row| rows.push(row)).expect("chunks");
    rows.sort_by_key(|row| (row.file_id, row.pos));
    for mut row in rows {
        let at = vectors.ids.binary_search(&row.vector_id).expect("every vector is there");
        let vector = &vectors.values[at * dim..(at + 1) * dim];
        let counted = chunk_words(&row.words, &words);
        let path = path_of[&row.file_id].clone();
        (row.file_id, row.vector_id) = (0, 0);
        row.words.clear();
        out.get_mut(&path).expect("its file").push(format!("{row:?} {counted:?} {vector:?}"));
    }
    out
}

/// A chunk's stored words, spelled out and sorted.
pub(crate) fn chunk_words(encoded: &[u8], words: &BTreeMap<u32, String>) -> Vec<(String, u8)> {
    let (_, entries) = sai::words::decode(encoded);
    let mut spelled: Vec<(String, u8)> =
        entries.iter().map(|(id, counts)| (words[id].clone(), *counts)).collect();
    spelled.sort();
    spelled
}

/// A small file system of its own, unmounted when dropped.
#[cfg(target_os = "linux")]
pub(crate) struct Disk(TempDir);

#[cfg(target_os = "linux")]
impl Disk {
    /// `None`, said on stderr, where the system does not let us mount.
    pub(crate) fn of_mib(mib: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let size = format!("size={mib}m");
        let mounted = Self::mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], folder.path());
        if !mounted {
            eprintln!("skipped: no file system can be mounted here");
        }
        mounted.then_some(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes it read-only, or writable again.
    #[track_caller]
    pub(crate) fn set_writable(&self, writable: bool) {
        let mode = if writable { "remount,rw" } else { "remount,ro" };
        assert!(Self::mount(&["-o", mode], self.path()), "{mode}");
    }

    fn mount(options: &[&str], at: &Path) -> bool {
        let output = Command::new("mount").args(options).arg(at).output();
        output.is_ok_and(|output| output.status.success())
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
