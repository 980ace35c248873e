//! Which files are indexed, and how are they read? Trees on disk: a walk and a check of one path
//! must agree on every one of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use git2::Repository;
use proptest::prelude::*;
use sai::config::Config;
use sai::error::ErrorKind;
use sai::sync::read::read;
use sai::sync::scope::{Candidate, Listing, Scope, SkipReason};
use sai::types::{Language, RelPath};
use tempfile::TempDir;

/// A folder of files on disk.
struct Tree {
    _dir: TempDir,
    root: PathBuf,
}

impl Tree {
    /// Files with their text; a path with `/` at its end is an empty folder.
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let tree = Self { _dir: dir, root };
        for (path, text) in files {
            tree.put(path, text);
        }
        tree
    }

    /// The same, as a git repository with nothing added.
    fn git(files: &[(&str, &str)]) -> Self {
        let tree = Self::new(files);
        init(&tree.root);
        tree
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        if path.ends_with('/') {
            return fs::create_dir_all(file).unwrap();
        }
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn track(&self, path: &str) {
        let repository = Repository::open(&self.root).unwrap();
        let mut index = repository.index().unwrap();
        index.add_path(Path::new(path)).unwrap();
        index.write().unwrap();
    }

    fn config(&self) -> Config {
        Config::built_in(&self.root)
    }

    /// What the defaults list.
    fn walk(&self) -> Listing {
        walk(&self.config())
    }
}

/// A repository without the hooks and samples of the machine's template.
fn init(folder: &Path) {
    let mut options = git2::RepositoryInitOptions::new();
    Repository::init_opts(folder, options.external_template(false)).unwrap();
}

fn walk(config: &Config) -> Listing {
    Scope::new(config).unwrap().walk().unwrap()
}

fn rel(path: &str) -> RelPath {
    RelPath::new(Path::new(path)).unwrap()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.files.iter().map(|file| file.path.as_str()).collect()
}

/// Paths that were left out, with their reason.
fn skipped(listing: &Listing) -> BTreeMap<&str, SkipReason> {
    listing.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.reason)).collect()
}

/// The reason of one path that was left out.
fn reason(listing: &Listing, path: &str) -> SkipReason {
    *skipped(listing).get(path).unwrap_or_else(|| panic!("`{path}` was not left out: {listing:?}"))
}

#[test]
fn ignore_files_of_every_level_and_kind_count() {
    let tree = Tree::git(&[
        (".gitignore", "*.log\n/top.rs\nbuilt/\n"),
        (".git/info/exclude", "own.rs\n"),
        ("a/.gitignore", "!keep.txt\nsecret_plan.rs\n"),
        ("a/.ignore", "!shown.rs\nhidden_by_ignore.rs\n"),
        ("a/b/.saiignore", "*.sql\n!b.csv\n"),
        ("top.rs", ""),
        ("own.rs", ""),
        ("a/top.rs", ""),
        ("a/own.rs", ""),
        ("a/secret_plan.rs", ""),
        ("a/b/secret_plan.rs", ""),
        ("a/hidden_by_ignore.rs", ""),
        ("a/b/x.sql", ""),
        ("a/b/b.csv", ""),
        ("a/b/c.csv", ""),
        ("x.sql", ""),
        ("built/x.rs", ""),
        ("a/built/x.rs", ""),
        ("built.rs", ""),
    ]);
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["a/b/b.csv", "a/top.rs", "built.rs", "x.sql"]);
    let left_out = skipped(&listing);
    assert_eq!(left_out["built/"], SkipReason::Ignored);
    assert_eq!(left_out["a/b/secret_plan.rs"], SkipReason::Ignored);
    assert_eq!(left_out["a/b/c.csv"], SkipReason::Data);
    assert_eq!(left_out["a/own.rs"], SkipReason::Ignored);
    assert_eq!(left_out[".git/"], SkipReason::Pruned);
    assert!(!left_out.contains_key("built/x.rs"), "a folder stands for what is in it");

    let mut config = tree.config();
    config.files.respect_ignore_files = false;
    let listing = walk(&config);
    assert!(paths(&listing).contains(&"a/secret_plan.rs"));
    assert!(paths(&listing).contains(&"built/x.rs"));
}

#[test]
fn what_git_tracks_is_not_ignored_by_git() {
    let tree = Tree::git(&[
        (".gitignore", "env/\n*.gen\n"),
        ("env/tracked.py", ""),
        ("env/other.py", ""),
        ("env/in/other.py", ""),
        ("a.gen", ""),
        ("b.gen", ""),
    ]);
    tree.track("env/tracked.py");
    tree.track("b.gen");
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["b.gen", "env/tracked.py"]);
    assert_eq!(reason(&listing, "env/other.py"), SkipReason::Ignored);
    assert_eq!(reason(&listing, "env/in/"), SkipReason::Ignored);
    let below = walk(&Config::built_in(tree.root.join("env")));
    assert!(paths(&below).contains(&"tracked.py"), "a root is taken as it is: {below:?}");
    tree.put(".saiignore", "b.gen\nenv\n");
    assert!(tree.walk().files.is_empty(), "SAI's own file speaks of tracked files too");
}

#[test]
fn ignore_files_above_the_root_count_inside_a_work_tree_only() {
    let files = [(".gitignore", "*.log\n/sub/x.rs\n"), ("sub/x.rs", ""), ("sub/y.rs", "")];
    let tree = Tree::git(&files);
    let below = walk(&Config::built_in(tree.root.join("sub")));
    assert_eq!(paths(&below), ["y.rs"]);
    assert_eq!(reason(&below, "x.rs"), SkipReason::Ignored);
    let tree = Tree::new(&files);
    let below = walk(&Config::built_in(tree.root.join("sub")));
    assert_eq!(paths(&below), ["x.rs", "y.rs"]);
    assert_eq!(paths(&tree.walk()), ["sub/y.rs"], "without git the files in the root count");
}

#[test]
fn broken_ignore_files_do_no_harm() {
    let tree = Tree::git(&[("a.rs", ""), ("b.rs", ""), ("c.rs", ""), ("sub/.gitignore/", "")]);
    let mut text = b"\xEF\xBB\xBFa.rs\r\n[\n\\\n!\n/\n{\xFF\xFE\n**\xFF\n".to_vec();
    text.extend("z".repeat(5000).as_bytes());
    text.extend(b"\nb.rs   \n");
    tree.put(".gitignore", &text);
    assert_eq!(paths(&tree.walk()), ["c.rs"]);
    let many: String = (0..40_000).map(|i| format!("*a*{i}*b\n")).collect();
    tree.put("sub/.ignore", many);
    tree.put("sub/d.rs", "");
    assert_eq!(paths(&tree.walk()), ["c.rs", "sub/d.rs"]);
}

#[test]
fn folders_of_tools_and_builds_are_pruned() {
    let tree = Tree::git(&[
        ("node_modules/a/x.js", ""),
        ("web/node_modules/a/x.js", ""),
        ("py/__pycache__/x.py", ""),
        ("target/debug/x.rs", ""),
        ("src/build/x.rs", ""),
        ("src/build/deep/y.rs", ""),
        ("web/dist/x.js", ""),
    ]);
    tree.track("src/build/deep/y.rs");
    tree.track("node_modules/a/x.js");
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["src/build/deep/y.rs", "src/build/x.rs"]);
    assert_eq!(reason(&listing, "node_modules/"), SkipReason::Pruned);
    assert_eq!(reason(&listing, "web/node_modules/"), SkipReason::Pruned);
    assert_eq!(reason(&listing, "target/"), SkipReason::BuildFolder);
    assert_eq!(reason(&listing, "web/dist/"), SkipReason::BuildFolder);

    tree.put(".saiignore", "!target/\n!node_modules/\n");
    let listing = tree.walk();
    assert!(paths(&listing).contains(&"target/debug/x.rs"), "brought back by `.saiignore`");
    assert_eq!(reason(&listing, "node_modules/"), SkipReason::Pruned);
}

#[test]
fn without_git_a_build_folder_is_known_by_its_company() {
    let tree = Tree::new(&[
        ("Cargo.toml", ""),
        ("target/x.rs", ""),
        ("go/build/x.go", ""),
        ("env/venv/pyvenv.cfg", ""),
        ("lib/venv/x.py", ""),
    ]);
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["Cargo.toml", "go/build/x.go", "lib/venv/x.py"]);
    assert_eq!(reason(&listing, "target/"), SkipReason::BuildFolder);
    assert_eq!(reason(&listing, "env/venv/"), SkipReason::BuildFolder);
}

#[test]
fn the_index_and_hidden_files_are_left_out() {
    let tree = Tree::new(&[
        (".index/CURRENT", ""),
        ("store/ix/x.rs", ""),
        ("store/y.rs", ""),
        (".github/ci.yml", ""),
        (".x.rs", ""),
    ]);
    let mut config = tree.config();
    config.index_dir = "store/ix".into();
    let listing = walk(&config);
    assert_eq!(paths(&listing), ["store/y.rs"]);
    assert_eq!(reason(&listing, "store/ix/"), SkipReason::IndexFolder);
    assert_eq!(reason(&listing, ".github/"), SkipReason::Hidden);
    let mut config = tree.config();
    config.files.hidden = true;
    let listing = walk(&config);
    assert_eq!(paths(&listing), [".github/ci.yml", ".x.rs", "store/ix/x.rs", "store/y.rs"]);
    assert_eq!(reason(&listing, ".index/"), SkipReason::IndexFolder);
}

#[test]
fn secrets_are_left_out_whatever_is_configured() {
    let names = [".env", ".env.local", "key.pem", "id_rsa", "credentials.json", ".npmrc", "a.p12"];
    let tree = Tree::git(&[(".saiignore", "!*\n"), (".ssh/config", ""), ("ok.rs", "")]);
    for name in names {
        tree.put(name, "token=1\n");
        tree.track(name);
    }
    let mut config = tree.config();
    config.files.hidden = true;
    config.files.respect_ignore_files = false;
    config.files.include = vec!["**".to_owned(), ".env".to_owned()];
    for config in [tree.config(), config] {
        let listing = walk(&config);
        for name in names {
            assert_eq!(reason(&listing, name), SkipReason::Secret, "{name}");
        }
        assert_eq!(reason(&listing, ".ssh/"), SkipReason::Secret);
    }
}

#[test]
fn include_exclude_and_languages_narrow() {
    let tree = Tree::new(&[
        ("src/a.rs", ""),
        ("src/gen/b.rs", ""),
        ("lib/c.py", ""),
        ("lib/run", "#!/usr/bin/env python3\n"),
        ("lib/note", "text\n"),
        ("README.md", ""),
    ]);
    let list = |include: &[&str], exclude: &[&str], languages: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        let mut config = tree.config();
        config.files.include = owned(include);
        config.files.exclude = owned(exclude);
        config.files.languages = owned(languages);
        let listing = walk(&config);
        paths(&listing).join(" ")
    };
    assert_eq!(list(&["src"], &[], &[]), "src/a.rs src/gen/b.rs");
    assert_eq!(list(&["src/**"], &["gen"], &[]), "src/a.rs");
    assert_eq!(list(&["*.rs", "/lib/c.py"], &["src/*.rs"], &[]), "lib/c.py src/gen/b.rs");
    assert_eq!(list(&[], &["lib/"], &[]), "README.md src/a.rs src/gen/b.rs");
    assert_eq!(list(&[], &[], &["py"]), "lib/c.py lib/run");
    assert_eq!(list(&[], &[], &["rust", "markdown"]), "README.md src/a.rs src/gen/b.rs");
}

#[test]
fn a_bad_glob_or_language_is_a_usage_error() {
    let tree = Tree::new(&[]);
    let mut config = tree.config();
    config.files.include = vec!["src/[a".to_owned()];
    let error = Scope::new(&config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("`src/[a`"), "{error}");
    let mut config = tree.config();
    config.files.languages = vec!["rsut".to_owned()];
    let error = Scope::new(&config).unwrap_err();
    assert!(error.to_string().contains("unknown language `rsut`"), "{error}");
    assert!(error.next_step().unwrap().contains("did you mean `rust`"));
}

#[test]
fn an_empty_or_missing_root_is_told_apart() {
    for tree in [Tree::new(&[]), Tree::git(&[])] {
        let listing = tree.walk();
        assert!(listing.files.is_empty(), "{listing:?}");
    }
    let tree = Tree::new(&[]);
    let config = Config::built_in(tree.root.join("gone"));
    let error = Scope::new(&config).unwrap().walk().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(error.to_string().contains("gone"), "{error}");
}

#[test]
fn submodules_are_indexed_by_choice_with_rules_of_their_own() {
    let tree = Tree::git(&[(".gitignore", "*.txt\n"), (".saiignore", "*.sql\n"), ("a.rs", "")]);
    init(&tree.root.join("sub"));
    tree.put("sub/.gitignore", "x.rs\n");
    for name in ["x.rs", "y.rs", "n.txt", "q.sql", "build/z.rs"] {
        tree.put(&format!("sub/{name}"), "");
    }
    let sub = Repository::open(tree.root.join("sub")).unwrap();
    let mut index = sub.index().unwrap();
    index.add_path(Path::new("build/z.rs")).unwrap();
    index.write().unwrap();
    tree.put("linked/.git", "gitdir: ../elsewhere\n");
    tree.put("linked/l.rs", "");

    let listing = tree.walk();
    assert_eq!(paths(&listing), ["a.rs"]);
    assert_eq!(reason(&listing, "sub/"), SkipReason::Submodule);
    assert_eq!(reason(&listing, "linked/"), SkipReason::Submodule);
    let mut config = tree.config();
    config.files.submodules = true;
    let listing = walk(&config);
    assert_eq!(paths(&listing), ["a.rs", "linked/l.rs", "sub/build/z.rs", "sub/n.txt", "sub/y.rs"]);
    assert_agreement(&config);
    tree.put(".gitignore", "sub\n");
    assert_eq!(reason(&walk(&config), "sub/"), SkipReason::Ignored, "it does not resurface");
}

#[test]
fn large_and_sparse_files_are_not_opened() {
    let tree = Tree::new(&[("small.rs", "x"), ("edge.rs", &"x".repeat(100))]);
    let sparse = fs::File::create(tree.root.join("sparse.rs")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    tree.put("over.rs", "x".repeat(101));
    let mut config = tree.config();
    config.files.file_bytes_max = 100;
    let listing = walk(&config);
    assert_eq!(paths(&listing), ["edge.rs", "small.rs"]);
    assert_eq!(reason(&listing, "over.rs"), SkipReason::TooLarge);
    assert_eq!(reason(&listing, "sparse.rs"), SkipReason::TooLarge);
    assert_eq!(reason(&tree.walk(), "sparse.rs"), SkipReason::TooLarge);
}

#[cfg(unix)]
#[test]
fn links_are_never_followed_and_each_file_counts_once() {
    use std::os::unix::fs::symlink;
    let outside = Tree::new(&[("secret.rs", "")]);
    let tree = Tree::new(&[("real/a.rs", ""), ("real/sub/b.rs", "")]);
    let link = |to: &Path, at: &str| symlink(to, tree.root.join(at)).unwrap();
    link(Path::new("real/a.rs"), "same.rs");
    link(Path::new("real"), "folder");
    link(Path::new(".."), "real/up");
    link(Path::new("nowhere"), "broken.rs");
    link(Path::new("loop.rs"), "loop.rs");
    link(&outside.root.join("secret.rs"), "out.rs");
    link(&outside.root, "outfolder");
    link(Path::new("/dev/zero"), ".gitignore");
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["real/a.rs", "real/sub/b.rs"]);
    for (path, expected) in [
        ("same.rs", SkipReason::Link),
        ("folder", SkipReason::Link),
        ("real/up", SkipReason::Link),
        ("broken.rs", SkipReason::LinkBroken),
        ("loop.rs", SkipReason::LinkLoop),
        ("out.rs", SkipReason::LinkOutside),
        ("outfolder", SkipReason::LinkOutside),
    ] {
        assert_eq!(reason(&listing, path), expected, "{path}");
    }
    let scope = Scope::new(&tree.config()).unwrap();
    assert_eq!(scope.check(&rel("folder/a.rs")), Err(SkipReason::Link));
    assert_eq!(scope.check(&rel("outfolder/secret.rs")), Err(SkipReason::LinkOutside));
    assert_agreement(&tree.config());
}

#[cfg(unix)]
#[test]
fn odd_names_and_special_files_have_reasons() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::UnixListener;
    let tree = Tree::new(&[("a\tb.rs", ""), ("größe 漢.rs", ""), ("back\\slash.rs", "")]);
    fs::write(tree.root.join(OsStr::from_bytes(b"bad\xFF.rs")), "").unwrap();
    let _socket = UnixListener::bind(tree.root.join("socket")).unwrap();
    let listing = tree.walk();
    assert_eq!(paths(&listing), ["back\\slash.rs", "größe 漢.rs"]);
    assert_eq!(reason(&listing, "a\tb.rs"), SkipReason::ControlName);
    assert_eq!(reason(&listing, "bad\u{FFFD}.rs"), SkipReason::NotUtf8Name);
    assert_eq!(reason(&listing, "socket"), SkipReason::Special);
    assert_agreement(&tree.config());
    let socket = Candidate { path: rel("socket"), size: 0, mtime_ns: 0, changed_ns: 0 };
    assert_eq!(read(&tree.root, &socket).unwrap_err(), SkipReason::Special);
}

#[cfg(unix)]
#[test]
fn a_pipe_blocks_nobody() {
    let tree = Tree::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(tree.root.join("pipe.rs")).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("left out: there is no mkfifo");
        return;
    }
    let mut config = tree.config();
    config.files.languages = vec!["rust".to_owned()];
    assert_eq!(reason(&walk(&config), "pipe.rs"), SkipReason::Special);
    let pipe = Candidate { path: rel("pipe.rs"), size: 0, mtime_ns: 0, changed_ns: 0 };
    assert_eq!(read(&tree.root, &pipe).unwrap_err(), SkipReason::Special);
    fs::rename(tree.root.join("pipe.rs"), tree.root.join(".gitignore")).unwrap();
    tree.put("a.rs", "");
    assert_eq!(paths(&walk(&config)), ["a.rs"], "an ignore file that is a pipe has no rules");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_has_a_reason() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new(&[("a.rs", "fn a() {}\n"), ("locked/b.rs", "")]);
    let lock = |path: &str, mode| {
        fs::set_permissions(tree.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    lock("a.rs", 0);
    lock("locked", 0);
    let is_root = fs::read(tree.root.join("a.rs")).is_ok();
    let listing = tree.walk();
    let content =
        read(&tree.root, &Candidate { path: rel("a.rs"), size: 10, mtime_ns: 0, changed_ns: 0 });
    if is_root {
        println!("left out: root reads everything");
        assert_eq!(content.unwrap().text, "fn a() {}\n");
    } else {
        assert_eq!(content.unwrap_err(), SkipReason::Unreadable);
        assert_eq!(reason(&listing, "locked/"), SkipReason::Unreadable);
        assert_agreement(&tree.config());
    }
    lock("locked", 0o700);
}

#[test]
fn a_single_path_that_is_no_file_in_scope_has_a_reason() {
    let tree = Tree::git(&[("src/a.rs", "abc"), ("Cargo.lock", ""), ("node_modules/x/y.js", "")]);
    let scope = Scope::new(&tree.config()).unwrap();
    assert_eq!(scope.check(&rel("src/a.rs")).map(|file| file.size), Ok(3));
    for (path, expected) in [
        ("src", SkipReason::Folder),
        ("src/gone.rs", SkipReason::Missing),
        ("gone/a.rs", SkipReason::Missing),
        ("src/a.rs/x", SkipReason::Missing),
        ("Cargo.lock/x", SkipReason::Missing),
        ("Cargo.lock", SkipReason::LockFile),
        ("node_modules/x/y.js", SkipReason::Pruned),
        ("node_modules", SkipReason::Pruned),
        (".git/HEAD", SkipReason::Pruned),
    ] {
        assert_eq!(scope.check(&rel(path)), Err(expected), "{path}");
    }
    for escaping in ["../x", "/etc/passwd", "src/../../x", "", ".", "a//b"] {
        let path: RelPath = serde_json::from_value(escaping.into()).unwrap();
        assert_eq!(scope.check(&path), Err(SkipReason::Missing), "{escaping}");
    }
    let deep = rel(&"a/".repeat(100_000));
    assert_eq!(scope.check(&deep), Err(SkipReason::Missing));
    let long = rel(&format!("{}/b", "a".repeat(10_000)));
    assert!(scope.check(&long).is_err());
    let many = scope.check_many(&[rel("src/a.rs"), rel("src/gone.rs"), rel("src/a.rs")]);
    assert_eq!(many.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn rules_are_read_anew_by_each_call() {
    let tree = Tree::git(&[("a.rs", ""), ("build/b.rs", "")]);
    let scope = Scope::new(&tree.config()).unwrap();
    assert!(scope.check(&rel("a.rs")).is_ok());
    assert_eq!(scope.check(&rel("build/b.rs")), Err(SkipReason::BuildFolder));
    tree.put(".gitignore", "a.rs\n");
    tree.track("build/b.rs");
    assert_eq!(scope.check(&rel("a.rs")), Err(SkipReason::Ignored));
    assert_eq!(paths(&scope.walk().unwrap()), ["build/b.rs"]);
    assert!(scope.check(&rel("build/b.rs")).is_ok());
}

/// Reads a file with these bytes.
fn reading(name: &str, bytes: &[u8]) -> Result<sai::sync::read::Content, SkipReason> {
    let tree = Tree::new(&[]);
    tree.put(name, bytes);
    let file = Scope::new(&tree.config()).unwrap().check(&rel(name))?;
    let content = read(&tree.root, &file)?;
    assert_eq!(content.bytes, bytes);
    assert_eq!((content.size, content.mtime_ns), (file.size, file.mtime_ns));
    Ok(content)
}

#[test]
fn a_file_is_read_with_its_bytes_text_and_language() {
    let content = reading("a.rs", b"\xEF\xBB\xBFfn a() {}\r\n").unwrap();
    assert_eq!((content.text.as_str(), content.encoding), ("fn a() {}\r\n", "utf-8-bom"));
    assert_eq!(content.language, Language::Rust);
    let content = reading("run", b"#!/bin/sh\necho gr\xFC\xDFe\n").unwrap();
    assert_eq!((content.encoding, content.language), ("latin-1", Language::Bash));
    assert_eq!(content.text, "#!/bin/sh\necho grüße\n");
    let content = reading("w.cs", b"\xFF\xFEa\0\n\0b\0").unwrap();
    assert_eq!((content.text.as_str(), content.encoding), ("a\nb", "utf-16le"));
    assert_eq!(reading("empty.rs", b"").unwrap().text, "");
}

#[test]
fn content_that_is_not_worth_indexing_has_a_reason() {
    let minified = "a".repeat(9000);
    for (name, bytes, expected) in [
        ("nul.rs", &b"fn a() {}\0"[..], SkipReason::Binary),
        ("noise", &[1, 2, 3, 4, 5, 6][..], SkipReason::Binary),
        ("bundle.js", minified.as_bytes(), SkipReason::Minified),
        ("out.rs", b"// sai-noindexing\nfn a() {}\n", SkipReason::OptedOut),
        ("pic.png", b"text", SkipReason::Binary),
    ] {
        assert_eq!(reading(name, bytes).unwrap_err(), expected, "{name}");
    }
}

#[test]
fn a_file_that_is_gone_or_grown_is_left_for_the_next_walk() {
    let tree = Tree::new(&[("a.rs", "x")]);
    let listed = |size| Candidate { path: rel("a.rs"), size, mtime_ns: 0, changed_ns: 0 };
    tree.put("a.rs", "y".repeat(1000));
    let content = read(&tree.root, &listed(1)).unwrap();
    assert_eq!(content.size, 1000, "a little growth is read as it is now");
    let grown = fs::File::create(tree.root.join("a.rs")).unwrap();
    grown.set_len(2 << 30).unwrap();
    assert_eq!(read(&tree.root, &listed(1)).unwrap_err(), SkipReason::Changing);
    fs::remove_file(tree.root.join("a.rs")).unwrap();
    assert_eq!(read(&tree.root, &listed(1)).unwrap_err(), SkipReason::Missing);
    fs::create_dir(tree.root.join("a.rs")).unwrap();
    assert_eq!(read(&tree.root, &listed(1)).unwrap_err(), SkipReason::Special);
}

#[test]
fn a_file_that_is_rewritten_all_the_time_is_never_read_half() {
    let tree = Tree::new(&[("a.rs", &"a".repeat(4000))]);
    let path = tree.root.join("a.rs");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for i in 0.. {
                let letter = if i % 2 == 0 { "b" } else { "a" };
                fs::write(&path, letter.repeat(if i % 2 == 0 { 9000 } else { 4000 })).unwrap();
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..200 {
            let file = Candidate { path: rel("a.rs"), size: 9000, mtime_ns: 0, changed_ns: 0 };
            // One long line, so what was read whole is told apart as minified.
            match read(&tree.root, &file).map(|content| content.text) {
                Ok(text) => assert!(text.is_empty() || text == "a".repeat(4000), "{}", text.len()),
                Err(reason) => {
                    assert!(matches!(reason, SkipReason::Minified | SkipReason::Changing));
                }
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// Holds the one rule of this room: a walk and a check of each single path agree. Returns the walk.
fn assert_agreement(config: &Config) -> Listing {
    let scope = Scope::new(config).unwrap();
    let listing = scope.walk().unwrap();
    let left_out = skipped(&listing);
    let all = all_files(&config.root, "");
    let checks = scope.check_many(&all);
    for (path, check) in all.iter().zip(checks) {
        assert_eq!(check, scope.check(path), "{path} alone and among others");
        let listed = listing.files.iter().find(|file| file.path == *path);
        let folders = path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..=end]);
        let links = path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..end]);
        let mut names = folders.chain(links).chain([path.as_str()]);
        let expected = names.find_map(|name| left_out.get(name));
        match check {
            Ok(file) => assert_eq!(Some(&file), listed, "{path}"),
            Err(reason) => {
                assert_eq!(listed, None, "{path}");
                assert_eq!(Some(&reason), expected, "{path}");
            }
        }
    }
    listing
}

/// Every path on disk that is no folder and whose name is UTF-8.
fn all_files(root: &Path, under: &str) -> Vec<RelPath> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root.join(under)) else { return found };
    for entry in entries.map(Result::unwrap) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{under}{name}");
        if entry.file_type().unwrap().is_dir() {
            found.extend(all_files(root, &format!("{path}/")));
        } else {
            found.push(rel(&path));
        }
    }
    found
}

/// A generated tree: files and ignore files, what git tracks, and settings.
#[derive(Clone, Debug)]
struct Plan {
    files: Vec<String>,
    ignores: Vec<(String, Vec<String>)>,
    tracked: Vec<bool>,
    with_git: bool,
    nested: Option<String>,
    links: Vec<(String, String)>,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    hidden: bool,
    submodules: bool,
    respect: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    languages: Vec<String>,
    below: bool,
}

fn folder() -> impl Strategy<Value = String> {
    let name =
        prop::sample::select(vec!["src", "sub", "dist", "target", "node_modules", ".hid", "v"]);
    prop::collection::vec(name, 0..4)
        .prop_map(|names| names.into_iter().map(|name| format!("{name}/")).collect())
}

fn file() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a.rs",
        "b.log",
        "c.txt",
        ".h.rs",
        "Cargo.lock",
        "x.csv",
        ".env",
        "k.pem",
        "run",
        "m.min.js",
        "p.png",
        "dist",
    ]);
    (folder(), name).prop_map(|(folder, name)| format!("{folder}{name}"))
}

fn glob() -> impl Strategy<Value = String> {
    let globs = vec![
        "*.rs",
        "*.log",
        "src",
        "src/",
        "/sub",
        "**/a.rs",
        "src/**",
        "sub/*",
        "v/**/c.txt",
        "a.rs",
        "dist",
        "*",
        "[ac].*",
        "sub/*.rs",
        "x?csv",
    ];
    prop::sample::select(globs).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec!["# note", "", "!", "[", "\\", "/", "**", " "]);
    prop_oneof![
        4 => glob(),
        3 => glob().prop_map(|glob| format!("!{glob}")),
        1 => odd.prop_map(str::to_owned),
    ]
}

fn ignore_file() -> impl Strategy<Value = (String, Vec<String>)> {
    let kind = prop::sample::select(vec![".gitignore", ".ignore", ".saiignore"]);
    let lines = prop::collection::vec(line(), 1..5);
    (folder(), kind, lines).prop_map(|(folder, kind, lines)| (format!("{folder}{kind}"), lines))
}

fn settings() -> impl Strategy<Value = Settings> {
    let globs = || prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(glob(), 1..3)];
    let languages = prop_oneof![3 => Just(vec![]), 1 => Just(vec!["rust".to_owned()])];
    let flags =
        (any::<bool>(), any::<bool>(), prop::bool::weighted(0.9), prop::bool::weighted(0.2));
    (flags, globs(), globs(), languages).prop_map(|(flags, include, exclude, languages)| {
        let (hidden, submodules, respect, below) = flags;
        Settings { hidden, submodules, respect, include, exclude, languages, below }
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let files = prop::collection::vec(file(), 1..25);
    let tracked = prop::collection::vec(prop::bool::weighted(0.3), 25);
    let ignores = prop::collection::vec(ignore_file(), 0..5);
    let links = prop::collection::vec((file(), file()), 0..3);
    let nested = prop::option::weighted(0.3, folder());
    (files, tracked, ignores, links, nested, any::<bool>(), settings()).prop_map(
        |(files, tracked, ignores, links, nested, with_git, settings)| Plan {
            files,
            ignores,
            tracked,
            with_git,
            nested,
            links,
            settings,
        },
    )
}

/// Puts the plan on disk. What collides with what is there already is passed over.
fn grown(plan: &Plan) -> Tree {
    let tree = Tree::new(&[]);
    let put = |path: &str, text: &str| {
        let file = tree.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).is_ok() && fs::write(file, text).is_ok()
    };
    if plan.with_git {
        init(&tree.root);
    }
    if let Some(nested) = plan.nested.as_ref().filter(|nested| !nested.is_empty()) {
        init(&tree.root.join(nested));
    }
    for (file, tracked) in plan.files.iter().zip(&plan.tracked) {
        if put(file, "#!/bin/sh\n") && *tracked && plan.with_git {
            let repository = Repository::open(&tree.root).unwrap();
            let mut index = repository.index().unwrap();
            let _ = index.add_path(Path::new(file)).and_then(|()| index.write());
        }
    }
    for (path, lines) in &plan.ignores {
        put(path, &lines.join("\n"));
    }
    #[cfg(unix)]
    for (at, to) in &plan.links {
        let at = tree.root.join(at);
        let _ = fs::create_dir_all(at.parent().unwrap());
        let _ = std::os::unix::fs::symlink(tree.root.join(to), at);
    }
    tree
}

fn configured(tree: &Tree, settings: &Settings) -> Config {
    let below = tree.root.join("src");
    let root = if settings.below && below.is_dir() { below } else { tree.root.clone() };
    let mut config = Config::built_in(root);
    config.files.hidden = settings.hidden;
    config.files.submodules = settings.submodules;
    config.files.respect_ignore_files = settings.respect;
    config.files.include.clone_from(&settings.include);
    config.files.exclude.clone_from(&settings.exclude);
    config.files.languages.clone_from(&settings.languages);
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_walk_and_a_check_agree(plan in plan()) {
        let tree = grown(&plan);
        let listing = assert_agreement(&configured(&tree, &plan.settings));
        let secret = |path: &str| path.ends_with(".env") || path.ends_with("k.pem");
        prop_assert!(!paths(&listing).into_iter().any(secret));
    }

    /// `git ls-files` is the judge of `.gitignore`.
    #[test]
    fn gitignore_means_what_it_means_to_git(
        files in prop::collection::vec((file(), prop::bool::weighted(0.3)), 1..25),
        ignores in prop::collection::vec(ignore_file(), 1..6),
    ) {
        let tree = Tree::git(&[]);
        let put = |path: &str, text: &str| {
            let file = tree.root.join(path);
            let _ = fs::create_dir_all(file.parent().unwrap()).and_then(|()| fs::write(file, text));
        };
        // Names that have a meaning of their own here get plain ones.
        let plain = |path: &str| {
            let names = [("node_modules", "n"), ("target", "t"), ("dist", "d"), (".hid", "h")];
            let more = [(".h.rs", "h.rs"), ("Cargo.lock", "lock"), (".log", ".lg")];
            let all = names.into_iter().chain(more);
            all.fold(path.to_owned(), |path, (from, to)| path.replace(from, to))
        };
        for (file, is_tracked) in &files {
            put(&plain(file), "x\n");
            if *is_tracked && tree.root.join(plain(file)).is_file() {
                tree.track(&plain(file));
            }
        }
        for (path, lines) in &ignores {
            let folder = plain(path.rsplit_once('/').map_or("", |(folder, _)| folder));
            let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
            put(format!("{folder}/.gitignore").trim_start_matches('/'), &lines.join("\n"));
        }
        let mut git = std::process::Command::new("git");
        git.current_dir(&tree.root).args(["ls-files", "-z", "--cached", "--others"]);
        git.arg("--exclude-standard");
        let Ok(output) = git.output() else {
            println!("left out: there is no git");
            return Ok(());
        };
        let listed = String::from_utf8(output.stdout).unwrap();
        let mut judged: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        let not_by_name = |path: &&str| {
            let name = path.rsplit('/').next().unwrap();
            ![".env", "k.pem", "x.csv", "m.min.js", "p.png", ".gitignore"].contains(&name)
        };
        judged.retain(not_by_name);
        judged.sort_unstable();
        judged.dedup();
        let listing = tree.walk();
        prop_assert_eq!(paths(&listing), judged);
    }
}
