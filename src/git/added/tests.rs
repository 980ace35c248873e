//! Repositories with changes of every kind, and how lines move from one text to the next.

use std::fs;
use std::path::PathBuf;

use git2::{IndexAddOption, Oid, Signature};
use proptest::prelude::*;

use super::*;

struct Work {
    _dir: tempfile::TempDir,
    root: PathBuf,
    git: Repository,
}

/// A repository whose first commit holds `files`.
fn work(files: &[(&str, &str)]) -> Work {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let git = Repository::init(&root).unwrap();
    let work = Work { _dir: dir, root, git };
    for (path, text) in files {
        work.write(path, text);
    }
    work.commit();
    work
}

impl Work {
    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn stage(&self) {
        let mut index = self.git.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
    }

    fn commit(&self) -> Oid {
        self.stage();
        let tree = self.git.index().unwrap().write_tree().unwrap();
        let tree = self.git.find_tree(tree).unwrap();
        let who = Signature::now("a", "a@example.org").unwrap();
        let parent = head(&self.git);
        let parents: Vec<&Commit<'_>> = parent.iter().collect();
        self.git.commit(Some("HEAD"), &who, &who, "one", &tree, &parents).unwrap()
    }

    fn added(&self, since: Option<&str>, staged: bool) -> Vec<(String, Vec<(u32, u32)>)> {
        let added = added_lines(&self.root, since, staged).unwrap();
        let plain = |lines: Vec<LineRange>| lines.iter().map(|l| (l.start, l.end)).collect();
        added.into_iter().map(|(path, lines)| (path, plain(lines))).collect()
    }
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n} of the text\n")).collect()
}

fn entry(path: &str, lines: &[(u32, u32)]) -> (String, Vec<(u32, u32)>) {
    (path.to_owned(), lines.to_vec())
}

#[test]
fn changed_lines_and_new_files_are_added_and_what_only_moved_is_not() {
    let text = lines(20);
    let work = work(&[("a.rs", &text), ("old.rs", &text), ("gone.rs", &lines(9))]);
    assert_eq!(work.added(None, false), [], "nothing changed");
    work.write("a.rs", format!("new\n{}more\n", text.replace("line 7 ", "LINE 7 ")));
    fs::rename(work.root.join("old.rs"), work.root.join("moved.rs")).unwrap();
    fs::remove_file(work.root.join("gone.rs")).unwrap();
    work.write("x/new.rs", "one\ntwo\n");
    work.write("ignored.rs", "one\n");
    work.write(".gitignore", "ignored.rs\n");
    let expected = [
        entry(".gitignore", &[(1, 1)]),
        entry("a.rs", &[(1, 1), (8, 8), (22, 22)]),
        entry("x/new.rs", &[(1, 2)]),
    ];
    assert_eq!(work.added(None, false), expected);
    work.stage();
    assert_eq!(work.added(None, true), expected, "all of it staged");
    let first = head(&work.git).unwrap().id().to_string();
    work.commit();
    assert_eq!(work.added(None, false), []);
    assert_eq!(work.added(Some(&first), false), expected, "committed since");
}

#[test]
fn a_moved_file_has_only_the_lines_that_changed_on_the_way() {
    let text = lines(30);
    let work = work(&[("src/old.rs", &text)]);
    fs::remove_file(work.root.join("src/old.rs")).unwrap();
    work.write("src/new.rs", text.replace("line 9 ", "LINE 9 "));
    assert_eq!(work.added(None, false), [entry("src/new.rs", &[(9, 9)])], "untracked");
    work.stage();
    assert_eq!(work.added(None, true), [entry("src/new.rs", &[(9, 9)])], "staged");
}

#[test]
fn a_copied_file_is_new_as_a_whole() {
    let text = lines(30);
    let work = work(&[("a.rs", &text)]);
    work.write("b.rs", &text);
    assert_eq!(work.added(None, false), [entry("b.rs", &[(1, 30)])]);
    work.stage();
    assert_eq!(work.added(None, true), [entry("b.rs", &[(1, 30)])]);
}

#[test]
fn staged_lines_are_found_where_the_work_tree_has_them() {
    let work = work(&[("a.rs", &lines(10))]);
    work.write("a.rs", format!("{}staged 1\nstaged 2\nstaged 3\n", lines(10)));
    work.write("b.rs", "staged\n");
    work.stage();
    let later = lines(10).replace("line 1 ", "before\nLINE 1 ");
    work.write("a.rs", format!("{later}staged 1\nother 2a\nother 2b\nstaged 3\nunstaged\n"));
    work.write("c.rs", "unstaged\n");
    fs::rename(work.root.join("b.rs"), work.root.join("moved.rs")).unwrap();
    let expected = [entry("a.rs", &[(12, 15)]), entry("moved.rs", &[(1, 1)])];
    assert_eq!(work.added(None, true), expected);
}

#[test]
fn what_the_other_branch_did_meanwhile_is_not_ours() {
    let work = work(&[("a.rs", &lines(10))]);
    let start = head(&work.git).unwrap();
    work.git.branch("side", &start, false).unwrap();
    work.write("a.rs", format!("theirs\n{}", lines(10)));
    work.write("theirs.rs", "x\n");
    let theirs = work.commit().to_string();
    work.git.set_head("refs/heads/side").unwrap();
    work.git.reset(start.as_object(), git2::ResetType::Hard, None).unwrap();
    work.write("ours.rs", "y\n");
    work.commit();
    assert_eq!(work.added(Some(&theirs), false), [entry("ours.rs", &[(1, 1)])]);
    assert_eq!(base(&work.root, &theirs).unwrap(), start.id().to_string());
    assert_eq!(base(&work.root, "HEAD").unwrap(), head(&work.git).unwrap().id().to_string());
}

#[test]
fn paths_are_told_from_the_root_that_was_asked_for() {
    let work = work(&[("packages/one/a.rs", "a\n"), ("b.rs", "b\n")]);
    work.write("packages/one/a.rs", "a\nb\n");
    work.write("b.rs", "b\nc\n");
    let added = added_lines(&work.root.join("packages/one"), None, false).unwrap();
    assert_eq!(added.into_keys().collect::<Vec<_>>(), ["a.rs"]);
}

#[test]
fn text_that_git_takes_for_binary_has_lines_too() {
    let work = work(&[("a.txt", "x\n")]);
    work.write("a.txt", b"x\n\0\0\ny\n");
    assert_eq!(work.added(None, false), [entry("a.txt", &[(2, 3)])]);
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    Repository::init(&root).unwrap();
    fs::write(root.join("a.rs"), "a\nb\n").unwrap();
    let added = added_lines(&root, None, false).unwrap();
    assert_eq!(added["a.rs"], [LineRange { start: 1, end: 2 }]);
}

#[test]
fn who_cannot_answer_says_why() {
    let work = work(&[("a.rs", "a\n")]);
    let message = |root: &Path, since| added_lines(root, Some(since), false).unwrap_err();
    let unknown = message(&work.root, "no-such-branch");
    assert_eq!(unknown.to_string(), "`no-such-branch` names no commit");
    let plain = tempfile::tempdir().unwrap();
    let without = message(plain.path(), "HEAD");
    assert!(without.to_string().starts_with("there is no git repository at"), "{without}");
    // The boundary of a shallow clone has no parents; what lies before it is unknown.
    let first = head(&work.git).unwrap().id().to_string();
    work.write("a.rs", "b\n");
    let second = work.commit().to_string();
    fs::write(work.root.join(".git/shallow"), format!("{second}\n")).unwrap();
    let lacking = message(&work.root, &first);
    assert!(lacking.to_string().contains("this shallow clone does not hold"), "{lacking}");
    assert!(lacking.next_step().unwrap().contains("fetch-depth: 0"), "{lacking:?}");
}

proptest! {
    /// Lines that a later edit leaves alone are found by their text.
    #[test]
    fn carried_lines_are_the_same_lines(
        old in prop::collection::vec(0u8..6, 1..30),
        new in prop::collection::vec(0u8..6, 0..30),
        picked in prop::collection::vec((0usize..30, 0usize..5), 0..4),
    ) {
        let text = |tokens: &[u8]| tokens.iter().map(|t| format!("{t}\n")).collect::<String>();
        let (before, after) = (text(&old), text(&new));
        let patch = Patch::from_buffers(
            before.as_bytes(), None, after.as_bytes(), None, Some(&mut options()),
        ).unwrap();
        let hunks: Vec<Hunk> = (0..patch.num_hunks()).map(|at| {
            let (hunk, _) = patch.hunk(at).unwrap();
            Hunk {
                old: Span { start: hunk.old_start(), count: hunk.old_lines() },
                new: Span { start: hunk.new_start(), count: hunk.new_lines() },
            }
        }).collect();
        let ranges: Vec<LineRange> = picked.iter().filter_map(|(start, more)| {
            let (start, end) = (*start as u32 + 1, (*start + *more) as u32 + 1);
            (end as usize <= old.len()).then_some(LineRange { start, end })
        }).collect();
        let carried = carry(&ranges, &hunks);
        let has = |ranges: &[LineRange], line: u32| {
            ranges.iter().any(|range| (range.start..=range.end).contains(&line))
        };
        // Each old line that stays, with its new number.
        let (mut from, mut to) = (1u32, 1u32);
        let mut kept = Vec::new();
        for hunk in hunks.iter().copied().chain([Hunk {
            old: Span { start: old.len() as u32 + 1, count: 1 },
            new: Span { start: new.len() as u32 + 1, count: 1 },
        }]) {
            while from <= hunk.old.last_before() {
                kept.push((from, to));
                from += 1;
                to += 1;
            }
            from = hunk.old.next();
            to = hunk.new.next();
        }
        for (before, after) in kept {
            prop_assert_eq!(old[before as usize - 1], new[after as usize - 1]);
            prop_assert_eq!(has(&ranges, before), has(&carried, after), "{} {}", before, after);
        }
        for pair in carried.windows(2) {
            prop_assert!(pair[0].end + 1 < pair[1].start);
        }
    }
}
