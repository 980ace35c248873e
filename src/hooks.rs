//! Which of git's hooks keep the index fresh? Writes a marked block into them, and takes it out again.
//!
//! The block starts a sync in the background and lets git go on; whatever happens to that sync, git
//! never hears of it. It stands right behind the `#!` line, because what stands behind a hook's own
//! `exit` or `exec` never runs. A hook that is no shell script is left alone, and then so are all.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::disk::real;
use crate::error::{Error, Result};
use crate::git::{self, HooksFolder};

/// The hooks after which the work tree may have changed.
const NAMES: [&str; 4] = ["post-commit", "post-merge", "post-checkout", "post-rewrite"];

const BEGIN: &str = "# >>> sai: keeps the search index fresh; `sai hooks uninstall` takes this out";
const END: &str = "# <<< sai";
/// Starts the block, whatever else its first line says.
const BEGIN_MARK: &str = "# >>> sai";
/// Stands in the block of a file that had not been there.
const MADE: &str = "# `sai hooks install` made this file.";
const SHEBANG: &str = "#!/bin/sh\n";

/// How a hook stands to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// It syncs the index.
    Installed,
    /// It syncs the index with another program or root than an install would write now.
    Outdated,
    /// There is such a hook, which does not sync the index.
    Other,
    /// There is no such hook.
    Missing,
}

/// One of git's hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hook {
    pub name: &'static str,
    pub state: HookState,
}

/// The hooks that keep an index fresh, as they are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HooksReply {
    /// Where they lie.
    pub folder: PathBuf,
    /// Whether `core.hooksPath` names that folder.
    pub is_configured: bool,
    /// Whether other repositories have the same hooks.
    pub is_shared: bool,
    /// How many were changed just now.
    pub changed: usize,
    pub hooks: Vec<Hook>,
}

/// What is to be kept fresh, and where.
struct Place {
    folder: HooksFolder,
    /// The root from the top of the work tree: `.` or a path with `/`.
    root: String,
    is_shared: bool,
}

/// Adds the block to each hook, or brings it up to date; makes hooks that are not there.
///
/// # Errors
/// Usage: no work tree, hooks outside the repository and the user's own folder, or a hook that is no
/// shell script; then nothing was written. Environment: the folder cannot be written to.
pub fn install(root: &Path, program: &Path) -> Result<HooksReply> {
    let place = Place::of(root)?;
    place.check_own()?;
    let found: Vec<_> = NAMES.iter().map(|name| place.read(name)).collect::<Result<_>>()?;
    let block = place.block(program)?;
    let mut wanted = Vec::new();
    for (name, found) in NAMES.iter().zip(&found) {
        let text = match found {
            Some(text) => with_block(&place.file(name), text, &block)?,
            None => format!("{SHEBANG}{}", made(&block)),
        };
        wanted.push((place.file(name), text));
    }
    let folder = &place.folder.path;
    fs::create_dir_all(folder).map_err(|e| cannot("make the folder", folder, e))?;
    let mut changed = 0;
    for ((file, text), found) in wanted.iter().zip(&found) {
        if found.as_deref() != Some(text) {
            write(file, text)?;
            changed += 1;
        }
    }
    place.reply(program, changed)
}

/// Takes the block out of each hook, and removes hooks that an install made.
///
/// # Errors
/// Usage: no work tree, or a block without an end. Environment: the folder cannot be written to.
pub fn uninstall(root: &Path, program: &Path) -> Result<HooksReply> {
    let place = Place::of(root)?;
    place.check_own()?;
    let mut wanted = Vec::new();
    for name in NAMES {
        let file = place.file(name);
        if let Some(text) = read(&file)?
            && let Some((before, block, after)) = split(&file, &text)?
        {
            let rest = format!("{before}{after}");
            let is_ours = block.contains(MADE) && rest == SHEBANG;
            wanted.push((file, (!is_ours).then_some(rest)));
        }
    }
    for (file, rest) in &wanted {
        match rest {
            Some(rest) => write(file, rest)?,
            None => fs::remove_file(file).map_err(|e| cannot("remove", file, e))?,
        }
    }
    place.reply(program, wanted.len())
}

/// How the hooks stand.
///
/// # Errors
/// Usage: no work tree. Environment: a hook cannot be read.
pub fn status(root: &Path, program: &Path) -> Result<HooksReply> {
    Place::of(root)?.reply(program, 0)
}

impl Place {
    fn of(root: &Path) -> Result<Self> {
        let folder = git::hooks_folder(root)?;
        let inside = root.strip_prefix(&folder.work_tree).unwrap_or(Path::new(""));
        let inside = inside.to_str().ok_or_else(|| {
            Error::usage(format!("the path `{}` is not UTF-8", root.display()))
                .hint("call `sai sync` from a hook of your own")
        })?;
        let root = if inside.is_empty() { ".".to_owned() } else { inside.replace('\\', "/") };
        let own = [&folder.work_tree, &folder.git_dir];
        let is_shared = !own.iter().any(|own| real(&folder.path).starts_with(real(own)));
        Ok(Self { folder, root, is_shared })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path.join(name)
    }

    /// Fails when the hooks are neither the repository's nor the user's.
    fn check_own(&self) -> Result<()> {
        let home = std::env::home_dir().filter(|home| home.parent().is_some());
        let is_users = home.is_some_and(|home| real(&self.folder.path).starts_with(real(&home)));
        if !self.is_shared || is_users {
            return Ok(());
        }
        let folder = self.folder.path.display();
        Err(Error::usage(format!("`core.hooksPath` names `{folder}`, which is not yours alone"))
            .hint("set `git config core.hooksPath` to a folder of the repository, or unset it"))
    }

    /// The hook's text, if it can take a block; `None` when there is no such hook.
    fn read(&self, name: &str) -> Result<Option<String>> {
        let file = self.file(name);
        let refuse = |why: &str| {
            Err(Error::usage(format!("the hook `{}` {why}", file.display())).hint(format!(
                "let it run `sai sync --quiet --background --root {} &` by itself",
                quoted(&self.root)
            )))
        };
        match fs::symlink_metadata(&file) {
            Ok(found) if !found.is_file() => return refuse("is no regular file"),
            Ok(found) if !is_executable(&found) => {
                return refuse("is switched off: it is not executable");
            }
            _ => {}
        }
        match read(&file)? {
            Some(text) if !is_shell(&text) => refuse("is no shell script"),
            found => Ok(found),
        }
    }

    /// The block, from its first line to the end of its last.
    fn block(&self, program: &Path) -> Result<String> {
        let program = program.to_str().ok_or_else(|| {
            Error::usage(format!("the path of the program `{}` is not UTF-8", program.display()))
                .hint("install SAI under a plain name")
        })?;
        let (program, root) = (quoted(program), quoted(&self.root));
        Ok(format!(
            "{BEGIN}\n(\n    sai={program}\n    [ -x \"$sai\" ] || sai=$(command -v sai) || exit 0\n    \
             \"$sai\" sync --quiet --background --root {root} &\n) </dev/null >/dev/null 2>&1\n{END}\n"
        ))
    }

    fn reply(&self, program: &Path, changed: usize) -> Result<HooksReply> {
        let block = self.block(program)?;
        let hook = |name: &'static str| {
            let file = self.file(name);
            let state = match read(&file)? {
                None => HookState::Missing,
                Some(text) => match split(&file, &text)? {
                    None => HookState::Other,
                    Some((_, found, _)) if found == block || found == made(&block) => {
                        HookState::Installed
                    }
                    Some(_) => HookState::Outdated,
                },
            };
            Ok(Hook { name, state })
        };
        Ok(HooksReply {
            folder: self.folder.path.clone(),
            is_configured: self.folder.is_configured,
            is_shared: self.is_shared,
            changed,
            hooks: NAMES.into_iter().map(hook).collect::<Result<_>>()?,
        })
    }
}

/// The block of a file that had not been there.
fn made(block: &str) -> String {
    block.replacen('\n', &format!("\n{MADE}\n"), 1)
}

/// `text` with the block in the place of the one that it has, or behind its `#!` line.
fn with_block(file: &Path, text: &str, block: &str) -> Result<String> {
    if let Some((before, old, after)) = split(file, text)? {
        let block = if old.contains(MADE) { made(block) } else { block.to_owned() };
        return Ok(format!("{before}{block}{after}"));
    }
    let (first, rest) = match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("#!") => (first, rest),
        None if text.starts_with("#!") => (text, ""),
        _ => return Ok(format!("{block}{text}")),
    };
    Ok(format!("{first}\n{block}{rest}"))
}

/// What stands before the block, the block, and what stands after it; `None` without a block.
fn split<'t>(file: &Path, text: &'t str) -> Result<Option<(&'t str, &'t str, &'t str)>> {
    let line_at = |mark: &str, from: usize| {
        let found = text[from..].match_indices(mark).map(|(at, _)| from + at);
        found.into_iter().find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
    };
    let Some(begin) = line_at(BEGIN_MARK, 0) else { return Ok(None) };
    let Some(end) = line_at(END, begin) else {
        let message = format!("the block of SAI in `{}` has no end", file.display());
        return Err(Error::usage(message).hint(format!("end it with a line `{END}`")));
    };
    let end = text[end..].find('\n').map_or(text.len(), |line| end + line + 1);
    Ok(Some((&text[..begin], &text[begin..end], &text[end..])))
}

/// Whether a hook is run by a shell. Without a `#!` line git takes the usual one.
fn is_shell(text: &str) -> bool {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];
    let first = text.lines().next().unwrap_or_default();
    let Some(command) = first.strip_prefix("#!") else { return !text.contains('\0') };
    let mut words = command.split_whitespace().filter_map(|word| word.rsplit(['/', '\\']).next());
    let program = words.find(|word| *word != "env" && !word.starts_with('-'));
    program.is_some_and(|program| SHELLS.contains(&program.trim_end_matches(".exe")))
}

/// The text of a hook; `None` when there is none. Bytes that are no text stand for no shell script.
fn read(file: &Path) -> Result<Option<String>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(String::from_utf8(bytes).unwrap_or_else(|_| "\0".to_owned()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", file, error)),
    }
}

/// Replaces a hook whole, so that git never runs half of one. Its permissions stay; a new one is
/// executable.
fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    let replace = || -> io::Result<()> {
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        match fs::metadata(file) {
            Ok(found) => fs::set_permissions(new.path(), found.permissions())?,
            Err(_) => make_executable(new.path())?,
        }
        new.persist(file)?;
        Ok(())
    };
    replace().map_err(|error| cannot("write", file, error))
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_executable(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_found: &Metadata) -> bool {
    true
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn cannot(what: &str, path: &Path, error: io::Error) -> Error {
    Error::environment(format!("cannot {what} `{}`", path.display()))
        .hint("check who owns it and that it may be written")
        .because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_told_from_other_programs() {
        let shells = ["#!/bin/sh", "#!/usr/bin/env bash", "#!/usr/bin/env -S zsh -e", "echo", ""];
        assert!(shells.iter().all(|text| is_shell(text)));
        let others = ["#!/usr/bin/python3", "#!/usr/bin/env node", "#!/usr/bin/fish", "#!", "\0"];
        assert!(!others.iter().any(|text| is_shell(text)));
    }

    #[test]
    fn a_block_goes_in_behind_the_first_line_and_out_again() {
        let file = Path::new("hook");
        let block = format!("{BEGIN}\nx\n{END}\n");
        for text in ["#!/bin/sh\necho a\nexit 0\n", "#!/bin/sh\n", "echo a", "", "# <<< saint\n"] {
            let with = with_block(file, text, &block).unwrap();
            let (before, found, after) = split(file, &with).unwrap().unwrap();
            assert_eq!(found, block, "{text:?}");
            assert_eq!(format!("{before}{after}"), text);
            assert_eq!(with_block(file, &with, &block).unwrap(), with, "twice is once");
        }
        assert_eq!(with_block(file, "#!/bin/sh", &block).unwrap(), format!("#!/bin/sh\n{block}"));
        let other = with_block(file, "a\n", &block.replace('x', "y")).unwrap();
        assert_eq!(with_block(file, &other, &block).unwrap(), format!("{block}a\n"));
        assert!(split(file, BEGIN).is_err(), "a block without an end");
    }

    #[test]
    fn any_path_is_one_word() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
    }
}
