//! Which files are indexed? Decided here alone, for a walk and for a single path alike.
//!
//! Both go from the root down, one name at a time, through [`Folder::step`]; a walk takes every
//! name of a folder, a check the next part of its path. What a name means is therefore the same for
//! both. (The walkers of the `ignore` crate pass over in silence what they leave out; here every
//! omission has a reason that can be asked for, so only its matcher is used.)
//!
//! Links are never followed: what they lead to inside the root counts under its own path, and what
//! lies outside is none of SAI's business. No ignore file and no setting brings back a secret.

mod globs;
mod names;
mod reason;
mod rules;
#[cfg(test)]
mod tests;

pub use reason::SkipReason;

use std::collections::HashMap;
use std::fs::{self, File, FileType, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::UNIX_EPOCH;

use rayon::slice::ParallelSliceMut;
use serde::Serialize;

use self::globs::Globs;
use self::rules::{Layer, Verdict};
use crate::config::{Config, FilesConfig};
use crate::error::{Error, Result};
use crate::git::{self, Tracked};
use crate::turn::Turn;
use crate::types::{Language, RelPath};

/// A file or folder that was left out. A folder stands for everything in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Skipped {
    /// As it can be shown: relative, with `/`, lossy where it is not UTF-8; a folder's path ends
    /// with `/`.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// A file that is in scope, as the file system describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its path.
    pub path: RelPath,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When anything about the file last changed, nanoseconds since 1970. Unlike the modification
    /// time nobody can set it; it is the same where the system keeps no such time.
    pub changed_ns: i64,
}

/// What a walk found, both sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// In scope.
    pub files: Vec<Candidate>,
    /// Left out, with the reason.
    pub skipped: Vec<Skipped>,
}

/// The rules, compiled once. Ignore files and git's list of tracked files are read anew by each
/// walk and each check, so that a `Scope` may live as long as its configuration.
#[derive(Debug)]
pub struct Scope {
    root: PathBuf,
    files: FilesConfig,
    include: Globs,
    exclude: Globs,
    languages: Vec<Language>,
    /// The index folder relative to the root, with `/`, when it lies inside.
    index_dir: Option<String>,
}

impl Scope {
    /// Compiles the rules of `config`.
    ///
    /// # Errors
    /// Usage for a bad glob or language, naming it.
    pub fn new(config: &Config) -> Result<Self> {
        let files = config.files.clone();
        let languages = files.languages.iter().map(|name| Language::from_name(name));
        Ok(Self {
            root: config.root.clone(),
            include: Globs::new("files.include", &files.include)?,
            exclude: Globs::new("files.exclude", &files.exclude)?,
            languages: languages.collect::<Result<_>>()?,
            index_dir: inside(&config.root, &config.index_dir),
            files,
        })
    }

    /// Every file under the root that is in scope, without reading any file's content; only where
    /// languages are chosen, the first line of a file without extension is looked at. Uses the
    /// threads of the rayon pool it is called in.
    ///
    /// # Errors
    /// Environment when the root cannot be read.
    pub fn walk(&self) -> Result<Listing> {
        self.walk_within(&Turn::new(None))
    }

    /// The same, as long as `turn` goes on.
    ///
    /// # Errors
    /// Environment when the root cannot be read; Stopped when `turn` ends.
    pub(super) fn walk_within(&self, turn: &Turn) -> Result<Listing> {
        fs::read_dir(&self.root).map_err(|e| {
            Error::environment(format!("cannot list the folder `{}`", self.root.display()))
                .hint("check that it exists and that you may read it")
                .because(e)
        })?;
        let sink = Sink { listing: Mutex::default(), turn: turn.clone() };
        let top = Arc::new(Folder::top(self));
        rayon::scope(|tasks| self.list(tasks, &top, &sink));
        turn.check()?;
        let mut listing = sink.take();
        listing.sort();
        Ok(listing)
    }

    /// The same decision for one path: `Ok` with the file's description, or why it is left out. A
    /// path inside a folder that is left out has the folder's reason.
    pub fn check(&self, path: &RelPath) -> Result<Candidate, SkipReason> {
        Checks::new(self).check(path)
    }

    /// [`Scope::check`] for many paths, in their order; folders are looked at once.
    pub fn check_many(&self, paths: &[RelPath]) -> Vec<Result<Candidate, SkipReason>> {
        let mut checks = Checks::new(self);
        paths.iter().map(|path| checks.check(path)).collect()
    }

    /// What a walk would find at and under `paths`, and those of `paths` that do not exist.
    pub fn look(&self, paths: &[RelPath]) -> (Listing, Vec<RelPath>) {
        let mut checks = Checks::new(self);
        let (mut found, mut missing) = (Listing::default(), Vec::new());
        for path in paths {
            match checks.find(path) {
                Ok(Step::File(candidate)) => found.files.push(candidate),
                Ok(Step::Folder(folder)) => {
                    let listing = Mutex::new(std::mem::take(&mut found));
                    let sink = Sink { listing, turn: Turn::new(None) };
                    rayon::scope(|tasks| self.list(tasks, &Arc::new(folder), &sink));
                    found = sink.take();
                }
                Err(left) if left.reason == SkipReason::Missing => missing.push(path.clone()),
                Err(left) => found.skipped.push(left),
            }
        }
        found.sort();
        found.files.dedup_by(|a, b| a.path == b.path);
        found.skipped.dedup();
        (found, missing)
    }

    /// Lists one folder, and spawns a task for each folder in it.
    fn list<'s>(&'s self, tasks: &rayon::Scope<'s>, folder: &Arc<Folder>, sink: &'s Sink) {
        if sink.turn.check().is_err() {
            return;
        }
        let mut found = Listing::default();
        match fs::read_dir(self.root.join(&folder.path)) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => self.visit(tasks, folder, &entry, &mut found, sink),
                        Err(e) => found.skip(folder.path.clone(), SkipReason::of_error(&e)),
                    }
                }
            }
            Err(e) => found.skip(folder.path.clone(), SkipReason::of_error(&e)),
        }
        let mut listing = sink.listing.lock().expect("no task panics while it holds the list");
        listing.files.append(&mut found.files);
        listing.skipped.append(&mut found.skipped);
    }

    fn visit<'s>(
        &'s self,
        tasks: &rayon::Scope<'s>,
        folder: &Arc<Folder>,
        entry: &fs::DirEntry,
        found: &mut Listing,
        sink: &'s Sink,
    ) {
        let name = entry.file_name();
        let kind = entry.file_type();
        let shown = || {
            let slash = if kind.as_ref().is_ok_and(FileType::is_dir) { "/" } else { "" };
            format!("{}{}{slash}", folder.path, name.to_string_lossy())
        };
        let step = match (name.to_str(), &kind) {
            (None, _) => Err(SkipReason::NotUtf8Name),
            (_, Err(e)) => Err(SkipReason::of_error(e)),
            (Some(name), Ok(kind)) => folder.step(self, name, *kind),
        };
        match step {
            Err(reason) => found.skip(shown(), reason),
            Ok(Step::File(candidate)) => found.files.push(candidate),
            Ok(Step::Folder(inner)) => {
                let inner = Arc::new(inner);
                tasks.spawn(move |tasks| self.list(tasks, &inner, sink));
            }
        }
    }

    /// Why the link at `path` is left out.
    fn link(&self, path: &str) -> SkipReason {
        match fs::canonicalize(self.root.join(path)) {
            Ok(target) if target.starts_with(&self.root) => SkipReason::Link,
            Ok(_) => SkipReason::LinkOutside,
            Err(e) => match e.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => SkipReason::LinkBroken,
                ErrorKind::PermissionDenied => SkipReason::Unreadable,
                // The kind for a loop has no stable name.
                _ => SkipReason::LinkLoop,
            },
        }
    }

    /// Whether a file is of a chosen language.
    pub(super) fn speaks(&self, path: &RelPath) -> bool {
        if self.languages.is_empty() {
            return true;
        }
        let mut language = Language::of(path, "");
        if language == Language::Other && !path.file_name().contains('.') {
            language = Language::of(path, &first_line(&path.under(&self.root)));
        }
        self.languages.contains(&language)
    }
}

/// Where the tasks of a walk put what they found, and until when they go on.
struct Sink {
    listing: Mutex<Listing>,
    turn: Turn,
}

impl Sink {
    fn take(self) -> Listing {
        self.listing.into_inner().expect("no task panics while it holds the list")
    }
}

impl Listing {
    fn sort(&mut self) {
        self.files.par_sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.skipped.par_sort_unstable();
    }

    fn skip(&mut self, path: String, reason: SkipReason) {
        self.skipped.push(Skipped { path, reason });
    }
}

/// Single paths, checked from the root down; every folder is looked at once.
struct Checks<'a> {
    scope: &'a Scope,
    top: Arc<Folder>,
    folders: HashMap<String, Result<Arc<Folder>, SkipReason>>,
}

impl<'a> Checks<'a> {
    fn new(scope: &'a Scope) -> Self {
        Self { scope, top: Arc::new(Folder::top(scope)), folders: HashMap::new() }
    }

    fn check(&mut self, path: &RelPath) -> Result<Candidate, SkipReason> {
        match self.find(path) {
            Ok(Step::File(candidate)) => Ok(candidate),
            Ok(Step::Folder(_)) => Err(SkipReason::Folder),
            Err(left) => Err(left.reason),
        }
    }

    /// What is at `path`; else what a walk would leave out: the path itself or a folder around it.
    fn find(&mut self, path: &RelPath) -> Result<Step, Skipped> {
        // A path that was read from a message may be anything.
        if RelPath::new(Path::new(path.as_str())).as_ref() != Some(path) {
            return Err(self.left(path.as_str().to_owned(), SkipReason::Missing));
        }
        let mut folder = self.top.clone();
        for name in path.folders() {
            let around = format!("{}{name}", folder.path);
            folder = match self.folder(&folder, name) {
                Ok(inner) => inner,
                Err(reason) => return Err(self.left(around, reason)),
            };
        }
        let kind = self.kind(path.as_str());
        let step = kind.and_then(|kind| folder.step(self.scope, path.file_name(), kind));
        step.map_err(|reason| self.left(path.as_str().to_owned(), reason))
    }

    /// A path that is left out, as a walk shows it.
    fn left(&self, path: String, reason: SkipReason) -> Skipped {
        let is_folder = self.kind(&path).is_ok_and(|kind| kind.is_dir());
        Skipped { path: if is_folder { path + "/" } else { path }, reason }
    }

    fn folder(&mut self, outer: &Folder, name: &str) -> Result<Arc<Folder>, SkipReason> {
        let path = format!("{}{name}", outer.path);
        if let Some(known) = self.folders.get(&path) {
            return known.clone();
        }
        let found = self.look(outer, &path, name);
        self.folders.insert(path, found.clone());
        found
    }

    fn look(&self, outer: &Folder, path: &str, name: &str) -> Result<Arc<Folder>, SkipReason> {
        let kind = self.kind(path)?;
        if kind.is_file() {
            return Err(SkipReason::Missing);
        }
        match outer.step(self.scope, name, kind)? {
            Step::File(_) => Err(SkipReason::Missing),
            // A walk lists the folder; what cannot be listed is out of its reach.
            Step::Folder(folder) => fs::read_dir(self.scope.root.join(path))
                .map(|_| Arc::new(folder))
                .map_err(|e| SkipReason::of_error(&e)),
        }
    }

    fn kind(&self, path: &str) -> Result<FileType, SkipReason> {
        let metadata = fs::symlink_metadata(self.scope.root.join(path));
        metadata.map(|metadata| metadata.file_type()).map_err(|e| SkipReason::of_error(&e))
    }
}

/// What a name in a folder is.
enum Step {
    /// A folder to go into.
    Folder(Folder),
    /// A file that is in scope.
    File(Candidate),
}

/// A folder that is in scope, with the rules that hold in it.
#[derive(Debug)]
struct Folder {
    /// Relative to the root, with `/` at its end; empty for the root.
    path: String,
    /// The ignore files from the top down to here; `None` when there are none.
    rules: Option<Arc<Layer>>,
    /// What goes before `path` to make a path from the outermost ignore file.
    before: Arc<str>,
    /// The repository that the folder lies in.
    repository: Arc<Repository>,
    /// Whether a glob of `files.include` matches it or a folder around it.
    is_included: bool,
    /// Whether git ignores it, but for the files in it that git tracks.
    is_ignored_by_git: bool,
}

/// What ignore files say of a name that they do not leave out.
struct Leave {
    /// Brought back by `.saiignore` against its name.
    is_forced: bool,
    /// There only because git tracks it, or something in it.
    is_ignored_by_git: bool,
}

impl Folder {
    /// The root: taken as it is. Ignore files above it count up to the top of its work tree.
    fn top(scope: &Scope) -> Self {
        let work_tree = git::work_tree(&scope.root);
        let top = work_tree.as_deref().unwrap_or(&scope.root);
        let before = match scope.root.strip_prefix(top).ok().and_then(RelPath::new) {
            Some(path) => format!("{path}/"),
            None => String::new(),
        };
        let mut rules = None;
        if scope.files.respect_ignore_files {
            let ends = before.match_indices('/').map(|(end, _)| end + 1);
            for path in std::iter::once(0).chain(ends).map(|end| &before[..end]) {
                let is_top = path.is_empty() && work_tree.is_some();
                rules = Layer::inside(&top.join(path), path, is_top, rules);
            }
        }
        Self {
            path: String::new(),
            rules,
            repository: Arc::new(Repository::new(work_tree, String::new())),
            before: before.into(),
            is_included: scope.include.is_empty(),
            is_ignored_by_git: false,
        }
    }

    /// What `name` in this folder is, or why it is left out.
    fn step(&self, scope: &Scope, name: &str, kind: FileType) -> Result<Step, SkipReason> {
        if name.chars().any(char::is_control) {
            return Err(SkipReason::ControlName);
        }
        let path = format!("{}{name}", self.path);
        if kind.is_symlink() {
            Err(scope.link(&path))
        } else if kind.is_dir() {
            self.enter(scope, &path, name).map(Step::Folder)
        } else if kind.is_file() {
            self.keep(scope, &path, name).map(Step::File)
        } else {
            Err(SkipReason::Special)
        }
    }

    /// The folder at `path`, called `name`, when it is in scope.
    fn enter(&self, scope: &Scope, path: &str, name: &str) -> Result<Self, SkipReason> {
        if scope.index_dir.as_deref() == Some(path) {
            return Err(SkipReason::IndexFolder);
        }
        if let Some(reason) = names::folder(name) {
            return Err(reason);
        }
        let leave = self.named(scope, path, name, true)?;
        let folder = scope.root.join(path);
        let is_top = git::is_work_tree(&folder);
        if is_top && !scope.files.submodules {
            return Err(SkipReason::Submodule);
        }
        let is_build_name = names::BUILD_FOLDERS.contains(&name);
        if is_build_name && !leave.is_forced && self.is_built(path, &folder) {
            return Err(SkipReason::BuildFolder);
        }
        let is_included = self.is_included || scope.include.matches(path);
        let path = format!("{path}/");
        let full = format!("{}{path}", self.before);
        let rules = if scope.files.respect_ignore_files {
            Layer::inside(&folder, &full, is_top, self.rules.clone())
        } else {
            None
        };
        let repository = if is_top {
            Arc::new(Repository::new(Some(folder), full))
        } else {
            self.repository.clone()
        };
        let is_ignored_by_git = leave.is_ignored_by_git && !is_top;
        let before = self.before.clone();
        Ok(Self { path, rules, before, repository, is_included, is_ignored_by_git })
    }

    /// The file at `path`, called `name`, when it is in scope.
    fn keep(&self, scope: &Scope, path: &str, name: &str) -> Result<Candidate, SkipReason> {
        // On some systems a name may hold what is a separator on others.
        let path = RelPath::new(Path::new(path)).ok_or(SkipReason::ControlName)?;
        if names::is_secret(&path) {
            return Err(SkipReason::Secret);
        }
        let leave = self.named(scope, path.as_str(), name, false)?;
        if !self.is_included && !scope.include.matches(path.as_str()) {
            return Err(SkipReason::NotIncluded);
        }
        match names::file(&path) {
            Some(reason) if reason == SkipReason::Binary || !leave.is_forced => return Err(reason),
            _ => {}
        }
        let metadata =
            fs::symlink_metadata(path.under(&scope.root)).map_err(|e| SkipReason::of_error(&e))?;
        if !metadata.is_file() {
            return Err(SkipReason::Special);
        }
        if metadata.len() > scope.files.file_bytes_max {
            return Err(SkipReason::TooLarge);
        }
        if !scope.speaks(&path) {
            return Err(SkipReason::Language);
        }
        let (size, mtime_ns) = (metadata.len(), mtime_ns(&metadata));
        Ok(Candidate { path, size, mtime_ns, changed_ns: mtime_ns.max(ctime_ns(&metadata)) })
    }

    /// What the dot, ignore files and `files.exclude` say of a file or folder alike.
    fn named(
        &self,
        scope: &Scope,
        path: &str,
        name: &str,
        is_folder: bool,
    ) -> Result<Leave, SkipReason> {
        if name.starts_with('.') && !scope.files.hidden {
            return Err(SkipReason::Hidden);
        }
        let verdict = match &self.rules {
            Some(rules) if self.before.is_empty() => rules.verdict(path, is_folder),
            Some(rules) => rules.verdict(&format!("{}{path}", self.before), is_folder),
            None => Verdict::Silent,
        };
        let is_ignored_by_git = verdict == Verdict::IgnoredByGit
            || (self.is_ignored_by_git && verdict == Verdict::Silent);
        if verdict == Verdict::Ignored || (is_ignored_by_git && !self.is_tracked(path, is_folder)) {
            return Err(SkipReason::Ignored);
        }
        if scope.exclude.matches(path) {
            return Err(SkipReason::Excluded);
        }
        Ok(Leave { is_forced: verdict == Verdict::Forced, is_ignored_by_git })
    }

    /// Whether git tracks a file, or something in a folder.
    fn is_tracked(&self, path: &str, is_folder: bool) -> bool {
        let Some(tracked) = self.repository.tracked() else { return false };
        let path = self.in_repository(path);
        tracked.has(&path) || (is_folder && tracked.has_inside(&path))
    }

    /// Whether a folder with the name of build results holds them: git tracks nothing in it, or,
    /// without git, what stands beside it or in it says so.
    fn is_built(&self, path: &str, folder: &Path) -> bool {
        if let Some(tracked) = self.repository.tracked() {
            return !tracked.has_inside(&self.in_repository(path));
        }
        let beside = folder.parent().unwrap_or(folder);
        names::MANIFESTS.iter().any(|name| beside.join(name).exists())
            || names::MARKERS.iter().any(|name| folder.join(name).exists())
    }

    /// `path` relative to the work tree that it lies in.
    fn in_repository(&self, path: &str) -> String {
        let full = format!("{}{path}", self.before);
        full.strip_prefix(&self.repository.path).map(str::to_owned).unwrap_or(full)
    }
}

/// A repository, as far as a walk asks about it.
#[derive(Debug)]
struct Repository {
    /// `None` without git.
    work_tree: Option<PathBuf>,
    /// Its path from the outermost ignore file, with `/` at its end.
    path: String,
    tracked: OnceLock<Option<Tracked>>,
}

impl Repository {
    fn new(work_tree: Option<PathBuf>, path: String) -> Self {
        Self { work_tree, path, tracked: OnceLock::new() }
    }

    /// What git tracks. Read when it is first asked for, which many trees never do.
    fn tracked(&self) -> Option<&Tracked> {
        self.tracked.get_or_init(|| Tracked::of(self.work_tree.as_ref()?)).as_ref()
    }
}

/// Modification time in nanoseconds since 1970; negative before, 0 where there is none.
pub(super) fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else { return 0 };
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, std::ops::Neg::neg)
        }
    }
}

/// When the file's content or description changed: nanoseconds since 1970.
#[cfg(unix)]
fn ctime_ns(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn ctime_ns(metadata: &Metadata) -> i64 {
    mtime_ns(metadata)
}

/// The first line of a file, cut at 256 bytes; empty when it cannot be read.
fn first_line(path: &Path) -> String {
    const BYTES_MAX: u64 = 256;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    let line = bytes.split(|byte| *byte == b'\n').next().filter(|_| read.is_ok());
    String::from_utf8_lossy(line.unwrap_or_default()).trim_end().to_owned()
}

/// The index folder relative to the root, with `/`, when it lies inside the root.
fn inside(root: &Path, index_dir: &Path) -> Option<String> {
    let path = root.join(index_dir);
    let mut parts = Vec::new();
    for part in path.strip_prefix(root).ok()?.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir => drop(parts.pop()?),
            _ => {}
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
