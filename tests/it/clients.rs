//! Other people's clients: rmcp's own in both eras of the protocol, always; the Python SDK, the
//! inspector and the protocol's own suite when they are asked for. What is checked of a tool is
//! read from the list of tools.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::support::{Repo, repo};

/// An indexed repository: the files that the scripts in `tests/clients` and the tools' own examples
/// speak of.
fn indexed() -> Repo {
    let repo = repo(
        r#"
//- /src/net/mod.rs
pub fn connect() {}
//- /src/parse.py
def parse_header(line):
    """Splits a header line at its colon."""
    name, value = line.split(":", 1)
    return name.strip(), value.strip()
"#,
    );
    let mut retry = "\
/// How long to wait before the next attempt.
pub fn backoff_delay(attempt: u32) -> u64 {
    let base = 100;
    base * 2u64.pow(attempt)
}
"
    .to_owned();
    for attempt in 0..12 {
        let _ = write!(
            retry,
            "\n/// Is attempt {attempt} made?\npub fn is_made_{attempt}(left: u32) -> bool {{\n    \
             let needed = {attempt};\n    left > needed\n}}\n"
        );
    }
    repo.write("src/retry.rs", retry);
    repo.sai(&["index"]).exits(0);
    repo
}

/// rmcp's own client, over the pipes of a process.
#[cfg(unix)]
mod rmcp_client {
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::process::{Child, Stdio};
    use std::time::Duration;

    use rmcp::model::{CallToolRequestParams, JsonObject, ProtocolVersion, Tool};
    use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService, ServiceError};
    use rmcp::{ClientHandler, RoleClient};
    use tokio::net::unix::pipe;

    use super::indexed;
    use crate::support::command;

    /// Nothing is asserted about time; this only keeps a broken server from hanging the tests.
    const PATIENCE: Duration = Duration::from_mins(2);

    /// A client without abilities of its own.
    #[derive(Clone, Debug, Default)]
    struct Plain;

    impl ClientHandler for Plain {}

    type Client = RunningService<RoleClient, Plain>;

    /// A session with a server in `root`, and the server's process.
    async fn connect(root: &Path, args: &[&str], era: ClientLifecycleMode) -> (Client, Child) {
        let mut command = command(root, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("the server starts");
        let stdin = OwnedFd::from(server.stdin.take().expect("piped above"));
        let stdout = OwnedFd::from(server.stdout.take().expect("piped above"));
        let pipes = (
            pipe::Receiver::from_owned_fd(stdout).expect("a pipe"),
            pipe::Sender::from_owned_fd(stdin).expect("a pipe"),
        );
        let opened = Plain.serve_with_lifecycle(pipes, era);
        let client = tokio::time::timeout(PATIENCE, opened).await.expect("in time");
        (client.expect("a session"), server)
    }

    /// What a tool says to `arguments`, as a result or as an error of the protocol.
    async fn ask(client: &Client, tool: &Tool, arguments: JsonObject) -> String {
        let call = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        let answer = tokio::time::timeout(PATIENCE, client.call_tool(call)).await;
        match answer.unwrap_or_else(|_| panic!("{} does not answer", tool.name)) {
            Ok(result) => {
                let text = result.content.first().and_then(|block| block.as_text());
                text.unwrap_or_else(|| panic!("{}: {result:?}", tool.name)).text.clone()
            }
            Err(ServiceError::McpError(error)) => error.message.into_owned(),
            Err(error) => panic!("{}: {error}", tool.name),
        }
    }

    /// The arguments of a right call, which an answer to a wrong one shows.
    fn example(said: &str) -> Option<JsonObject> {
        let line = said.lines().find_map(|line| line.strip_prefix("example: "))?;
        Some(serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
    }

    /// Calls every tool, first without arguments and then as its own example says.
    async fn call_every_tool(client: &Client) -> Vec<String> {
        let tools = client.list_all_tools().await.expect("a list of tools");
        for tool in &tools {
            let said = ask(client, tool, JsonObject::new()).await;
            assert!(!said.is_empty(), "{}", tool.name);
            let Some(arguments) = example(&said) else { continue };
            let said = ask(client, tool, arguments.clone()).await;
            assert!(example(&said).is_none(), "{} with {arguments:?}: {said}", tool.name);
        }
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    fn eras() -> [(ClientLifecycleMode, ProtocolVersion); 2] {
        let newest = ProtocolVersion::V_2026_07_28;
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![newest.clone()] };
        [
            (ClientLifecycleMode::Initialize, ProtocolVersion::LATEST_WITH_INITIALIZE),
            (discover, newest),
        ]
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn rmcp_calls_every_tool_in_both_eras() {
        calls_every_tool(&["mcp"]);
    }

    #[test]
    fn rmcp_calls_every_tool_of_a_server_that_may_write() {
        calls_every_tool(&["mcp", "--allow-write"]);
    }

    fn calls_every_tool(args: &[&str]) {
        let repo = indexed();
        run(async {
            for (era, version) in eras() {
                let (client, mut process) = connect(repo.path(), args, era).await;
                let server = client.peer_info().expect("the server said who it is");
                assert_eq!(server.protocol_version, version);
                let called = call_every_tool(&client).await;
                for tool in ["sai_index_status", "sai_search_code"] {
                    assert!(called.iter().any(|name| name == tool), "{called:?}");
                }
                let found = client.list_all_resources().await.expect("a list of resources");
                assert!(found.iter().any(|resource| resource.uri == "sai://status"), "{found:?}");
                client.cancel().await.expect("the session ends");
                assert!(process.wait().expect("the server ends").success());
            }
        });
    }
}

/// The features that this was built with, for a script that builds.
const CARGO_FLAGS: &str = if cfg!(feature = "bundled-duckdb") {
    ""
} else if cfg!(feature = "fastembed") {
    "--no-default-features --features fastembed"
} else {
    "--no-default-features"
};

/// Runs a script of `tests/clients` on the binary, in an indexed repository.
fn script(name: &str) {
    if std::env::var_os("SAI_TEST_CLIENTS").is_none() {
        println!("skipped: set SAI_TEST_CLIENTS=1 to run tests/clients/{name}");
        return;
    }
    let repo = indexed();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
    let done = Command::new("sh")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_sai"))
        .env("SAI_CARGO_FLAGS", CARGO_FLAGS)
        .current_dir(repo.path())
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&done.stdout);
    let complained = String::from_utf8_lossy(&done.stderr);
    println!("{said}");
    assert!(done.status.success(), "{said}\n{complained}");
}

/// The Python SDK in both eras, and the inspector's strict listing. They are fetched over the
/// network once, so this runs when it is asked for.
#[test]
fn other_clients_agree() {
    script("run.sh");
}

/// The protocol's own suite in both eras; fetched once, and the server is built with its way in over
/// HTTP, so this runs when it is asked for.
#[test]
fn the_suite_of_the_protocol_agrees() {
    script("conformance.sh");
}
