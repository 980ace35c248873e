//! Here are the chunks of a generation: which of them are copies of each other?
//!
//! Each chunk's nearest neighbours are edges when they are alike enough; what edges connect is a
//! cluster ([`clusters`]). Compared are the vectors of code alone, all pairs of them.

mod clusters;
mod report;

use crate::config::Config;
use crate::error::Result;
use crate::retrieval::{Catalog, CodeVectors, Freshness, LIMIT_MAX, Members, Searched, alike};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::{Place, RelPath};

use report::CLUSTERS_DEFAULT;
pub use report::{
    CLUSTERS_MAX, Cluster, ClusterOrder, CopyKind, Differences, DuplicatesQuery, DuplicatesReply,
    LeftOut, Member, Omission, Side, Totals,
};

/// Members of a cluster that are named.
const MEMBERS_MAX: usize = 100;

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
        order: query.order.unwrap_or(ClusterOrder::Payoff),
        totals: Totals::default(),
        left_out: Vec::new(),
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
            place: Place::Source,
            similarity: 1.0,
            cosine: None,
            hash: String::new(),
            is_touched: false,
            side: None,
            freshness,
        })
    };
    let shown = chunks.iter().copied().take(MEMBERS_MAX).map(member).collect::<Result<_>>()?;
    Ok(Cluster {
        id: String::new(),
        kind: CopyKind::Near,
        size: chunks.len(),
        min_similarity,
        max_similarity,
        medoid: 0,
        tokens: 0,
        lines: 0,
        payoff: 0.0,
        place: Place::Source,
        differs: Differences::default(),
        omission: None,
        reason: None,
        is_touched: false,
        members: shown,
    })
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
