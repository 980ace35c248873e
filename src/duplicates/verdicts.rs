//! Here is a file of verdicts on clusters, which a team commits: which clusters do they hide, and what
//! becomes of the file when one more is given?
//!
//! A verdict is kept under its cluster's hash, with the count of members at that time: one more copy
//! and the cluster is shown again. The file comes with the repository and is not trusted: it can hide
//! clusters, which is counted and can be listed, and nothing else. It is changed line by line, so that
//! comments stay.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files;
use super::report::{Cluster, Omission};
use crate::error::{Error, Result};
use crate::types::{is_deceptive, named_enum};

/// The file's name in the root.
pub const VERDICTS_FILE: &str = "sai-duplicates.yml";

/// The name and version of the format.
const SCHEMA: &str = "sai.verdicts.v1";

/// A longer file is refused, in bytes.
const BYTES_MAX: u64 = 4 << 20;

/// Verdicts that a note names.
const NAMED_MAX: usize = 3;

const HEAD: &str = "\
# Verdicts on duplicate code: `sai duplicates --verdict ID VERDICT --because TEXT` writes them.
# `intentional` and `boilerplate` hide a cluster while it has no more members than when it was judged.
";

named_enum! {
    /// What a person says of a cluster.
    CopyVerdict, "verdict" {
        /// The copies shall stay as they are.
        Intentional = "intentional",
        /// Code that repeats by its nature.
        Boilerplate = "boilerplate",
        /// Worth a change; shown with the reason.
        Real = "real",
    }
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    pub verdict: CopyVerdict,
    /// How many members the cluster had.
    pub members: usize,
    pub because: String,
    /// Where it was, for a reader of the file.
    #[serde(default)]
    pub at: String,
}

/// The verdicts of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdicts {
    /// By the cluster's id without its count.
    judged: BTreeMap<String, Judged>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    #[serde(default)]
    verdicts: Option<BTreeMap<String, Judged>>,
}

/// The verdicts of the tree at `root`; none when it has no such file.
///
/// # Errors
/// Usage, naming file and line: it is no file of verdicts. Environment: it cannot be read.
pub(super) fn load(root: &Path) -> Result<Verdicts> {
    let file = root.join(VERDICTS_FILE);
    Verdicts::parse(text(&file)?.as_deref().unwrap_or_default(), &file)
}

/// Writes a verdict on `cluster` into the file of `root`; returns the file.
///
/// # Errors
/// Those of reading it; Usage: there is no reason, or the file is written in a way that cannot be
/// changed without a loss. Environment: it cannot be written. The file is then as it was.
pub fn judge(
    root: &Path,
    cluster: &Cluster,
    verdict: CopyVerdict,
    because: &str,
) -> Result<PathBuf> {
    let because = because.split_whitespace().collect::<Vec<_>>().join(" ");
    if because.is_empty() {
        return Err(Error::usage("a verdict needs a reason")
            .hint("`--because \"why the copies shall stay\"`"));
    }
    let medoid = cluster.members.get(cluster.medoid).or(cluster.members.first());
    let at = medoid.map_or_else(String::new, |member| match &member.symbol {
        Some(symbol) => format!("{} {symbol}", member.path),
        None => member.path.to_string(),
    });
    let judged = Judged { verdict, members: cluster.size, because, at };
    change(root, cluster.id_hash(), Some(&judged))
}

/// Takes the verdict on the cluster `id` out of the file of `root`; returns the file.
///
/// # Errors
/// As [`judge`]; Usage: there is no verdict on it.
pub fn forget(root: &Path, id: &str) -> Result<PathBuf> {
    let hash = id.split('-').next().unwrap_or(id);
    let verdicts = load(root)?;
    if !verdicts.judged.contains_key(hash) {
        let known = verdicts.judged.keys().map(String::as_str);
        return Err(unknown("there is no verdict on", id, known));
    }
    change(root, hash, None)
}

/// The one of `clusters` that is called `id`, or whose id begins so; without the count when that is
/// clear.
///
/// # Errors
/// Usage, naming the nearest.
pub fn named<'a>(clusters: &'a [Cluster], id: &str) -> Result<&'a Cluster> {
    let id = id.trim();
    let exact = clusters.iter().find(|cluster| cluster.id == id);
    if let Some(cluster) = exact.or_else(|| clusters.iter().find(|c| c.id_hash() == id)) {
        return Ok(cluster);
    }
    let mut begins = clusters.iter().filter(|c| id.len() >= 4 && c.id.starts_with(id));
    match (begins.next(), begins.next()) {
        (Some(cluster), None) => Ok(cluster),
        _ => Err(unknown("there is no cluster", id, clusters.iter().map(|c| c.id.as_str()))),
    }
}

/// The error for an id that is none of `known`.
fn unknown<'a>(what: &str, id: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let nearest = known
        .map(|name| (strsim::jaro_winkler(id, name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)));
    Error::usage(format!("{what} `{id}`")).hint(match nearest {
        Some((_, name)) => format!("the nearest is `{name}`; an id changes with the code"),
        None => "`sai duplicates --all` lists what there is".to_owned(),
    })
}

impl Verdicts {
    fn parse(text: &str, file: &Path) -> Result<Self> {
        if text.lines().all(|line| !is_content(line)) {
            return Ok(Self::default());
        }
        let shown = file.display();
        let broken = |what: String| {
            Error::usage(format!("`{shown}` holds no verdicts: {what}"))
                .hint("`sai duplicates --verdict` writes such a file; git has the last good one")
        };
        // Two verdicts on one cluster, as a merge leaves them, are seen in plain values alone.
        let plain = serde_yaml::from_str::<serde_yaml::Value>(text);
        let document = plain.and_then(|_| serde_yaml::from_str::<Document>(text));
        let document = document.map_err(|error| broken(error.to_string()))?;
        if document.schema != SCHEMA {
            return Err(broken(format!("its format is `{}`, not `{SCHEMA}`", document.schema)));
        }
        let judged = document.verdicts.unwrap_or_default();
        for (id, verdict) in &judged {
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(broken(format!("`{id}` is no id of a cluster")));
            }
            if verdict.because.trim().is_empty() {
                return Err(broken(format!("`{id}` has no reason")));
            }
        }
        Ok(Self { judged })
    }

    /// What the verdict on a cluster says to a report, if there is one: why it is left out, and the
    /// reason in words. `hash` is its id without the count of its `members`.
    pub(super) fn on(&self, hash: &str, members: usize) -> Option<(Option<Omission>, String)> {
        let judged = self.judged.get(hash)?;
        let Judged { verdict, because, .. } = judged;
        if *verdict == CopyVerdict::Real {
            return Some((None, format!("judged {verdict}: {because}")));
        }
        if members <= judged.members {
            return Some((Some(Omission::Intentional), format!("judged {verdict}: {because}")));
        }
        // One more copy, which nobody has judged.
        Some((None, format!("judged {verdict} of {} copies: {because}", judged.members)))
    }

    /// What a reader should know of verdicts on nothing. `hashes` are the ids of
    /// all clusters of the whole tree, without their counts.
    pub(super) fn notes(&self, hashes: &HashSet<&str>) -> Vec<String> {
        let gone: Vec<String> = self
            .judged
            .iter()
            .filter(|(id, _)| !hashes.contains(id.as_str()))
            .map(|(id, judged)| format!("{id} ({})", judged.at))
            .collect();
        if gone.is_empty() {
            return Vec::new();
        }
        let named = gone[..gone.len().min(NAMED_MAX)].join(", ");
        let more = if gone.len() > NAMED_MAX { ", …" } else { "" };
        let (verdicts, are) = if gone.len() == 1 { ("verdict", "is") } else { ("verdicts", "are") };
        vec![format!(
            "{} {verdicts} in {VERDICTS_FILE} {are} about clusters that are gone: {named}{more}; `sai \
             duplicates --verdict ID none` removes one",
            gone.len()
        )]
    }
}

/// The text of the file, which must not be a link: it could lead out of the tree.
fn text(file: &Path) -> Result<Option<String>> {
    if fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(Error::usage(format!("`{}` is a link", file.display()))
            .hint("put the file itself there"));
    }
    files::text(file, BYTES_MAX)
}

/// Sets or removes one verdict.
fn change(root: &Path, id: &str, judged: Option<&Judged>) -> Result<PathBuf> {
    let file = root.join(VERDICTS_FILE);
    let before = text(&file)?.unwrap_or_default();
    let mut wanted = Verdicts::parse(&before, &file)?;
    match judged {
        Some(judged) => wanted.judged.insert(id.to_owned(), judged.clone()),
        None => wanted.judged.remove(id),
    };
    let edited = edited(&before, id, judged);
    let is_right = |text: &String| Verdicts::parse(text, &file).is_ok_and(|found| found == wanted);
    let has_comments = before.lines().any(|line| line.contains('#') && !HEAD.contains(line));
    let after = match Some(edited).filter(is_right) {
        Some(text) => text,
        None if !has_comments => wanted.text(),
        None => {
            let message = format!("`{}` cannot be changed line by line", file.display());
            return Err(Error::usage(message).hint("its comments would be lost: edit it by hand"));
        }
    };
    files::replace(&file, &after)?;
    Ok(file)
}

impl Verdicts {
    /// The document, without comments but its own.
    fn text(&self) -> String {
        let entries = self.judged.iter().flat_map(|(id, judged)| entry(id, judged));
        let lines =
            [format!("schema: {SCHEMA}"), "verdicts:".to_owned()].into_iter().chain(entries);
        lines.fold(HEAD.to_owned(), |text, line| text + &line + "\n")
    }
}

/// `text` in quotes, as in JSON, which is YAML but for characters that YAML does not print; those, and
/// what would deceive a reader, are written out.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("text is JSON");
    let is_hidden = |c: char| is_deceptive(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    let shown = |c: char| if is_hidden(c) { format!("\\U{:08X}", u32::from(c)) } else { c.into() };
    json.chars().map(shown).collect()
}

/// The lines of a verdict.
fn entry(id: &str, judged: &Judged) -> Vec<String> {
    vec![
        format!("  {}:", quoted(id)),
        format!("    verdict: {}", judged.verdict),
        format!("    members: {}", judged.members),
        format!("    because: {}", quoted(&judged.because)),
        format!("    at: {}", quoted(&judged.at)),
    ]
}

/// `text` with one verdict set or removed, its other lines as they are.
fn edited(text: &str, id: &str, judged: Option<&Judged>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if !lines.iter().any(|line| is_content(line)) {
        lines.splice(0..0, HEAD.lines().map(str::to_owned));
        lines.push(format!("schema: {SCHEMA}"));
    }
    let head = lines.iter().position(|line| line.starts_with("verdicts:")).unwrap_or_else(|| {
        lines.push(String::new());
        lines.len() - 1
    });
    "verdicts:".clone_into(&mut lines[head]);
    let new = judged.map_or_else(Vec::new, |judged| entry(id, judged));
    let entries = entries(&lines, head);
    let known = entries.iter().find(|(found, _)| found == id).map(|(_, lines)| lines.clone());
    let place = known.unwrap_or_else(|| {
        let after = entries.iter().rfind(|(found, _)| found.as_str() < id);
        let at = after.map_or(head + 1, |(_, lines)| lines.end);
        at..at
    });
    lines.splice(place, new);
    lines.into_iter().fold(String::new(), |text, line| text + &line + "\n")
}

/// The entries below line `head`: id and lines, comments behind an entry not among them.
fn entries(lines: &[String], head: usize) -> Vec<(String, Range<usize>)> {
    let mut entries: Vec<(String, Range<usize>)> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(head + 1).filter(|(_, line)| is_content(line)) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        match entries.last_mut() {
            _ if indent == 0 => break,
            Some((_, lines)) if indent > 2 => lines.end = at + 1,
            _ => {
                let id = line.trim().split(':').next().unwrap_or_default();
                entries.push((id.trim_matches(['"', '\'']).to_owned(), at..at + 1));
            }
        }
    }
    entries
}

/// Whether a line is neither blank nor a comment.
fn is_content(line: &str) -> bool {
    let text = line.trim_start();
    !text.is_empty() && !text.starts_with('#')
}

#[cfg(test)]
mod tests;
