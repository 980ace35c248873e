//! Here is a client: which file tells it of SAI, and what does that file look like afterwards?
//!
//! `clients` is the table of clients; `launch` says what an entry holds; `json`, `toml` and `yaml`
//! change a text and nothing else in it; `change` shows a change as a diff and writes it with a
//! backup; `project` is what SAI puts into a project besides (skills, a subagent, a block of
//! AGENTS.md); `prepare` answers an agent that wants to set SAI up; `page` is `docs/clients.md`. A
//! file is written only when a caller says so, by [`Change::write`].

mod change;
mod clients;
mod json;
mod launch;
mod merge;
mod page;
mod prepare;
mod project;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

pub use change::{Change, Written};
pub use clients::{CLIENTS, Client, Format, Machine, Platform, Scope, find};
pub use launch::Launch;
pub use page::page;
pub use prepare::{PrepareQuery, PrepareReply, PrepareStatus, Surroundings, prepare};
pub use project::{agents_md, skills};

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use merge::Fault;

/// The name under which SAI is entered; short, since clients put it before each tool's name.
pub const SERVER_NAME: &str = "sai";

/// Whether an entry is put in or taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The entry is there and up to date.
    Present,
    /// No entry of SAI's is left.
    Absent,
}

/// Where SAI is told of for one client, and whether it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// For the project or for the user.
    pub scope: Scope,
    /// The file, whether it exists or not.
    pub file: PathBuf,
    /// What is known of it.
    pub state: State,
}

/// Whether a file tells of SAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has an entry for SAI.
    Present,
    /// It has none, or does not exist.
    Absent,
    /// It cannot be read.
    Unreadable,
}

/// The change that puts SAI into (or takes it out of) the file of `client` for `scope`. Nothing is
/// written.
///
/// # Errors
/// Usage: the client has no file for that scope, or the file is not what the client reads: names the
/// file, the line where it is known, and what to add by hand. Environment: it cannot be read.
pub fn client_change(
    client: &Client,
    scope: Scope,
    wanted: Wanted,
    launch: &Launch,
    machine: &Machine,
) -> Result<Change> {
    let file = client.file(scope, &launch.root, machine)?;
    let within = (scope == Scope::Project).then(|| launch.root.clone());
    let before = change::read(&file)?;
    let old = before.as_deref().unwrap_or_default();
    let after = match wanted {
        Wanted::Present => {
            let fields = client.fields(launch, scope);
            merge::set(client, old, &fields).map(Some)
        }
        Wanted::Absent if before.is_none() => Ok(None),
        Wanted::Absent => merge::unset(client, old),
    };
    let after = after.map_err(|fault| refused(&file, &fault, client, launch, scope, wanted))?;
    let top = within.clone().unwrap_or_else(|| machine.home.clone());
    Ok(Change { file, before, after, within, top })
}

/// What a person adds to the file of `client` by hand.
pub fn snippet(client: &Client, scope: Scope, launch: &Launch) -> String {
    let fields = client.fields(launch, scope);
    merge::set(client, "", &fields).expect("an empty file takes any entry")
}

/// The files of `client` in the project at `root` and for the user, with what they tell of SAI.
pub fn places(client: &Client, root: &Path, machine: &Machine) -> Vec<Place> {
    let mut places = Vec::new();
    for scope in [Scope::Project, Scope::User] {
        let Ok(file) = client.file(scope, root, machine) else { continue };
        let state = match change::read(&file) {
            Ok(None) => State::Absent,
            Ok(Some(text)) => match merge::has(client, &text) {
                Ok(true) => State::Present,
                Ok(false) => State::Absent,
                Err(_) => State::Unreadable,
            },
            Err(_) => State::Unreadable,
        };
        places.push(Place { scope, file, state });
    }
    places
}

fn refused(
    file: &Path,
    fault: &Fault,
    client: &Client,
    launch: &Launch,
    scope: Scope,
    wanted: Wanted,
) -> Error {
    let file = file.display();
    let error = Error::usage(match fault.line {
        Some(line) => format!("`{file}` line {line}: {}", fault.what),
        None => format!("`{file}`: {}", fault.what),
    });
    error.hint(match wanted {
        Wanted::Present => {
            format!("nothing was changed; add this by hand:\n{}", snippet(client, scope, launch))
        }
        Wanted::Absent => format!("nothing was changed; take `{SERVER_NAME}` out by hand"),
    })
}
