//! `sai setup` and `sai_prepare_mcp_setup` as processes. What each client's file looks like is held
//! beside the code (`src/setup/tests.rs`).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{self, Output, Repo};

/// A project and a home of its own.
struct Person {
    repo: Repo,
    home: tempfile::TempDir,
}

impl Person {
    fn new() -> Self {
        Self { repo: support::folder(""), home: tempfile::tempdir().unwrap() }
    }

    /// Runs `sai` with the home folder and without a `sai` on the `PATH`.
    fn sai(&self, args: &[&str]) -> Output {
        let mut command = support::command(self.repo.path(), args);
        at_home(&mut command, self.home.path());
        support::output(command.output().unwrap())
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.repo.path().join(file)).unwrap()
    }
}

/// Gives a command a home folder and nothing of the surrounding one.
fn at_home(command: &mut Command, home: &Path) {
    command.env("HOME", home).env("PATH", "/usr/bin:/bin");
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "GROK_HOME", "CLINE_DIR"] {
        command.env_remove(name);
    }
}

#[test]
fn a_change_is_shown_first_and_written_on_demand() {
    let person = Person::new();
    person.repo.write(".mcp.json", "{\n  \"mcpServers\": {} // none\n}\n");
    let shown = person.sai(&["setup", "claude-code"]).exits(0);
    assert!(shown.stdout.contains("\n+    \"sai\": {"), "{}", shown.stdout);
    assert!(shown.stderr.contains("nothing was written; the same command with --write does it"));
    assert!(shown.stderr.contains("note: "), "{}", shown.stderr);
    assert!(!person.text(".mcp.json").contains("sai"));

    let written = person.sai(&["setup", "claude", "--write"]).exits(0);
    assert_eq!(written.stdout, shown.stdout);
    assert!(written.stderr.contains(".mcp.json.bak"), "{}", written.stderr);
    let after = person.text(".mcp.json");
    assert!(after.contains("// none") && after.contains(env!("CARGO_BIN_EXE_sai")), "{after}");
    let again = person.sai(&["setup", "claude", "--write"]).exits(0);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("nothing to change in "), "{}", again.stderr);
    assert_eq!(person.text(".mcp.json"), after);

    let removed = person.sai(&["setup", "claude", "--remove", "--write", "--json"]).exits(0).json();
    assert_eq!(removed["files"][0]["written"], true);
    assert!(removed["files"][0]["backup"].as_str().unwrap().ends_with(".mcp.json.bak.1"));
    assert!(!person.repo.path().join(".mcp.json.bak.2").exists());
}

#[test]
fn flags_scope_and_command_shape_the_entry() {
    let person = Person::new();
    let args =
        ["setup", "codex", "--write", "--allow-write", "--allow-setup", "--command", "my-sai"];
    person.sai(&args).exits(0);
    let text = person.text(".codex/config.toml");
    let root = person.repo.path().display();
    let line =
        format!("args = [\"mcp\", \"--root\", \"{root}\", \"--allow-write\", \"--allow-setup\"]");
    assert!(text.contains("command = \"my-sai\"\n") && text.contains(&line), "{text}");

    person.sai(&["setup", "gemini", "--scope", "user", "--write"]).exits(0);
    assert!(person.home.path().join(".gemini/settings.json").is_file());
    assert!(!person.repo.path().join(".gemini").exists());

    // With `sai` on the PATH, a file that can be shared names nothing of this machine.
    let bin = tempfile::tempdir().unwrap();
    fs::write(bin.path().join("sai"), "").unwrap();
    let mut command = support::command(person.repo.path(), &["setup", "vscode", "--write"]);
    at_home(&mut command, person.home.path());
    support::output(command.env("PATH", bin.path()).output().unwrap()).exits(0);
    let text = person.text(".vscode/mcp.json");
    assert!(text.contains("\"command\": \"sai\"") && text.contains("${workspaceFolder}"), "{text}");
}

#[test]
fn the_list_says_who_knows_of_sai() {
    let person = Person::new();
    person.sai(&["setup", "cursor", "--write"]).exits(0);
    person.repo.write(".mcp.json", "{ broken");
    let table = person.sai(&["setup", "--list"]).exits(0).stdout;
    let row = |name: &str, scope: &str| {
        let start = [name, scope];
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.into_iter().find(|words| words.starts_with(&start)).unwrap_or_default().join(" ")
    };
    assert_eq!(row("cursor", "project"), "cursor project set up .cursor/mcp.json");
    assert_eq!(row("claude-code", "project"), "claude-code project unreadable .mcp.json");
    assert!(row("cursor", "user").ends_with("/.cursor/mcp.json"), "{table}");
    let json = person.sai(&["setup", "--list", "--json"]).exits(0).json();
    let clients = json["clients"].as_array().unwrap();
    assert!(clients.len() > 15);
    let cursor = clients.iter().find(|client| client["name"] == "cursor").unwrap();
    assert_eq!(cursor["places"][0]["state"], "present");
}

#[test]
fn wrong_questions_and_broken_files_change_nothing() {
    let person = Person::new();
    person.repo.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n}\n");
    let before = person.text(".cursor/mcp.json");
    for (args, wanted) in [
        (&["setup"][..], "<WHAT>"),
        (&["setup", "curser"], "a similar value exists: 'cursor'"),
        (&["setup", "cursor", "--scope", "planet"], "project, user"),
        (&["setup", "windsurf", "--scope", "project"], "`sai setup windsurf --scope user`"),
        (&["setup", "cursor", "--write"], "line "),
        (&["setup", "skills", "--scope", "user"], "goes into the project"),
        (&["setup", "cursor", "--remove", "--allow-write"], "cannot be used with"),
    ] {
        let output = person.sai(args).exits(2);
        assert!(output.stderr.contains(wanted), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{args:?}");
    }
    let broken = person.sai(&["setup", "cursor", "--write"]).exits(2).stderr;
    assert!(broken.contains("add this by hand") && broken.contains("\"sai\": {"), "{broken}");
    assert_eq!(person.text(".cursor/mcp.json"), before);
}

#[test]
fn skills_and_the_block_of_agents_md_come_and_go() {
    let person = Person::new();
    person.repo.write("AGENTS.md", "# Mine\n");
    let shown = person.sai(&["setup", "skills"]).exits(0).stdout;
    assert!(shown.contains("+name: sai-deslop") && shown.contains("+name: dedup-auditor"));
    assert!(!person.repo.path().join(".agents").exists());
    person.sai(&["setup", "skills", "--write"]).exits(0);
    person.sai(&["setup", "agents-md", "--write"]).exits(0);
    assert!(person.text(".agents/skills/sai/SKILL.md").starts_with("---\nname: sai\n"));
    assert!(person.text("AGENTS.md").starts_with("# Mine\n\n<!-- sai: begin -->\n"));
    let again = person.sai(&["setup", "skills", "--write", "--json"]).exits(0).json();
    assert!(again["files"].as_array().unwrap().iter().all(|file| file["changed"] == false));
    person.sai(&["setup", "skills", "--remove", "--write"]).exits(0);
    person.sai(&["setup", "agents-md", "--remove", "--write"]).exits(0);
    assert_eq!(person.text("AGENTS.md"), "# Mine\n");
    assert!(!person.repo.path().join(".agents").exists());
    assert!(!person.repo.path().join(".claude").exists());
}

/// A checkout with `script` in place of the set-up script, and this program in it.
pub(crate) fn checkout(script: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("target/release/sai");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::create_dir(folder.path().join("mcp-setup")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), "").unwrap();
    fs::write(folder.path().join("mcp-setup/setup.sh"), script).unwrap();
    // A link where it can be one: a copy that is still open for writing in a child of another test
    // cannot be started.
    fs::hard_link(env!("CARGO_BIN_EXE_sai"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_sai"), &program).map(drop))
        .unwrap();
    (folder, program)
}

/// Asks a server that is started with `flags` to prepare a set-up; its answer's text, read as JSON.
fn prepare(program: &Path, flags: &[&str], arguments: Value) -> (Value, Value) {
    let person = Person::new();
    let mut command = Command::new(program);
    command.arg("mcp").args(flags).args(["--root".as_ref(), person.repo.path()]);
    at_home(&mut command, person.home.path());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let call = json!({"name": "sai_prepare_mcp_setup", "arguments": arguments});
    let mut stdin = child.stdin.take().unwrap();
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    // The end of input lets the server answer what it was asked.
    drop(stdin);
    let output = support::output(child.wait_with_output().unwrap()).exits(0);
    let answers: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("stdout carries JSON only"))
        .collect();
    let answer = answers.iter().find(|answer| answer["id"] == 2).cloned().unwrap_or_default();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or("null").to_owned();
    let reply = serde_json::from_str(&text).unwrap_or(Value::String(text));
    if reply.is_object() {
        assert_eq!(answer["result"]["structuredContent"], reply);
    }
    (answer, reply)
}

#[test]
fn the_tool_returns_commands_and_runs_nothing_by_default() {
    let (folder, program) = checkout("touch \"$0.ran\"\n");
    let (_, reply) = prepare(&program, &["--allow-setup"], json!({"client": "zed"}));
    assert_eq!(reply["status"], "ready");
    let command = reply["recommended_command"].as_str().unwrap();
    assert!(command.contains("mcp-setup/setup.sh --target-dir "), "{command}");
    assert!(command.contains(" --features ") && command.contains(" --client zed "), "{command}");
    assert!(reply["mcp_server_config_example"].as_str().unwrap().contains("context_servers"));
    assert!(reply["next_steps"][0].as_str().unwrap().starts_with("1. "));
    assert!(!folder.path().join("mcp-setup/setup.sh.ran").exists());
}

#[test]
fn the_tool_runs_the_script_only_with_leave_and_a_checkout() {
    let (folder, program) = checkout("touch \"$0.ran\"; echo 'set up' \"$@\"\n");
    let ran = folder.path().join("mcp-setup/setup.sh.ran");
    let (_, reply) = prepare(&program, &[], json!({"execute": true}));
    assert_eq!(reply["status"], "blocked");
    assert_eq!(reply["blocked_reason"], "Server not started with --allow-setup");
    assert!(!ran.exists());

    let (_, reply) = prepare(&program, &["--allow-setup"], json!({"execute": "true"}));
    assert_eq!(reply["status"], "executed", "{reply}");
    assert_eq!(reply["exit_code"], 0);
    assert!(reply["output_tail"].as_str().unwrap().starts_with("set up --target-dir "));
    assert!(ran.exists());

    let (elsewhere, program) = checkout("touch \"$0.ran\"\n");
    fs::remove_file(elsewhere.path().join("Cargo.toml")).unwrap();
    let (_, reply) = prepare(&program, &["--allow-setup"], json!({"execute": true}));
    assert_eq!(reply["status"], "blocked");
    assert!(reply["blocked_reason"].as_str().unwrap().contains("needs a source checkout"));
    assert!(reply["recommended_command"].as_str().unwrap().contains("install.sh"), "{reply}");
    assert!(!elsewhere.path().join("mcp-setup/setup.sh.ran").exists());

    let (answer, text) = prepare(&program, &[], json!({"target_dir": "/no/such/folder"}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text.as_str().unwrap().contains("`/no/such/folder` is not there"), "{text}");
}

#[cfg(unix)]
#[test]
fn the_end_of_the_server_ends_the_script() {
    let script = "sleep 600 & echo $! > \"$0.pid\"; wait\n";
    let (folder, program) = checkout(script);
    let (answer, _) = prepare(&program, &["--allow-setup"], json!({"execute": true}));
    assert!(answer["result"]["structuredContent"]["status"] != "executed", "{answer}");
    let pid = fs::read_to_string(folder.path().join("mcp-setup/setup.sh.pid")).unwrap();
    // A process that has ended may stand in the table until somebody asks how.
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    assert!(state.trim().is_empty() || state.starts_with('Z'), "process {pid} is left behind");
}
