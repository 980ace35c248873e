//! Git's hooks: what is written into them, what stays of what was there, and that a real commit brings
//! the index up to date.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sai::error::ErrorKind;
use sai::hooks::{self, HookState};

use crate::support::{self, Repo, repo};

const CODE: &str = "//- /a.rs\nfn a() {}\n";
const NAMES: [&str; 4] = ["post-commit", "post-merge", "post-checkout", "post-rewrite"];

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_sai"))
}

fn hook(repo: &Repo, name: &str) -> PathBuf {
    repo.path().join(".git/hooks").join(name)
}

#[cfg(unix)]
fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).expect("it is there").permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("ours");
}

/// Writes a hook as a user would.
fn write_hook(repo: &Repo, name: &str, text: &str) {
    repo.write(&format!(".git/hooks/{name}"), text);
    #[cfg(unix)]
    set_mode(&hook(repo, name), 0o700);
}

/// Runs the git program in `repo`, with `PATH` set to `path` when given; `None` where there is none.
fn git(repo: &Repo, args: &[&str]) -> Option<std::process::Output> {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    let done = Command::new("git").args(identity).args(args).current_dir(repo.path()).output();
    if done.is_err() {
        println!("skipped: no git program");
    }
    done.ok()
}

#[test]
fn an_install_makes_four_hooks_and_an_uninstall_takes_them_out() {
    let repo = repo(CODE);
    let before = repo.sai(&["hooks", "status"]).exits(1).stdout;
    assert!(before.contains("post-commit    not there"), "{before}");
    let installed = repo.sai(&["hooks", "install"]).exits(0).stdout;
    assert!(installed.starts_with("4 hooks changed in "), "{installed}");
    for name in NAMES {
        let text = fs::read_to_string(hook(&repo, name)).unwrap();
        assert!(text.starts_with("#!/bin/sh\n# >>> sai"), "{text}");
        assert!(text.contains(&format!("sai='{}'", program().display())), "{text}");
        #[cfg(unix)]
        assert_eq!(mode(&hook(&repo, name)), 0o755);
    }
    let again = repo.sai(&["hooks", "install", "--json"]).exits(0).json();
    assert_eq!(again["changed"], 0, "twice is once");
    repo.sai(&["hooks", "status"]).exits(0);
    let removed = repo.sai(&["hooks", "uninstall"]).exits(0).stdout;
    assert!(removed.starts_with("4 hooks changed in "), "{removed}");
    assert!(NAMES.iter().all(|name| !hook(&repo, name).exists()));
    assert_eq!(repo.sai(&["hooks", "uninstall", "--json"]).exits(0).json()["changed"], 0);
}

#[test]
fn what_a_hook_did_before_it_goes_on_doing() {
    let repo = repo(CODE);
    let own = "#!/usr/bin/env bash\nset -eu\necho theirs >> ran\nexit 0\n";
    write_hook(&repo, "post-commit", own);
    write_hook(&repo, "post-merge", "echo no first line");
    repo.sai(&["hooks", "install"]).exits(0);
    let text = fs::read_to_string(hook(&repo, "post-commit")).unwrap();
    assert!(text.starts_with("#!/usr/bin/env bash\n# >>> sai"), "{text}");
    assert!(text.ends_with("# <<< sai\nset -eu\necho theirs >> ran\nexit 0\n"), "{text}");
    #[cfg(unix)]
    assert_eq!(mode(&hook(&repo, "post-commit")), 0o700, "permissions stay");
    repo.write("b.rs", "fn b() {}\n");
    if let Some(done) =
        git(&repo, &["add", "b.rs"]).and_then(|_| git(&repo, &["commit", "-qm", "b"]))
    {
        assert!(done.status.success(), "{done:?}");
        assert_eq!(fs::read_to_string(repo.path().join("ran")).unwrap(), "theirs\n");
    }
    repo.sai(&["hooks", "uninstall"]).exits(0);
    assert_eq!(fs::read_to_string(hook(&repo, "post-commit")).unwrap(), own);
    assert_eq!(fs::read_to_string(hook(&repo, "post-merge")).unwrap(), "echo no first line");
    assert!(!hook(&repo, "post-rewrite").exists());
}

#[test]
fn another_program_is_brought_up_to_date() {
    let repo = repo(CODE);
    hooks::install(repo.path(), Path::new("/opt/it's old/sai")).unwrap();
    let states = |reply: hooks::HooksReply| reply.hooks.iter().map(|h| h.state).collect::<Vec<_>>();
    let now = states(hooks::status(repo.path(), &program()).unwrap());
    assert_eq!(now, [HookState::Outdated; 4]);
    let reply = hooks::install(repo.path(), &program()).unwrap();
    assert_eq!((reply.changed, states(reply)), (4, vec![HookState::Installed; 4]));
    hooks::uninstall(repo.path(), &program()).unwrap();
    assert!(!hook(&repo, "post-commit").exists(), "it is still known who made it");
}

#[test]
fn a_hook_that_is_no_shell_script_is_left_alone_and_so_are_all() {
    let repo = repo(CODE);
    for (text, why) in [
        ("#!/usr/bin/env python3\nprint()\n", "is no shell script"),
        ("\u{7f}ELF\0\0", "is no shell script"),
    ] {
        write_hook(&repo, "post-rewrite", text);
        let refused = repo.sai(&["hooks", "install"]).exits(2).stderr;
        assert!(refused.contains(why), "{refused}");
        assert!(refused.contains("`sai sync --quiet --background --root '.' &`"), "{refused}");
        assert_eq!(fs::read_to_string(hook(&repo, "post-rewrite")).unwrap(), text);
        assert!(!hook(&repo, "post-commit").exists(), "nothing is done by half");
    }
    #[cfg(unix)]
    {
        write_hook(&repo, "post-rewrite", "#!/bin/sh\n");
        set_mode(&hook(&repo, "post-rewrite"), 0o644);
        let refused = repo.sai(&["hooks", "install"]).exits(2).stderr;
        assert!(refused.contains("is switched off: it is not executable"), "{refused}");
    }
}

#[test]
fn hooks_lie_where_git_looks_for_them() {
    let repo = repo(CODE);
    let git = git2::Repository::open(repo.path()).unwrap();
    git.config().unwrap().set_str("core.hooksPath", "tools/hooks").unwrap();
    let reply = repo.sai(&["hooks", "install"]).exits(0).stdout;
    assert!(reply.contains("tools/hooks, named by core.hooksPath"), "{reply}");
    assert!(repo.path().join("tools/hooks/post-merge").is_file());
    assert!(!hook(&repo, "post-merge").exists());

    let elsewhere = support::folder("");
    let named = elsewhere.path().to_str().unwrap();
    git.config().unwrap().set_str("core.hooksPath", named).unwrap();
    let refused = repo.sai(&["hooks", "install"]).exits(2).stderr;
    assert!(refused.contains("which is not yours alone"), "{refused}");
    git.config().unwrap().remove("core.hooksPath").unwrap();

    // Work trees share the hooks; each syncs its own index.
    let side = elsewhere.path().join("side");
    git.worktree("side", &side, None).unwrap();
    let reply = hooks::install(&side, &program()).unwrap();
    assert_eq!((reply.changed, reply.is_shared), (4, false));
    assert!(hook(&repo, "post-merge").is_file());
    assert_eq!(hooks::install(repo.path(), &program()).unwrap().changed, 0);
}

#[test]
fn a_root_below_the_top_is_named_in_the_hook() {
    let repo = repo("//- /packages/it's one/a.rs\nfn a() {}\n");
    let root = repo.path().join("packages/it's one");
    hooks::install(&root, &program()).unwrap();
    let text = fs::read_to_string(hook(&repo, "post-commit")).unwrap();
    assert!(text.contains("--root 'packages/it'\\''s one' &"), "{text}");
}

#[test]
fn without_git_there_are_no_hooks() {
    let folder = support::folder(CODE);
    let error = hooks::install(folder.path(), &program()).expect_err("no git");
    assert_eq!(error.kind(), ErrorKind::Usage);
    let refused = folder.sai(&["hooks", "install"]).exits(2).stderr;
    assert!(refused.contains("there is no git repository at"), "{refused}");
}

#[test]
fn a_commit_brings_the_index_up_to_date() {
    let repo = repo(CODE);
    repo.sai(&["index"]).exits(0);
    repo.sai(&["hooks", "install"]).exits(0);
    repo.write("b.rs", "fn from_a_commit() {}\n");
    if git(&repo, &["add", "b.rs"]).is_none() {
        return;
    }
    let done = git(&repo, &["commit", "-qm", "b"]).unwrap();
    assert!(done.status.success() && done.stderr.is_empty() && done.stdout.is_empty(), "{done:?}");
    let head = git(&repo, &["rev-parse", "HEAD"]).unwrap().stdout;
    let head = String::from_utf8(head).unwrap().trim().to_owned();
    let started = std::time::Instant::now();
    loop {
        let status = repo.sai(&["status", "--json", "--no-compare"]).exits(0).json();
        if status["head"] == head && status["writer"].is_null() {
            assert_eq!(status["files"], 2);
            break;
        }
        assert!(started.elapsed().as_secs() < 120, "the sync of the hook never came: {status}");
    }
    repo.sai(&["search", "-m", "exact", "from_a_commit"]).exits(0);
}

#[test]
fn a_hook_whose_program_is_gone_is_inert() {
    let repo = repo(CODE);
    repo.sai(&["index"]).exits(0);
    hooks::install(repo.path(), Path::new("/nowhere/sai")).unwrap();
    let path = "/usr/bin:/bin";
    let done = Command::new("sh")
        .arg(hook(&repo, "post-commit"))
        .current_dir(repo.path())
        .env("PATH", path)
        .output();
    let Ok(done) = done else {
        println!("skipped: no shell");
        return;
    };
    assert!(done.status.success() && done.stderr.is_empty() && done.stdout.is_empty(), "{done:?}");
}
