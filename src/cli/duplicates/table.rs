//! How do clusters look on a terminal? A row of figures each, with the places of its first members.

use std::fmt::Write as _;

use super::super::hits;
use super::super::print::{self, BAD, BOLD, DIM, Line, Look, PATH, PLAIN, WARNING};
use super::phrases;
use crate::request::{Cluster, DuplicatesReply, Member};
use crate::types::Place;

/// Members that are named of each cluster.
const MEMBERS_SHOWN: usize = 3;

/// Columns that a member's line is moved in.
const INDENT: &str = "     ";

/// The first `shown` clusters of a report, a section for each kind of place.
pub(super) fn text(reply: &DuplicatesReply, shown: usize, look: Look) -> String {
    let shown = &reply.clusters[..shown.min(reply.clusters.len())];
    let mut places: Vec<Place> = shown.iter().map(|cluster| cluster.place).collect();
    places.sort_unstable();
    places.dedup();
    let has_headings = places.iter().any(|place| *place != Place::Source);
    let widths = Widths::of(shown);
    let mut text = String::new();
    let mut number = 0;
    for place in places {
        if has_headings {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", look.paint(BOLD, phrases::section(place)));
        }
        text.push_str(&titles(&widths, look));
        for cluster in shown.iter().filter(|cluster| cluster.place == place) {
            number += 1;
            text.push_str(&row(number, cluster, &widths, look));
        }
    }
    text
}

/// Columns of what is as wide as its widest value.
struct Widths {
    id: usize,
    kind: usize,
}

impl Widths {
    fn of(clusters: &[Cluster]) -> Self {
        let widest = |width: fn(&Cluster) -> usize, least: usize| {
            clusters.iter().map(width).fold(least, usize::max)
        };
        Self {
            id: widest(|cluster| cluster.id.len(), "id".len()),
            kind: widest(|cluster| cluster.kind.name().len(), "kind".len()),
        }
    }
}

fn titles(widths: &Widths, look: Look) -> String {
    let mut line = Line::new(look);
    let Widths { id, kind } = widths;
    let titles = format!("{:>3}  {:id$}  {:kind$}  copies  lines  similarity", "#", "id", "kind");
    line.push(DIM, &titles);
    line.end() + "\n"
}

fn row(number: usize, cluster: &Cluster, widths: &Widths, look: Look) -> String {
    let mut line = Line::new(look);
    let Widths { id, kind } = widths;
    line.push(DIM, &format!("{number:>3}  "));
    line.push(BOLD, &format!("{:id$}", cluster.id));
    line.push(PLAIN, &format!("  {:kind$}", cluster.kind));
    line.push(PLAIN, &format!("  {:>6}", print::number(cluster.size)));
    line.push(PLAIN, &format!("  {:>5}", print::number(cluster.lines)));
    line.push(PLAIN, &format!("  {:10}", phrases::similarity(cluster)));
    if cluster.is_new == Some(true) {
        line.push(BAD, "  new");
    } else if cluster.is_touched {
        line.push(WARNING, "  touched");
    }
    if let Some(omission) = phrases::omission(cluster) {
        line.push(WARNING, &format!("  left out by default ({omission})"));
    }
    let mut text = line.end().trim_end().to_owned() + "\n";
    for member in named(cluster) {
        // Never cut, so that a path can be copied.
        let mut line = Line::new(Look { width: None, ..look });
        line.push(PLAIN, INDENT);
        push_place(&mut line, member);
        text.push_str(&line.end());
        text.push('\n');
    }
    let mut rest = Line::new(look);
    let more = cluster.size.saturating_sub(named(cluster).count());
    let mut said: Vec<String> = Vec::new();
    if more > 0 {
        said.push(format!("… {} more", print::number(more)));
    }
    said.extend(phrases::differences(cluster));
    if !said.is_empty() {
        rest.push(DIM, &format!("{INDENT}{}", said.join("; ")));
        text.push_str(&rest.end());
        text.push('\n');
    }
    text
}

/// The members to name: those that a change touches before others, in the order of their paths.
fn named(cluster: &Cluster) -> impl Iterator<Item = &Member> {
    let mut at: Vec<usize> = (0..cluster.members.len()).collect();
    at.sort_by_key(|at| !cluster.members[*at].is_touched);
    at.truncate(MEMBERS_SHOWN);
    at.sort_unstable();
    at.into_iter().map(|at| &cluster.members[at])
}

/// `path:first-last  symbol`, and what is unusual about it.
pub(super) fn push_place(line: &mut Line, member: &Member) {
    line.push(PATH, &format!("{}:{}-{}", member.path, member.start_line, member.end_line));
    if let Some(symbol) = &member.symbol {
        line.push(PLAIN, &format!("  {symbol}"));
    }
    hits::push_freshness(line, member.freshness);
}

/// What the report amounts to, in lines for a person.
pub(super) fn summary(reply: &DuplicatesReply, shown: usize, of_a_change: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if reply.gate.is_some() {
        // The gate says itself what it counted; shown is what fails.
        lines.extend(next(reply));
        return lines;
    }
    if reply.clusters.is_empty() {
        lines.push(phrases::nothing(reply, of_a_change));
    } else {
        let found = print::count(reply.clusters_found, "cluster");
        lines.push(format!("{found}: {}", phrases::totals(reply)));
    }
    lines.extend(left_out(reply));
    lines.extend(phrases::ignored(&reply.totals).map(|lines| format!("never compared: {lines}")));
    let shown = shown.min(reply.clusters.len());
    if shown > 0 && shown < reply.clusters_found {
        let found = print::number(reply.clusters_found);
        lines.push(format!("the first {shown} of {found} are shown; `-n 0` shows all"));
    }
    lines.extend(next(reply));
    lines
}

/// How to look at the first cluster.
fn next(reply: &DuplicatesReply) -> Option<String> {
    let first = reply.clusters.first()?;
    Some(format!("`sai duplicates --show {}` shows both sides of a cluster", first.id))
}

/// What was found and is not shown, with the way to see it.
fn left_out(reply: &DuplicatesReply) -> Option<String> {
    let reasons: Vec<String> = reply
        .left_out
        .iter()
        .map(|left| format!("{} (--include {})", phrases::left_out(left), left.reason))
        .collect();
    let reasons = (!reasons.is_empty()).then(|| reasons.join(", "))?;
    Some(format!("left out: {reasons}; --all shows everything"))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const PIPED: Look = Look { color: false, width: None };

    #[test]
    fn clusters_stand_in_sections() {
        assert_eq!(
            text(&sample::reply(), 50, PIPED),
            "\
Production code
  #  id              kind     copies  lines  similarity
  1  3f2a9c01b7de-2  renamed       2      4  0.99–1.00
     src/a.rs:10-13  add
     src/b/c.rs:10-13  join
     differ in 2 names and 1 literal: total → sum, \"a\" → \"b\"

Tests
  #  id              kind     copies  lines  similarity
  2  aa00aa00aa00-5  exact         5      4  1.00        left out by default (tests)
     src/a.rs:10-13  add
     src/b/c.rs:10-13  join
     … 3 more
"
        );
    }

    #[test]
    fn production_code_alone_needs_no_heading() {
        let reply = DuplicatesReply { clusters: vec![sample::cluster()], ..sample::reply() };
        let text = text(&reply, 50, PIPED);
        assert!(text.starts_with("  #  id "), "{text}");
    }

    #[test]
    fn figures_fit_the_terminal_and_paths_stay_whole() {
        let look = Look { color: false, width: Some(40) };
        let text = text(&sample::reply(), 50, look);
        let is_place = |line: &str| line.contains(".rs:");
        assert!(text.lines().all(|line| is_place(line) || line.chars().count() <= 40), "{text}");
        assert!(text.contains("     src/b/c.rs:10-13  join\n"), "{text}");
    }

    #[test]
    fn the_summary_says_what_is_left_out_and_what_is_next() {
        let reply = DuplicatesReply {
            clusters: vec![sample::cluster(), sample::cluster()],
            ..sample::reply()
        };
        assert_eq!(
            summary(&reply, 1, false),
            [
                "3 clusters: 25 of 1,000 lines (2.5 %) are copied, 12 could go",
                "left out: 12 clusters in tests (--include tests), 1 piece marked \
                 `sai-noduplicate` (--include marked); --all shows everything",
                "never compared: 40 lines of imports",
                "the first 1 of 3 are shown; `-n 0` shows all",
                "`sai duplicates --show 3f2a9c01b7de-2` shows both sides of a cluster",
            ]
        );
        let none = DuplicatesReply { clusters: vec![], clusters_found: 0, ..reply };
        assert_eq!(summary(&none, 50, false)[0], "no copies in 7 files but for what is left out");
    }

    #[test]
    fn touched_members_are_named_before_others() {
        let mut cluster = sample::cluster();
        cluster.members = vec![cluster.members[0].clone(); 5];
        cluster.size = 5;
        for (at, member) in cluster.members.iter_mut().enumerate() {
            member.path = sample::path(&format!("src/{at}.rs"));
            member.is_touched = at == 4;
        }
        let paths: Vec<&str> = named(&cluster).map(|member| member.path.as_str()).collect();
        assert_eq!(paths, ["src/0.rs", "src/1.rs", "src/4.rs"]);
    }

    #[test]
    fn hostile_names_cannot_drive_the_terminal() {
        let text = text(&sample::hostile(), 50, PIPED);
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(text.contains("\\u{202e}"), "{text}");
    }
}
