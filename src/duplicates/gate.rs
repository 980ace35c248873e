//! Here are the clusters of a report: does the gate let them pass, and which does it not?
//!
//! What fails is listed, each with its reason, and nothing else counts: no cluster that is left out,
//! none that a verdict calls intentional or a marker hides, none that only vectors hold for alike.

use serde::{Serialize, Serializer};

use super::baseline::{self, Baseline, Known, KnownCluster, Settings};
use super::report::{Cluster, CopyKind, Omission};
use crate::error::{Error, Result};

/// What the gate does not let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// Any cluster that is new, and any known one with one more copy.
    New,
    /// Any cluster of the report.
    Any,
    /// More than so many clusters of the report.
    More(usize),
}

impl FailOn {
    /// Reads `new`, `any` or a number.
    ///
    /// # Errors
    /// Usage, naming what was given.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "new" => Ok(Self::New),
            "any" => Ok(Self::Any),
            number => number.parse().map(Self::More).map_err(|_| {
                Error::usage(format!("`{number}` says not what shall fail"))
                    .hint("`new`, `any`, or the most clusters that may be there, such as 20")
            }),
        }
    }
}

impl std::fmt::Display for FailOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Any => f.write_str("any"),
            Self::More(count) => write!(f, "{count}"),
        }
    }
}

impl Serialize for FailOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a report is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub fail_on: FailOn,
    /// What is known; `None`: nothing, so that every cluster that the change touches is new, or every
    /// cluster when no change is named.
    pub known: Option<Baseline>,
}

/// What the gate says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateReport {
    pub passed: bool,
    pub fail_on: FailOn,
    /// Clusters that the gate looked at: with a change those that it touches, and those that have
    /// more members than known.
    pub clusters: usize,
    /// Those of them that fail, in the order of the report.
    pub failing: Vec<Failing>,
    /// Ids of clusters that are new, or have one more copy.
    pub new: Vec<String>,
    /// Clusters that the baseline knows, with no more members than it knows.
    pub known: usize,
    /// Clusters that are not known, and in which no line of the change lies.
    pub untouched: usize,
    /// What the baseline knows and is no more.
    pub gone: Vec<Gone>,
    /// All clusters of the report as a baseline.
    #[serde(skip)]
    pub now: Baseline,
}

/// A cluster that the gate does not let pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// In the reply's list of clusters.
    #[serde(skip)]
    pub position: usize,
    pub id: String,
    /// Why, in words.
    pub reason: String,
    /// Where it is, for a reader: the medoid.
    pub path: String,
    pub line: u32,
    pub symbol: Option<String>,
}

/// A cluster that is no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gone {
    /// Its id, with the count that is known.
    pub id: String,
    /// Where it was, for a reader.
    pub at: String,
}

impl From<&KnownCluster> for Gone {
    fn from(known: &KnownCluster) -> Self {
        Self { id: format!("{}-{}", known.id, known.members), at: known.at() }
    }
}

impl Omission {
    /// Whether clusters with this reason count once they are asked for: code elsewhere does, what a
    /// person has decided on does not.
    pub(super) fn can_gate(self) -> bool {
        !matches!(self, Self::Marked | Self::Intentional)
    }
}

impl Cluster {
    fn can_gate(&self) -> bool {
        self.kind != CopyKind::Behaviour && self.omission.is_none_or(Omission::can_gate)
    }
}

/// Holds all clusters of a report against the gate, and says of each that counts whether it is new.
/// `has_change`: they are marked by the lines of a change.
///
/// # Errors
/// Usage: the baseline was made with other settings.
pub(super) fn judge(
    clusters: &mut [Cluster],
    gate: &Gate,
    has_change: bool,
    settings: Settings,
) -> Result<GateReport> {
    if let Some(known) = &gate.known {
        known.check(&settings)?;
    }
    let mut counted: Vec<(usize, &mut Cluster)> =
        clusters.iter_mut().enumerate().filter(|(_, cluster)| cluster.can_gate()).collect();
    Ok(held(&mut counted, gate, has_change, settings))
}

fn held(
    clusters: &mut [(usize, &mut Cluster)],
    gate: &Gate,
    has_change: bool,
    settings: Settings,
) -> GateReport {
    let entries = gate.known.as_ref().map_or(&[][..], |known| &known.clusters);
    let compared: Vec<&Cluster> = clusters.iter().map(|(_, cluster)| &**cluster).collect();
    let comparison = baseline::compare(entries, &compared);
    let now = Baseline::of(settings, compared);

    let (mut failing, mut new) = (Vec::new(), Vec::new());
    let (mut looked_at, mut untouched) = (0, 0);
    for ((position, cluster), known) in clusters.iter_mut().zip(&comparison.known) {
        let why_new = why_new(cluster, *known, has_change);
        cluster.is_new = Some(why_new.is_some());
        untouched += usize::from(*known == Known::No && why_new.is_none());
        if why_new.is_some() {
            new.push(cluster.id.clone());
        }
        if why_new.is_some() || !has_change || cluster.is_touched {
            looked_at += 1;
            if why_new.is_some() || gate.fail_on != FailOn::New {
                failing.push(Failing::of(*position, cluster, why_new));
            }
        }
    }
    if matches!(gate.fail_on, FailOn::More(count) if failing.len() <= count) {
        failing.clear();
    }
    GateReport {
        passed: failing.is_empty(),
        fail_on: gate.fail_on,
        clusters: looked_at,
        failing,
        new,
        known: comparison.known.iter().filter(|known| **known == Known::Whole).count(),
        untouched,
        gone: comparison.gone.iter().map(|at| Gone::from(&entries[*at])).collect(),
        now,
    }
}

/// Why a cluster is new, if it is.
fn why_new(cluster: &Cluster, known: Known, has_change: bool) -> Option<String> {
    match known {
        Known::Fewer(count) => Some(more(cluster, count, has_change)),
        Known::No => (!has_change || cluster.is_touched).then(|| "new".to_owned()),
        Known::Whole => None,
    }
}

fn more(cluster: &Cluster, known: usize, has_change: bool) -> String {
    let size = cluster.size;
    let what = match size - known {
        1 => "one more copy".to_owned(),
        more => format!("{more} more copies"),
    };
    // Then it came between the baseline and what the change is held against.
    let old =
        if has_change && !cluster.is_touched { "; no line of the change lies in it" } else { "" };
    format!("{what} ({size}, the baseline knows {known}{old})")
}

impl Failing {
    fn of(position: usize, cluster: &Cluster, why_new: Option<String>) -> Self {
        let medoid = cluster.members.get(cluster.medoid).or(cluster.members.first());
        Self {
            position,
            id: cluster.id.clone(),
            reason: why_new.unwrap_or_else(|| "known".to_owned()),
            path: medoid.map_or_else(String::new, |member| member.path.to_string()),
            line: medoid.map_or(1, |member| member.start_line),
            symbol: medoid.and_then(|member| member.symbol.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
