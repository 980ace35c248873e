//! The default configuration as a page of documentation.

use std::fmt::Write;

use super::DEFAULT_YAML;

/// What stands before the keys.
const HEAD: &str = "\
# Configuration

<!-- Made from cfg/sai-cfg.yml; `SAI_BLESS=1 cargo test config` writes it anew. -->

";

/// The configuration page in Markdown: one table a section, one row a key.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut comment: Vec<&str> = Vec::new();
    // The sections around a line, each with the width of its indentation.
    let mut sections: Vec<(usize, &str)> = Vec::new();
    let mut is_in_table = false;
    for line in DEFAULT_YAML.lines() {
        let text = line.trim_start();
        if let Some(words) = text.strip_prefix('#') {
            comment.push(words.trim());
        } else if let Some((name, value)) = text.split_once(':') {
            let width = line.len() - text.len();
            sections.retain(|(outer, _)| *outer < width);
            sections.push((width, name));
            let key = sections.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(".");
            if value.is_empty() {
                put(&mut page, format_args!("\n## `{key}`\n\n{}\n", comment.join(" ")));
            } else {
                if !is_in_table {
                    page += "\n| key | default | what it does |\n|---|---|---|\n";
                }
                let (value, words) = (value.trim(), comment.join(" "));
                put(&mut page, format_args!("| `{key}` | `{value}` | {words} |\n"));
            }
            is_in_table = !value.is_empty();
            comment.clear();
        } else if !comment.is_empty() {
            // The introduction stands alone, in paragraphs.
            let paragraphs = comment.split(|line| line.is_empty());
            let paragraphs: Vec<String> = paragraphs.map(|lines| lines.join(" ")).collect();
            put(&mut page, format_args!("{}\n", paragraphs.join("\n\n")));
            comment.clear();
        }
    }
    page
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a String takes any text");
}
