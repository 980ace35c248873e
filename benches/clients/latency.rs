//! How long until a client finds a change? From the call that brings the index up to date to the
//! answer that has it, in a large index.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Args;
use crate::client::{Server, sai};
use crate::report::{Report, times};
use crate::tree::{Random, Tree};

/// Functions of a generated file.
const FUNCTIONS: usize = 40;

/// Words of which generated code is made.
const WORDS: [&str; 32] = [
    "account", "archive", "balance", "batch", "branch", "buffer", "channel", "client", "column",
    "config", "cursor", "device", "digest", "entry", "event", "filter", "folder", "handle",
    "index", "invoice", "ledger", "limit", "message", "order", "packet", "parser", "policy",
    "queue", "record", "report", "session", "token",
];

pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::default();
    if let Err(error) = measure(args, &mut report) {
        report.violation(error);
    }
    report
}

fn measure(args: &Args, report: &mut Report) -> Result<(), String> {
    let mut random = Random::new(args.seed.unwrap_or(1));
    let tree = match &args.tree {
        Some(tree) => Tree::copy(tree)?,
        None => generated(args.chunks, &mut random),
    };
    let files: Vec<String> = (0..args.rounds).map(|n| format!("latency/changed_{n}.rs")).collect();
    files.iter().enumerate().for_each(|(n, file)| tree.write(file, &changed(n, "start")));
    tree.commit("start");
    let started = Instant::now();
    let made = command(args, &tree, &["index", "--json"])?;
    report.row("files", made["files"].clone());
    report.row("chunks", made["chunks"].clone());
    report.row("index bytes", made["index_bytes"].clone());
    report.row("first index, s", started.elapsed().as_secs_f64());

    let mut server = Server::start(&args.sai, tree.path(), &["--allow-write"])?;
    let ways = [
        Way::Command(&["index"]),
        Way::Command(&["sync"]),
        Way::Tool("sai_refresh"),
        Way::Tool("sai_sync"),
    ];
    for way in ways {
        let (mut whole, mut calls, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (round, file) in files.iter().enumerate() {
            let mark = format!("latency_mark_{}_{round}", way.name().replace(' ', "_"));
            tree.write(file, &changed(round, &mark));
            let (call, answer) = round_trip(args, &tree, &mut server, &way, file, &mark)?;
            whole.push(call + answer);
            calls.push(call);
            answers.push(answer);
        }
        report.row(format!("{}: until found", way.name()), times(whole));
        report.row(format!("{}: the call", way.name()), times(calls));
        report.row(format!("{}: the answer after it", way.name()), times(answers));
    }
    server.close()?;
    tree.close().map_err(|error| format!("the tree cannot be removed: {error}"))
}

/// A way to bring the index up to date.
enum Way {
    Command(&'static [&'static str]),
    Tool(&'static str),
}

impl Way {
    fn name(&self) -> String {
        match self {
            Self::Command(args) => format!("sai {}", args.join(" ")),
            Self::Tool(tool) => (*tool).to_owned(),
        }
    }
}

/// How long the call takes, and then the answer that has the mark: it must be the next one.
fn round_trip(
    args: &Args,
    tree: &Tree,
    server: &mut Server,
    way: &Way,
    file: &str,
    mark: &str,
) -> Result<(Duration, Duration), String> {
    let started = Instant::now();
    match way {
        Way::Command(arguments) => {
            command(args, tree, &[*arguments, &["--json"]].concat())?;
        }
        Way::Tool("sai_refresh") => {
            server.call("sai_refresh", &json!({"paths": [file]}))?;
        }
        Way::Tool(tool) => {
            server.call(tool, &json!({}))?;
        }
    }
    let call = started.elapsed();
    let question = json!({"query": mark, "mode": "exact", "format": "json"});
    let answer = server.call("sai_search_code", &question)?;
    let whole = started.elapsed();
    if answer["hits"][0]["path"] != file {
        return Err(format!("after {}, `{mark}` is not found: {answer}", way.name()));
    }
    Ok((call, whole.saturating_sub(call)))
}

fn command(args: &Args, tree: &Tree, arguments: &[&str]) -> Result<Value, String> {
    let done = sai(&args.sai, tree.path(), arguments).output();
    let done = done.map_err(|error| format!("cannot run the binary: {error}"))?;
    if !done.status.success() {
        return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| format!("{arguments:?}: {error}"))
}

fn changed(number: usize, mark: &str) -> String {
    format!("/// Is changed in round {number}.\nfn changed_{number}() {{\n    {mark}();\n}}\n")
}

/// A repository of about `chunks` functions, each a chunk of its own.
fn generated(chunks: usize, random: &mut Random) -> Tree {
    let tree = Tree::new();
    for file in 0..chunks.div_ceil(FUNCTIONS) {
        let mut text = format!("//! Part {file}.\n\n");
        for function in 0..FUNCTIONS {
            function_text(&mut text, &format!("{file}_{function}"), random);
        }
        tree.write(&format!("src/area_{}/part_{file}.rs", file % 50), &text);
    }
    tree
}

fn function_text(text: &mut String, number: &str, random: &mut Random) {
    let mut word = || WORDS[random.below(WORDS.len())];
    let (a, b, c, d) = (word(), word(), word(), word());
    let _ = write!(
        text,
        "/// Moves the {a} of a {b} into its {c}, unless the {d} is full.\n\
         pub(crate) fn {a}_{b}_{number}({c}: &mut {d}::State, {b}: u64) -> Result<u64, Error> {{\n    \
             let {a} = {c}.{d}({b})?;\n    \
             if {a} > {c}.{b}_max() {{\n        \
                 return Err(Error::{d}Full {{ {a}, {b} }});\n    \
             }}\n    \
             {c}.push_{a}({a} + {b});\n    \
             Ok({a})\n\
         }}\n\n"
    );
}
