//! `sai man`: prints the manual page, or writes all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap_mangen::Man;

use super::{DONE, Ended, command, print};
use crate::error::Result;

/// Print the manual page, or write the pages of all commands into a folder
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Where to write the pages; made when it is not there
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> Result<u8, Ended> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        Man::new(command()).render(&mut page)?;
        print::out(&String::from_utf8_lossy(&page))?;
        return Ok(DONE);
    };
    let cannot = || format!("cannot write manual pages to `{}`", folder.display());
    write(folder).with_context(cannot)?;
    print::out(&format!("{}\n", folder.display()))?;
    Ok(DONE)
}

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command(), folder)
}
