//! Here is a report: how does it look as a comment on a pull request?
//!
//! Names and paths of the repository stand in `<code>` with every character that Markdown or HTML
//! could read written as an entity, so that they are neither links, mentions nor markup.

use std::fmt::Write as _;

use super::super::print;
use super::{gate, phrases};
use crate::request::{Cluster, DuplicatesReply, Member};

/// Clusters of the table.
const CLUSTERS_MAX: usize = 20;

/// Members that are named of each cluster.
const MEMBERS_MAX: usize = 20;

/// Characters of a comment; a longer one is refused by those who show it.
const CHARS_MAX: usize = 60_000;

/// Characters that are kept for what is said at the end.
const TAIL_CHARS: usize = 4_000;

/// Notes that are given.
const NOTES_MAX: usize = 3;

/// The comment.
pub(super) fn text(reply: &DuplicatesReply, of_a_change: bool) -> String {
    let mut text = "### Duplicate code\n\n".to_owned();
    let head = match &reply.gate {
        Some(gate) => format!("**{}**", phrases::sentence(&gate::outcome(gate, None))),
        None if reply.clusters.is_empty() => {
            phrases::sentence(&phrases::nothing(reply, of_a_change)) + "."
        }
        None => found(reply, of_a_change),
    };
    let _ = writeln!(text, "{head}\n");
    if !reply.clusters.is_empty() {
        text.push_str(&clusters(reply, CHARS_MAX - TAIL_CHARS - chars(&text)));
    }
    text.push_str(&left_out(reply));
    for note in reply.notes.iter().take(NOTES_MAX) {
        let _ = write!(text, "\n> {}\n", code(note, 200));
    }
    text
}

/// How much there is.
fn found(reply: &DuplicatesReply, of_a_change: bool) -> String {
    let what = if of_a_change { " that touch this change" } else { "" };
    let found = print::count(reply.clusters_found, "cluster");
    format!("**{found}**{what}; {}.", phrases::totals(reply))
}

/// The first clusters as a table and in detail, in `left` characters.
fn clusters(reply: &DuplicatesReply, mut left: usize) -> String {
    // With a gate the clusters are what fails.
    let found = match reply.gate {
        Some(_) => reply.clusters.len(),
        None => reply.clusters_found,
    };
    let mut text = String::new();
    let head = "| | kind | copies | lines that could go | similarity | first members |\n\
                | ---: | --- | ---: | ---: | --- | --- |\n";
    left = left.saturating_sub(chars(head));
    text.push_str(head);
    let mut shown = 0;
    for (number, cluster) in (1..).zip(reply.clusters.iter().take(CLUSTERS_MAX)) {
        let row = row(number, cluster, phrases::failing(reply, cluster));
        let Some(rest) = left.checked_sub(chars(&row)) else { break };
        left = rest;
        text.push_str(&row);
        shown += 1;
    }
    let mut detailed = 0;
    for (number, cluster) in (1..).zip(reply.clusters.iter().take(shown)) {
        let details = details(number, cluster);
        let Some(rest) = left.checked_sub(chars(&details)) else { break };
        left = rest;
        text.push_str(&details);
        detailed += 1;
    }
    if shown < found {
        let more = print::count(found - shown, "more cluster");
        let _ = write!(text, "\n… {more}; `sai duplicates -n 0` lists them.\n");
    }
    if detailed < shown {
        text.push_str("\nNot all members are named here: the comment would be too long.\n");
    }
    text
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn row(number: usize, cluster: &Cluster, failing: Option<&str>) -> String {
    let places: Vec<String> = cluster.members.iter().take(2).map(place).collect();
    let new = failing.map(|reason| format!(", **{reason}**")).unwrap_or_default();
    format!(
        "| {number} | {}{new} | {} | {} | {} | {} |\n",
        cluster.kind,
        print::number(cluster.size),
        print::number(cluster.lines),
        phrases::similarity(cluster),
        places.join("<br>"),
    )
}

fn details(number: usize, cluster: &Cluster) -> String {
    let medoid = &cluster.members[cluster.medoid];
    let name = medoid.symbol.as_deref().unwrap_or_else(|| medoid.path.file_name());
    let mut text = format!(
        "\n<details><summary>{number}. {} {} copies of {}</summary>\n\n",
        print::number(cluster.size),
        cluster.kind,
        code(name, 120),
    );
    let _ = writeln!(text, "Copies that {}.", phrases::meaning(cluster.kind));
    if let Some(counted) = phrases::counted(&cluster.differs) {
        let examples: Vec<String> =
            cluster.differs.examples.iter().map(|example| code(example, 80)).collect();
        let examples =
            if examples.is_empty() { String::new() } else { format!(": {}", examples.join(", ")) };
        let _ = writeln!(text, "They differ in {counted}{examples}.");
    }
    if let Some(omission) = cluster.omission {
        let reason = cluster.reason.as_ref().map(|reason| format!(" ({})", code(reason, 300)));
        let _ = writeln!(text, "Left out by default: {omission}{}.", reason.unwrap_or_default());
    }
    if let Some(discounts) = phrases::discounts(cluster) {
        let _ = writeln!(text, "{}.", phrases::sentence(&discounts));
    }
    text.push('\n');
    for (at, member) in cluster.members.iter().take(MEMBERS_MAX).enumerate() {
        let alike = if at == cluster.medoid {
            "medoid".to_owned()
        } else {
            phrases::rounded(member.similarity)
        };
        let touched = if member.is_touched { ", touched" } else { "" };
        let _ = writeln!(text, "- {} ({alike}{touched})", place(member));
    }
    if let Some(more) = cluster.size.checked_sub(MEMBERS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "- … {} more", print::number(more));
    }
    let _ = write!(text, "\n`sai duplicates --show {}`\n\n</details>\n", cluster.id);
    text
}

/// `path#L10-L13 symbol`.
fn place(member: &Member) -> String {
    let place = format!("{}#L{}-L{}", member.path, member.start_line, member.end_line);
    let symbol = member.symbol.as_ref().map(|symbol| format!(" {}", code(symbol, 80)));
    code(&place, 300) + &symbol.unwrap_or_default()
}

/// Text of the repository, its first `chars_max` characters, as code that nothing reads as markup.
fn code(text: &str, chars_max: usize) -> String {
    let safe = print::safe(text).replace('\t', " ");
    let mut out = "<code>".to_owned();
    for c in safe.chars().take(chars_max) {
        // A space, a slash and a dot mean nothing within a line; everything else might.
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !" /.".contains(c) {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    if chars(&safe) > chars_max {
        out.push('…');
    }
    out + "</code>"
}

fn left_out(reply: &DuplicatesReply) -> String {
    let reasons: Vec<String> = reply.left_out.iter().map(phrases::left_out).collect();
    let left_out = (!reasons.is_empty()).then(|| {
        format!("Left out: {}; `sai duplicates --all` shows everything.", reasons.join(", "))
    });
    let ignored = phrases::ignored(&reply.totals).map(|lines| format!("Never compared: {lines}."));
    let said: Vec<String> = left_out.into_iter().chain(ignored).collect();
    if said.is_empty() { String::new() } else { format!("\n<sub>{}</sub>\n", said.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_comment_has_a_table_and_details() {
        let reply = DuplicatesReply {
            clusters: vec![sample::cluster()],
            clusters_found: 2,
            ..sample::reply()
        };
        assert_eq!(
            text(&reply, false),
            "\
### Duplicate code

**2 clusters**; 25 of 1,000 lines (2.5 %) are copied, 12 could go.

| | kind | copies | lines that could go | similarity | first members |
| ---: | --- | ---: | ---: | --- | --- |
| 1 | renamed | 2 | 4 | 0.99–1.00 | <code>src/a.rs&#35;L10&#45;L13</code> <code>add</code><br>\
<code>src/b/c.rs&#35;L10&#45;L13</code> <code>join</code> |

<details><summary>1. 2 renamed copies of <code>add</code></summary>

Copies that have the same tokens but for names and literals.
They differ in 2 names and 1 literal: <code>total → sum</code>, \
<code>&#34;a&#34; → &#34;b&#34;</code>.

- <code>src/a.rs&#35;L10&#45;L13</code> <code>add</code> (medoid)
- <code>src/b/c.rs&#35;L10&#45;L13</code> <code>join</code> (1.00)

`sai duplicates --show 3f2a9c01b7de-2`

</details>

… 1 more cluster; `sai duplicates -n 0` lists them.

<sub>Left out: 12 clusters in tests, 1 piece marked `sai-noduplicate`; \
`sai duplicates --all` shows everything. Never compared: 40 lines of imports.</sub>
"
        );
    }

    #[test]
    fn a_gate_comes_first_with_its_reasons() {
        let text = text(&sample::failing(), true);
        assert!(
            text.starts_with(
                "### Duplicate code\n\n**Gate failed: 1 cluster new (14 known)**\n\n| |"
            ),
            "{text}"
        );
        assert!(text.contains("| 1 | renamed, **new** | 2 |"), "{text}");
        assert!(!text.contains("more cluster"), "what passes is no matter of the comment: {text}");
    }

    #[test]
    fn names_of_the_repository_are_no_markup() {
        let text = text(&sample::hostile(), false);
        for hazard in ["<img", "<script", "</script", "<b>", "@", "[x]", "\u{202e}"] {
            assert!(!text.contains(hazard), "{hazard}: {text}");
        }
        let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("<code>"));
        assert!(rows.clone().all(|row| row.matches('|').count() == 7), "{text}");
        assert_eq!(rows.count(), 2);
    }

    #[test]
    fn a_comment_never_grows_too_long() {
        let mut reply = sample::hostile();
        let mut cluster = reply.clusters[1].clone();
        let long = "x/".repeat(200);
        for member in &mut cluster.members {
            member.path = sample::path(&format!("{long}{}", member.path));
        }
        cluster.members = vec![cluster.members[0].clone(); 100];
        cluster.size = 100;
        reply.clusters = vec![cluster; 500];
        reply.clusters_found = 500;
        reply.notes = vec!["@".repeat(9000)];
        let text = text(&reply, false);
        assert!(chars(&text) < CHARS_MAX, "{}", chars(&text));
        assert!(text.contains("480 more clusters"), "{}", &text[text.len() - 900..]);
        assert!(text.contains("too long"));
    }

    #[test]
    fn nothing_found_is_said() {
        let reply = DuplicatesReply { clusters: vec![], clusters_found: 0, ..sample::reply() };
        let text = text(&reply, true);
        assert!(
            text.contains("No cluster touches the change (all of 7 files compared)."),
            "{text}"
        );
    }
}
