//! Which folder is meant? A flag, the environment, an index or a repository around the working
//! folder, or that folder itself; never the whole disk or the user's home.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::FILE_NAME;
use crate::error::{Error, Result};
use crate::types::is_same_owner;

/// The folder of an index by its usual name; its presence marks a root.
const INDEX_NAME: &str = ".index";

/// The root, canonical: `explicit` (a flag), else `SAI_ROOT`, else `CLAUDE_PROJECT_DIR`, else the
/// nearest folder from `cwd` upward that holds an index or a configuration, else the git work tree
/// around `cwd`, else `cwd`. A folder that is named is taken as it is, inside a repository or not.
/// `env` looks up an environment variable; an empty one counts as absent.
///
/// # Errors
/// Usage, naming the folder: it is missing, is a file, is the root of the disk, or is or holds the
/// user's home.
pub fn find_root(
    explicit: Option<&Path>,
    cwd: &Path,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let home = ["HOME", "USERPROFILE"].iter().find_map(|name| set(name)).map(PathBuf::from);
    let home = home.or_else(std::env::home_dir).and_then(|home| fs::canonicalize(home).ok());
    if let Some(path) = explicit {
        return named(&cwd.join(path), "", home.as_deref());
    }
    for name in ["SAI_ROOT", "CLAUDE_PROJECT_DIR"] {
        if let Some(path) = set(name) {
            let from = format!(" (from the environment variable {name})");
            return named(&cwd.join(path), &from, home.as_deref());
        }
    }
    let cwd = canonical(cwd, " (the working folder)")?;
    let fit = |folder: &&Path| refusal(folder, home.as_deref()).is_none();
    let marked = |folder: &&Path| holds_marker(folder, &cwd);
    let repository = |folder: &&Path| folder.join(".git").exists();
    let found = cwd.ancestors().filter(fit).find(marked);
    let found = found.or_else(|| cwd.ancestors().filter(fit).find(repository));
    named(found.unwrap_or(&cwd), " (the working folder)", home.as_deref())
}

/// The folder at `path`, canonical, when it may be a root. `from` says where the path comes from.
fn named(path: &Path, from: &str, home: Option<&Path>) -> Result<PathBuf> {
    let folder = canonical(path, from)?;
    match refusal(&folder, home) {
        Some(why) => Err(Error::usage(format!("`{}`{from} is {why}", folder.display())).hint(
            "start inside a project, or name its folder: `--root PATH` or the environment \
             variable SAI_ROOT",
        )),
        None => Ok(folder),
    }
}

fn canonical(path: &Path, from: &str) -> Result<PathBuf> {
    let shown = path.display();
    let folder = fs::canonicalize(path).map_err(|e| {
        Error::usage(format!("there is no folder `{shown}`{from}"))
            .hint("name a folder that exists: `--root PATH`")
            .because(e)
    })?;
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::usage(format!("`{shown}`{from} is a file, not a folder"))
        .hint("name the folder that holds it: `--root PATH`"))
}

/// Why a folder is never a root, if so.
fn refusal(folder: &Path, home: Option<&Path>) -> Option<&'static str> {
    match home {
        _ if folder.parent().is_none() => Some("the root of the disk, not a project"),
        Some(home) if home == folder => Some("your home folder, not a project"),
        Some(home) if home.starts_with(folder) => Some("a folder around your home, not a project"),
        _ => None,
    }
}

/// Whether `folder` holds an index or a configuration that belongs to whom `cwd` belongs. In a
/// folder that others write to, such as `/tmp`, a stranger's marker is passed over.
fn holds_marker(folder: &Path, cwd: &Path) -> bool {
    let index = folder.join(INDEX_NAME);
    let file = folder.join(FILE_NAME);
    (index.is_dir() && is_same_owner(&index, cwd)) || (file.is_file() && is_same_owner(&file, cwd))
}
