//! `sai_prepare_mcp_setup`: how is SAI set up for a project and its client?

use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use rmcp::model::CallToolResult;

use super::argument::{Argument, Arguments, Shape};
use super::door::{Door, Spec};
use super::json;
use crate::error::{Error, ErrorKind, Result};
use crate::setup::{
    CLIENTS, Machine, PrepareQuery, PrepareReply, PrepareStatus, Scope, Surroundings, prepare,
};
use crate::turn::Turn;

/// How long the script may run: the first build compiles DuckDB.
const SCRIPT: Duration = Duration::from_hours(1);

/// How long a call may take: the script, and ending it.
pub(super) const ALLOWED: Duration = Duration::from_mins(61);

/// How long the end of the server waits for a script that is being ended.
const ENDING: Duration = Duration::from_secs(3);

pub(super) const SPEC: Spec = Spec {
    name: "sai_prepare_mcp_setup",
    title: "Prepare the set-up",
    about: "Tell how to set SAI up as an MCP server for a project: the exact command to run, the \
            configuration for the client, and numbered next steps. Runs nothing, unless execute \
            is true and the server was started with --allow-setup; then it runs the set-up script \
            and reports its exit code and the end of its output. The first build can take several \
            minutes.",
    arguments: ARGUMENTS,
    example: r#"{"client": "claude-code"}"#,
    writes: true,
};

const ARGUMENTS: &[Argument] = &[
    Argument {
        name: "target_dir",
        aliases: &["target", "project", "directory", "dir", "path", "root"],
        shape: Shape::Text,
        required: false,
        about: "The project's folder. Default: the folder that this server serves.",
    },
    Argument {
        name: "client",
        aliases: &["agent", "editor"],
        shape: Shape::Choice(|| CLIENTS.iter().map(|client| client.name).collect()),
        required: false,
        about: "The MCP client to configure. Default: claude-code.",
    },
    Argument {
        name: "scope",
        aliases: &[],
        shape: Shape::Choice(|| [Scope::Project, Scope::User].map(Scope::name).to_vec()),
        required: false,
        about: "The project's configuration or the user's. Default: the project's, where the \
                client reads one.",
    },
    Argument {
        name: "execute",
        aliases: &["run"],
        shape: Shape::Flag,
        required: false,
        about: "Run the set-up script instead of only naming the command.",
    },
];

/// Held while a script runs: one at a time, and the server's end waits for it.
static RUNNING: Mutex<()> = Mutex::new(());

/// The commands, or what became of running them.
pub(super) async fn answer(door: &Door, given: &Arguments) -> Result<CallToolResult> {
    let query = PrepareQuery {
        target_dir: given.word("target_dir")?,
        client: given.word("client")?,
        scope: given.word("scope")?,
        execute: given.flag("execute")?,
    };
    let around = surroundings(door)?;
    let turn = Ending(Turn::new(Some(SCRIPT)));
    let own = turn.0.clone();
    let work = tokio::task::spawn_blocking(move || alone(query, &around, &own));
    let reply = work.await.map_err(|e| Error::new(ErrorKind::Bug, "the set-up").because(e))??;
    json::result(&reply)
}

/// Ends its turn when nobody waits for the answer any more.
struct Ending(Turn);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn alone(mut query: PrepareQuery, around: &Surroundings, turn: &Turn) -> Result<PrepareReply> {
    if !query.execute {
        return prepare(&query, around, turn);
    }
    let running = RUNNING.try_lock();
    if let Err(TryLockError::WouldBlock) = running {
        query.execute = false;
        let mut reply = prepare(&query, around, turn)?;
        reply.status = PrepareStatus::Blocked;
        reply.blocked_reason = Some("a set-up script is running already".to_owned());
        return Ok(reply);
    }
    prepare(&query, around, turn)
}

/// Resolves when no script runs any more, or after a moment at most.
pub(super) async fn idle() {
    const LOOK: Duration = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    while waited < ENDING && matches!(RUNNING.try_lock(), Err(TryLockError::WouldBlock)) {
        tokio::time::sleep(LOOK).await;
        waited += LOOK;
    }
}

fn surroundings(door: &Door) -> Result<Surroundings> {
    let program = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .map_err(|e| Error::environment("the path of this program is unknown").because(e))?;
    Ok(Surroundings {
        root: door.root.clone(),
        program,
        allow_setup: door.rights.setup,
        machine: Machine::this()?,
    })
}
