//! One server and the pipes to it, as a client has them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Whatever takes longer counts as never answered.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running `sai mcp`.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
}

/// `sai` in `root`, free of variables that would lead it elsewhere.
pub(crate) fn sai(bin: &Path, root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(bin);
    command.current_dir(root).args(args).stdin(Stdio::null());
    for name in ["SAI_ROOT", "CLAUDE_PROJECT_DIR", "SAI_LOG"] {
        command.env_remove(name);
    }
    command
}

impl Server {
    /// Starts a server in `root` and shakes hands.
    pub(crate) fn start(bin: &Path, root: &Path, args: &[&str]) -> Result<Self, String> {
        let mut child = sai(bin, root, &[&["mcp"], args].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", bin.display()))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("piped above");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        let mut server = Self { child, stdin, lines, last_id: 0 };
        let client = json!({"name": "bench", "version": "1"});
        let version = "2025-11-25";
        server.request(
            "initialize",
            &json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
        )?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let stdin = self.stdin.as_mut().expect("open until the end");
        let line = format!("{message}\n");
        stdin.write_all(line.as_bytes()).map_err(|error| format!("the server is gone: {error}"))
    }

    /// The result of a request; what is no result is an error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let started = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(started.elapsed());
            let line = self.lines.recv_timeout(left).map_err(|e| format!("no answer: {e}"))?;
            let mut message: Value = serde_json::from_str(&line)
                .map_err(|error| format!("stdout carries `{line}`: {error}"))?;
            if message["id"] == id {
                let result = message["result"].take();
                return if result.is_object() { Ok(result) } else { Err(line) };
            }
            if message["id"] != Value::Null {
                return Err(format!("an answer to nothing: {line}"));
            }
        }
    }

    /// Calls a tool without waiting for its answer.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> Result<(), String> {
        self.last_id += 1;
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": "tools/call",
            "params": params}))
    }

    /// The structured answer of a tool; an answer that says `isError` is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let params = json!({"name": tool, "arguments": arguments});
        let mut result = self.request("tools/call", &params)?;
        if result["isError"] == true {
            return Err(format!("{tool} {arguments}: {}", result["content"]));
        }
        Ok(result["structuredContent"].take())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its input; the server must end by itself, well.
    pub(crate) fn close(mut self) -> Result<(), String> {
        self.stdin = None;
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("a server ended with {status}")),
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => return Err(format!("cannot wait for a server: {error}")),
            }
        }
        Err("a server did not end with its input".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the system says of a process; zeros where it has no `/proc`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Bytes of memory that are its own, and all that it holds.
    pub(crate) own_bytes: u64,
    pub(crate) resident_bytes: u64,
    /// CPU time since its start.
    pub(crate) cpu: Duration,
    /// Bytes of removed files that it keeps open.
    pub(crate) removed_bytes: u64,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Self {
        let read = |name| std::fs::read_to_string(format!("/proc/{process}/{name}"));
        let status = read("status").unwrap_or_default();
        let kib = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        // The fields after the name, which may itself hold spaces, are counted from the third.
        let stat = read("stat").unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks: u64 =
            fields.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
        Self {
            own_bytes: kib("RssAnon:") << 10,
            resident_bytes: kib("VmRSS:") << 10,
            cpu: Duration::from_millis(ticks * 10),
            removed_bytes: removed_bytes(process),
        }
    }
}

fn removed_bytes(process: u32) -> u64 {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    open.filter(|entry| {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().ends_with(" (deleted)")
    })
    .filter_map(|entry| std::fs::metadata(entry.path()).ok())
    .map(|found| found.len())
    .sum()
}

/// Processes whose working directory is `root`.
pub(crate) fn processes_in(root: &Path) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == root))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
