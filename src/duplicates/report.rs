//! What is asked about copies, and what is answered: plain data.

use std::ops::Range;

use serde::Serialize;

use super::gate::{Gate, GateReport};
use crate::retrieval::{Freshness, Searched};
use crate::types::{ChunkKind, Language, Place, RelPath, named_enum};

/// Clusters that are given when the question does not say how many.
pub(super) const CLUSTERS_DEFAULT: usize = 50;

/// The most clusters one call gives, unless all are asked for.
pub const CLUSTERS_MAX: usize = 500;

named_enum! {
    /// How the members of a cluster are alike, the surest first.
    CopyKind, "kind of copy" {
        /// The same tokens: only layout and comments differ.
        Exact = "exact",
        /// The same tokens but for names and literals.
        Renamed = "renamed",
        /// Whole definitions that share at least two fifths of their token sequences.
        Near = "near",
        /// Consecutive lines inside of definitions that differ otherwise.
        Fragment = "fragment",
        /// Alike by vectors alone. Never found unless asked for, never part of a gate.
        Behaviour = "behaviour",
    }
}

named_enum! {
    /// Why a cluster, or a member of one, is not in the report.
    Omission, "reason to leave out" {
        /// Members in tests.
        Tests = "tests",
        /// Members in examples, samples, demos, benchmarks, scripts.
        Examples = "examples",
        /// Members in documentation.
        Docs = "docs",
        /// Members in code that a program wrote.
        Generated = "generated",
        /// Members in somebody else's code.
        Vendored = "vendored",
        /// Members in configuration and build files.
        Config = "config",
        /// Code of a shape that repeats by its nature: accessors, tables, one branch again and again.
        Boilerplate = "boilerplate",
        /// A `sai-noduplicate` marker stands at it.
        Marked = "marked",
        /// A verdict calls it intentional.
        Intentional = "intentional",
    }
}

named_enum! {
    /// Which clusters come first.
    ClusterOrder, "order" {
        /// Those whose removal saves most.
        Payoff = "payoff",
        /// Those with most members.
        Size = "size",
    }
}

/// Which code repeats? Absent values take the configured default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DuplicatesQuery {
    /// When given, the least similarity of any two members, and the least cosine of pairs that vectors
    /// propose; when not, tokens decide, and the configured cosine holds for vectors. Brought into 0..1.
    pub min_score: Option<f32>,
    /// The least members of a cluster; at least 2.
    pub min_cluster_size: Option<usize>,
    /// Neighbours of each chunk that vectors propose; clamped to 1..=50.
    pub top_k: Option<usize>,
    /// Clusters wanted; clamped to 1..=500, 50 when absent. 0: all of them.
    pub max_clusters: Option<usize>,
    /// Globs over paths: only code under them is compared.
    pub paths: Vec<String>,
    /// Only clusters of these kinds; empty for all but [`CopyKind::Behaviour`].
    pub kinds: Vec<CopyKind>,
    /// What is shown although it is left out by default.
    pub include: Vec<Omission>,
    /// Payoff when absent.
    pub order: Option<ClusterOrder>,
    /// Only clusters that touch lines added since this revision of git.
    pub since: Option<String>,
    /// Only clusters that touch staged lines.
    pub staged: bool,
    /// Only this cluster: its id, or the id's beginning up to the dash.
    pub cluster: Option<String>,
    /// Whether members come with their text and the tokens that differ.
    pub sides: bool,
    /// What the report is held against. All clusters then stay in the list, marked as new or not;
    /// those that [`GateReport::failing`] names are what fails.
    pub gate: Option<Box<Gate>>,
}

/// Clusters in the order that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuplicatesReply {
    /// What was asked for, with the defaults filled in.
    pub min_score: f32,
    pub min_cluster_size: usize,
    pub top_k: usize,
    pub max_clusters: usize,
    pub order: ClusterOrder,
    /// The generation that answered.
    pub generation: u64,
    pub searched: Searched,
    /// Clusters that there are; `clusters` holds the first of them.
    pub clusters_found: usize,
    pub clusters: Vec<Cluster>,
    /// What the clusters that there are amount to.
    pub totals: Totals,
    /// What was found and is not among the clusters, by reason; only reasons that occur.
    pub left_out: Vec<LeftOut>,
    /// Files of members that are no longer as they were indexed.
    pub changed: Vec<RelPath>,
    /// What a reader should know, a sentence each. Often empty.
    pub notes: Vec<String>,
    /// What the gate says, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
}

/// Sums over all clusters of a report, shown or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Lines of the files that were compared.
    pub lines: usize,
    /// Lines that lie in a member of a cluster; a line counts once.
    pub copied_lines: usize,
    /// Lines that could go if each cluster became one piece of code; a line counts once.
    pub spare_lines: usize,
    /// Lines of imports, which are never compared; known of languages with a grammar.
    pub import_lines: usize,
    /// Lines of licence headers, which are never compared; known of languages with a grammar.
    pub licence_lines: usize,
}

/// What was left out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub reason: Omission,
    /// Clusters that would be in the report otherwise; a marker hides members, which may be fewer.
    pub clusters: usize,
    pub members: usize,
}

/// Pieces of code that are copies of each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// `<the medoid's hash>-<members>`: moves with the content, whatever its path and lines.
    pub id: String,
    pub kind: CopyKind,
    /// How many members it has.
    pub size: usize,
    /// The lowest similarity of any two members, 0 to 1: the share of token sequences they have in
    /// common, names and literals aside.
    pub min_similarity: f32,
    /// The highest similarity of any two members.
    pub max_similarity: f32,
    /// Position in `members` of the one that is most like all others.
    pub medoid: usize,
    /// Tokens of the medoid.
    pub tokens: usize,
    /// Lines that could go if the members became one.
    pub lines: usize,
    /// What orders the list: higher is better worth a reader's time.
    pub payoff: f32,
    /// What lowered the payoff, in words: that it is deprecated, all in one file … Often empty.
    pub discounts: Vec<&'static str>,
    /// Where its members lie that gave it its section: `source` for the main one.
    pub place: Place,
    /// How the other members differ from the medoid.
    pub differs: Differences,
    /// Why it is left out by default.
    pub omission: Option<Omission>,
    /// The rule behind `omission`, or the verdict's reason, in words.
    pub reason: Option<String>,
    /// Whether it touches lines of the change that was asked about.
    pub is_touched: bool,
    /// Whether it is new to the gate, or has more members than known; absent without a gate, and when
    /// it does not count there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
    /// In the order of their paths and lines.
    pub members: Vec<Member>,
}

impl Cluster {
    /// The id without the count of members.
    pub(super) fn id_hash(&self) -> &str {
        self.id.split_once('-').map_or(self.id.as_str(), |(hash, _)| hash)
    }
}

/// How the other members differ from the medoid, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Names that another one stands for.
    pub names: usize,
    /// Strings and numbers that another one stands for.
    pub literals: usize,
    /// Other tokens that only one side has.
    pub tokens: usize,
    /// The first few, such as `total → sum`.
    pub examples: Vec<String>,
}

/// A piece of code of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Member {
    pub path: RelPath,
    /// 1-based, included.
    pub start_line: u32,
    /// 1-based, included.
    pub end_line: u32,
    pub symbol: Option<String>,
    pub kind: ChunkKind,
    pub place: Place,
    /// How like the medoid its tokens are, 0 to 1.
    pub similarity: f32,
    /// The cosine of its vector with the medoid's; absent for fragments.
    pub cosine: Option<f32>,
    /// 12 hex digits of a hash of its tokens without names and literals (of small ones with them).
    pub hash: String,
    /// Whether lines of the change that was asked about lie in it.
    pub is_touched: bool,
    pub freshness: Freshness,
    /// Its text, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

/// A member's text beside the medoid's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    pub language: Language,
    /// Whole lines, as they were indexed.
    pub text: String,
    /// Bytes of `text` that differ from the medoid (the medoid's: from any other shown member), in
    /// order, end-exclusive.
    pub marks: Vec<Range<usize>>,
    /// Bytes of the medoid's text that differ from this member; empty for the medoid.
    pub medoid_marks: Vec<Range<usize>>,
}
