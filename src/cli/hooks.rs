//! `sai hooks`: lets git keep the index fresh, or no longer.

use std::fmt::Write;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{DONE, Ended, NOTHING, Session, print};
use crate::hooks::{self, HookState, HooksReply};

/// Let git keep the index fresh: hooks that sync it in the background
///
/// After a commit, a merge, a checkout and a rewrite. Git never waits for the sync and never sees it
/// fail. What a hook does already it goes on doing. Other writers of the index are waited for, but
/// no two syncs pile up.
#[derive(Debug, Args)]
pub(super) struct HooksArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Action {
    /// Add a block to the hooks, or bring it up to date; make the hooks that are not there
    Install,
    /// Take the block out again, and remove the hooks that `install` made
    Uninstall,
    /// Show which hooks sync the index; exits with 1 when some do not
    Status,
}

pub(super) fn run(args: &HooksArgs, session: &Session) -> Result<u8, Ended> {
    let root = session.root()?;
    let program = std::env::current_exe().context("cannot find this program's own path")?;
    let reply = match args.action {
        Action::Install => hooks::install(&root, &program),
        Action::Uninstall => hooks::uninstall(&root, &program),
        Action::Status => hooks::status(&root, &program),
    }?;
    if session.globals.json {
        print::json(&reply)?;
    } else {
        print::out(&text(&reply, args.action))?;
    }
    let all = reply.hooks.iter().all(|hook| hook.state == HookState::Installed);
    Ok(if matches!(args.action, Action::Status) && !all { NOTHING } else { DONE })
}

fn text(reply: &HooksReply, action: Action) -> String {
    let folder = print::safe(&reply.folder.display().to_string());
    let why = if reply.is_configured { ", named by core.hooksPath" } else { "" };
    let mut text = match action {
        Action::Status => format!("hooks in {folder}{why}\n"),
        _ => format!("{} changed in {folder}{why}\n", print::count(reply.changed, "hook")),
    };
    for hook in &reply.hooks {
        let state = match hook.state {
            HookState::Installed => "syncs the index",
            HookState::Outdated => "syncs the index with another program or root",
            HookState::Other => "does something else",
            HookState::Missing => "not there",
        };
        let _ = writeln!(text, "  {:<13}  {state}", hook.name);
    }
    if reply.is_shared && matches!(action, Action::Install) {
        text.push_str(
            "note: other repositories have the same hooks; they sync where an index is\n",
        );
    }
    text
}
