//! The command line as a process: exit codes, what goes to which stream, pipes, and the reference
//! page that is made from the help.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{self, Repo};

const CODE: &str = "
//- /src/date.rs
/// Parses a date such as 2024-05-01.
pub fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    Some(Date { year: parts.next()?.parse().ok()? })
}

/// A day of a calendar.
pub struct Date {
    pub year: i32,
}
//- /src/mail.py
def send_mail(address, body):
    \"\"\"Sends a message.\"\"\"
    connection.send(address, body)
//- /README.md
# Dates and mail

Reads dates, sends mail.
";

/// A repository that is indexed already.
fn indexed() -> Repo {
    let repo = support::repo(CODE);
    repo.sai(&["index"]).exits(0);
    repo
}

#[test]
fn usage_errors_exit_with_2_and_leave_stdout_alone() {
    let repo = support::repo(CODE);
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage:"),
        (&["serach"], "a similar subcommand exists: 'search'"),
        (&["search"], "<QUERY>"),
        (&["search", "x", "--mode", "hybird"], "a similar value exists: 'hybrid'"),
        (&["search", "x", "--limit", "0"], "1..=50"),
        (&["search", "x", "--limit", "51"], "1..=50"),
        (&["search", "x", "--language", "rusty"], "did you mean `rust`?"),
        (&["search", "x", "--batch", "q.jsonl"], "cannot be used with"),
        (&["search", "x", "--set", "search.limit"], "it has no `=`"),
        (&["search", "x", "--set", "search.limits=3"], "search.limit"),
        (&["search", "x", "--root", "nowhere"], "nowhere"),
        (&["search", "--batch", "nowhere.jsonl"], "cannot read questions from `nowhere.jsonl`"),
        (&["search", "x", "-q", "-v"], "cannot be used with"),
        (&["flush"], "`sai flush --yes`"),
    ];
    for (args, wanted) in cases {
        let output = repo.sai(args).exits(2);
        assert!(output.stderr.contains(wanted), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{args:?}");
    }
    assert!(!repo.path().join(".index").exists(), "a wrong question makes no index");
}

#[test]
fn help_and_version_go_to_stdout() {
    let repo = support::folder("");
    let help = repo.sai(&["--help"]).exits(0);
    for code in ["0 ", "1 ", "2 ", "3 ", "130"] {
        assert!(help.stdout.contains(&format!("\n  {code}")), "{}", help.stdout);
    }
    assert_eq!(help.stderr, "");
    let version = repo.sai(&["--version"]).exits(0);
    assert_eq!(version.stdout, format!("sai {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_first_search_makes_the_index_and_says_so_on_stderr() {
    let repo = support::repo(CODE);
    let first = repo.sai(&["search", "parse", "date"]).exits(0);
    assert!(first.stderr.contains("indexed: 3 files"), "{}", first.stderr);
    let head = first.stdout.lines().next().unwrap();
    assert!(head.starts_with("src/date.rs:1-5  parse_date  "), "{}", first.stdout);
    assert!(first.stdout.contains("\n2  pub fn parse_date("), "{}", first.stdout);
    let second = repo.sai(&["search", "parse", "date"]).exits(0);
    assert_eq!(second.stderr, "");
    assert_eq!(second.stdout, first.stdout);
}

#[test]
fn quiet_means_an_empty_stderr() {
    let repo = support::repo(CODE);
    assert_eq!(repo.sai(&["-q", "search", "parse_date"]).exits(0).stderr, "");
}

#[test]
fn without_an_index_no_index_is_an_error_with_the_next_step() {
    let repo = support::repo(CODE);
    let output = repo.sai(&["search", "--no-index", "date"]).exits(3);
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    assert!(output.stderr.contains("\nhint: "), "{}", output.stderr);
    assert!(output.stderr.contains("`sai index"), "{}", output.stderr);
    assert_eq!(output.stdout, "");
}

#[test]
fn nothing_found_exits_with_1() {
    let repo = indexed();
    let text = repo.sai(&["search", "--mode", "exact", "no_such_name"]).exits(1);
    assert_eq!(text.stdout, "");
    assert!(text.stderr.starts_with("nothing found for `no_such_name` (mode exact; searched "));
    let json = repo.sai(&["search", "--json", "--mode", "exact", "no_such_name"]).exits(1);
    assert_eq!(json.json()["hits"], serde_json::json!([]));
    assert_eq!(json.stderr, "");
}

#[test]
fn json_is_all_of_stdout() {
    let repo = support::repo(CODE);
    let index = repo.sai(&["index", "--json"]).exits(0);
    assert_eq!(index.json()["files"], 3);
    let search = repo.sai(&["search", "--json", "--explain", "-n", "2", "parse date"]).exits(0);
    let reply = search.json();
    assert_eq!(reply["query"], "parse date");
    assert_eq!(reply["hits"][0]["path"], "src/date.rs");
    assert!(reply["hits"].as_array().unwrap().len() <= 2);
    assert!(reply["hits"][0]["explanation"]["points"].is_number());
    let status = repo.sai(&["status", "--json", "--skipped"]).exits(0).json();
    assert_eq!(status["state"], "ready");
    assert_eq!(status["stale"]["changed"], serde_json::json!([]));
    assert!(status["skipped_paths"].is_array());
    let config = repo.sai(&["config", "--json", "--set", "search.limit=7"]).exits(0).json();
    assert_eq!(config["config"]["search"]["limit"], 7);
    assert_eq!(config["origins"]["search.limit"], "flag");
    let doctor = repo.sai(&["doctor", "--json"]).exits(0).json();
    assert!(doctor["checks"].as_array().unwrap().len() > 6);
    let flush = repo.sai(&["flush", "--json", "--yes"]).exits(0).json();
    assert!(flush["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn filters_narrow_the_hits() {
    let repo = indexed();
    let paths = |args: &[&str]| -> Vec<String> {
        let reply = repo.sai(&[&["search", "--json"], args].concat()).exits(0).json();
        let hits = reply["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
    };
    assert!(paths(&["mail", "-l", "py,rust"]).contains(&"src/mail.py".to_owned()));
    assert!(paths(&["mail", "--path", "*.md"]).iter().all(|path| path == "README.md"));
    assert!(!paths(&["mail", "--path", "!**/*.py"]).contains(&"src/mail.py".to_owned()));
    assert_eq!(paths(&["date", "--kind", "type"]), ["src/date.rs"]);
    assert_eq!(paths(&["--regex", r"fn \w+_date"]), ["src/date.rs"]);
    assert_eq!(paths(&["--mode", "exact", "--", "connection.send"]), ["src/mail.py"]);
}

#[test]
fn full_shows_whole_chunks() {
    let body: Vec<String> = (0..60).map(|n| format!("    step({n});\n")).collect();
    let body = body.concat();
    let repo = support::repo(&format!("//- /long.rs\nfn long_one() {{\n{body}}}\n"));
    let snippet = repo.sai(&["search", "long_one"]).exits(0).stdout;
    assert!(!snippet.contains("step(59)"), "{snippet}");
    assert!(snippet.contains(" more lines\n"), "{snippet}");
    let full = repo.sai(&["search", "--full", "long_one"]).exits(0).stdout;
    assert!(full.contains("\n61      step(59);\n"), "{full}");
}

#[test]
fn explain_shows_a_table_of_signals() {
    let text = indexed().sai(&["search", "--explain", "parse_date"]).exits(0).stdout;
    let mut lines = text.lines().skip(1);
    let titles: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(titles, ["signal", "value", "points"]);
    assert!(lines.any(|line| line.trim_start().starts_with("sum ")), "{text}");
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn a_batch_answers_line_by_line() {
    let repo = support::repo(CODE);
    let questions = "{\"id\": 1, \"query\": \"parse date\"}\n\n\
                     {\"id\": \"b\", \"query\": \"zzz_nothing\", \"more\": true}\n";
    repo.write("questions.jsonl", questions);
    let args = ["search", "--batch", "questions.jsonl", "--mode", "lexical", "-n", "1"];
    let from_file = repo.sai(&args).exits(0);
    let answers = lines(&from_file.stdout);
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["id"], 1);
    assert!(answers[0]["ms"].as_f64().unwrap() >= 0.0);
    let results = answers[0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let mut fields: Vec<&String> = results[0].as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["end_line", "path", "score", "start_line", "symbol"]);
    assert_eq!(results[0]["path"], "src/date.rs");
    assert_eq!(answers[1]["id"], "b");
    assert_eq!(answers[1]["results"], serde_json::json!([]));

    let args = ["search", "--batch", "-", "--mode", "lexical", "-n", "1"];
    let from_stdin = support::sai_with_stdin(repo.path(), &args, questions).exits(0);
    let results = |stdout: &str| -> Vec<Value> {
        lines(stdout).iter().map(|answer| answer["results"].clone()).collect()
    };
    assert_eq!(results(&from_stdin.stdout), results(&from_file.stdout));
}

#[test]
fn a_malformed_batch_line_is_named_after_the_answers_before_it() {
    let repo = indexed();
    let questions =
        "{\"id\": 1, \"query\": \"date\"}\n{\"id\": 2}\n{\"id\": 3, \"query\": \"x\"}\n";
    let output =
        support::sai_with_stdin(repo.path(), &["search", "--batch", "-"], questions).exits(2);
    assert_eq!(lines(&output.stdout).len(), 1);
    assert!(output.stderr.starts_with("error: line 2 is not a question"), "{}", output.stderr);
}

#[test]
fn a_reader_that_leaves_ends_the_command_quietly() {
    let repo = indexed();
    for args in [&["search", "date"][..], &["status"], &["man"], &["config"]] {
        let mut child = support::command(repo.path(), args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let repo = indexed();
    let colored = |args: &[&str], no_color: bool| {
        let mut command = support::command(repo.path(), args);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\u{1b}')
    };
    assert!(!colored(&["search", "date"], false));
    assert!(colored(&["search", "date", "--color", "always"], false));
    assert!(colored(&["search", "date", "--color", "always"], true));
    assert!(!colored(&["search", "date", "--color", "never"], false));
    assert!(colored(&["status", "--color=always"], false));
}

#[test]
fn repository_text_cannot_drive_the_terminal() {
    let repo = support::repo(CODE);
    repo.write("evil.py", "def evil_name():\n    return '\u{202e}\u{1b}]0;title\u{7}'\n");
    let text = repo.sai(&["search", "evil_name", "--color", "always"]).exits(0).stdout;
    assert!(text.contains("\\u{202e}\\u{1b}]0;title\\u{7}"), "{text}");
    assert!(!text.contains('\u{202e}') && !text.contains('\u{7}'), "{text}");
}

#[test]
fn status_follows_the_index_and_the_files() {
    let repo = support::repo(CODE);
    let before = repo.sai(&["status"]).exits(0).stdout;
    assert!(before.contains("nothing is indexed yet; run `sai index`"), "{before}");
    repo.write("data.bin", [0_u8, 1, 2, 0, 255]);
    let index = repo.sai(&["index"]).exits(0).stdout;
    assert!(index.starts_with("indexed: 3 files, "), "{index}");
    assert!(index.contains("`sai status --skipped`"), "{index}");
    let status = repo.sai(&["status"]).exits(0).stdout;
    assert!(status.contains("\nfreshness   up to date\n"), "{status}");
    assert!(status.contains("\nlanguage "), "{status}");
    let skipped = repo.sai(&["status", "--skipped"]).exits(0).stdout;
    assert!(skipped.lines().any(|line| line.ends_with("  data.bin")), "{skipped}");

    repo.write("src/new.rs", "fn new_one() {}\n");
    repo.remove("README.md");
    let stale = repo.sai(&["status"]).exits(0).stdout;
    assert!(stale.contains("0 changed, 1 new, 1 gone since indexing; `sai index`"), "{stale}");
    let unlooked = repo.sai(&["status", "--no-compare"]).exits(0).stdout;
    assert!(!unlooked.contains("freshness"), "{unlooked}");
    let again = repo.sai(&["index"]).exits(0).stdout;
    assert!(again.contains("  1 added, 0 changed, 1 removed; "), "{again}");
    let nothing_new = repo.sai(&["index"]).exits(0).stdout;
    assert!(nothing_new.starts_with("up to date: 3 files, "), "{nothing_new}");
    let forced = repo.sai(&["index", "--force"]).exits(0).stdout;
    assert!(forced.contains("  3 added, 0 changed, 0 removed; "), "{forced}");
}

#[test]
fn flush_asks_or_needs_yes() {
    let repo = indexed();
    repo.sai(&["flush"]).exits(2);
    assert_eq!(repo.sai(&["status", "--json"]).json()["state"], "ready");
    let flushed = repo.sai(&["flush", "--yes"]).exits(0).stdout;
    assert!(flushed.starts_with("removed the index, "), "{flushed}");
    assert_eq!(repo.sai(&["status", "--json"]).json()["state"], "missing");
    let again = repo.sai(&["flush", "-y"]).exits(0).stdout;
    assert_eq!(again, "there was no index to remove\n");
}

#[test]
fn init_writes_what_config_then_names() {
    let repo = support::repo(CODE);
    let file = repo.path().join("sai-cfg.yml");
    let output = repo.sai(&["init"]).exits(0);
    assert_eq!(output.stdout, format!("{}\n", file.display()));
    let written = fs::read_to_string(&file).unwrap();
    fs::write(&file, "search:\n  limit: 3\n").unwrap();
    let refused = repo.sai(&["init"]).exits(2);
    assert!(refused.stderr.contains("exists already"), "{}", refused.stderr);
    let config = repo.sai(&["config"]).exits(0).stdout;
    let row = config.lines().find(|line| line.starts_with("search.limit ")).unwrap();
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(row, ["search.limit", "3", file.to_str().unwrap()]);
    repo.sai(&["init", "--force"]).exits(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
}

#[test]
fn doctor_names_what_is_broken_and_exits_with_3() {
    let repo = support::repo(CODE);
    let fresh = repo.sai(&["doctor"]).exits(0).stdout;
    let index = fresh.lines().position(|line| line.starts_with("warn  index ")).expect(&fresh);
    assert!(fresh.lines().nth(index + 1).unwrap().contains("hint: run `sai index`"), "{fresh}");
    repo.sai(&["index"]).exits(0);
    let healthy = repo.sai(&["doctor"]).exits(0).stdout;
    let verdicts: Vec<&str> = healthy.lines().map(|line| &line[..4]).collect();
    assert!(verdicts.iter().all(|verdict| *verdict == "ok  "), "{healthy}");
    assert!(healthy.contains("ok    freshness "), "{healthy}");
    repo.write("src/mail.py", "changed = True\n");
    let stale = repo.sai(&["doctor"]).exits(0).stdout;
    assert!(stale.contains("warn  freshness      1 file changed since indexing"), "{stale}");

    repo.write("sai-cfg.yml", "search:\n  limitt: 3\n");
    let broken = repo.sai(&["doctor"]).exits(3).stdout;
    assert!(broken.contains("fail  configuration "), "{broken}");
    assert!(broken.contains("limitt"), "{broken}");
    let search = repo.sai(&["search", "date"]).exits(2);
    assert!(search.stderr.contains("limitt"), "{}", search.stderr);
}

#[test]
fn a_damaged_index_is_an_error_not_an_empty_answer() {
    let repo = indexed();
    for entry in fs::read_dir(repo.path().join(".index")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "duckdb") {
            fs::write(&file, [0; 4096]).unwrap();
        }
    }
    let search = repo.sai(&["search", "date"]).exits(3);
    assert!(search.stderr.contains("\nhint: "), "{}", search.stderr);
    let doctor = repo.sai(&["doctor"]).exits(3).stdout;
    assert!(doctor.contains("fail  index "), "{doctor}");
}

#[test]
fn the_root_may_be_named_from_elsewhere() {
    let repo = indexed();
    let elsewhere = support::folder("");
    let root = repo.path().to_str().unwrap();
    let output = elsewhere.sai(&["--root", root, "search", "parse_date"]).exits(0);
    assert!(output.stdout.starts_with("src/date.rs:"), "{}", output.stdout);
    let below = support::sai(&repo.path().join("src"), &["search", "parse_date"]).exits(0);
    assert_eq!(below.stdout, output.stdout);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let repo = support::folder("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = repo.sai(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("search"), "{shell}");
    }
    assert!(repo.sai(&["man"]).exits(0).stdout.starts_with(".ie"));
    repo.sai(&["man", "pages/man1"]).exits(0);
    assert!(repo.path().join("pages/man1/sai-search.1").is_file());
}

/// The reference page: the help of every command. Commands that are not built yet lack the global
/// options, which are shown once.
fn reference() -> String {
    let mut page = "# The command line\n\n<!-- Made from the help of every command; \
                    `SAI_BLESS=1 cargo test cli` writes it anew. -->\n\n\
                    The global options of `sai` go with every command.\n"
        .to_owned();
    let command = sai::cli::command().term_width(100);
    section(&mut page, "sai", command.clone());
    for sub in command.get_subcommands() {
        let title = format!("sai {}", sub.get_name());
        let sub = sub.clone().term_width(100).bin_name(&title);
        section(&mut page, &title, sub);
    }
    page
}

fn section(page: &mut String, title: &str, mut command: clap::Command) {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = help.join("\n");
    page.extend(["\n## ", title, "\n\n```text\n", help.trim_end(), "\n```\n"]);
}

#[test]
fn the_reference_page_is_the_help_of_every_command() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let made = reference();
    if std::env::var_os("SAI_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "docs/cli.md differs from the help: run with SAI_BLESS=1");
}

#[test]
fn sync_and_refresh_say_which_files_they_read() {
    let repo = support::repo(CODE);
    let missing = repo.sai(&["sync"]).exits(3);
    assert!(missing.stderr.contains("hint: run `sai index`"), "{}", missing.stderr);
    assert_eq!(missing.stdout, "");
    repo.sai(&["index"]).exits(0);
    let nothing = repo.sai(&["sync"]).exits(0).stdout;
    assert!(nothing.starts_with("0 files refreshed, 0 removed, in "), "{nothing}");
    assert!(nothing.ends_with(" s\nnote: nothing changed\n"), "{nothing}");

    repo.write("src/mail.py", "def send_letter(address):\n    pass\n");
    repo.remove("README.md");
    let staged = repo.sai(&["sync", "--staged", "--json"]).exits(0).json();
    assert_eq!(staged["refreshed"], serde_json::json!([]));
    let synced = repo.sai(&["sync"]).exits(0);
    assert!(synced.stdout.starts_with("1 file refreshed, 1 removed, in "), "{}", synced.stdout);
    assert!(synced.stdout.ends_with("\n  src/mail.py  1 chunk\n  README.md  removed\n"));
    assert_eq!(synced.stderr, "");
    let since = repo.sai(&["sync", "--since", "HEAD", "--json"]).exits(0).json();
    assert_eq!(since["refreshed"], serde_json::json!([{ "path": "src/mail.py", "chunks": 1 }]));
    assert_eq!(since["removed"], serde_json::json!([]));
    let wrong = repo.sai(&["sync", "--since", "nowhere"]).exits(2).stderr;
    assert!(wrong.contains("`nowhere` names no commit"), "{wrong}");

    // Paths are named from where one is.
    let below = support::sai(&repo.path().join("src"), &["refresh", "date.rs", "--json"]).exits(0);
    assert_eq!(below.json()["refreshed"][0]["path"], "src/date.rs");
    let outside = repo.sai(&["refresh", "../x.rs"]).exits(2).stderr;
    assert!(outside.contains("lies outside the root"), "{outside}");
    repo.sai(&["refresh"]).exits(2);
}
