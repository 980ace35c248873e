//! `sai flush`: removes the index.

use std::io;

use anyhow::Context;
use clap::Args;

use super::{DONE, Ended, Session, print};
use crate::error::{Error, Result};
use crate::worker::Handle;

/// Remove the index of this folder
///
/// Frees its space on disk; the next search or `sai index` makes it anew.
#[derive(Debug, Args)]
pub(super) struct FlushArgs {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(args: &FlushArgs, session: &Session) -> Result<u8, Ended> {
    let config = session.load()?.config;
    let folder = config.root.join(&config.index_dir);
    if !args.yes && !confirmed(&format!("remove the index in {}?", folder.display()))? {
        print::tell("nothing was removed");
        return Ok(DONE);
    }
    let reply = Handle::start(config).flush().wait()?;
    if session.globals.json {
        print::json(&reply)?;
    } else if reply.bytes == 0 {
        print::out("there was no index to remove\n")?;
    } else {
        print::out(&format!("removed the index, {}\n", print::bytes(reply.bytes)))?;
    }
    Ok(DONE)
}

/// Asks the person at the terminal.
fn confirmed(question: &str) -> Result<bool, Ended> {
    if !print::has_person() {
        return Err(Error::usage("there is no terminal to ask whether to remove the index")
            .hint("`sai flush --yes` removes it without asking")
            .into());
    }
    print::ask(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
