//! Keep an index fresh: by named paths (refresh), or by all that changed (sync).
//!
//! A plain sync compares the whole tree by size, times and, where these cannot vouch, content. git is
//! not asked what changed: it does not see a file that was indexed while it was changed and then
//! restored, nor one that `.saiignore` brings back, and its own look at the work tree takes as long.
//! Where a commit or the staged changes are named, git's answer is the list of paths to look at.

use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::plan::{self, Paths, ToRead};
use super::run::{Outcome, Run, Work, left_out, no_index};
use super::scope::SkipReason;
use super::{Phase, ProgressFn, index_dir};
use crate::config::{Config, scope_fingerprint};
use crate::disk;
use crate::error::{Error, Result};
use crate::git;
use crate::turn::Turn;
use crate::types::RelPath;

/// How many paths or changed files one call from an agent may be about.
pub const PATHS_MAX: usize = 200;

/// Files that decide which other files are indexed.
const RULE_FILES: &[&str] = &[".gitignore", ".ignore", ".saiignore", ".gitmodules"];

/// Named paths to make the index equal to.
#[derive(Clone, Default)]
pub struct RefreshQuery {
    /// Files or folders, relative to the root or absolute inside it. A folder stands for all in it.
    pub paths: Vec<String>,
    /// More paths than this are an error.
    pub paths_max: Option<usize>,
    /// Told about progress, from the indexing thread, at most ten times a second.
    pub progress: Option<ProgressFn>,
}

/// What changed, to make the index equal to: everything, unless `since` or `staged` narrows it.
#[derive(Clone, Default)]
pub struct SyncQuery {
    /// Only what changed since this revision, up to the work tree as it is.
    pub since: Option<String>,
    /// Only what is staged, against HEAD or `since`.
    pub staged: bool,
    /// More changed files than this are an error.
    pub files_max: Option<usize>,
    /// For hooks: wait for other writers as long as it takes, unless another sync waits already,
    /// which will see the same changes.
    pub in_turn: bool,
    /// Told about progress, from the indexing thread, at most ten times a second.
    pub progress: Option<ProgressFn>,
}

impl std::fmt::Debug for RefreshQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RefreshQuery").field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SyncQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SyncQuery");
        shown.field("since", &self.since).field("staged", &self.staged).finish_non_exhaustive()
    }
}

/// A file that was read and is in the index now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refreshed {
    pub path: RelPath,
    /// How many chunks it has.
    pub chunks: usize,
}

/// What a refresh or a sync did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefreshReply {
    /// Files that were read and are indexed, sorted by path: all that were named, whether they had
    /// changed or not; in a sync of everything only those that had.
    pub refreshed: Vec<Refreshed>,
    /// Files that were indexed and are gone or left out now, sorted.
    pub removed: Vec<RelPath>,
    /// The generation that is current now.
    pub generation: u64,
    /// Whether it is new.
    pub published: bool,
    /// The commit that the changes are counted from, if any: 40 hex digits.
    pub since: Option<String>,
    /// The commit that is checked out, if any.
    pub head: Option<String>,
    /// What else the reader should know, a sentence each.
    pub notes: Vec<String>,
    /// Wall time.
    pub seconds: f64,
}

/// Makes the index equal to the tree at and under the named paths; nothing else is looked at.
///
/// # Errors
/// Usage: no path, too many, or one outside the root, named; then nothing was done. Index: there is
/// no index, or it was made with another model or chunker. Busy, Stopped and Environment as in
/// [`super::index`].
pub fn refresh(config: &Config, query: &RefreshQuery, turn: &Turn) -> Result<RefreshReply> {
    let started = Instant::now();
    if query.paths.is_empty() {
        return Err(Error::usage("refresh requires at least one path"));
    }
    if let Some(max) = query.paths_max.filter(|max| query.paths.len() > *max) {
        return Err(Error::usage(format!("too many paths (max {max})"))
            .hint("name a folder for all that is in it, or sync"));
    }
    let named: Vec<Option<RelPath>> =
        query.paths.iter().map(|path| inside(&config.root, path)).collect::<Result<_>>()?;
    must_exist(config)?;
    let mut run = Run::begin(config, query.progress.clone(), false, turn)?;
    let named: Option<Vec<RelPath>> = named.into_iter().collect();
    let mut asked = Asked { explains: true, ..Asked::default() };
    let work = if let Some(paths) = named {
        let mut work = look(&run, &paths, &mut asked.notes)?;
        work.plan.settle(config);
        work
    } else {
        // The root itself: no time vouches for any file.
        run.compared = None;
        run.compare()?
    };
    answer(run, Work { lists_same: true, ..work }, asked, started)
}

/// Makes the index equal to the tree where it changed.
///
/// # Errors
/// Usage: `since` names no commit, there is no git to ask, or more files changed than allowed. Index:
/// there is no index, or it was made with another model or chunker. Busy, Stopped and Environment as
/// in [`super::index`].
pub fn sync(config: &Config, query: &SyncQuery, turn: &Turn) -> Result<RefreshReply> {
    let started = Instant::now();
    let since = query.since.as_deref().map(|name| git::commit(&config.root, name)).transpose()?;
    must_exist(config)?;
    let progress = query.progress.clone();
    let run = if query.in_turn {
        match Run::begin_in_turn(config, progress, turn)? {
            Some(run) => run,
            None => return another_waits(config, started),
        }
    } else {
        Run::begin(config, progress, false, turn)?
    };
    let mut asked = Asked { says_nothing_changed: true, ..Asked::default() };
    let work = if since.is_some() || query.staged {
        asked.since = since.or_else(|| run.head.clone());
        by_git(&run, query.staged, &mut asked)?
    } else {
        asked.since = run.indexed_head();
        asked.notes.extend(without_git(&run));
        run.compare()?
    };
    let changed = work.plan.read.len() + work.plan.removed.len();
    if let Some(max) = query.files_max.filter(|max| changed > *max) {
        return Err(Error::usage(format!("too many changed files ({changed}, max {max})")).hint(
            "name a later revision as `since`, name the paths to refresh, or run `sai index`, \
             which has no limit",
        ));
    }
    answer(run, work, asked, started)
}

/// Compares what git names; everything, when git names a file that decides what is indexed, or when
/// the settings that decide it are not those of the index.
fn by_git(run: &Run<'_>, staged: bool, asked: &mut Asked) -> Result<Work> {
    let config = run.config;
    let since = asked.since.as_deref();
    let changes = git::changes(&config.root, since, staged, config.files.submodules)?;
    let paths = changes.iter().filter_map(|path| RelPath::new(Path::new(path)));
    let paths: Vec<RelPath> = paths.collect();
    let other_rules = paths.iter().any(|path| RULE_FILES.contains(&path.file_name()))
        || run.indexed()?.meta().scope != scope_fingerprint(config);
    let mut work = look(run, &paths, &mut Vec::new())?;
    if other_rules {
        let named = std::mem::replace(&mut work, run.compare()?).plan;
        // Only what git names is listed when it is found as indexed.
        work.plan.same.clear();
        let known = Paths::new(work.plan.read.iter().map(|wanted| &wanted.file.path));
        let is_new = |wanted: &ToRead| !known.hold(wanted.file.path.as_str());
        work.plan.read.extend(named.read.into_iter().filter(is_new));
        let note = "what decides which files are indexed changed, so the whole tree was compared";
        asked.notes.push(note.to_owned());
    }
    work.plan.settle(config);
    Ok(Work { lists_same: true, ..work })
}

/// Compares what is at and under `paths` with the index. `notes` gets a sentence for each path that
/// is nowhere or left out by name.
fn look(run: &Run<'_>, paths: &[RelPath], notes: &mut Vec<String>) -> Result<Work> {
    run.report.phase(Phase::Walking);
    let (listing, missing) = run.scope.look(paths);
    let named = Paths::new(paths);
    let reader = run.indexed()?;
    let plan = plan::named(reader, &listing, &named)?;
    for path in missing {
        let here = Paths::new([&path]);
        if !plan.removed.iter().any(|(_, removed)| here.hold(removed.as_str())) {
            notes.push(format!("`{path}` is neither on disk nor in the index"));
        }
    }
    // Of a folder only what it is asked for by name is explained, not all that lies in it.
    let is_told = |path: &str| {
        let plain = path.trim_end_matches('/');
        paths.iter().any(|named| Paths::of(plain).hold(named.as_str()))
    };
    let told = listing.skipped.iter().filter(|left| is_told(&left.path));
    notes.extend(told.map(|left| explained(&left.path, left.reason)));
    let mut skipped = reader.skipped()?;
    skipped.retain(|(path, _)| !named.hold(path));
    skipped.extend(left_out(&listing));
    Ok(Work { plan, skipped, is_whole: false, lists_same: true })
}

/// What a reply says besides what was done.
#[derive(Default)]
struct Asked {
    since: Option<String>,
    notes: Vec<String>,
    /// Whether each file that is left out for its content is told, with the reason.
    explains: bool,
    /// Whether it is told when nothing changed.
    says_nothing_changed: bool,
}

/// Writes and publishes `work` and tells what was done.
fn answer(run: Run<'_>, work: Work, asked: Asked, started: Instant) -> Result<RefreshReply> {
    let head = run.head.clone();
    let outcome = run.finish(work)?;
    let Outcome { generation, published, plan, applied, same, .. } = outcome;
    let Asked { since, mut notes, explains, says_nothing_changed } = asked;
    if explains {
        let before = plan.left_out.iter().filter_map(|(path, reason)| {
            SkipReason::from_name(reason).ok().map(|reason| (path, reason))
        });
        let now = applied.skipped.iter().map(|(path, reason)| (path, *reason));
        notes.extend(before.chain(now).map(|(path, reason)| explained(path, reason)));
    }
    let stored = applied.stored.into_iter().chain(same);
    let refreshed = stored.map(|(path, chunks)| Refreshed { path, chunks });
    let mut refreshed: Vec<Refreshed> = refreshed.collect();
    refreshed.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    refreshed.dedup_by(|a, b| a.path == b.path);
    let removed = plan.removed.into_iter().map(|(_, path)| path);
    let mut removed: Vec<RelPath> = removed.chain(applied.dropped).collect();
    removed.sort_unstable();
    if says_nothing_changed && refreshed.is_empty() && removed.is_empty() {
        notes.push(if published {
            "nothing changed but the list of files that are left out".to_owned()
        } else {
            "nothing changed".to_owned()
        });
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(RefreshReply { refreshed, removed, generation, published, since, head, notes, seconds })
}

fn explained(path: &str, reason: SkipReason) -> String {
    let sentence = reason.describe().trim_end_matches('.');
    format!("`{path}` is left out: {sentence}")
}

/// A path as it was named, relative to the root; `None` for the root itself.
///
/// # Errors
/// Usage when it lies outside the root or no file of the index could have such a name.
fn inside(root: &Path, named: &str) -> Result<Option<RelPath>> {
    let outside = || {
        Error::usage(format!("`{named}` lies outside the root `{}`", root.display()))
            .hint("name paths relative to the root, or absolute ones inside it")
    };
    let path = root.join(named);
    let within = plain(&path).strip_prefix(root).map(Path::to_owned);
    // The same folder may be reached by another name, through a link.
    let within = within.or_else(|_| canonical(&path).strip_prefix(root).map(Path::to_owned));
    let within = within.map_err(|_| outside())?;
    if within.as_os_str().is_empty() {
        return Ok(None);
    }
    RelPath::new(&within).map(Some).ok_or_else(outside)
}

/// The path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The path with every link in its folders followed, as far as they exist.
fn canonical(path: &Path) -> PathBuf {
    let path = plain(path);
    let name = path.file_name().unwrap_or_default();
    disk::real(disk::folder(&path)).join(name)
}

/// Fails when there is no index: to make one is another decision, and more work.
fn must_exist(config: &Config) -> Result<()> {
    match index_dir(config).current()? {
        Some(_) => Ok(()),
        None => Err(no_index(config)),
    }
}

/// The answer of a sync that leaves its work to another one.
fn another_waits(config: &Config, started: Instant) -> Result<RefreshReply> {
    let generation = index_dir(config).current()?.map_or(0, |current| current.number);
    Ok(RefreshReply {
        refreshed: Vec::new(),
        removed: Vec::new(),
        generation,
        published: false,
        since: None,
        head: git::head(&config.root),
        notes: vec!["another sync waits already and will see the same changes".to_owned()],
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Why git could not have told what changed, if so.
fn without_git(run: &Run<'_>) -> Option<String> {
    let root = &run.config.root;
    if git::work_tree(root).is_none() {
        return Some("there is no git here: files are compared by size, times and content".into());
    }
    let indexed = run.indexed_head().filter(|head| git::commit(root, head).is_err())?;
    Some(format!(
        "the indexed commit {indexed} is not in this repository: the whole tree was compared"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_are_named_from_the_root_or_in_full() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("src")).unwrap();
        let full = root.join("src/a.rs");
        for named in ["src/a.rs", "./src/./a.rs", "src/../src/a.rs", full.to_str().unwrap()] {
            let path = inside(&root, named).unwrap().unwrap();
            assert_eq!(path.as_str(), "src/a.rs", "{named}");
        }
        for named in ["", ".", "src/..", root.to_str().unwrap()] {
            assert_eq!(inside(&root, named).unwrap(), None, "{named}");
        }
        for named in ["..", "../x", "src/../../x", "/", "/etc/passwd"] {
            let error = inside(&root, named).unwrap_err();
            assert!(error.to_string().contains(&format!("`{named}` lies outside")), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_through_a_link_to_the_root_is_inside() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let root = base.join("root");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&root, base.join("link")).unwrap();
        let named = base.join("link/gone/a.rs");
        let path = inside(&root, named.to_str().unwrap()).unwrap().unwrap();
        assert_eq!(path.as_str(), "gone/a.rs");
    }
}
