//! The repository that is worked on: a scratch copy, gone when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pseudo-random numbers that a seed fixes.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end.max(1) as u64) as usize
    }

    /// Whether something happens that happens `percent` times of a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A git repository in a temporary folder.
pub(crate) struct Tree {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Tree {
    /// An empty repository.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("sai-clients-").tempdir();
        let folder = folder.expect("a temporary folder can be made");
        let path = folder.path().canonicalize().expect("it was just made");
        let tree = Self { folder, path };
        tree.git(&["init", "--quiet"]);
        tree
    }

    /// A copy of the files that git lists in `from`, or of all files where it is no repository.
    pub(crate) fn copy(from: &Path) -> Result<Self, String> {
        let tree = Self::new();
        for file in listed(from)? {
            let (source, target) = (from.join(&file), tree.path.join(&file));
            // Links and submodules stay behind, and so does what is listed and gone.
            if fs::symlink_metadata(&source).is_ok_and(|found| found.is_file()) {
                fs::create_dir_all(target.parent().expect("it lies in the copy"))
                    .and_then(|()| fs::copy(&source, &target))
                    .map_err(|error| format!("cannot copy `{}`: {error}", source.display()))?;
            }
        }
        Ok(tree)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, with its folders, in one step: nobody reads half of it.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let (path, new) = (self.path.join(file), self.path.join(".git/bench-new"));
        fs::create_dir_all(path.parent().expect("it lies in the tree"))
            .and_then(|()| fs::write(&new, text))
            .and_then(|()| fs::rename(&new, path))
            .expect("ours");
    }

    /// Removes a file; it may be gone.
    pub(crate) fn remove(&self, file: &str) {
        let _ = fs::remove_file(self.path.join(file));
    }

    /// Commits everything.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", message];
        self.git(&[&author[..], &commit].concat());
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git").current_dir(&self.path).args(args).output();
        let done = done.expect("git is installed");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Removes the folder now, so that a failure is seen.
    pub(crate) fn close(self) -> std::io::Result<()> {
        self.folder.close()
    }
}

/// Relative paths of the files of a folder.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let git = Command::new("git")
        .current_dir(folder)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output();
    match git {
        Ok(done) if done.status.success() => {
            let names = String::from_utf8_lossy(&done.stdout).into_owned();
            Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
        }
        _ => {
            let mut files = Vec::new();
            walk(folder, Path::new(""), &mut files)
                .map_err(|error| format!("cannot list `{}`: {error}", folder.display()))?;
            Ok(files)
        }
    }
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() && entry.file_name() != ".index" => walk(root, &path, files)?,
            kind if kind.is_file() => files.push(path),
            _ => {}
        }
    }
    Ok(())
}
