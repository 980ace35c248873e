//! Bad input, end to end: each gets a message that names the value and the next step, and nothing is
//! lost by it.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sai::error::ErrorKind;
use sai::request::SearchQuery;
use sai::store::{Base, IndexDir, Meta, SCHEMA_VERSION, Writer};
use sai::types::Mode;

#[cfg(target_os = "linux")]
use crate::support::Disk;
use crate::support::{self, Output, Repo, command, folder, leftovers, repo, sai, sai_with_stdin};

/// Asserts that a command failed as it should: with `code`, a clean stdout, and on stderr an error
/// that names `value` above a hint that names `step`.
#[track_caller]
fn refused(output: Output, code: i32, value: &str, step: &str) {
    let output = output.exits(code);
    assert_eq!(output.stdout, "", "stdout stays clean");
    let (said, hint) = output.stderr.split_once("\nhint: ").unwrap_or((&output.stderr, ""));
    assert!(said.starts_with("error: ") && said.contains(value), "no `{value}` in {said}");
    assert!(hint.contains(step), "no `{step}` in the hint of {}", output.stderr);
    assert!(!said.contains("panicked") && !said.contains("internal error"), "{said}");
}

/// Asserts that the index can be made and finds `alpha`.
#[track_caller]
fn works(root: &Path, options: &[&str]) {
    sai(root, &[options, &["index"]].concat()).exits(0);
    finds(root, options, "alpha");
    assert_eq!(leftovers(root), Vec::<String>::new());
}

/// Asserts that the index that is there finds a definition of `name`.
#[track_caller]
fn finds(root: &Path, options: &[&str], name: &str) {
    let found = sai(root, &[options, &["search", "--no-index", "-n", "1", name]].concat()).exits(0);
    assert!(found.stdout.contains(name), "{}", found.stdout);
}

/// Paths of files that were left out, with the reason.
fn left_out(root: &Path) -> Vec<(String, String)> {
    let status = sai(root, &["status", "--skipped", "--json"]).exits(0).json();
    serde_json::from_value(status["skipped_paths"].clone()).expect("pairs of texts")
}

#[track_caller]
fn is_left_out(root: &Path, path: &str, reason: &str) {
    let all = left_out(root);
    assert!(all.contains(&(path.to_owned(), reason.to_owned())), "{path} {reason}: {all:?}");
}

const ALPHA: &str = "//- /alpha.rs\nfn alpha() {}\n";

fn indexed() -> Repo {
    let repo = repo(ALPHA);
    repo.sai(&["index"]).exits(0);
    repo
}

/// A repository that belongs to a user whom permissions bind; `None`, said on stderr, where there
/// is none.
#[cfg(unix)]
fn bound_by_permissions() -> Option<(Repo, u32)> {
    use std::os::unix::fs::{MetadataExt, chown};
    const NOBODY: u32 = 65534;
    let repo = repo(ALPHA);
    let own = fs::metadata(repo.path()).expect("ours").uid();
    if own != 0 {
        return Some((repo, own));
    }
    let given =
        walked(repo.path()).iter().all(|path| chown(path, Some(NOBODY), Some(NOBODY)).is_ok());
    let runs = given && as_user(repo.path(), NOBODY, &["--version"]).is_some();
    if !runs {
        eprintln!("skipped: root reads everything, and SAI does not run here as another user");
    }
    runs.then_some((repo, NOBODY))
}

/// A folder and all that is in it.
#[cfg(unix)]
fn walked(path: &Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![path.to_owned()];
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        for entry in fs::read_dir(path).expect("ours").flatten() {
            all.extend(walked(&entry.path()));
        }
    }
    all
}

/// Runs `sai` as the user `uid`; `None` where it does not start.
#[cfg(unix)]
fn as_user(root: &Path, uid: u32, args: &[&str]) -> Option<Output> {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let mut command = command(root, args);
    if fs::metadata("/proc/self").map_or(uid, |process| process.uid()) != uid {
        command.uid(uid).gid(uid);
    }
    command.output().ok().filter(|done| done.status.code().is_some_and(|code| code < 126)).map(
        |done| Output {
            code: done.status.code().unwrap_or(-1),
            stdout: String::from_utf8(done.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
        },
    )
}

#[cfg(unix)]
fn allow(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours, or we are root");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_left_out_and_comes_back() {
    let Some((repo, uid)) = bound_by_permissions() else { return };
    let run = |args: &[&str]| as_user(repo.path(), uid, args).expect("it ran before");
    repo.write("locked.rs", "fn locked() {}\n");
    repo.write("shut/inner.rs", "fn inner() {}\n");
    allow(&repo.path().join("locked.rs"), 0o000);
    allow(&repo.path().join("shut"), 0o000);
    run(&["index"]).exits(0);
    let skipped = run(&["status", "--skipped"]).exits(0).stdout;
    for path in ["locked.rs", "shut/"] {
        let line = skipped.lines().find(|line| line.ends_with(path));
        assert!(line.is_some_and(|line| line.starts_with("unreadable")), "{skipped}");
    }
    assert!(run(&["search", "alpha"]).exits(0).stdout.contains("fn alpha() {}"));
    let again = run(&["index"]).exits(0).stdout;
    assert!(again.starts_with("up to date"), "nothing changed, nothing is published: {again}");

    allow(&repo.path().join("locked.rs"), 0o644);
    allow(&repo.path().join("shut"), 0o755);
    let mended = run(&["index", "--json"]).exits(0).json();
    assert_eq!((mended["files"].as_u64(), mended["added"].as_u64()), (Some(3), Some(2)));
    for name in ["locked", "inner"] {
        assert!(run(&["search", name]).exits(0).stdout.contains(&format!("fn {name}() {{}}")));
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_any_more_leaves_the_index() {
    let Some((repo, uid)) = bound_by_permissions() else { return };
    let run = |args: &[&str]| as_user(repo.path(), uid, args).expect("it ran before");
    repo.write("other.rs", "fn other() {}\n");
    run(&["index"]).exits(0);
    repo.write("other.rs", "fn other_secret() {}\n");
    allow(&repo.path().join("other.rs"), 0o000);
    let second = run(&["index", "--json"]).exits(0).json();
    assert_eq!((second["files"].as_u64(), second["removed"].as_u64()), (Some(1), Some(1)));
    run(&["search", "--no-index", "-m", "lexical", "other_secret"]).exits(1);
}

#[cfg(unix)]
#[test]
fn an_index_of_somebody_else_is_told() {
    let Some((repo, uid)) = bound_by_permissions() else { return };
    let run = |args: &[&str]| as_user(repo.path(), uid, args).expect("it ran before");
    run(&["index"]).exits(0);
    let index = repo.path().join(".index");
    allow(&index.join("CURRENT"), 0o000);
    for args in [&["search", "alpha"][..], &["status"], &["index"]] {
        refused(run(args), 3, "CURRENT", "needs to read and write the index folder");
    }
    allow(&index.join("CURRENT"), 0o644);
    allow(&index, 0o555);
    repo.write("beta.rs", "fn beta() {}\n");
    refused(run(&["index"]), 3, ".index", "needs to read and write the index folder");
    assert!(run(&["search", "alpha"]).exits(0).stdout.contains("fn alpha() {}"));
    allow(&index, 0o755);
    run(&["index"]).exits(0);
    assert!(run(&["search", "beta"]).exits(0).stdout.contains("fn beta() {}"));
}

/// The bytes of the indexed file at `path`, if there is one.
fn indexed_bytes(root: &Path, path: &str) -> Option<Vec<u8>> {
    let reader = IndexDir::new(root.join(".index")).open(256).expect("whole").expect("published");
    let files = reader.files().expect("whole");
    let file = files.iter().find(|file| file.path.as_str() == path)?;
    Some(reader.blob(file.hash).expect("whole").expect("every file's bytes are kept"))
}

#[test]
fn a_file_that_changes_while_it_is_read_does_no_harm() {
    let repo = repo(ALPHA);
    let path = repo.path().join("moving.rs");
    let text = |round: usize| format!("fn moving() {{ round({}); }}\n", round % 10).repeat(2000);
    repo.write("moving.rs", text(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0.. {
                fs::write(&path, text(round)).expect("ours");
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let outcome = std::panic::catch_unwind(|| {
            for _ in 0..3 {
                repo.sai(&["index"]).exits(0);
                finds(repo.path(), &[], "alpha");
                // A file that was cut off and only half written may stand still for a moment.
                if let Some(bytes) = indexed_bytes(repo.path(), "moving.rs") {
                    let is_written = |round| text(round).as_bytes().starts_with(&bytes);
                    assert!((0..10).any(is_written), "rounds are mixed");
                }
            }
        });
        done.store(true, Ordering::Relaxed);
        outcome.expect("the index can be made meanwhile");
    });
    repo.write("moving.rs", "fn settled() {}\n");
    repo.sai(&["index"]).exits(0);
    let settled = indexed_bytes(repo.path(), "moving.rs").expect("it is read at last");
    assert_eq!(settled, b"fn settled() {}\n");
    finds(repo.path(), &[], "settled");
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_round_or_out_are_left_out() {
    use std::os::unix::fs::symlink;
    let repo = repo(ALPHA);
    let outside = tempfile::tempdir().expect("a temporary folder");
    fs::write(outside.path().join("secret.rs"), "fn outside_secret() {}\n").expect("ours");
    let link = |target: &Path, name: &str| symlink(target, repo.path().join(name)).expect("ours");
    link(Path::new("gone.rs"), "broken.rs");
    link(Path::new("loop_b.rs"), "loop_a.rs");
    link(Path::new("loop_a.rs"), "loop_b.rs");
    link(Path::new("."), "round");
    link(outside.path(), "out");
    link(&outside.path().join("secret.rs"), "out.rs");
    link(Path::new("alpha.rs"), "again.rs");
    works(repo.path(), &[]);
    for (path, reason) in [
        ("broken.rs", "link_broken"),
        ("loop_a.rs", "link_loop"),
        ("loop_b.rs", "link_loop"),
        ("round", "link"),
        ("out", "link_outside"),
        ("out.rs", "link_outside"),
        ("again.rs", "link"),
    ] {
        is_left_out(repo.path(), path, reason);
    }
    for mode in ["lexical", "exact"] {
        repo.sai(&["search", "-m", mode, "outside_secret"]).exits(1);
    }
    // An indexed file that a link takes the place of shows what was indexed, not where it leads.
    fs::remove_file(repo.path().join("alpha.rs")).expect("ours");
    link(&outside.path().join("secret.rs"), "alpha.rs");
    for mode in ["lexical", "exact"] {
        let found = repo.sai(&["search", "-m", mode, "alpha"]).exits(0).stdout;
        assert!(found.contains("changed since indexing") && !found.contains("secret"), "{found}");
    }
}

#[test]
fn files_of_any_size_do_no_harm() {
    let repo = repo(ALPHA);
    File::create(repo.path().join("two_gib.rs"))
        .and_then(|file| file.set_len(2 << 30))
        .expect("sparse");
    works(repo.path(), &[]);
    is_left_out(repo.path(), "two_gib.rs", "too_large");
    refused(
        repo.sai(&["--set", "files.file_bytes_max=3000000000", "index"]),
        2,
        "3000000000",
        "1 to 67108864",
    );

    repo.write("line.txt", "x".repeat(64 << 20));
    repo.write("words.md", "word ".repeat((64 << 20) / 5));
    works(repo.path(), &["--set", "files.file_bytes_max=67108864"]);
    is_left_out(repo.path(), "line.txt", "minified");
    is_left_out(repo.path(), "words.md", "minified");
    is_left_out(repo.path(), "two_gib.rs", "too_large");
}

#[test]
fn any_depth_of_brackets_is_indexed() {
    let repo = repo(ALPHA);
    let endings = [
        "rs", "go", "java", "py", "js", "ts", "tsx", "c", "cpp", "cs", "rb", "php", "kt", "swift",
        "scala", "sh", "lua", "ex", "hs", "zig", "json", "md", "html", "yaml", "sql", "css",
    ];
    for (open, close, name) in [("(", ")", "round"), ("[", "]", "square"), ("{", "}", "curly")] {
        let line = |bracket: &str| format!("{}\n", bracket.repeat(100));
        let text = line(open).repeat(1000) + &line(close).repeat(1000);
        for ending in endings {
            repo.write(&format!("{name}.{ending}"), &text);
            repo.write(&format!("open_{name}.{ending}"), line(open).repeat(1000));
        }
    }
    let reply = repo.sai(&["index", "--json"]).exits(0).json();
    assert_eq!(reply["files"].as_u64(), Some(6 * endings.len() as u64 + 1));
    finds(repo.path(), &[], "alpha");
    // The whole text colours the whole nest.
    repo.sai(&["--color", "always", "search", "-m", "exact", "--full", "(((("]).exits(0);
}

#[cfg(unix)]
#[test]
fn odd_names_are_left_out_or_found() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = repo(ALPHA);
    repo.write("line\nfeed.rs", "fn alpha() {}\n");
    repo.write("bell\u{7}.rs", "fn alpha() {}\n");
    fs::write(repo.path().join(OsStr::from_bytes(b"bad\xff.rs")), "fn alpha() {}\n").expect("ours");
    repo.write("-n 'q\"\\$(x)* [a].rs", "fn beta() {}\n");
    works(repo.path(), &[]);
    is_left_out(repo.path(), "line\nfeed.rs", "control_name");
    is_left_out(repo.path(), "bell\u{7}.rs", "control_name");
    is_left_out(repo.path(), "bad\u{fffd}.rs", "not_utf8_name");
    finds(repo.path(), &[], "beta");
    let shown = repo.sai(&["status", "--skipped"]).exits(0).stdout;
    assert!(shown.contains("line\\u{a}feed.rs") && !shown.contains('\u{7}'), "{shown}");
}

#[test]
fn a_nul_inside_a_path_finds_nothing_and_breaks_nothing() {
    let repo = indexed();
    let handle = support::handle(repo.path());
    let ask = |query: SearchQuery| handle.search(query).wait();
    let nul =
        SearchQuery { text: "alpha".into(), paths: vec!["a\0b".into()], ..Default::default() };
    assert_eq!(ask(nul).expect("a glob like any other").hits, []);
    for mode in Mode::ALL {
        let query = SearchQuery { text: "al\0pha".into(), mode: Some(*mode), ..Default::default() };
        ask(query).expect("text like any other");
    }
    for args in
        [["--set", "index_dir=\"a\\0b\"", "index"], ["--set", "index_dir=\"a\\0b\"", "search"]]
    {
        let args = [&args[..], &["alpha"][..usize::from(args[2] == "search")]].concat();
        refused(repo.sai(&args), 2, "a\\u{0}b", "`.index`");
    }
    finds(repo.path(), &[], "alpha");
}

#[cfg(target_os = "linux")]
#[test]
fn a_root_that_is_not_utf8_is_told_and_its_way_out_works() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let ground = tempfile::tempdir().expect("a temporary folder");
    let root = ground.path().join(OsStr::from_bytes(b"bad\xff"));
    fs::create_dir(&root).expect("ours");
    fs::write(root.join("alpha.rs"), "fn alpha() {}\n").expect("ours");
    refused(
        sai(&root, &["index"]),
        3,
        "bad\u{fffd}",
        "set `index_dir` to a folder with a plain name",
    );
    let elsewhere = format!("index_dir={}", ground.path().join("elsewhere").display());
    let options = ["--set", elsewhere.as_str()];
    works(&root, &options);
    let status = sai(&root, &["--set", &elsewhere, "status", "--json"]).exits(0).json();
    assert!(status["root"].as_str().is_some_and(|root| root.ends_with("bad\u{fffd}")), "{status}");
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_a_usage_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = indexed();
    let mut command = command(repo.path(), &["search"]);
    let done = command.arg(OsStr::from_bytes(b"al\xffpha")).output().expect("the binary starts");
    assert_eq!((done.status.code(), done.stdout), (Some(2), vec![]));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("UTF-8") && said.contains("--help"), "{said}");
}

#[test]
fn an_empty_root_is_an_index_of_nothing() {
    for root in [folder(""), repo("")] {
        let reply = root.sai(&["index", "--json"]).exits(0).json();
        assert_eq!((reply["files"].as_u64(), reply["chunks"].as_u64()), (Some(0), Some(0)));
        for mode in Mode::ALL {
            let found = root.sai(&["search", "-m", mode.name(), "alpha"]).exits(1);
            assert_eq!(found.stdout, "");
            assert!(found.stderr.contains("the index is empty"), "{}", found.stderr);
        }
        root.sai(&["status"]).exits(0);
        root.write("alpha.rs", "fn alpha() {}\n");
        works(root.path(), &[]);
        root.remove("alpha.rs");
        let reply = root.sai(&["index", "--json"]).exits(0).json();
        assert_eq!((reply["files"].as_u64(), reply["removed"].as_u64()), (Some(0), Some(1)));
        root.sai(&["search", "alpha"]).exits(1);
    }
}

#[test]
fn a_root_without_git_works() {
    let root = folder(ALPHA);
    works(root.path(), &[]);
    let status = root.sai(&["status", "--json"]).exits(0).json();
    assert_eq!(status["head"], serde_json::Value::Null);
    assert_eq!(status["state"], "ready");
}

#[test]
fn a_root_of_binary_files_says_why_nothing_is_found() {
    let root = folder("");
    root.write("noise.rs", [0x7f, b'E', b'L', b'F', 0, 1, 2, 3].repeat(1000));
    root.write("picture.png", [0x89, b'P', b'N', b'G', 0]);
    root.write("blob", [0u8; 100]);
    let found = root.sai(&["search", "alpha"]).exits(1);
    assert_eq!(found.stdout, "");
    assert!(found.stderr.contains("`sai status --skipped` says why"), "{}", found.stderr);
    for path in ["noise.rs", "picture.png", "blob"] {
        is_left_out(root.path(), path, "binary");
    }
    let again = root.sai(&["index"]).exits(0).stdout;
    assert!(again.starts_with("up to date"), "{again}");
}

#[test]
fn the_disk_and_the_home_folder_are_no_roots() {
    let home = folder(ALPHA);
    let step = "`--root PATH`";
    for args in [&["index"][..], &["search", "alpha"], &["status"], &["flush", "--yes"]] {
        let root = [&["--root", "/"], args].concat();
        refused(home.sai(&root), 2, "`/` is the root of the disk", step);
        let done = command(home.path(), args).env("HOME", home.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), done.stdout), (Some(2), vec![]), "{said}");
        let named = format!("`{}` (the working folder) is your home folder", home.path().display());
        assert!(said.contains(&named) && said.contains(step), "{said}");
    }
    assert!(!home.path().join(".index").exists() && !Path::new("/.index").exists());
}

#[test]
fn a_root_that_is_no_folder_is_told() {
    let repo = repo(ALPHA);
    refused(repo.sai(&["--root", "gone", "index"]), 2, "gone", "`--root PATH`");
    refused(repo.sai(&["--root", "alpha.rs", "index"]), 2, "alpha.rs", "`--root PATH`");
    let done =
        command(repo.path(), &["index"]).env("SAI_ROOT", "gone").output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("gone") && said.contains("SAI_ROOT"), "{said}");
    assert_eq!(done.status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_working_folder_that_is_gone_is_told() {
    let repo = indexed();
    let gone = repo.path().join("gone");
    fs::create_dir(&gone).expect("ours");
    let here = |options: &str| {
        let sai = env!("CARGO_BIN_EXE_sai");
        let script = format!("cd gone && rmdir ../gone && exec '{sai}' {options} search alpha");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(repo.path()).args(["-c", &script]).output().expect("there is a shell")
    };
    let done = here("");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), done.stdout), (Some(3), vec![]), "{said}");
    assert!(said.contains("the current folder is gone") && said.contains("--root PATH"), "{said}");
    fs::create_dir(&gone).expect("ours");
    let done = here(&format!("--root '{}'", repo.path().display()));
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_answers_from_what_it_holds() {
    let Some(disk) = Disk::of_mib(64) else { return };
    let root = disk.path();
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = format!("index_dir={}", elsewhere.path().join("index").display());
    fs::write(root.join("alpha.rs"), "fn alpha() {}\n").expect("ours");
    disk.set_writable(false);
    for args in [&["index"][..], &["search", "alpha"]] {
        refused(sai(root, args), 3, ".index", "the disk is read-only; set `index_dir`");
    }
    works(root, &["--set", &elsewhere]);

    disk.set_writable(true);
    works(root, &[]);
    fs::write(root.join("beta.rs"), "fn beta() {}\n").expect("ours");
    disk.set_writable(false);
    for args in [&["index"][..], &["flush", "--yes"]] {
        refused(sai(root, args), 3, ".index", "the disk is read-only; set `index_dir`");
    }
    finds(root, &[], "alpha");
    sai(root, &["status"]).exits(0);
    disk.set_writable(true);
    sai(root, &["index"]).exits(0);
    finds(root, &[], "beta");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let Some(disk) = Disk::of_mib(48) else { return };
    let root = disk.path();
    fs::write(root.join("alpha.rs"), "fn alpha() {}\n").expect("ours");
    works(root, &[]);
    for n in 0..60 {
        let line =
            |at: usize| format!("fn beta_{n}_{at}() {{ call_{}(); }}\n", (at * 7919 + n) % 100_003);
        fs::write(root.join(format!("beta_{n}.rs")), (0..2500).map(line).collect::<String>())
            .expect("room for the source");
    }
    let filler = root.join("filler");
    for kib in [6 << 10, 2 << 10, 256] {
        // What is left is too little for the copy, for the change, or for both.
        fill(&filler, root, kib);
        for _ in 0..2 {
            refused(sai(root, &["index"]), 3, ".index", "free some space and run it again");
            finds(root, &[], "alpha");
            let status = sai(root, &["status", "--json", "--no-compare"]).exits(0).json();
            assert_eq!(
                (status["generation"].as_u64(), status["files"].as_u64()),
                (Some(1), Some(1))
            );
            assert_eq!(leftovers(root), Vec::<String>::new(), "nothing is left lying about");
        }
        fs::remove_file(&filler).expect("ours");
    }
    for n in 4..60 {
        fs::remove_file(root.join(format!("beta_{n}.rs"))).expect("ours");
    }
    sai(root, &["index"]).exits(0);
    finds(root, &[], "alpha");
    finds(root, &[], "beta_1_7");
}

/// Fills the disk until `kib` KiB are left.
#[cfg(target_os = "linux")]
fn fill(filler: &Path, root: &Path, kib: u64) {
    let df = std::process::Command::new("df").args(["-k", "--output=avail"]).arg(root).output();
    let text = String::from_utf8(df.expect("there is df").stdout).expect("ASCII");
    let free: u64 =
        text.lines().last().and_then(|line| line.trim().parse().ok()).expect("a number");
    let bytes = free.saturating_sub(kib) << 10;
    fs::write(filler, vec![0xff; usize::try_from(bytes).expect("it is small")]).expect("it fits");
}

#[test]
fn an_index_of_another_version_is_told_and_can_be_made_anew() {
    for (schema, who) in [(SCHEMA_VERSION + 41, "newer SAI"), (0, "older SAI")] {
        let repo = indexed();
        let lock = IndexDir::new(repo.path().join(".index"))
            .lock(std::time::Duration::from_secs(30))
            .expect("free");
        let writer = Writer::begin(lock, Base::Current, 256).expect("readable");
        let meta = writer.reader().meta().clone();
        writer.publish(&Meta { schema, ..meta }).expect("published");
        for args in [&["search", "alpha"][..], &["status"], &["index"]] {
            refused(repo.sai(args), 3, who, "`sai index --force`");
        }
        let doctor = repo.sai(&["doctor"]).exits(3).stdout;
        assert!(doctor.contains(who) && doctor.contains("`sai index --force`"), "{doctor}");
        repo.sai(&["index", "--force"]).exits(0);
        works(repo.path(), &[]);
    }
}

/// The published file of the current generation.
fn published(repo: &Repo) -> std::path::PathBuf {
    let current = IndexDir::new(repo.path().join(".index")).current().expect("readable");
    current.expect("published").file
}

#[test]
fn a_damaged_index_file_is_told_and_can_be_made_anew() {
    let repo = indexed();
    let whole = fs::read(published(&repo)).expect("ours");
    let half = whole.len() / 2;
    let damaged = [
        Vec::new(),
        whole[..half].to_vec(),
        vec![0; whole.len()],
        [&whole[..half], &vec![0; whole.len() - half]].concat(),
        [&vec![0; 12288], &whole[12288..]].concat(),
        b"SQLite format 3\0".repeat(whole.len() / 16),
    ];
    for bytes in damaged {
        let file = published(&repo);
        fs::write(&file, &bytes).expect("ours");
        let name = file.file_name().and_then(|name| name.to_str()).expect("plain").to_owned();
        for args in [&["search", "alpha"][..], &["status"], &["index"]] {
            refused(repo.sai(args), 3, &name, "`sai index --force`");
        }
        repo.sai(&["doctor"]).exits(3);
        assert_eq!(fs::read(&file).expect("still there"), bytes, "nothing touches it unasked");
        repo.sai(&["index", "--force"]).exits(0);
        works(repo.path(), &[]);
        // Each round starts from a file like the first one.
        fs::remove_dir_all(repo.path().join(".index")).expect("ours");
        repo.sai(&["index"]).exits(0);
    }
}

#[test]
fn a_current_that_is_damaged_or_points_nowhere_is_told() {
    let repo = indexed();
    let current = repo.path().join(".index/CURRENT");
    let line = fs::read_to_string(&current).expect("ours");
    for text in ["", "\0\0\0\0", "9 code-9.duckdb\n", "../../etc/passwd\n", &"x".repeat(100_000)] {
        fs::write(&current, text).expect("ours");
        for args in [&["search", "alpha"][..], &["status"], &["index"]] {
            refused(repo.sai(args), 3, "CURRENT", "`sai index --force`");
        }
        fs::write(&current, &line).expect("ours");
        finds(repo.path(), &[], "alpha");
    }
    let file = published(&repo);
    let kept = fs::read(&file).expect("ours");
    fs::remove_file(&file).expect("ours");
    for args in [&["search", "alpha"][..], &["status"], &["index"]] {
        refused(repo.sai(args), 3, "which `CURRENT` names, is not there", "`sai index --force`");
    }
    fs::write(&file, kept).expect("ours");
    finds(repo.path(), &[], "alpha");
    fs::remove_file(&file).expect("ours");
    repo.sai(&["index", "--force"]).exits(0);
    works(repo.path(), &[]);
}

#[test]
fn an_index_folder_that_is_none_is_told() {
    let repo = repo(ALPHA);
    repo.write(".index", "a file\n");
    for args in [&["index"][..], &["search", "alpha"]] {
        refused(repo.sai(args), 3, ".index", "remove the file in its place");
    }
    assert_eq!(fs::read(repo.path().join(".index")).expect("ours"), b"a file\n");
    repo.remove(".index");
    works(repo.path(), &[]);
    for dir in ["", ".", "./", "..", "/", "../.."] {
        let set = format!("index_dir={dir}");
        let output = repo.sai(&["--set", &set, "index"]);
        refused(output, 2, "index_dir", "a folder that holds nothing else");
    }
    finds(repo.path(), &[], "alpha");
}

#[cfg(unix)]
#[test]
fn an_index_folder_that_leads_out_is_refused() {
    let repo = repo(ALPHA);
    let outside = tempfile::tempdir().expect("a temporary folder");
    std::os::unix::fs::symlink(outside.path(), repo.path().join(".index")).expect("ours");
    for args in [&["index"][..], &["search", "alpha"], &["flush", "--yes"]] {
        refused(repo.sai(args), 2, "`.index` is a link that leads out", "remove the link");
    }
    assert_eq!(fs::read_dir(outside.path()).expect("ours").count(), 0, "nothing was written");
}

#[test]
fn empty_and_huge_questions_are_refused_before_an_index_is_made() {
    let repo = repo(ALPHA);
    let huge = "word ".repeat(20_000);
    for round in 0..2 {
        for empty in ["", "   ", "\t\n"] {
            refused(repo.sai(&["search", empty]), 2, "the query is empty", "for example");
        }
        refused(repo.sai(&["search", &huge]), 2, "99999 bytes, more than 16384", "a sentence");
        assert_eq!(repo.path().join(".index").exists(), round > 0, "nothing is made for them");
        for mode in Mode::ALL {
            let most = "x1 ".repeat((16 << 10) / 3);
            let output = repo.sai(&["search", "--no-index", "-m", mode.name(), &most]);
            assert!([0, 1, 3].contains(&output.code), "{}", output.stderr);
            assert!(!output.stderr.contains("internal error"), "{}", output.stderr);
        }
        // The second time there is an index.
        works(repo.path(), &[]);
    }
    let line = |query: &str| serde_json::json!({"id": 1, "query": query}).to_string() + "\n";
    let asked = sai_with_stdin(repo.path(), &["search", "--batch", "-"], &line(&huge));
    refused(asked, 2, "99999 bytes", "a sentence");
    for odd in
        ["!!!", "()[]{}", "\u{202e}\u{0}\u{1b}[31m", "\u{fffd}", "🦀", "'; DROP TABLE chunk; --"]
    {
        let asked = sai_with_stdin(repo.path(), &["search", "--batch", "-"], &line(odd)).exits(0);
        assert!(asked.stdout.starts_with("{\"id\":1,"), "{}", asked.stdout);
    }
    finds(repo.path(), &[], "alpha");
}

#[test]
fn bad_globs_languages_and_patterns_are_named() {
    let repo = repo(ALPHA);
    let huge = format!("{{{}}}", "ab?c*d,".repeat(9000));
    for _ in 0..2 {
        for glob in ["[a", "{a", "a/**b[", "!", "!{", "\\"] {
            refused(repo.sai(&["search", "-p", glob, "alpha"]), 2, glob, "`src/**/*.rs`");
        }
        let many = repo.sai(&["search", "--no-index", "-p", &huge, "alpha"]);
        assert!(many.code > 0 && !many.stderr.contains("internal"), "{}", many.stderr);
        for (key, glob, step) in [
            ("include", "[a", ""),
            ("exclude", "{a", ""),
            ("include", "!a", "files.exclude"),
            ("exclude", "../a", "from the root"),
        ] {
            let set = format!("files.{key}=['{glob}']");
            refused(repo.sai(&["--set", &set, "index"]), 2, glob, step);
        }
        refused(repo.sai(&["search", "-l", "klingon", "alpha"]), 2, "klingon", "kotlin");
        let set = "files.languages=[pyhton]";
        refused(repo.sai(&["--set", set, "index"]), 2, "pyhton", "did you mean `python`?");
        for pattern in ["(", "a{2,1}", "[z-a]", "\\", "(?<n", "\\p{Klingon}", "(?=a)", "a\\nb"] {
            let first = pattern.chars().next().expect("not empty").to_string();
            refused(
                repo.sai(&["search", "--regex", pattern]),
                2,
                &first,
                "escape special characters",
            );
        }
        let enormous = "(\\w{500}){500}";
        refused(
            repo.sai(&["search", "--regex", enormous]),
            2,
            enormous,
            "escape special characters",
        );
        let lines = repo.sai(&["search", "-m", "exact", "fn alpha\nfn beta"]);
        refused(lines, 2, "fn alpha", "search for one of the lines");
        // The second time there is an index.
        works(repo.path(), &[]);
    }
}

#[test]
fn a_bad_configuration_is_named_with_its_line() {
    let repo = repo(ALPHA);
    let cases: [(&[u8], &str, &str); 11] = [
        (b"files: [", "sai-cfg.yml` line", "`sai config`"),
        (b"a: b: c\n", "sai-cfg.yml` line", "`sai config`"),
        (b"search:\n  limitt: 5\n", "line 2: unknown key `search.limitt`", "did you mean"),
        (b"search:\n  limit: ten\n", "line 2", ""),
        (b"search:\n  limit: 0\n", "`search.limit` is 0", "it may be 1 to 50"),
        (b"search:\n  limit: 1\n  limit: 2\n", "a second time", "keep one"),
        (b"files:\n  languages: [klingon]\n", "klingon", "kotlin"),
        (b"search:\n  mode: fuzzy\n", "fuzzy", "hybrid"),
        (b"just text\n", "section of keys", ""),
        (
            b"files:\n  include: ['\xff']\n",
            "line 2: the text is not UTF-8",
            "save the file as UTF-8",
        ),
        (b"files:\n  include: ['[a']\n", "[a", ""),
    ];
    for (text, value, step) in cases {
        repo.write("sai-cfg.yml", text);
        let index = repo.sai(&["index"]);
        assert!(index.stderr.contains("sai-cfg.yml") || value == "[a", "{}", index.stderr);
        refused(index, 2, value, step);
    }
    repo.write("sai-cfg.yml", "# x\n".repeat(100_000));
    refused(repo.sai(&["index"]), 2, "larger than 256 KiB", "no configuration of SAI");
    repo.remove("sai-cfg.yml");
    fs::create_dir(repo.path().join("sai-cfg.yml")).expect("ours");
    refused(repo.sai(&["index"]), 2, "sai-cfg.yml", "`--config`");
    fs::remove_dir(repo.path().join("sai-cfg.yml")).expect("ours");
    refused(repo.sai(&["--config", "gone.yml", "index"]), 2, "gone.yml", "`sai init`");
    assert!(!repo.path().join(".index").exists(), "nothing was made meanwhile");
    works(repo.path(), &[]);
}

#[test]
fn a_configuration_from_a_stranger_may_not_widen() {
    let repo = repo(ALPHA);
    let outside = tempfile::tempdir().expect("a temporary folder");
    let trap = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    trap.set_nonblocking(true).expect("it can");
    let url = format!("http://{}", trap.local_addr().expect("bound"));
    let absolute = format!("index_dir: {}\n", outside.path().join("index").display());
    for (text, key) in [
        (absolute.as_str(), "index_dir"),
        ("index_dir: ../out\n", "index_dir"),
        ("index_dir: .git/index\n", "index_dir"),
        (&format!("embedder:\n  kind: http\n  http:\n    url: {url}\n"), "embedder.kind"),
        (&format!("embedder:\n  http:\n    url: {url}\n"), "embedder.http.url"),
        (
            "embedder:\n  fastembed:\n    onnx_runtime: ./evil.so\n",
            "embedder.fastembed.onnx_runtime",
        ),
        ("files:\n  hidden: true\n", "files.hidden"),
        ("files:\n  respect_ignore_files: false\n", "files.respect_ignore_files"),
        ("files:\n  file_bytes_max: 60000000\n", "files.file_bytes_max"),
    ] {
        repo.write("sai-cfg.yml", text);
        for args in [&["index"][..], &["search", "alpha"], &["status"], &["flush", "--yes"]] {
            refused(repo.sai(args), 2, &format!("may not set `{key}`"), "`--config sai-cfg.yml`");
        }
    }
    assert!(trap.accept().is_err(), "nothing was sent");
    assert_eq!(fs::read_dir(outside.path()).expect("ours").count(), 0, "nothing was written");
    assert!(!repo.path().join(".index").exists());
    // Whoever trusts it names it.
    repo.write("sai-cfg.yml", &absolute);
    works(repo.path(), &["--config", "sai-cfg.yml"]);
    assert!(outside.path().join("index/CURRENT").exists());
}

#[test]
fn an_endpoint_that_is_not_there_is_told_and_the_index_stands() {
    let repo = indexed();
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|trap| trap.local_addr());
    let url = format!("embedder.http.url=http://{}", free.expect("a free port"));
    let options =
        ["--set", "embedder.kind=http", "--set", &url, "--set", "embedder.http.retries=0"];
    for args in [&["index"][..], &["search", "alpha"], &["index", "--force"]] {
        refused(repo.sai(&[&options[..], args].concat()), 3, "127.0.0.1", "");
    }
    finds(repo.path(), &[], "alpha");
}

#[test]
fn generated_code_is_left_out_on_request_and_comes_back() {
    let repo = repo(
        "//- /alpha.rs\nfn alpha() {}\n//- /beta.rs\n// Code generated by protoc. DO NOT EDIT.\nfn beta() {}\n",
    );
    let without = ["--set", "files.generated=false"];
    let files = |options: &[&str]| {
        repo.sai(&[options, &["index", "--json"]].concat()).exits(0).json()["files"].as_u64()
    };
    assert_eq!(files(&[]), Some(2));
    assert_eq!(files(&without), Some(1));
    is_left_out(repo.path(), "beta.rs", "generated");
    let again = repo.sai(&[&without[..], &["index"]].concat()).exits(0).stdout;
    assert!(again.starts_with("up to date"), "{again}");
    assert_eq!(files(&[]), Some(2));
    finds(repo.path(), &[], "beta");
}

#[test]
fn without_an_index_nothing_is_flushed_or_made() {
    let repo = repo(ALPHA);
    let asked = SearchQuery { text: "alpha".into(), ..Default::default() };
    let error = support::handle(repo.path()).search(asked).wait().expect_err("there is no index");
    assert_eq!(error.kind(), ErrorKind::Index);
    assert!(error.next_step().is_some_and(|step| step.contains("sai index")), "{error}");
    refused(repo.sai(&["search", "--no-index", "alpha"]), 3, "no index of", "sai index");
    assert!(repo.sai(&["flush", "--yes"]).exits(0).stdout.contains("no index to remove"));
    assert!(!repo.path().join(".index").exists());
}
