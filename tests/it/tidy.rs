//! House rules as a test: layers, one crate one door, module headers, no forgotten test file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Who may import whom. Imports point downward: doors, spine, rooms, tools, ground.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("main", &[]),
    // Doors. The command line starts the server; both show code highlighted or plain, and both can
    // prepare a set-up.
    (
        "cli",
        &[
            "mcp",
            "setup",
            "request",
            "worker",
            "duplicates",
            "hooks",
            "parse",
            "config",
            "disk",
            "error",
            "log",
            "types",
        ],
    ),
    ("mcp", &["setup", "request", "worker", "config", "error", "turn", "types"]),
    ("setup", &["disk", "error", "turn", "types"]),
    // Spine.
    ("request", &["duplicates", "retrieval", "sync", "worker", "error", "turn"]),
    (
        "worker",
        &[
            "request",
            "duplicates",
            "retrieval",
            "sync",
            "chunk",
            "embed",
            "git",
            "store",
            "config",
            "error",
            "turn",
        ],
    ),
    // Rooms: only `duplicates` uses another one, for the catalog and what is alike in it.
    (
        "duplicates",
        &[
            "retrieval",
            "git",
            "parse",
            "store",
            "text",
            "words",
            "config",
            "disk",
            "error",
            "turn",
            "types",
        ],
    ),
    ("hooks", &["git", "disk", "error"]),
    ("retrieval", &["embed", "store", "text", "words", "config", "error", "turn", "types"]),
    (
        "sync",
        &[
            "chunk", "embed", "git", "store", "text", "words", "config", "disk", "error", "turn",
            "types",
        ],
    ),
    // Tools: only `chunk` uses another one.
    ("chunk", &["parse", "types"]),
    ("embed", &["config", "error"]),
    ("git", &["error", "types"]),
    ("parse", &["types"]),
    ("store", &["error", "types"]),
    ("text", &[]),
    ("words", &[]),
    // Ground.
    ("config", &["error", "types"]),
    ("disk", &[]),
    ("error", &[]),
    ("log", &[]),
    ("turn", &["error"]),
    ("types", &["error"]),
];

/// Which crate has which door. `tests` and `benches` are free.
const ONE_DOOR: &[(&str, &[&str])] = &[
    ("duckdb", &["store"]),
    ("tree_sitter", &["parse"]),
    ("tree_sitter_highlight", &["parse"]),
    ("rmcp", &["mcp"]),
    ("rustix", &["mcp", "setup"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("ureq", &["embed"]),
    ("ort", &["embed"]),
    ("fastembed", &["embed"]),
    ("simsimd", &["embed"]),
    ("ndarray", &["embed"]),
    ("git2", &["git"]),
    ("hashbrown", &["words"]),
    ("encoding_rs", &["text"]),
    ("grep_matcher", &["retrieval"]),
    ("grep_searcher", &["retrieval"]),
    ("grep_regex", &["retrieval"]),
    ("ignore", &["sync"]),
    ("serde_yaml", &["config", "setup", "duplicates"]),
    ("jsonc_parser", &["setup"]),
    ("toml_edit", &["setup"]),
    ("textdiff", &["cli", "duplicates", "setup"]),
    ("shlex", &["setup"]),
    ("tracing_subscriber", &["log"]),
    ("anyhow", &["cli"]),
    ("thiserror", &["error"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `folder`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is in the repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// The top-level module that a file belongs to.
fn room(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).expect("a file of src");
    let first = inside.components().next().expect("a file has a name").as_os_str();
    Path::new(first).file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

/// A file's code: no comments, and nothing from its test module on.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a file of the repository");
    let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_test(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests")
        || file.file_stem().is_some_and(|stem| stem == "tests")
}

fn source_files() -> Vec<PathBuf> {
    rust_files(&root().join("src")).into_iter().filter(|file| !is_test(file)).collect()
}

/// The modules that a file names by `crate::…`.
fn imports(code: &str) -> BTreeSet<String> {
    let single = Regex::new(r"\bcrate::([a-z_]+)").expect("a fixed pattern");
    let group = Regex::new(r"\bcrate::\{([^;]*)\}").expect("a fixed pattern");
    let first = Regex::new(r"^\s*([a-z_]+)").expect("a fixed pattern");
    let mut found: BTreeSet<String> = single.captures_iter(code).map(|c| c[1].to_owned()).collect();
    for names in group.captures_iter(code) {
        let parts = names[1].split(',').filter_map(|part| first.captures(part));
        found.extend(parts.map(|c| c[1].to_owned()));
    }
    found
}

#[test]
fn imports_point_downward() {
    let mut wrong = Vec::new();
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for file in source_files() {
        let from = room(&file);
        if from == "lib" {
            continue;
        }
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == from) else {
            wrong.push(format!("`{from}` is not in MAY_IMPORT"));
            continue;
        };
        for to in imports(&code(&file)) {
            if to != from && !allowed.contains(&to.as_str()) {
                wrong.push(format!("{}: `{from}` may not import `{to}`", file.display()));
            }
            used.insert((from.clone(), to));
        }
    }
    for (from, allowed) in MAY_IMPORT {
        for to in *allowed {
            if !used.contains(&((*from).to_owned(), (*to).to_owned())) {
                wrong.push(format!("MAY_IMPORT lets `{from}` import `{to}`, which it does not"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_crate_has_one_door() {
    let mut wrong = Vec::new();
    for (name, doors) in ONE_DOOR {
        let path = Regex::new(&format!(r"(?m)(^|[^a-z_:]){name}::")).expect("a fixed pattern");
        for file in source_files() {
            let room = room(&file);
            if !doors.contains(&room.as_str()) && path.is_match(&code(&file)) {
                wrong.push(format!("{}: `{name}` belongs to {doors:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let bare: Vec<PathBuf> = source_files()
        .into_iter()
        .filter(|file| {
            let text = fs::read_to_string(file).expect("a file of the repository");
            !text.starts_with("//! ")
        })
        .collect();
    assert!(bare.is_empty(), "no `//!` header: {bare:?}");
}

#[test]
fn no_test_file_is_forgotten() {
    let folder = root().join("tests/it");
    let list = fs::read_to_string(folder.join("main.rs")).expect("the list of modules");
    for file in rust_files(&folder) {
        let inside = file.strip_prefix(&folder).expect("a file of the folder");
        let first = inside.components().next().expect("a file has a name").as_os_str();
        let name = Path::new(first).file_stem().expect("a file has a name").to_string_lossy();
        if name != "main" {
            let line = format!("mod {name};");
            assert!(list.contains(&line), "tests/it/main.rs lacks `{line}`");
        }
    }
}

#[test]
fn lines_fit_and_nothing_is_left_undone() {
    // Spelled in two parts, so that this file passes its own test.
    let marks = [("TO", "DO"), ("FIX", "ME"), ("#[ig", "nore"), ("unimplemen", "ted!")];
    let marks = marks.map(|(start, end)| format!("{start}{end}"));
    let mut wrong = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for file in rust_files(&root().join(folder)) {
            let text = fs::read_to_string(&file).expect("a file of the repository");
            for (number, line) in (1..).zip(text.lines()) {
                let undone = marks.iter().any(|mark| line.contains(mark.as_str()));
                if undone {
                    wrong.push(format!("{}:{number}: {line}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
