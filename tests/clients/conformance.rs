//! The production server on a port of the loopback interface, for the protocol's own suite:
//! `conformance ROOT` prints its address and serves until it is ended. Host and Origin are checked.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sai::config::{Config, Sources};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let root = std::env::args_os().nth(1).context("usage: conformance ROOT")?;
    let root = std::path::absolute(root)?;
    let sources = Sources { root, file: None, overrides: Vec::new() };
    let door = sai::mcp::handler(&Config::load(&sources)?.config);

    // The loopback interface is the only host that is allowed by default.
    let settings = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*"]);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(door.clone()), sessions, settings);

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
