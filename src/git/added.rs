//! Here is a work tree: which of its lines are new or changed against a revision?
//!
//! Lines are those of the work tree's present text. A moved file's untouched lines are not new. What
//! is asked against is where HEAD left the revision, their merge base: what a pull request changes,
//! whatever came to the other branch meanwhile.

use std::collections::BTreeMap;
use std::path::Path;

use git2::{
    Commit, Delta, Diff, DiffFindOptions, DiffFlags, DiffOptions, ErrorCode, Patch, Repository,
    Tree,
};

use super::{commit_of, inside, repository, top, untold};
use crate::error::{Error, Result};
use crate::types::LineRange;

/// Of larger files git compares no lines; all of their lines count.
const BYTES_MAX: i64 = 16 << 20;

/// All lines of a file.
const WHOLE: LineRange = LineRange { start: 1, end: u32::MAX };

/// Added lines by path.
type Added = BTreeMap<String, Vec<LineRange>>;

/// The lines under `root` that are not as at the merge base of HEAD and the commit `since` (at HEAD
/// when `None`), by path relative to `root` with `/`: ascending, apart from each other, in the work
/// tree's present text. Files that git does not track are new as a whole, ignored ones are never
/// named. With `staged` only lines that are staged count, where the work tree still has them;
/// lines of the work tree that replace staged ones count for these.
///
/// # Errors
/// Usage: no repository, `since` is not in it, or a shallow clone lacks the merge base. Environment:
/// git's own data cannot be read.
pub fn added_lines(root: &Path, since: Option<&str>, staged: bool) -> Result<Added> {
    let repository = repository(root)?;
    let top = top(root)?;
    let commit = match since {
        Some(since) => Some(fork(&repository, since)?),
        None => head(&repository),
    };
    let tree = commit.map(|commit| commit.tree()).transpose();
    let found = tree.and_then(|tree| {
        if staged {
            staged_lines(&repository, tree.as_ref())
        } else {
            work_tree_lines(&repository, tree.as_ref())
        }
    });
    let found = found.map_err(|error| untold(&top, error))?;
    let inside = inside(root, &top);
    let below = |path: &str| Some(Path::new(path).strip_prefix(&inside).ok()?.to_str()?.to_owned());
    Ok(found.into_iter().filter_map(|(path, lines)| Some((below(&path)?, lines))).collect())
}

/// The commit, as 40 hex digits, at which HEAD left `revision`: their merge base. The revision
/// itself before the first commit and when the two have nothing in common.
///
/// # Errors
/// As [`added_lines`].
pub fn base(folder: &Path, revision: &str) -> Result<String> {
    Ok(fork(&repository(folder)?, revision)?.id().to_string())
}

fn head(repository: &Repository) -> Option<Commit<'_>> {
    repository.head().ok()?.peel_to_commit().ok()
}

fn fork<'r>(repository: &'r Repository, revision: &str) -> Result<Commit<'r>> {
    let named = commit_of(repository, revision)?;
    let Some(head) = head(repository) else { return Ok(named) };
    let base = repository.merge_base(named.id(), head.id());
    match base.and_then(|base| repository.find_commit(base)) {
        Ok(base) => Ok(base),
        Err(_) if repository.is_shallow() => Err(Error::usage(format!(
            "this shallow clone does not hold the commit at which HEAD left `{revision}`"
        ))
        .hint("`git fetch --unshallow` fetches it; a workflow checks out with `fetch-depth: 0`")),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(named),
        Err(error) => Err(Error::environment(format!("git cannot look up `{revision}`"))
            .hint("`git fsck` says what is damaged")
            .because(error)),
    }
}

/// Lines of the work tree that differ from `tree`.
fn work_tree_lines(repository: &Repository, tree: Option<&Tree<'_>>) -> Result<Added, git2::Error> {
    let diff = repository.diff_tree_to_workdir_with_index(tree, Some(&mut options()))?;
    let mut added = Added::new();
    for edit in edits(diff)? {
        added.insert(edit.path, edit.hunks.iter().filter_map(|hunk| hunk.new.range()).collect());
    }
    added.retain(|_, lines| !lines.is_empty());
    Ok(added)
}

/// Lines that are staged against `tree`, where the work tree has them.
fn staged_lines(repository: &Repository, tree: Option<&Tree<'_>>) -> Result<Added, git2::Error> {
    let staged = edits(repository.diff_tree_to_index(tree, None, Some(&mut options()))?)?;
    let later = edits(repository.diff_index_to_workdir(None, Some(&mut options()))?)?;
    let later: BTreeMap<String, Edit> =
        later.into_iter().filter_map(|edit| Some((edit.before.clone()?, edit))).collect();
    let mut added = Added::new();
    for edit in staged {
        let lines: Vec<LineRange> = edit.hunks.iter().filter_map(|hunk| hunk.new.range()).collect();
        let (path, lines) = match later.get(&edit.path) {
            Some(later) => (later.path.clone(), carry(&lines, &later.hunks)),
            None => (edit.path, lines),
        };
        if !lines.is_empty() {
            added.insert(path, lines);
        }
    }
    Ok(added)
}

fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).show_untracked_content(true);
    options.include_typechange(true).ignore_submodules(true);
    options.context_lines(0).interhunk_lines(0).force_text(true).max_size(BYTES_MAX);
    options
}

/// What happened to one file.
struct Edit {
    /// Its path before, unless it is new.
    before: Option<String>,
    path: String,
    /// In order.
    hunks: Vec<Hunk>,
}

/// Lines that stand for others.
#[derive(Clone, Copy, Debug)]
struct Hunk {
    old: Span,
    new: Span,
}

/// `count` lines from `start` (1-based); when there are none, the place behind line `start`.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    count: u32,
}

impl Span {
    fn range(self) -> Option<LineRange> {
        let end = self.start.saturating_add(self.count).saturating_sub(1);
        (self.count > 0).then_some(LineRange { start: self.start, end })
    }

    /// The first line behind it.
    fn next(self) -> u32 {
        if self.count > 0 { self.start.saturating_add(self.count) } else { self.start + 1 }
    }

    /// The last line before it.
    fn last_before(self) -> u32 {
        if self.count > 0 { self.start.saturating_sub(1) } else { self.start }
    }
}

/// The files that a diff is about, moved ones found again.
fn edits(mut diff: Diff<'_>) -> Result<Vec<Edit>, git2::Error> {
    // Copied files are not sought: what is copied is what this is about.
    let mut moves = DiffFindOptions::new();
    moves.renames(true).for_untracked(true);
    diff.find_similar(Some(&mut moves))?;
    let mut edits = Vec::new();
    for at in 0..diff.deltas().len() {
        let Some(delta) = diff.get_delta(at) else { continue };
        if matches!(delta.status(), Delta::Unmodified | Delta::Ignored) {
            continue;
        }
        let text = |path: Option<&Path>| path.and_then(Path::to_str).map(str::to_owned);
        let is_new = matches!(delta.status(), Delta::Added | Delta::Untracked);
        let before = if is_new { None } else { text(delta.old_file().path()) };
        let Some(path) = text(delta.new_file().path()) else { continue };
        let hunks = match delta.status() {
            // What both sides of a merge say stands in the file, between markers.
            Delta::Conflicted => vec![everything()],
            _ => hunks(&diff, at)?,
        };
        edits.push(Edit { before, path, hunks });
    }
    Ok(edits)
}

fn everything() -> Hunk {
    let whole = Span { start: WHOLE.start, count: WHOLE.end };
    Hunk { old: whole, new: whole }
}

fn hunks(diff: &Diff<'_>, at: usize) -> Result<Vec<Hunk>, git2::Error> {
    let Some(patch) = Patch::from_diff(diff, at)? else { return Ok(Vec::new()) };
    if patch.delta().flags().contains(DiffFlags::BINARY) {
        return Ok(vec![everything()]);
    }
    let hunk = |at: usize| {
        let (hunk, _) = patch.hunk(at)?;
        Ok(Hunk {
            old: Span { start: hunk.old_start(), count: hunk.old_lines() },
            new: Span { start: hunk.new_start(), count: hunk.new_lines() },
        })
    };
    (0..patch.num_hunks()).map(hunk).collect()
}

/// Where `lines` of the old text are in the new one. Lines that others stand for are where these are.
fn carry(lines: &[LineRange], hunks: &[Hunk]) -> Vec<LineRange> {
    let mut carried = Vec::new();
    let (mut from, mut moved) = (1, 0);
    for hunk in hunks {
        kept(lines, LineRange { start: from, end: hunk.old.last_before() }, moved, &mut carried);
        let replaced = hunk.old.range();
        let is_meant = |old: LineRange| lines.iter().any(|range| overlap(*range, old));
        if replaced.is_some_and(is_meant) {
            carried.extend(hunk.new.range());
        }
        from = hunk.old.next();
        moved = i64::from(hunk.new.next()) - i64::from(from);
    }
    kept(lines, LineRange { start: from, end: u32::MAX }, moved, &mut carried);
    LineRange::joined(carried)
}

/// Adds what of `lines` lies in `stretch`, which moved by so many lines.
fn kept(lines: &[LineRange], stretch: LineRange, moved: i64, carried: &mut Vec<LineRange>) {
    let place = |line: u32| u32::try_from(i64::from(line) + moved).unwrap_or(u32::MAX);
    for range in lines.iter().filter(|range| overlap(**range, stretch)) {
        let (start, end) = (range.start.max(stretch.start), range.end.min(stretch.end));
        carried.push(LineRange { start: place(start), end: place(end) });
    }
}

fn overlap(a: LineRange, b: LineRange) -> bool {
    a.start <= b.end && b.start <= a.end
}

#[cfg(test)]
mod tests;
