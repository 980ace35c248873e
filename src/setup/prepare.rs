//! Here is an agent that wants SAI in a project: which command sets it up, and what goes into the
//! client's configuration? The script itself runs only where the server was started for it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::clients::{self, Machine, Scope};
use super::launch::Launch;
use super::snippet;
use crate::error::{Error, Result};
use crate::turn::Turn;
use crate::types::{is_deceptive, is_same_owner};

/// The script, relative to a checkout of SAI's source.
const SCRIPT: &str = "mcp-setup/setup.sh";

/// The client that is shown when none is asked for.
const DEFAULT_CLIENT: &str = "claude-code";

/// How much of the script's output is reported, in bytes from its end.
const OUTPUT_BYTES: usize = 4000;

/// How often a running script is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// How long a script that was told to end may take to clean up.
const GRACE: Duration = Duration::from_secs(2);

/// Why nothing runs on a server that was not started for it; clients look for this text.
const NOT_ALLOWED: &str = "Server not started with --allow-setup";

/// What an agent asks.
#[derive(Clone, Debug, Default)]
pub struct PrepareQuery {
    /// The project to set up; relative paths start at the served root, which is the default.
    pub target_dir: Option<String>,
    /// The client whose configuration is wanted.
    pub client: Option<String>,
    /// `project` or `user`.
    pub scope: Option<String>,
    /// Whether the script shall run.
    pub execute: bool,
}

/// What the answer depends on besides.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The served root.
    pub root: PathBuf,
    /// The running program, links followed.
    pub program: PathBuf,
    /// Whether the server was started with `--allow-setup`.
    pub allow_setup: bool,
    /// Where the user's files lie.
    pub machine: Machine,
}

/// What became of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PrepareStatus {
    /// Nothing ran: here is what to run.
    Ready,
    /// The script was asked for and did not run; `blocked_reason` says why.
    Blocked,
    /// The script ran and ended well.
    Executed,
    /// The script ran and failed, or did not end in time.
    Failed,
}

/// The commands, the configuration, and what happened.
#[derive(Clone, Debug, Serialize)]
pub struct PrepareReply {
    /// What became of the question.
    pub status: PrepareStatus,
    /// Why an asked-for run did not take place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// One shell command that sets everything up.
    pub recommended_command: String,
    /// What the client's file holds for SAI.
    pub mcp_server_config_example: String,
    /// That file.
    pub config_file: PathBuf,
    /// What to do, in order.
    pub next_steps: Vec<String>,
    /// How long building takes, and what else to know.
    pub notes: Vec<String>,
    /// The script's exit code; absent when it did not run or was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The end of what the script printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
}

/// Answers with the commands and the configuration; runs the script when the query and the server
/// both say so, for as long as `turn` goes on.
///
/// # Errors
/// Usage: the folder is none that can be set up, or the client or scope is unknown. Environment: the
/// script cannot be started.
pub fn prepare(query: &PrepareQuery, around: &Surroundings, turn: &Turn) -> Result<PrepareReply> {
    let target = target(query, around)?;
    let client = clients::find(query.client.as_deref().unwrap_or(DEFAULT_CLIENT))?;
    let scope = match &query.scope {
        Some(name) => Scope::named(name)?,
        None => client.default_scope(),
    };
    let launch = Launch {
        root: target.clone(),
        program: around.program.to_string_lossy().into_owned(),
        shared_program: around.program.to_string_lossy().into_owned(),
        allow_write: false,
        allow_setup: false,
    };
    let script = script_beside(&around.program);
    let mut args = vec!["--target-dir".to_owned(), target.to_string_lossy().into_owned()];
    args.extend(["--features".to_owned(), features()]);
    args.extend(["--client".to_owned(), client.name.to_owned()]);
    args.extend(["--scope".to_owned(), scope.name().to_owned()]);
    let config_file = client.file(scope, &target, &around.machine)?;
    let mut reply = PrepareReply {
        status: PrepareStatus::Ready,
        blocked_reason: None,
        recommended_command: command(script.as_deref(), &args)?,
        mcp_server_config_example: snippet(client, scope, &launch),
        next_steps: Vec::new(),
        notes: notes(script.is_some()),
        config_file,
        exit_code: None,
        output_tail: None,
    };
    if query.execute {
        match may_run(script.as_deref(), around) {
            Ok(script) => run(script, &args, turn, &mut reply)?,
            Err(reason) => {
                reply.status = PrepareStatus::Blocked;
                reply.blocked_reason = Some(reason);
            }
        }
    }
    reply.next_steps = next_steps(&reply, client, scope);
    Ok(reply)
}

/// The folder to set up, canonical.
fn target(query: &PrepareQuery, around: &Surroundings) -> Result<PathBuf> {
    let named = query.target_dir.as_deref().filter(|name| !name.trim().is_empty());
    let path = around.root.join(named.unwrap_or("."));
    let refused = |what: &str| {
        Error::usage(format!("target_dir `{}` is {what}", path.display()))
            .hint("name the folder of a project, or leave target_dir out for the served one")
    };
    let target = fs::canonicalize(&path).map_err(|e| refused("not there").because(e))?;
    if !target.is_dir() {
        return Err(refused("a file, not a folder"));
    }
    let home = fs::canonicalize(&around.machine.home).ok();
    if target.parent().is_none() || home.is_some_and(|home| home.starts_with(&target)) {
        return Err(refused("your home folder or around it, not a project"));
    }
    Ok(target)
}

/// The set-up script of the checkout that `program` was built in. In a folder that others write to, a
/// stranger's script is passed over.
fn script_beside(program: &Path) -> Option<PathBuf> {
    let checkouts = program.ancestors().skip(1);
    checkouts
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| folder.join(SCRIPT))
        .find(|script| script.is_file() && is_same_owner(script, program))
}

/// The features that this program was built with.
fn features() -> String {
    let built = [
        ("bundled-duckdb", cfg!(feature = "bundled-duckdb")),
        ("fastembed", cfg!(feature = "fastembed")),
    ];
    let names: Vec<&str> = built.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    names.join(",")
}

/// The script of a checkout, else the installer: by its address where this build names one.
fn command(script: Option<&Path>, args: &[String]) -> Result<String> {
    let quoted = |words: &[&str]| {
        shlex::try_join(words.iter().copied())
            .map_err(|e| Error::usage("a path holds a NUL character").because(e))
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if let Some(script) = script {
        let script = script.to_string_lossy();
        return quoted(&[&["bash", &script], &args[..]].concat());
    }
    let args = quoted(&args)?;
    Ok(match env!("CARGO_PKG_REPOSITORY") {
        "" => format!("sh mcp-setup/install.sh --archive SAI-ARCHIVE.tar.gz {args}"),
        repository => {
            format!("curl -fsSL {repository}/releases/latest/download/install.sh | sh -s -- {args}")
        }
    })
}

fn notes(from_source: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if from_source {
        let duckdb = if cfg!(feature = "bundled-duckdb") {
            "DuckDB is compiled from its sources, which takes about half an hour on two cores"
        } else {
            "a prebuilt DuckDB is linked (DUCKDB_LIB_DIR), which saves half an hour on two cores"
        };
        notes.push(format!(
            "The first build can take several minutes: {duckdb}. Later builds reuse it. ONNX Runtime \
             is loaded at run time and never compiled."
        ));
    } else {
        notes.push(
            "This program does not stand in a source checkout, so nothing is built.".to_owned(),
        );
        if env!("CARGO_PKG_REPOSITORY").is_empty() {
            notes.push(
                "This build names no address to download from: SAI-ARCHIVE.tar.gz is the archive \
                 that SAI came in; unpacked, it holds mcp-setup/install.sh."
                    .to_owned(),
            );
        }
    }
    notes.push("The command prints the client's configuration; with --write it is merged.".into());
    notes
}

fn next_steps(reply: &PrepareReply, client: &clients::Client, scope: Scope) -> Vec<String> {
    let register = format!("sai setup {} --scope {} --write", client.name, scope.name());
    let mut steps = Vec::new();
    match reply.status {
        PrepareStatus::Executed => {}
        PrepareStatus::Failed => {
            steps.push(
                "Read output_tail, mend what failed, and run recommended_command.".to_owned(),
            );
        }
        PrepareStatus::Ready | PrepareStatus::Blocked => {
            steps.push(format!("Run: {}", reply.recommended_command));
        }
    }
    steps.push(format!(
        "Tell {} of SAI: run `{register}` in the project, or put mcp_server_config_example into {}.",
        client.title,
        reply.config_file.display()
    ));
    steps.push(format!("Restart {} and approve the server if it asks.", client.title));
    steps.push("Call sai_index_status to see that the index answers.".to_owned());
    (1..).zip(steps).map(|(number, step)| format!("{number}. {step}")).collect()
}

/// The script, when it may run.
fn may_run<'a>(script: Option<&'a Path>, around: &Surroundings) -> Result<&'a Path, String> {
    if !around.allow_setup {
        return Err(NOT_ALLOWED.to_owned());
    }
    if cfg!(windows) {
        return Err("the set-up script needs a Unix shell".to_owned());
    }
    script.ok_or_else(|| {
        "building from source needs a source checkout, and this program does not stand in one"
            .to_owned()
    })
}

/// Runs the script without a terminal and notes how it ended.
fn run(script: &Path, args: &[String], turn: &Turn, reply: &mut PrepareReply) -> Result<()> {
    let cannot = |e| Error::environment(format!("cannot run `{}`", script.display())).because(e);
    let (reader, writer) = std::io::pipe().map_err(cannot)?;
    let mut command = Command::new("bash");
    command.arg(script).args(args).arg("--yes").stdin(Stdio::null());
    command.stdout(writer.try_clone().map_err(cannot)?).stderr(writer);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(cannot)?;
    // The command holds the pipe's other end; without it the reader sees the end.
    drop(command);
    let output = Tail::of(reader);
    let ended = wait(&mut child, turn).map_err(cannot)?;
    reply.output_tail = Some(output.text());
    match ended {
        Ok(status) => {
            reply.exit_code = status.code();
            reply.status =
                if status.success() { PrepareStatus::Executed } else { PrepareStatus::Failed };
        }
        Err(stopped) => {
            reply.status = PrepareStatus::Failed;
            reply.notes.push(format!("The script was ended: {stopped}."));
        }
    }
    Ok(())
}

/// The end of what a script prints, read by a thread of its own.
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Closed when everything has been read.
    ended: mpsc::Receiver<()>,
}

impl Tail {
    fn of(mut reader: std::io::PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (ending, ended) = mpsc::channel();
        let own = Arc::clone(&kept);
        thread::spawn(move || {
            let _ending = ending;
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                let mut kept = own.lock().expect("nothing panics with the lock held");
                kept.extend_from_slice(&piece[..count]);
                let excess = kept.len().saturating_sub(OUTPUT_BYTES);
                kept.drain(..excess);
            }
        });
        Self { kept, ended }
    }

    /// What there is. A program that the script has left behind may hold the pipe: then what came
    /// within a moment must do.
    fn text(self) -> String {
        let _ = self.ended.recv_timeout(GRACE);
        let kept = self.kept.lock().expect("nothing panics with the lock held");
        shown(&String::from_utf8_lossy(&kept))
    }
}

/// Output as text that neither hides anything nor drives a terminal.
fn shown(output: &str) -> String {
    let mut text = String::with_capacity(output.len());
    for c in output.chars() {
        if is_deceptive(c) && c != '\n' && c != '\t' {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

/// Waits until the child ends by itself, or ends it and what it started when the turn is over.
fn wait(child: &mut Child, turn: &Turn) -> std::io::Result<Result<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        if let Err(stopped) = turn.check() {
            end(child)?;
            return Ok(Err(stopped));
        }
        thread::sleep(LOOK);
    }
}

/// Ends the child and what it started: first politely.
#[cfg(unix)]
fn end(child: &mut Child) -> std::io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = Pid::from_child(child);
    // A group that is gone has ended, which is what is wanted.
    let _ = kill_process_group(group, Signal::TERM);
    let mut waited = Duration::ZERO;
    while waited < GRACE && child.try_wait()?.is_none() {
        thread::sleep(LOOK);
        waited += LOOK;
    }
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().map(drop)
}

#[cfg(not(unix))]
fn end(child: &mut Child) -> std::io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
