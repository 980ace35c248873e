//! Here is a report: what does a code scanner's log (SARIF 2.1.0) say of it?
//!
//! One result a cluster: the medoid is where it is, the other members are related to it. Fingerprints
//! hold the cluster's hash and neither paths nor lines, so that a result is recognised after lines
//! moved. `primaryLocationLineHash` is left to whoever uploads the log, who has the files at hand.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::super::print;
use super::phrases;
use crate::request::{Cluster, CopyKind, DuplicatesReply, Member, Omission};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Stands for the root of the repository.
const ROOT: &str = "%SRCROOT%";

/// What a path keeps as it is within a URI.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Members that a message links to.
const LINKED: usize = 5;

/// The log as text.
pub(super) fn text(reply: &DuplicatesReply) -> String {
    let result = |cluster| result(cluster, phrases::failing(reply, cluster));
    let results: Vec<Value> = reply.clusters.iter().map(result).collect();
    let log = json!({
        "version": "2.1.0",
        "$schema": SCHEMA,
        "runs": [{
            "tool": { "driver": {
                "name": "SAI",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": CopyKind::ALL.iter().map(|kind| rule(*kind)).collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": "sai/duplicates/" },
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "The root that was indexed." } },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "clusters": reply.clusters_found,
                "lines": reply.totals.lines,
                "copiedLines": reply.totals.copied_lines,
                "spareLines": reply.totals.spare_lines,
                "leftOut": reply.left_out,
            },
        }],
    });
    format!("{log:#}\n")
}

/// The rule that clusters of a kind break.
fn rule(kind: CopyKind) -> Value {
    let meaning = phrases::meaning(kind);
    let help = format!(
        "Copies that {meaning}. A fix in one of them is easily forgotten in the others: make them one \
         piece of code, or say why they shall stay: `sai duplicates --verdict ID intentional \
         --because \"…\"`, or a `sai-noduplicate` comment at one of them. `sai duplicates --show ID` \
         shows both sides."
    );
    json!({
        "id": rule_id(kind),
        "name": format!("{}Copy", phrases::sentence(kind.name())),
        "shortDescription": { "text": format!("Code that repeats: {kind} copies") },
        "fullDescription": { "text": format!("Copies that {meaning}.") },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "note" },
        "properties": { "tags": ["maintainability", "duplication"] },
    })
}

fn rule_id(kind: CopyKind) -> String {
    format!("duplicates/{kind}")
}

fn result(cluster: &Cluster, failing: Option<&str>) -> Value {
    let medoid = &cluster.members[cluster.medoid];
    let others = || cluster.members.iter().enumerate().filter(|(at, _)| *at != cluster.medoid);
    let related: Vec<Value> = (1..)
        .zip(others())
        .map(|(id, (_, member))| {
            let mut location = location(member);
            location.insert("id".to_owned(), json!(id));
            let alike = phrases::rounded(member.similarity);
            location.insert("message".to_owned(), json!({ "text": format!("alike by {alike}") }));
            Value::Object(location)
        })
        .collect();
    let linked: Vec<String> = (1..)
        .zip(others())
        .take(LINKED)
        .map(|(id, (_, member))| format!("[{}]({id})", link_text(&place(member))))
        .collect();
    let hash = cluster.id.split('-').next().unwrap_or_default();
    let mut result = json!({
        "ruleId": rule_id(cluster.kind),
        "ruleIndex": CopyKind::ALL.iter().position(|kind| *kind == cluster.kind),
        "level": level(cluster),
        "message": { "text": message(cluster, failing, &linked) },
        "locations": [location(medoid)],
        "relatedLocations": related,
        "partialFingerprints": { "saiClone/v1": hash },
        "properties": {
            "id": cluster.id,
            "copies": cluster.size,
            "minSimilarity": cluster.min_similarity,
            "maxSimilarity": cluster.max_similarity,
            "spareLines": cluster.lines,
            "place": cluster.place,
        },
    });
    if let Some(is_new) = cluster.is_new {
        result["baselineState"] = json!(if is_new { "new" } else { "unchanged" });
    }
    if let Some(suppression) = suppression(cluster) {
        result["suppressions"] = json!([suppression]);
    }
    result
}

/// Only what a gate calls new is an error.
fn level(cluster: &Cluster) -> &'static str {
    match cluster.is_new {
        Some(true) => "error",
        _ if cluster.is_touched => "warning",
        _ => "note",
    }
}

fn message(cluster: &Cluster, failing: Option<&str>, linked: &[String]) -> String {
    let medoid = &cluster.members[cluster.medoid];
    let of = medoid
        .symbol
        .as_deref()
        .map_or_else(String::new, |symbol| format!(" of `{}`", link_text(&print::safe(symbol))));
    let size = print::number(cluster.size);
    let lines = print::count(cluster.lines, "line");
    let kind = cluster.kind;
    let failing = failing.map(|reason| format!("{}: ", phrases::sentence(reason)));
    let failing = failing.unwrap_or_default();
    let also = linked.join(", ");
    let more = cluster.size.saturating_sub(1 + linked.len());
    let more = if more > 0 { format!(" and {} more", print::number(more)) } else { String::new() };
    let differs = phrases::differences(cluster)
        .map_or_else(String::new, |text| format!(". They {}", link_text(&print::safe(&text))));
    format!("{failing}{size} {kind} copies{of}; {lines} could go. Also at {also}{more}{differs}.")
}

fn place(member: &Member) -> String {
    print::safe(&format!("{}:{}-{}", member.path, member.start_line, member.end_line))
}

/// `text` so that nothing in it is a link of a message.
fn link_text(text: &str) -> String {
    text.replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]")
}

fn location(member: &Member) -> Map<String, Value> {
    let uri = utf8_percent_encode(member.path.as_str(), PATH).to_string();
    let mut location = Map::new();
    location.insert(
        "physicalLocation".to_owned(),
        json!({
            "artifactLocation": { "uri": uri, "uriBaseId": ROOT },
            "region": { "startLine": member.start_line, "endLine": member.end_line },
        }),
    );
    if let Some(symbol) = &member.symbol {
        let name = print::safe(symbol);
        location.insert("logicalLocations".to_owned(), json!([{ "name": name }]));
    }
    location
}

/// What a person already said of a cluster that is shown because it was asked for.
fn suppression(cluster: &Cluster) -> Option<Value> {
    let kind = match cluster.omission? {
        Omission::Marked => "inSource",
        Omission::Intentional => "external",
        _ => return None,
    };
    let mut suppression = json!({ "kind": kind });
    if let Some(reason) = &cluster.reason {
        suppression["justification"] = json!(print::safe(reason));
    }
    Some(suppression)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn log(reply: &DuplicatesReply) -> Value {
        serde_json::from_str(&text(reply)).unwrap()
    }

    #[test]
    fn a_cluster_is_a_result_at_its_medoid() {
        let mut reply = sample::reply();
        reply.clusters.remove(0);
        let log = log(&reply);
        assert_eq!(log["version"], "2.1.0");
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "duplicates/renamed");
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().unwrap().contains("--because"), "{rule}");
        assert_eq!(result["level"], "note");
        assert_eq!(
            result["message"]["text"],
            "2 renamed copies of `add`; 4 lines could go. Also at [src/b/c.rs:10-13](1). They differ \
             in 2 names and 1 literal: total → sum, \"a\" → \"b\"."
        );
        assert_eq!(
            result["locations"][0]["physicalLocation"],
            json!({
                "artifactLocation": { "uri": "src/a.rs", "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": 10, "endLine": 13 },
            })
        );
        assert_eq!(result["relatedLocations"][0]["id"], 1);
        assert_eq!(result["relatedLocations"][0]["logicalLocations"][0]["name"], "join");
        assert_eq!(result["partialFingerprints"], json!({ "saiClone/v1": "3f2a9c01b7de" }));
        assert!(result.get("baselineState").is_none());
    }

    #[test]
    fn only_what_is_new_is_an_error() {
        let mut reply = sample::reply();
        let levels = |reply: &DuplicatesReply| {
            let log = log(reply);
            let results = log["runs"][0]["results"].as_array().unwrap().clone();
            let level = |result: &Value| result["level"].as_str().unwrap().to_owned();
            results.iter().map(level).collect::<Vec<_>>()
        };
        reply.clusters[0].is_touched = true;
        assert_eq!(levels(&reply), ["warning", "note"]);
        reply.clusters[1].is_new = Some(true);
        reply.clusters[0].is_new = Some(false);
        assert_eq!(levels(&reply), ["warning", "error"]);
        assert_eq!(log(&reply)["runs"][0]["results"][1]["baselineState"], "new");
    }

    #[test]
    fn what_a_person_allowed_is_suppressed() {
        let mut reply = sample::reply();
        reply.clusters[0].omission = Some(Omission::Intentional);
        reply.clusters[0].reason = Some("two protocols".to_owned());
        let log = log(&reply);
        let suppressions = &log["runs"][0]["results"][0]["suppressions"];
        assert_eq!(
            *suppressions,
            json!([{ "kind": "external", "justification": "two protocols" }])
        );
        assert!(log["runs"][0]["results"][1].get("suppressions").is_none());
    }

    #[test]
    fn paths_are_encoded_and_text_stays_text() {
        let log = log(&sample::hostile());
        let result = &log["runs"][0]["results"][1];
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(
            uri,
            "src/%3Cb%3E%26%22%27%7C%60%40org/team%60%20%5Bx%5D%28y%29%20%2520%20%C3%BC%E2%80%AE/src/a.rs"
        );
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.contains(r"\[x\](y)"), "{message}");
        assert!(message.contains(r"\u{202e}") && !message.contains('\u{202e}'), "{message}");
    }
}
