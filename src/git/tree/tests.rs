//! Trees written into folders of their own.

use std::path::PathBuf;

use git2::{IndexAddOption, Signature};

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap();
    (dir, path)
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn commit_index(repository: &Repository) -> String {
    let tree = repository.index().unwrap().write_tree().unwrap();
    commit_tree(repository, &repository.find_tree(tree).unwrap())
}

fn commit_tree(repository: &Repository, tree: &Tree<'_>) -> String {
    let who = Signature::now("a", "a@example.org").unwrap();
    let parent = repository.head().ok().map(|head| head.peel_to_commit().unwrap());
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &who, &who, "one", tree, &parents).unwrap().to_string()
}

fn repository_with(root: &Path, files: &[(&str, &str)]) -> (Repository, String) {
    let repository = Repository::init(root).unwrap();
    for (path, text) in files {
        write(root, path, text);
    }
    let mut index = repository.index().unwrap();
    index.add_all(["*"], IndexAddOption::FORCE, None).unwrap();
    index.write().unwrap();
    let commit = commit_index(&repository);
    (repository, commit)
}

/// Every file below `root` outside of `.git`, with its text.
fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                true if name == ".git" => {}
                true => folders.push(path),
                false => found.push((name, fs::read_to_string(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_commit_lies_in_a_folder_of_its_own_and_nothing_else_changes() {
    let ((_a, root), (_b, to)) = (folder(), folder());
    let before = [
        (".gitattributes", "*.rs filter=evil\n"),
        (".gitignore", "dist\n"),
        ("a.rs", "first\r\n"),
        ("dist/kept.js", "1\n"),
        ("large.rs", "0123456789abcdef0123456789abcdef\n"),
    ];
    let (repository, commit) = repository_with(&root, &before);
    repository.config().unwrap().set_str("filter.evil.smudge", "touch smudged").unwrap();
    write(&root, ".git/info/exclude", "left-out\n");
    write(&root, ".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
    write(&root, "a.rs", "second\n");
    write(&root, "new.rs", "x\n");
    let index = fs::read(root.join(".git/index")).unwrap();
    assert_eq!(write_tree(&root, &commit, &to, 32).unwrap(), to);
    let expected: Vec<(String, String)> =
        before.iter().take(4).map(|(path, text)| ((*path).into(), (*text).into())).collect();
    assert_eq!(files(&to), expected, "the large file is left out");
    assert_eq!(fs::read(root.join(".git/index")).unwrap(), index);
    assert_eq!(fs::read_to_string(root.join("a.rs")).unwrap(), "second\n");
    assert_eq!(super::super::work_tree(&to), Some(to.clone()));
    assert!(super::super::Tracked::of(&to).unwrap().has("dist/kept.js"), "tracked as before");
    assert_eq!(fs::read_to_string(to.join(".git/info/exclude")).unwrap(), "left-out\n");
    assert!(!to.join(".git/hooks/post-checkout").exists());
}

#[test]
fn of_a_root_below_the_top_only_its_folder_and_the_ignore_files_around_it_are_written() {
    let ((_a, root), (_b, to)) = (folder(), folder());
    let (_repository, commit) = repository_with(
        &root,
        &[
            (".gitignore", "x\n"),
            ("other/b.rs", "b\n"),
            ("other/.gitignore", "y\n"),
            ("packages/.saiignore", "z\n"),
            ("packages/one/a.rs", "a\n"),
            ("packages/oneself/c.rs", "c\n"),
            ("top.rs", "t\n"),
        ],
    );
    let inside = write_tree(&root.join("packages/one"), &commit, &to, 99).unwrap();
    assert_eq!(inside, to.join("packages/one"));
    let names: Vec<String> = files(&to).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".gitignore", "packages/.saiignore", "packages/one/a.rs"]);
}

#[test]
fn a_root_that_was_not_there_is_an_empty_folder() {
    let ((_a, root), (_b, to)) = (folder(), folder());
    let (_repository, commit) = repository_with(&root, &[("a.rs", "a\n")]);
    fs::create_dir(root.join("new")).unwrap();
    let inside = write_tree(&root.join("new"), &commit, &to, 99).unwrap();
    assert_eq!(fs::read_dir(inside).unwrap().count(), 0);
}

#[test]
fn hostile_trees_stay_in_the_folder() {
    let ((_a, root), (_b, to)) = (folder(), folder());
    let (repository, _) = repository_with(&root, &[("a.rs", "a\n")]);
    let blob = repository.blob(b"evil\n").unwrap();
    let outside = repository.blob(b"/etc").unwrap();
    // A tree as git stores it: libgit2 itself would not make these names.
    let raw = |entries: &[(&str, &str, Oid)]| {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            bytes.extend_from_slice(id.as_bytes());
        }
        repository.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
    };
    let inner = raw(&[("100644", "x.rs", blob)]);
    let tree = raw(&[
        ("40000", "..", inner),
        ("40000", ".GIT", inner),
        ("40000", "folder", inner),
        ("120000", "link", outside),
        ("40000", "link", inner),
        ("100644", "good.rs", blob),
    ]);
    let Ok(tree) = repository.find_tree(tree) else { return };
    let commit = commit_tree(&repository, &tree);
    // Git may refuse to list such names in an index; then there is an error and no file.
    let written = write_tree(&root, &commit, &to, 99);
    let outside: Vec<_> = fs::read_dir(to.parent().unwrap()).unwrap().flatten().collect();
    assert!(outside.iter().all(|entry| entry.file_name() != "x.rs"));
    assert!(!to.join(".git/x.rs").exists() && !to.join(".GIT/x.rs").exists());
    if written.is_ok() {
        assert_eq!(fs::read_to_string(to.join("good.rs")).unwrap(), "evil\n");
        assert!(!fs::symlink_metadata(to.join("link")).is_ok_and(|link| link.is_symlink()));
    }
}

#[test]
fn no_commit_is_an_error_that_names_it() {
    let ((_a, root), (_b, to)) = (folder(), folder());
    repository_with(&root, &[("a.rs", "a\n")]);
    let error = write_tree(&root, "gone", &to, 99).unwrap_err();
    assert_eq!(error.to_string(), "`gone` names no commit");
}
