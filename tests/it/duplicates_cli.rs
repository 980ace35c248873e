//! `sai duplicates` as a process: the table, one cluster's sides, the documents and where they go.

use std::fs;

use crate::support::{self, Repo};

/// A function of twelve lines that differs from its copies in names alone.
fn function(name: &str, total: &str) -> String {
    format!(
        "pub fn {name}(items: &[Item], limit: u32) -> Result<u32, Error> {{
    let mut {total} = 0;
    for item in items {{
        if item.amount > limit {{
            return Err(Error::TooMuch(item.label.clone()));
        }}
        {total} += item.amount * item.weight;
        log(&item.label, {total});
    }}
    let scaled = {total} / items.len().max(1) as u32;
    Ok(scaled.min(limit) + offset(scaled))
}}
"
    )
}

fn repo() -> Repo {
    let repo = support::repo("//- /README.md\n# Sums\n");
    repo.write("src/sum.rs", function("weighted_sum", "sum"));
    repo.write("src/total.rs", function("weighted_total", "total"));
    repo.write("tests/sums.rs", function("sum_of_tests", "sum") + &function("other_sum", "all"));
    repo
}

#[test]
fn the_table_shows_clusters_and_the_next_command() {
    let repo = repo();
    let output = repo.sai(&["duplicates"]).exits(0);
    assert!(output.stdout.contains("src/sum.rs:1-12  weighted_sum"), "{}", output.stdout);
    assert!(output.stdout.contains("src/total.rs:1-12  weighted_total"), "{}", output.stdout);
    assert!(output.stderr.contains("`sai duplicates --show "), "{}", output.stderr);
    let reply = repo.sai(&["duplicates", "--json"]).exits(0).json();
    let id = reply["clusters"][0]["id"].as_str().unwrap();
    assert!(output.stdout.contains(id), "{}", output.stdout);
    assert!(reply["clusters"][0]["members"][0].get("side").is_none());
    assert_eq!(repo.sai(&["duplicates"]).exits(0).stdout, output.stdout, "to the byte");
}

#[test]
fn one_cluster_is_shown_with_both_sides() {
    let repo = repo();
    let reply = repo.sai(&["duplicates", "--json"]).exits(0).json();
    let id = reply["clusters"][0]["id"].as_str().unwrap();
    let short = id.split('-').next().unwrap();
    let shown = repo.sai(&["duplicates", "--show", short]).exits(0);
    assert!(shown.stdout.starts_with(id), "{}", shown.stdout);
    assert!(shown.stdout.contains("-     let mut "), "{}", shown.stdout);
    assert!(shown.stdout.contains("^^^"), "{}", shown.stdout);
    let sides = repo.sai(&["duplicates", "--show", short, "--json"]).exits(0).json();
    assert!(sides["clusters"][0]["members"][0]["side"]["text"].is_string());
    let wrong = repo.sai(&["duplicates", "--show", "0123456789ab"]).exits(2);
    assert!(wrong.stderr.contains("`0123456789ab`"), "{}", wrong.stderr);
    let member = repo.sai(&["duplicates", "--show", short, "--member", "9"]).exits(2);
    assert!(member.stderr.contains("no member 9"), "{}", member.stderr);
    assert_eq!(member.stdout, "");
}

#[test]
fn documents_are_written_beside_the_table() {
    let repo = repo();
    let args = ["duplicates", "--html", "out.html", "--sarif", "out.sarif", "--markdown", "out.md"];
    let output = repo.sai(&args).exits(0);
    assert!(output.stdout.contains("src/sum.rs"), "{}", output.stdout);
    assert!(output.stderr.contains("wrote out.html"), "{}", output.stderr);
    let read = |name: &str| fs::read_to_string(repo.path().join(name)).unwrap();
    assert!(read("out.html").contains("weighted_total"));
    let log: serde_json::Value = serde_json::from_str(&read("out.sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["level"], "note");
    assert!(read("out.md").contains("<code>src/total.rs"));
    let names = fs::read_dir(repo.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".sai-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn one_document_may_go_to_stdout() {
    let repo = repo();
    let log = repo.sai(&["duplicates", "--sarif", "-", "--html", "out.html"]).exits(0).json();
    assert_eq!(log["version"], "2.1.0");
    let cases: &[&[&str]] = &[
        &["duplicates", "--sarif", "-", "--markdown", "-"],
        &["duplicates", "--sarif", "-", "--json"],
    ];
    for args in cases {
        let refused = repo.sai(args).exits(2);
        assert!(refused.stderr.contains("only one document"), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn a_document_that_cannot_be_written_is_refused_at_once() {
    let repo = repo();
    let folder = repo.sai(&["duplicates", "--html", "src"]).exits(2);
    assert!(folder.stderr.contains("`src` is a folder"), "{}", folder.stderr);
    let missing = repo.sai(&["duplicates", "--html", "no/where.html"]).exits(2);
    assert!(missing.stderr.contains("hint: `mkdir -p no`"), "{}", missing.stderr);
    assert!(!repo.path().join(".index").exists(), "nobody waits for an index in vain");
}

#[test]
fn nothing_compared_and_no_copies_are_two_answers() {
    let repo = support::repo("//- /src/a.rs\nfn a() {}\n");
    let none = repo.sai(&["duplicates"]).exits(1);
    assert!(none.stderr.starts_with("indexed: "), "{}", none.stderr);
    assert!(none.stderr.contains("\nno copies in 1 file, 1 line\n"), "{}", none.stderr);
    assert_eq!(none.stdout, "");
    let elsewhere = repo.sai(&["duplicates", "--path", "lib/**"]).exits(1);
    assert!(elsewhere.stderr.starts_with("nothing was compared"), "{}", elsewhere.stderr);
    // A document was asked for and is there.
    let page = repo.sai(&["duplicates", "--markdown", "-"]).exits(0);
    assert!(page.stdout.contains("No copies in 1 file, 1 line."), "{}", page.stdout);
}

#[test]
fn what_is_left_out_is_counted_and_can_be_shown() {
    let repo = repo();
    repo.remove("src/total.rs");
    repo.remove("src/sum.rs");
    let left = repo.sai(&["duplicates"]).exits(1);
    assert!(left.stderr.contains("but for what is left out"), "{}", left.stderr);
    assert!(left.stderr.contains("in tests (--include tests)"), "{}", left.stderr);
    let shown = repo.sai(&["duplicates", "--include", "tests"]).exits(0);
    assert!(shown.stdout.starts_with("Tests\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("left out by default (tests)"), "{}", shown.stdout);
}

#[test]
fn hostile_names_and_code_stay_text() {
    let repo = support::repo("//- /README.md\n# x\n");
    let evil = "</script><img src=x onerror=alert(1)>";
    for name in ["one", "two"] {
        let code = function(name, "sum")
            .replace("\n    let mut", &format!("\n    // {evil} \u{202e}\n    let mut"));
        repo.write(&format!("src/<b>@all|`{name}`\u{202e}.rs"), code);
    }
    let table = repo.sai(&["duplicates"]).exits(0).stdout;
    assert!(table.contains("\\u{202e}") && !table.contains('\u{202e}'), "{table}");
    let id = repo.sai(&["duplicates", "--json"]).json()["clusters"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let sides = repo.sai(&["duplicates", "--show", &id]).exits(0).stdout;
    assert!(sides.contains("\\u{202e}") && !sides.contains('\u{202e}'), "{sides}");
    let page = repo.sai(&["duplicates", "--html", "-"]).exits(0).stdout;
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    let comment = repo.sai(&["duplicates", "--markdown", "-"]).exits(0).stdout;
    assert!(!comment.contains("<b>") && !comment.contains("@all"), "{comment}");
    let log = repo.sai(&["duplicates", "--sarif", "-"]).exits(0).stdout;
    assert!(!log.contains('\u{202e}'), "{log}");
}
