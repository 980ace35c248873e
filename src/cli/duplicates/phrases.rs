//! What words do all renderers use for kinds, places, reasons and differences?

use super::super::print;
use crate::request::{Cluster, CopyKind, Differences, DuplicatesReply, LeftOut, Omission, Totals};
use crate::types::Place;

/// The heading of a section.
pub(super) const fn section(place: Place) -> &'static str {
    match place {
        Place::Source => "Production code",
        Place::Test => "Tests",
        Place::Example => "Examples",
        Place::Docs => "Documentation",
        Place::Generated => "Generated code",
        Place::Vendored => "Vendored code",
        Place::Config => "Configuration",
    }
}

/// What members of a kind have in common, to follow "copies that …".
pub(super) const fn meaning(kind: CopyKind) -> &'static str {
    match kind {
        CopyKind::Exact => "have the same tokens: only layout and comments differ",
        CopyKind::Renamed => "have the same tokens but for names and literals",
        CopyKind::Near => {
            "are whole definitions that share at least two fifths of their token sequences"
        }
        CopyKind::Fragment => "are consecutive lines inside of definitions that differ otherwise",
        CopyKind::Behaviour => "are alike by vectors alone, which is a guess and never gates",
    }
}

/// A reason to leave out, to follow "left out:".
pub(super) const fn reason(omission: Omission) -> &'static str {
    match omission {
        Omission::Tests => "in tests",
        Omission::Examples => "in examples",
        Omission::Docs => "in documentation",
        Omission::Generated => "in generated code",
        Omission::Vendored => "in vendored code",
        Omission::Config => "in configuration",
        Omission::Boilerplate => "of boilerplate",
        Omission::Marked => "marked `sai-noduplicate`",
        Omission::Intentional => "called intentional by a verdict",
    }
}

/// How much was left out for a reason: `12 clusters in tests`.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    let amount = if left_out.clusters > 0 {
        print::count(left_out.clusters, "cluster")
    } else {
        print::count(left_out.members, "piece")
    };
    format!("{amount} {}", reason(left_out.reason))
}

/// What was never compared: `40 lines of imports and 16 lines of licence headers`.
pub(super) fn ignored(totals: &Totals) -> Option<String> {
    let lines = [(totals.import_lines, "imports"), (totals.licence_lines, "licence headers")];
    let some = lines.into_iter().filter(|(lines, _)| *lines > 0);
    let said: Vec<String> =
        some.map(|(lines, of)| format!("{} of {of}", print::count(lines, "line"))).collect();
    (!said.is_empty()).then(|| said.join(" and "))
}

/// The lowest and the highest similarity: `0.92–1.00`, or one of them when they are the same.
pub(super) fn similarity(cluster: &Cluster) -> String {
    let [low, high] = [rounded(cluster.min_similarity), rounded(cluster.max_similarity)];
    if low == high { low } else { format!("{low}–{high}") }
}

/// Two digits behind the point, rounded down: what is not whole never shows as 1.00.
pub(super) fn rounded(similarity: f32) -> String {
    format!("{:.2}", (f64::from(similarity) * 100.0 + 1e-4).floor() / 100.0)
}

/// How the other members differ from the medoid, counted: `2 names and 1 literal`.
pub(super) fn counted(differs: &Differences) -> Option<String> {
    let counts =
        [(differs.names, "name"), (differs.literals, "literal"), (differs.tokens, "token")];
    let some = counts.into_iter().filter(|(n, _)| *n > 0);
    let mut parts: Vec<String> = some.map(|(n, unit)| print::count(n, unit)).collect();
    let last = parts.pop()?;
    Some(if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) })
}

/// The same as a sentence's part, with examples: `differ in 1 name: total → sum`.
pub(super) fn differences(cluster: &Cluster) -> Option<String> {
    let counted = counted(&cluster.differs)?;
    let examples = &cluster.differs.examples;
    Some(if examples.is_empty() {
        format!("differ in {counted}")
    } else {
        format!("differ in {counted}: {}", examples.join(", "))
    })
}

/// Why a cluster that is shown is left out by default.
pub(super) fn omission(cluster: &Cluster) -> Option<String> {
    let omission = cluster.omission?;
    Some(match &cluster.reason {
        Some(reason) => format!("{omission}: {reason}"),
        None => omission.to_string(),
    })
}

/// What lowers a cluster's place in the list.
pub(super) fn discounts(cluster: &Cluster) -> Option<String> {
    let discounts = &cluster.discounts;
    (!discounts.is_empty()).then(|| format!("ranked lower: {}", discounts.join(", ")))
}

/// Why a gate does not let a cluster pass.
pub(super) fn failing<'a>(reply: &'a DuplicatesReply, cluster: &Cluster) -> Option<&'a str> {
    let failing = reply.gate.iter().flat_map(|gate| &gate.failing);
    failing.filter(|failing| failing.id == cluster.id).map(|failing| &*failing.reason).next()
}

/// What a report without clusters says. Nothing compared, everything left out and no copies are
/// three answers.
pub(super) fn nothing(reply: &DuplicatesReply, of_a_change: bool) -> String {
    let files = print::count(reply.searched.files, "file");
    if reply.searched.chunks == 0 {
        "nothing was compared: no indexed code is in scope".to_owned()
    } else if of_a_change {
        format!("no cluster touches the change (all of {files} compared)")
    } else if reply.left_out.is_empty() {
        let lines = print::count(reply.totals.lines, "line");
        format!("no copies in {files}, {lines}")
    } else {
        format!("no copies in {files} but for what is left out")
    }
}

/// How many lines are copied: `1,204 of 48,220 lines (2.5 %) are copied, 611 could go`.
pub(super) fn totals(reply: &DuplicatesReply) -> String {
    let totals = &reply.totals;
    format!(
        "{} of {} ({}) are copied, {} could go",
        print::number(totals.copied_lines),
        print::count(totals.lines, "line"),
        share(totals.copied_lines, totals.lines),
        print::number(totals.spare_lines),
    )
}

/// `part` of `whole` in per cent.
pub(super) fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

/// `text` with a capital letter at its beginning.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::request::Searched;

    #[test]
    fn what_is_not_whole_never_shows_as_whole() {
        assert_eq!(rounded(0.9999), "0.99");
        assert_eq!(rounded(1.0), "1.00");
        assert_eq!(rounded(0.57), "0.57");
    }

    #[test]
    fn differences_are_counted_and_shown() {
        let cluster = sample::cluster();
        assert_eq!(
            differences(&cluster).unwrap(),
            "differ in 2 names and 1 literal: total → sum, \"a\" → \"b\""
        );
        let exact = Cluster { differs: Differences::default(), ..cluster };
        assert_eq!(differences(&exact), None);
    }

    #[test]
    fn nothing_has_four_answers() {
        let left = DuplicatesReply { clusters: vec![], clusters_found: 0, ..sample::reply() };
        let none = DuplicatesReply { left_out: vec![], ..left.clone() };
        let unsearched =
            DuplicatesReply { searched: Searched { files: 0, chunks: 0 }, ..none.clone() };
        let said = [nothing(&left, false), nothing(&none, false), nothing(&none, true)];
        assert_eq!(
            said,
            [
                "no copies in 7 files but for what is left out",
                "no copies in 7 files, 1,000 lines",
                "no cluster touches the change (all of 7 files compared)",
            ]
        );
        assert!(nothing(&unsearched, true).starts_with("nothing was compared"));
    }
}
