//! docs/mcp.md: what each tool takes, and a real request with the built server's answer.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::Client;
use crate::setup::checkout;
use crate::support::{Repo, repo};

/// The tool whose answer depends on where the program lies and how it was built.
const PREPARE: &str = "sai_prepare_mcp_setup";

/// A small project with a copy in it.
fn project() -> Repo {
    let repo = repo(
        r#"
//- /src/retry.rs
/// How long to wait before the next attempt, in milliseconds.
pub fn backoff_delay(attempt: u32) -> u64 {
    let base: u64 = 100;
    base.saturating_mul(2u64.saturating_pow(attempt))
}
//- /src/headers.py
def parse_header(line):
    """Splits a header line at its colon."""
    name, value = line.split(":", 1)
    return name.strip(), value.strip()
//- /tools/headers.py
def parse_header(line):
    """Splits a header line at its colon."""
    name, value = line.split(":", 1)
    return name.strip(), value.strip()
"#,
    );
    repo.sai(&["index"]).exits(0);
    repo
}

/// What each tool is asked in the page, in an order in which the answers make sense.
fn questions() -> Vec<(&'static str, Value)> {
    vec![
        ("sai_search_code", json!({"query": "how long to wait before trying again", "limit": 1})),
        ("sai_find_similar", json!({"path": "src/headers.py", "line": 3})),
        ("sai_find_duplicates", json!({"format": "json"})),
        ("sai_index_status", json!({})),
        ("sai_refresh", json!({"paths": ["src/retry.rs"]})),
        ("sai_sync", json!({})),
        ("sai_index_repo", json!({"path": "."})),
        (PREPARE, json!({"client": "claude-code"})),
    ]
}

/// A tool's description, its arguments, and the request with its answer.
fn section(tool: &Value, arguments: &Value, answer: &Value, places: &Places) -> String {
    let mut out = format!("> {}\n\n", tool["description"].as_str().expect("a description"));
    let properties = tool["inputSchema"]["properties"].as_object().expect("properties");
    if !properties.is_empty() {
        out.push_str("| argument | type | what it is |\n|---|---|---|\n");
        for (name, property) in properties {
            let about = property["description"].as_str().expect("a description");
            let _ =
                writeln!(out, "| `{name}` | {} | {about} |", kind(property).replace('|', "\\|"));
        }
        out.push('\n');
    }
    let request = json!({"name": tool["name"], "arguments": arguments});
    let _ = write!(out, "```json\n{request}\n```\n\n");
    let structured = &answer["structuredContent"];
    if structured.is_object() {
        let mut steady = structured.clone();
        settle(&mut steady, places);
        let text = serde_json::to_string_pretty(&steady).expect("JSON");
        let _ = write!(out, "````json\n{text}\n````\n");
    } else {
        let text = answer["content"][0]["text"].as_str().expect("a text");
        let _ = write!(out, "````text\n{text}\n````\n");
    }
    out
}

/// An argument's type, with its range or choices.
fn kind(property: &Value) -> String {
    let name = property["type"].as_str().expect("a type");
    if let Some(choices) = property["enum"].as_array() {
        let choices = choices.iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`"));
        return choices.collect::<Vec<_>>().join(", ");
    }
    match (property["minimum"].as_f64(), property["maximum"].as_f64()) {
        (Some(least), Some(greatest)) if greatest < 1e6 => format!("{name}, {least} to {greatest}"),
        (Some(least), _) => format!("{name}, from {least}"),
        _ => name.to_owned(),
    }
}

/// Paths of this run, and what the page shows for them.
type Places = [(String, &'static str)];

/// Replaces what differs from run to run and from machine to machine.
fn settle(value: &mut Value, places: &Places) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                match name.as_str() {
                    "seconds" => *value = json!(0.05),
                    "created_s" => *value = json!(1_700_000_000),
                    "age_s" => *value = json!(12),
                    "index_bytes" => *value = json!(1_847_296),
                    "phase" => *value = Value::Null,
                    _ => settle(value, places),
                }
            }
        }
        // The last digits are the machine's own.
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().expect("it is one");
            *value = json!((number * 1000.0).round() / 1000.0);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, places)),
        Value::String(text) => {
            for (place, shown) in places {
                *text = text.replace(place.as_str(), shown);
            }
        }
        _ => {}
    }
}

#[test]
fn the_page_shows_what_the_server_answers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/mcp.md");
    let kept = std::fs::read_to_string(&path).expect("the page is in the repository");
    let repo = project();
    let mut client = Client::writing(repo.path());
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().expect("tools");
    let mut page = kept.clone();
    let questions = questions();
    let (source, program) = checkout("#!/bin/sh\n");
    let mut preparing = Client::spawn({
        let mut command = Command::new(program);
        command.arg("mcp").arg("--root").arg(repo.path());
        command
    });
    preparing.initialize("2025-11-25");
    let text = |path: &Path| path.canonicalize().expect("ours").to_string_lossy().into_owned();
    let places = [(text(repo.path()), "/path/to/project"), (text(source.path()), "/path/to/sai")];
    for (name, arguments) in &questions {
        let is_default_build = cfg!(all(feature = "bundled-duckdb", feature = "fastembed"));
        if *name == PREPARE && !is_default_build {
            println!("skipped: the answer of `{name}` is that of the default build");
            continue;
        }
        let client = if *name == PREPARE { &mut preparing } else { &mut client };
        let tool = tools.iter().find(|tool| tool["name"] == *name).expect("it is listed");
        let mut answer = client.call(name, arguments.clone());
        while answer["structuredContent"]["state"] == "running" {
            answer = client.call(name, arguments.clone());
        }
        assert_eq!(answer["isError"], false, "{answer}");
        let begin = format!("<!-- captured: {name} -->\n");
        let start = page.find(&begin).expect("every tool has its place") + begin.len();
        let end = start + page[start..].find("<!-- end -->").expect("every place ends");
        page.replace_range(start..end, &section(tool, arguments, &answer, &places));
    }
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        assert!(questions.iter().any(|(asked, _)| *asked == name), "`{name}` is not in the page");
    }
    if std::env::var_os("SAI_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
        return;
    }
    assert!(page == kept, "docs/mcp.md differs from the server: run with SAI_BLESS=1");
}
