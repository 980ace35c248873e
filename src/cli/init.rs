//! `sai init`: writes a configuration to edit.

use std::fs;
use std::io;
use std::path::Path;

use clap::Args;

use super::{DONE, Ended, Session, print};
use crate::config;
use crate::error::{Error, Result};

/// Write a commented sai-cfg.yml into the root
///
/// Prints the file's path. A file that is there is left alone without --force.
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &InitArgs, session: &Session) -> Result<u8, Ended> {
    let root = session.root()?;
    if args.force {
        remove(&root.join(config::FILE_NAME))?;
    }
    let file = config::write_default(&root)?;
    if session.globals.json {
        print::json(&serde_json::json!({ "file": file }))?;
    } else {
        print::out(&format!("{}\n", file.display()))?;
    }
    Ok(DONE)
}

/// Removes `file`, if it is there.
fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::environment(format!("cannot replace `{}`", file.display())).because(error))
        }
        _ => Ok(()),
    }
}
