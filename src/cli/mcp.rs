//! `sai mcp`: serves agents over stdin and stdout.

use clap::Args;

use super::{DONE, Ended, Session};

/// Serve agents over the Model Context Protocol on stdin and stdout
#[derive(Debug, Args)]
pub(super) struct McpArgs {}

pub(super) fn run(McpArgs {}: &McpArgs, session: &Session) -> Result<u8, Ended> {
    crate::mcp::serve(session.load()?.config)?;
    Ok(DONE)
}
