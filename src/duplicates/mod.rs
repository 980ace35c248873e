//! Here are the chunks of a generation: which of them are copies of each other?
//!
//! Each chunk's nearest neighbours are edges when they are alike enough; what edges connect is a
//! cluster ([`clusters`]). Compared are the vectors of code alone, all pairs of them.

mod clusters;

use serde::Serialize;

use crate::config::Config;
use crate::error::Result;
use crate::retrieval::{Catalog, CodeVectors, Freshness, LIMIT_MAX, Members, Searched, alike};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::{ChunkKind, RelPath};

/// Clusters that are given when the question does not say how many.
const CLUSTERS_DEFAULT: usize = 50;

/// The most clusters one call gives.
pub const CLUSTERS_MAX: usize = 500;

/// Members of a cluster that are named.
const MEMBERS_MAX: usize = 100;

/// Which code repeats? Absent values take the configured default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DuplicatesQuery {
    /// The least cosine of two copies; brought into 0..1.
    pub min_score: Option<f32>,
    /// The least members of a cluster; at least 2.
    pub min_cluster_size: Option<usize>,
    /// Neighbours of each chunk that are looked at; clamped to 1..=50.
    pub top_k: Option<usize>,
    /// Clusters wanted; clamped to 1..=500, 50 when absent.
    pub max_clusters: Option<usize>,
    /// Globs over paths: only chunks under them are compared.
    pub paths: Vec<String>,
}

/// Clusters, largest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuplicatesReply {
    /// What was asked for, with the defaults filled in.
    pub min_score: f32,
    pub min_cluster_size: usize,
    pub top_k: usize,
    pub max_clusters: usize,
    /// The generation that answered.
    pub generation: u64,
    pub searched: Searched,
    /// Clusters that there are; `clusters` holds the largest of them.
    pub clusters_found: usize,
    pub clusters: Vec<Cluster>,
    /// Files of members that are no longer as they were indexed.
    pub changed: Vec<RelPath>,
    /// What a reader should know, a sentence each. Often empty.
    pub notes: Vec<String>,
}

/// Chunks that are copies of each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// How many chunks belong to it.
    pub size: usize,
    /// The lowest cosine of any two members: low when only a chain of copies holds them together.
    pub min_similarity: f32,
    /// The highest cosine of any two members.
    pub max_similarity: f32,
    /// In the order of their paths; the first 100.
    pub members: Vec<Member>,
}

/// A chunk of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Member {
    pub path: RelPath,
    /// 1-based, included.
    pub start_line: u32,
    /// 1-based, included.
    pub end_line: u32,
    pub symbol: Option<String>,
    pub kind: ChunkKind,
    pub freshness: Freshness,
}

/// Finds the clusters of a generation.
///
/// # Errors
/// Usage for a bad glob; Index when it is damaged; Stopped when `turn` ends.
pub fn duplicates(
    reader: &Reader,
    catalog: &Catalog,
    vectors: &CodeVectors,
    config: &Config,
    query: &DuplicatesQuery,
    turn: &Turn,
) -> Result<DuplicatesReply> {
    let settings = &config.similarity;
    let min_score = query.min_score.unwrap_or(settings.duplicate_min_score).clamp(0.0, 1.0);
    let size = query.min_cluster_size.unwrap_or(settings.duplicate_min_cluster_size);
    let min_cluster_size = size.max(2);
    let top_k = query.top_k.unwrap_or(settings.top_k).clamp(1, LIMIT_MAX);
    let max_clusters = query.max_clusters.unwrap_or(CLUSTERS_DEFAULT).clamp(1, CLUSTERS_MAX);

    let near = alike(catalog, vectors, config, &query.paths, top_k, min_score, turn)?;
    let edges = near.neighbours.iter().enumerate().flat_map(|(at, neighbours)| {
        neighbours.iter().map(move |neighbour| (at, neighbour.row as usize))
    });
    let mut groups = clusters::connected(near.chunks.len(), edges);
    groups.retain(|group| group.len() >= min_cluster_size);
    // Groups come in the order of their first member, which a stable sort keeps among equals.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let clusters_found = groups.len();
    groups.truncate(max_clusters);

    let mut members = Members::new(reader, catalog, config);
    let mut clusters = Vec::with_capacity(groups.len());
    for group in groups {
        turn.check()?;
        let chunks: Vec<usize> = group.into_iter().map(|at| near.chunks[at]).collect();
        clusters.push(cluster(catalog, vectors, &mut members, &chunks)?);
    }
    let notes = notes(catalog, near.searched);
    Ok(DuplicatesReply {
        min_score,
        min_cluster_size,
        top_k,
        max_clusters,
        generation: reader.generation().number,
        searched: near.searched,
        clusters_found,
        changed: changed_files(&clusters),
        clusters,
        notes,
    })
}

fn cluster(
    catalog: &Catalog,
    vectors: &CodeVectors,
    members: &mut Members<'_>,
    chunks: &[usize],
) -> Result<Cluster> {
    let (min_similarity, max_similarity) = clusters::extremes(vectors, chunks);
    let member = |chunk: usize| -> Result<Member> {
        let (lines, freshness) = members.present(chunk)?;
        let entry = &catalog.chunks[chunk];
        Ok(Member {
            path: catalog.files[entry.file].row.path.clone(),
            start_line: lines.start,
            end_line: lines.end,
            symbol: entry.symbol.clone(),
            kind: entry.kind,
            freshness,
        })
    };
    let shown = chunks.iter().copied().take(MEMBERS_MAX).map(member).collect::<Result<_>>()?;
    Ok(Cluster { size: chunks.len(), min_similarity, max_similarity, members: shown })
}

fn notes(catalog: &Catalog, searched: Searched) -> Vec<String> {
    let mut notes = Vec::new();
    if catalog.chunks.is_empty() {
        notes.push(
            "the index is empty: no file of the root is in scope; `sai status --skipped` says why"
                .to_owned(),
        );
    } else if searched.chunks == 0 {
        notes.push("no indexed file passes the path globs".to_owned());
    }
    notes
}

fn changed_files(clusters: &[Cluster]) -> Vec<RelPath> {
    let members = clusters.iter().flat_map(|cluster| &cluster.members);
    let changed = members.filter(|member| member.freshness != Freshness::Unchanged);
    let mut changed: Vec<RelPath> = changed.map(|member| member.path.clone()).collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}
