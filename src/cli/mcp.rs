//! `sai mcp`: serves agents over stdin and stdout.

use clap::Args;

use super::{DONE, Ended, Session};
use crate::mcp::{self, Rights};

/// Serve agents over the Model Context Protocol on stdin and stdout
#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Offer the tools that write the index: `sai_refresh`, `sai_sync` and `sai_index_repo`
    #[arg(long)]
    allow_write: bool,

    /// Let `sai_prepare_mcp_setup` run the set-up script
    #[arg(long)]
    allow_setup: bool,
}

pub(super) fn run(args: &McpArgs, session: &Session) -> Result<u8, Ended> {
    let rights = Rights { write: args.allow_write, setup: args.allow_setup };
    mcp::serve(&session.load()?.config, rights)?;
    Ok(DONE)
}
