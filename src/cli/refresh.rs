//! `sai refresh`: brings the index up to date with named files and folders.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::progress::Bar;
use super::{Ended, Session, index, sync};
use crate::error::Error;
use crate::request::RefreshQuery;

/// Bring the index up to date with named files and folders
///
/// Reads them again, whether they look changed or not, and removes what is gone or left out now.
/// Nothing else is looked at.
#[derive(Debug, Args)]
pub(super) struct RefreshArgs {
    /// Files or folders; a folder stands for all in it
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &RefreshArgs, session: &Session) -> Result<u8, Ended> {
    // A person names paths from where they are, not from the root.
    let here = std::env::current_dir().context("the current folder is gone")?;
    let named = |path: &PathBuf| {
        let full = here.join(path).into_os_string();
        full.into_string().map_err(|full| {
            Error::usage(format!("the path `{}` is not UTF-8", full.display()))
                .hint("such files are never indexed; rename it")
        })
    };
    let paths = args.paths.iter().map(named).collect::<Result<_, Error>>()?;
    let handle = session.start()?;
    let bar = Bar::start(session.globals.quiet);
    let query = RefreshQuery { paths, paths_max: None, progress: Some(bar.listener()) };
    let reply = index::watched(&bar, handle.refresh(query))?;
    sync::show(&reply, session)
}
