//! Here are the clusters that were known, and those that there are: which are new?
//!
//! A baseline is a file that a team commits. It holds no lines and no similarities, so that it stays
//! valid while code moves: of each cluster the medoid's hash, how many members there were, and each
//! member's hash, path and symbol. Clusters and entries are brought together by the medoid's hash,
//! else by the members they share: each entry serves once, the best match first. A member is a known
//! one by its hash, or, when it was edited, by its path and symbol.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files;
use super::report::{Cluster, CopyKind, DuplicatesQuery, Member, Omission};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::store::Meta;
use crate::types::{Place, RelPath};

/// The name and version of the format.
const SCHEMA: &str = "sai.duplicates.v1";

/// A longer file is no baseline, in bytes.
const BYTES_MAX: u64 = 64 << 20;

/// Raised whenever what is found, or how tokens are hashed, changes.
pub(super) const DETECTOR: u32 = 1;

/// Clusters that are known, and how they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// How they were found.
    pub settings: Settings,
    /// By section, the first member's path and symbol, and hash.
    pub clusters: Vec<KnownCluster>,
}

/// What decides which clusters there are, beside the code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of the search for copies.
    pub detector: u32,
    /// How files were split.
    pub chunker: String,
    /// The model whose vectors proposed pairs.
    pub model: String,
    /// The least similarity, when one was asked for.
    pub min_score: Option<f32>,
    /// The least cosine of pairs that vectors propose.
    pub duplicate_min_score: f32,
    pub min_cluster_size: usize,
    pub top_k: usize,
    /// Globs over paths.
    pub paths: Vec<String>,
    /// Kinds of copies that count.
    pub kinds: Vec<CopyKind>,
    /// Sections beside the product's code.
    pub include: Vec<Omission>,
}

impl Settings {
    /// How `query` is answered from an index with `meta`.
    pub(super) fn of(query: &DuplicatesQuery, config: &Config, meta: &Meta) -> Self {
        let similarity = &config.similarity;
        let size = query.min_cluster_size.unwrap_or(similarity.duplicate_min_cluster_size);
        let is_wanted = |kind: &CopyKind| query.kinds.is_empty() || query.kinds.contains(kind);
        let kinds = CopyKind::ALL.iter().filter(|kind| **kind != CopyKind::Behaviour);
        let include = Omission::ALL.iter().filter(|reason| query.include.contains(reason));
        Self {
            detector: DETECTOR,
            chunker: meta.chunker.clone(),
            model: meta.model.clone(),
            min_score: query.min_score,
            duplicate_min_score: similarity.duplicate_min_score,
            min_cluster_size: size.max(2),
            top_k: query.top_k.unwrap_or(similarity.top_k),
            paths: query.paths.clone(),
            kinds: kinds.copied().filter(is_wanted).collect(),
            include: include.copied().filter(|reason| reason.can_gate()).collect(),
        }
    }

    /// What is not as in `other`, such as `min_cluster_size 2, now 3`.
    fn differences(&self, now: &Self) -> Vec<String> {
        // By way of text, in which a number is as short as it was written.
        let value = |settings: &Self| -> Value {
            serde_json::from_str(&json(settings)).expect("it was just written")
        };
        let (before, now) = (value(self), value(now));
        let fields = before.as_object().into_iter().flatten();
        let other = fields.filter(|(name, value)| now[name.as_str()] != **value);
        other.map(|(name, value)| format!("{name} {value}, now {}", now[name.as_str()])).collect()
    }
}

/// A cluster that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownCluster {
    /// The hash of the medoid's tokens: a cluster's id without its count.
    pub id: String,
    pub kind: CopyKind,
    /// The section.
    pub place: Place,
    /// How many there were; `copies` names the first of them.
    pub members: usize,
    /// By path, symbol and hash.
    pub copies: Vec<KnownCopy>,
}

/// A member of a cluster that is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownCopy {
    pub path: RelPath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Of its tokens.
    pub hash: String,
}

impl KnownCluster {
    fn of(cluster: &Cluster) -> Self {
        let copy = |member: &Member| KnownCopy {
            path: member.path.clone(),
            symbol: member.symbol.clone(),
            hash: member.hash.clone(),
        };
        let mut copies: Vec<KnownCopy> = cluster.members.iter().map(copy).collect();
        copies.sort_unstable();
        let (kind, place, members) = (cluster.kind, cluster.place, cluster.size);
        Self { id: cluster.id_hash().to_owned(), kind, place, members, copies }
    }

    /// The entry of the document.
    fn text(&self) -> String {
        let copies: Vec<String> = self.copies.iter().map(json).collect();
        format!(
            "{{\n      \"id\": {}, \"kind\": {}, \"place\": {}, \"members\": {},\n      \
             \"copies\": {}\n    }}",
            json(&self.id),
            json(&self.kind),
            json(&self.place),
            self.members,
            list(&copies, "      "),
        )
    }

    /// Where it was, for a reader: the first member.
    pub fn at(&self) -> String {
        self.copies.first().map_or_else(String::new, |copy| match &copy.symbol {
            Some(symbol) => format!("{} {symbol}", copy.path),
            None => copy.path.to_string(),
        })
    }
}

/// The document as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    /// For whoever opens the file.
    #[serde(default, rename = "about")]
    _about: String,
    settings: Settings,
    clusters: Vec<KnownCluster>,
}

const ABOUT: &str = "Duplicate code that is known. `sai duplicates` with --baseline and this file \
                     tells what is new, with --update-baseline writes it anew.";

impl Baseline {
    /// The baseline of some clusters.
    pub(super) fn of<'a>(
        settings: Settings,
        clusters: impl IntoIterator<Item = &'a Cluster>,
    ) -> Self {
        let mut clusters: Vec<KnownCluster> = clusters.into_iter().map(KnownCluster::of).collect();
        clusters.sort_by(|a, b| {
            let key = |known: &KnownCluster| (known.place, known.copies.first().cloned());
            key(a).cmp(&key(b)).then_with(|| (&a.id, a.members).cmp(&(&b.id, b.members)))
        });
        Self { settings, clusters }
    }

    /// Reads a baseline; `None` when there is no such file.
    ///
    /// # Errors
    /// Usage, naming the file: it is no baseline, or one of another format. Environment: it cannot be
    /// read.
    pub fn read(file: &Path) -> Result<Option<Self>> {
        files::text(file, BYTES_MAX)?.map(|text| Self::parse(&text, file)).transpose()
    }

    fn parse(text: &str, file: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let shown = file.display();
        let again = "restore it from git, or remove it and make it anew with `--update-baseline`";
        let broken = |error: serde_json::Error| {
            Error::usage(format!("`{shown}` is no baseline")).hint(again).because(error)
        };
        let head: Head = serde_json::from_str(text).map_err(broken)?;
        if head.schema != SCHEMA {
            let message = format!("`{shown}` is of the format `{}`, not `{SCHEMA}`", head.schema);
            return Err(Error::usage(message).hint(again));
        }
        let document: Document = serde_json::from_str(text).map_err(broken)?;
        debug_assert_eq!(document.schema, SCHEMA);
        Ok(Self { settings: document.settings, clusters: document.clusters })
    }

    /// Writes the baseline in one step; says whether the file is another one than before.
    ///
    /// # Errors
    /// Environment: it cannot be written; the file is then as it was.
    pub fn write(&self, file: &Path) -> Result<bool> {
        files::replace(file, &self.text())
    }

    /// The document: one line a setting and a member, so that a change of it reads well.
    fn text(&self) -> String {
        let mut text = format!("{{\n  \"schema\": {},\n", json(&SCHEMA));
        let _ = writeln!(text, "  \"about\": {},", json(&ABOUT));
        let settings = serde_json::to_string_pretty(&self.settings).expect("plain data is JSON");
        let _ = writeln!(text, "  \"settings\": {},", settings.replace('\n', "\n  "));
        let clusters: Vec<String> = self.clusters.iter().map(KnownCluster::text).collect();
        let _ = writeln!(text, "  \"clusters\": {}\n}}", list(&clusters, "  "));
        text
    }

    /// Says that `now` is not how this baseline was made.
    ///
    /// # Errors
    /// Usage, naming the settings.
    pub fn check(&self, now: &Settings) -> Result<()> {
        let other = self.settings.differences(now);
        if other.is_empty() {
            return Ok(());
        }
        let message = format!("the baseline was made with other settings: {}", other.join("; "));
        Err(Error::usage(message)
            .hint("ask with those, or make it anew with the same command and `--update-baseline`"))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data is JSON")
}

/// Items one a line, in a list that stands `indent` deep.
fn list(items: &[String], indent: &str) -> String {
    let lines: Vec<String> = items.iter().map(|item| format!("\n{indent}  {item}")).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[{}\n{indent}]", lines.join(",")) }
}

/// What is known of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    No,
    /// It, with at least so many members.
    Whole,
    /// It, with fewer members: so many.
    Fewer(usize),
}

/// Clusters beside a baseline.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// By cluster.
    pub known: Vec<Known>,
    /// Positions of entries that are no cluster's any more.
    pub gone: Vec<usize>,
}

/// Compares clusters with known ones; their order does not matter.
pub(super) fn compare(entries: &[KnownCluster], clusters: &[&Cluster]) -> Comparison {
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.sort_by_cached_key(|at| sort_key(clusters[*at]));
    let mut pool = Pool::of(entries);
    let entry_of = matched(&pool, entries, clusters, &order);
    let mut known = vec![Known::No; clusters.len()];

    // First every cluster takes what its own entry has; only what is left then serves others.
    let mut strange: Vec<Vec<usize>> = vec![Vec::new(); clusters.len()];
    for at in order.iter().copied() {
        if let Some(entry) = entry_of[at] {
            pool.serves[entry] = true;
            strange[at] = pool.take(entry, &clusters[at].members);
        }
    }
    for at in order.iter().copied() {
        let Some(entry) = entry_of[at] else { continue };
        let (size, members) = (clusters[at].size, entries[entry].members);
        let missing = size.saturating_sub(members);
        // Two known clusters that became one are no new copies.
        let elsewhere =
            if missing == 0 { 0 } else { pool.take_elsewhere(&strange[at], clusters[at], missing) };
        let more = elsewhere < missing;
        known[at] = if more { Known::Fewer(members + elsewhere) } else { Known::Whole };
    }
    for at in order.iter().copied().filter(|at| entry_of[*at].is_none()) {
        // Nor is a part of a known cluster that fell apart.
        if pool.take_part(clusters[at]) {
            known[at] = Known::Whole;
        }
    }
    let gone = (0..entries.len()).filter(|entry| !pool.serves[*entry]).collect();
    Comparison { known, gone }
}

fn sort_key(cluster: &Cluster) -> (Place, String, Vec<(RelPath, u32)>) {
    let members = cluster.members.iter().map(|member| (member.path.clone(), member.start_line));
    (cluster.place, cluster.id.clone(), members.collect())
}

/// The entry of each cluster: the same id first, then most members in common.
fn matched(
    pool: &Pool<'_>,
    entries: &[KnownCluster],
    clusters: &[&Cluster],
    order: &[usize],
) -> Vec<Option<usize>> {
    let mut pairs = Vec::new();
    for (rank, at) in order.iter().copied().enumerate() {
        let cluster = clusters[at];
        for entry in pool.candidates(cluster) {
            let is_same = entries[entry].id == cluster.id_hash();
            let (by_hash, by_place) = pool.shared(entry, &cluster.members);
            if is_same || by_hash + by_place > 0 {
                let score = (is_same, by_hash + by_place, by_hash);
                pairs.push((Reverse(score), rank, entry));
            }
        }
    }
    pairs.sort_unstable();
    let mut entry_of = vec![None; clusters.len()];
    let mut is_taken = vec![false; entries.len()];
    for (_, rank, entry) in pairs {
        let at = order[rank];
        if entry_of[at].is_none() && !is_taken[entry] {
            entry_of[at] = Some(entry);
            is_taken[entry] = true;
        }
    }
    entry_of
}

/// Known copies, each of which serves once.
struct Pool<'a> {
    entries: &'a [KnownCluster],
    /// By entry and copy.
    is_used: Vec<Vec<bool>>,
    /// Whether a cluster took from an entry.
    serves: Vec<bool>,
    /// Entries by section and the medoid's or a copy's hash.
    by_hash: HashMap<(Place, &'a str), Vec<usize>>,
    /// Entries by section, path and symbol.
    by_place: HashMap<(Place, &'a str, &'a str), Vec<usize>>,
}

impl<'a> Pool<'a> {
    fn of(entries: &'a [KnownCluster]) -> Self {
        let mut pool = Self {
            entries,
            is_used: entries.iter().map(|entry| vec![false; entry.copies.len()]).collect(),
            serves: vec![false; entries.len()],
            by_hash: HashMap::new(),
            by_place: HashMap::new(),
        };
        for (at, entry) in entries.iter().enumerate() {
            let hashes = entry.copies.iter().map(|copy| copy.hash.as_str());
            for hash in hashes.chain([entry.id.as_str()]) {
                push(pool.by_hash.entry((entry.place, hash)).or_default(), at);
            }
            for copy in &entry.copies {
                if let Some(symbol) = &copy.symbol {
                    let key = (entry.place, copy.path.as_str(), symbol.as_str());
                    push(pool.by_place.entry(key).or_default(), at);
                }
            }
        }
        pool
    }

    /// Entries that a cluster has anything in common with, ascending.
    fn candidates(&self, cluster: &Cluster) -> Vec<usize> {
        let place = cluster.place;
        let mut found: Vec<usize> = Vec::new();
        let of_hash = |hash| self.by_hash.get(&(place, hash)).into_iter().flatten().copied();
        found.extend(of_hash(cluster.id_hash()));
        for member in &cluster.members {
            found.extend(of_hash(member.hash.as_str()));
            let symbol = member.symbol.as_deref();
            let of_place =
                symbol.and_then(|s| self.by_place.get(&(place, member.path.as_str(), s)));
            found.extend(of_place.into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// How many members are free copies of an entry, by hash and else by path and symbol.
    fn shared(&self, entry: usize, members: &[Member]) -> (usize, usize) {
        let (by_hash, by_place, _) = self.pairing(entry, members);
        (by_hash.len(), by_place.len())
    }

    /// Takes an entry's copies for members; the positions of members without one are left.
    fn take(&mut self, entry: usize, members: &[Member]) -> Vec<usize> {
        let (by_hash, by_place, left) = self.pairing(entry, members);
        for copy in by_hash.into_iter().chain(by_place) {
            self.is_used[entry][copy] = true;
        }
        left
    }

    /// Copies for members: by hash, else by path and symbol; and the members without one.
    fn pairing(&self, entry: usize, members: &[Member]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let copies = &self.entries[entry].copies;
        let mut is_free: Vec<bool> = self.is_used[entry].iter().map(|used| !used).collect();
        let mut pair = |wanted: Vec<usize>, is_it: &dyn Fn(&Member, &KnownCopy) -> bool| {
            let (mut taken, mut left) = (Vec::new(), Vec::new());
            for at in wanted {
                let is_match = |copy: &usize| is_free[*copy] && is_it(&members[at], &copies[*copy]);
                match (0..copies.len()).find(is_match) {
                    Some(copy) => {
                        is_free[copy] = false;
                        taken.push(copy);
                    }
                    None => left.push(at),
                }
            }
            (taken, left)
        };
        let is_there = |member: &Member, copy: &KnownCopy| {
            member.path == copy.path && member.symbol.is_some() && member.symbol == copy.symbol
        };
        let is_same = |member: &Member, copy: &KnownCopy| member.hash == copy.hash;
        // What stayed where it was comes first, so that the copies of others stay theirs.
        let stayed =
            |member: &Member, copy: &KnownCopy| is_same(member, copy) && is_there(member, copy);
        let (mut by_hash, left) = pair((0..members.len()).collect(), &stayed);
        let (moved, left) = pair(left, &is_same);
        by_hash.extend(moved);
        let (by_place, left) = pair(left, &is_there);
        (by_hash, by_place, left)
    }

    /// Takes copies of other entries, by hash, for members without one: at most `count`.
    fn take_elsewhere(&mut self, strange: &[usize], cluster: &Cluster, count: usize) -> usize {
        let mut taken = 0;
        for member in strange.iter().map(|at| &cluster.members[*at]) {
            let key = (cluster.place, member.hash.as_str());
            let holders = self.by_hash.get(&key).cloned().unwrap_or_default();
            let free = holders.into_iter().find_map(|entry| {
                let copies = self.entries[entry].copies.iter().enumerate();
                let mut free = copies
                    .filter(|(at, copy)| !self.is_used[entry][*at] && copy.hash == member.hash);
                free.next().map(|(at, _)| (entry, at))
            });
            if let Some((entry, at)) = free.filter(|_| taken < count) {
                self.is_used[entry][at] = true;
                self.serves[entry] = true;
                taken += 1;
            }
        }
        taken
    }

    /// Takes copies of one entry for all members of a cluster, if they are there.
    fn take_part(&mut self, cluster: &Cluster) -> bool {
        if cluster.size != cluster.members.len() {
            return false;
        }
        let holds_all = |entry: &usize| {
            let (by_hash, by_place) = self.shared(*entry, &cluster.members);
            by_hash + by_place == cluster.size
        };
        let Some(entry) = self.candidates(cluster).into_iter().find(holds_all) else {
            return false;
        };
        self.take(entry, &cluster.members);
        self.serves[entry] = true;
        true
    }
}

/// Adds a position unless it was the last to be added.
fn push(positions: &mut Vec<usize>, at: usize) {
    if positions.last() != Some(&at) {
        positions.push(at);
    }
}

#[cfg(test)]
mod tests;
