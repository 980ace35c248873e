//! Repositories of every shape, healthy and broken.

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap();
    (dir, path)
}

/// Commits the files of the index.
fn commit(repository: &Repository) -> String {
    let mut index = repository.index().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let who = git2::Signature::now("a", "a@example.org").unwrap();
    repository.commit(Some("HEAD"), &who, &who, "first", &tree, &[]).unwrap().to_string()
}

fn add(repository: &Repository, path: &str) {
    let file = repository.workdir().unwrap().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "x\n").unwrap();
    let mut index = repository.index().unwrap();
    index.add_path(Path::new(path)).unwrap();
    index.write().unwrap();
}

/// Whether git tracks something inside `folder`.
fn tracks(work_tree: &Path, folder: &str) -> bool {
    Tracked::of(work_tree).unwrap().has_inside(folder)
}

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let (_dir, root) = folder();
    let repository = Repository::init(&root).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    assert_eq!(work_tree(&root.join("a/b")), Some(root.clone()));
    assert_eq!(head(&root), None, "before the first commit");
    assert!(!tracks(&root, "a"));
    add(&repository, "a/dist/x/build/y.js");
    add(&repository, "dist.txt");
    let id = commit(&repository);
    assert_eq!(head(&root.join("a")), Some(id));
    let tracked = Tracked::of(&root).unwrap();
    assert!(tracked.has("a/dist/x/build/y.js") && tracked.has("dist.txt"));
    assert!(!tracked.has("a/dist") && !tracked.has("a/dist/x/build/y"));
    for (folder, expected) in
        [("a", true), ("a/dist/x/build", true), ("a/d", false), ("dist", false)]
    {
        assert_eq!(tracked.has_inside(folder), expected, "{folder}");
    }
    assert_eq!(exclude_file(&root), Some(root.join(".git/info/exclude")));
}

#[test]
fn a_linked_work_tree_has_a_top_of_its_own_and_shares_the_exclude_file() {
    let (_dir, base) = folder();
    let repository = Repository::init(base.join("main")).unwrap();
    add(&repository, "build/y.js");
    let id = commit(&repository);
    repository.worktree("side", &base.join("side"), None).unwrap();
    let side = base.join("side");
    assert_eq!(work_tree(&side.join("build")), Some(side.clone()));
    assert_eq!(head(&side), Some(id));
    assert!(tracks(&side, "build"));
    let exclude = fs::canonicalize(exclude_file(&side).unwrap()).unwrap();
    assert_eq!(exclude, base.join("main/.git/info/exclude"));
    assert!(is_work_tree(&side));
}

#[test]
fn what_is_no_work_tree_has_no_answers() {
    let (_dir, base) = folder();
    fs::create_dir_all(base.join("plain/in")).unwrap();
    Repository::init_bare(base.join("bare")).unwrap();
    for name in ["plain", "plain/in", "bare", "bare/objects", "missing"] {
        let path = base.join(name);
        assert_eq!(work_tree(&path), None, "{name}");
        assert_eq!(head(&path), None, "{name}");
        assert!(Tracked::of(&path).is_none(), "{name}");
        assert_eq!(exclude_file(&path), None, "{name}");
    }
}

#[test]
fn damage_is_the_same_as_no_git() {
    let (_dir, base) = folder();
    let damage: &[(&str, &str)] = &[
        ("empty/.git/keep", ""),
        ("text/.git", "not a pointer\n"),
        ("astray/.git", "gitdir: ../nowhere\n"),
        ("loop/.git", "gitdir: .\n"),
        ("binary/.git", "\0\u{1}\u{2}"),
    ];
    for (path, text) in damage {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let folder = path.ancestors().find(|folder| is_work_tree(folder)).unwrap();
        assert_eq!(work_tree(folder), None, "{}", path.display());
        assert_eq!(head(folder), None);
        let _ = Tracked::of(folder);
        let _ = exclude_file(folder);
    }
    let broken = base.join("broken");
    let repository = Repository::init(&broken).unwrap();
    add(&repository, "build/x");
    commit(&repository);
    fs::write(broken.join(".git/index"), "DIRC and then nonsense").unwrap();
    fs::write(broken.join(".git/HEAD"), "ref: refs/heads/gone\n").unwrap();
    assert!(Tracked::of(&broken).is_none());
    assert_eq!(head(&broken), None);
    assert_eq!(work_tree(&broken), Some(broken));
}

#[test]
fn a_work_tree_elsewhere_is_not_believed() {
    let (_dir, base) = folder();
    let repository = Repository::init(base.join("r")).unwrap();
    fs::create_dir_all(base.join("other")).unwrap();
    let other = base.join("other");
    repository.config().unwrap().set_str("core.worktree", other.to_str().unwrap()).unwrap();
    assert_eq!(work_tree(&base.join("r")), None);
}

#[cfg(unix)]
#[test]
fn the_work_tree_of_another_user_is_found_too() {
    let (_dir, root) = folder();
    let repository = Repository::init(&root).unwrap();
    add(&repository, "build/x");
    let owned = [root.clone(), root.join(".git"), root.join(".git/index")];
    if owned.iter().any(|path| std::os::unix::fs::chown(path, Some(12345), None).is_err()) {
        println!("left out: only root may give a file away");
        return;
    }
    assert_eq!(work_tree(&root.join("build")), Some(root.clone()));
    assert!(tracks(&root, "build"));
}
