//! Here is a generation: which of its code repeats, how sure is that, and what would removing it save?
//!
//! Tokens decide ([`read`], [`alike`], [`fragments`]), vectors propose ([`propose`]); what is alike
//! throughout makes a group ([`linkage`], [`find`]); what repeats by its nature is told apart
//! ([`shape`]). The report ([`report`]) shows what is worth a reader's time first; what people said of
//! a cluster ([`verdicts`]) and what was known before ([`baseline`], [`gate`]) decide what becomes of it.

mod alike;
mod baseline;
mod code;
mod differs;
mod files;
mod find;
mod fragments;
mod gate;
mod linkage;
mod placed;
mod plain;
mod propose;
mod rank;
mod read;
mod report;
#[cfg(test)]
mod sample;
mod sets;
mod shape;
mod show;
mod totals;
mod touched;
mod verdicts;
mod worth;

use std::collections::HashSet;

use rayon::prelude::*;

use crate::config::Config;
use crate::error::Result;
use crate::retrieval::{Catalog, CodeVectors, Freshness, LIMIT_MAX, PathFilter};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::RelPath;

pub use baseline::{Baseline, KnownCluster, KnownCopy, Settings};
use code::Corpus;
use find::{Group, Wanted};
pub use gate::{FailOn, Failing, Gate, GateReport, Gone};
use rank::Draft;
use report::CLUSTERS_DEFAULT;
pub use report::{
    CLUSTERS_MAX, Cluster, ClusterOrder, CopyKind, Differences, DuplicatesQuery, DuplicatesReply,
    LeftOut, Member, Omission, Side, Totals,
};
use show::Shown;
use verdicts::Verdicts;
pub use verdicts::{CopyVerdict, VERDICTS_FILE, forget, judge, named};

/// What a question asks for, with the defaults filled in.
#[derive(Clone, Debug)]
struct Asked {
    min_score: f32,
    min_cluster_size: usize,
    top_k: usize,
    /// 0: all.
    max_clusters: usize,
    order: ClusterOrder,
}

impl Asked {
    fn of(query: &DuplicatesQuery, config: &Config) -> Self {
        let settings = &config.similarity;
        let size = query.min_cluster_size.unwrap_or(settings.duplicate_min_cluster_size);
        let max_clusters = query.max_clusters.unwrap_or(CLUSTERS_DEFAULT);
        Self {
            min_score: query.min_score.unwrap_or(settings.duplicate_min_score).clamp(0.0, 1.0),
            min_cluster_size: size.max(2),
            top_k: query.top_k.unwrap_or(settings.top_k).clamp(1, LIMIT_MAX),
            max_clusters: max_clusters.min(CLUSTERS_MAX),
            order: query.order.unwrap_or(ClusterOrder::Payoff),
        }
    }
}

/// Finds the clusters of a generation. Uses the threads of the rayon pool it is called in.
///
/// # Errors
/// Usage for a bad glob, an unknown cluster, an unknown revision, a baseline of other settings or a bad
/// file of verdicts; Index when it is damaged; Stopped when `turn` ends.
pub fn duplicates(
    reader: &Reader,
    catalog: &Catalog,
    vectors: &CodeVectors,
    config: &Config,
    query: &DuplicatesQuery,
    turn: &Turn,
) -> Result<DuplicatesReply> {
    let asked = Asked::of(query, config);
    let settings = Settings::of(query, config, reader.meta());
    if let Some(known) = query.gate.as_ref().and_then(|gate| gate.known.as_ref()) {
        known.check(&settings)?;
    }
    let verdicts = verdicts::load(&config.root)?;
    let added = touched::added(&config.root, query)?;
    let filter = PathFilter::new(catalog, &config.root, &query.paths)?;
    let corpus = read::corpus(reader, catalog, &|file| filter.admits_file(file), turn)?;
    let chunks = propose::chunks_of_units(catalog, &corpus);
    let includes = |reason: Omission| query.include.contains(&reason);
    let wanted = Wanted {
        size: asked.min_cluster_size,
        marked: includes(Omission::Marked),
        least: query.min_score.map_or(0.0, |least| least.clamp(0.0, 1.0)),
    };
    let found = found(&corpus, &chunks, vectors, &asked, query, wanted, turn)?;

    let draft = |group| rank::draft(&corpus, catalog, group, &verdicts);
    let mut drafts: Vec<Draft> = found.groups.par_iter().map(draft).collect();
    let unused = unused(&verdicts, &drafts, query);
    if let (Some(added), None) = (&added, &query.gate) {
        drafts.retain(|draft| rank::is_touched(draft, &corpus, catalog, added));
    }
    // What repeats an earlier cluster does not depend on the order that was asked for.
    rank::order(&mut drafts, ClusterOrder::Payoff);
    let (mut kept, left): (Vec<Draft>, Vec<Draft>) =
        drafts.into_iter().partition(|draft| draft.omission.is_none_or(includes));
    rank::uncovered(&mut kept);
    rank::order(&mut kept, asked.order);
    if let Some(id) = &query.cluster {
        kept.extend(left.iter().cloned());
        kept = vec![rank::find_cluster(kept, id)?];
    }
    let mut left_out = totals::left_out(&left);
    if found.hidden > 0 {
        let (reason, members) = (Omission::Marked, found.hidden);
        left_out.push(LeftOut { reason, clusters: 0, members });
    }
    let totals = totals::totals(&corpus, catalog, &kept);
    let clusters_found = kept.len();
    if asked.max_clusters > 0 {
        kept.truncate(asked.max_clusters);
    }
    let mut shown = Shown::new(reader, catalog, vectors, config, &corpus, &chunks, query.sides);
    let mut clusters = kept
        .into_iter()
        .map(|draft| {
            turn.check()?;
            shown.cluster(draft)
        })
        .collect::<Result<Vec<Cluster>>>()?;
    if let Some(added) = &added {
        touched::mark(&mut clusters, added);
    }
    let judge = |gate| gate::judge(&mut clusters, gate, added.is_some(), settings);
    let gate = query.gate.as_deref().map(judge).transpose()?;
    let mut notes = notes(catalog, filter.searched().chunks);
    notes.extend(unused);
    Ok(DuplicatesReply {
        min_score: asked.min_score,
        min_cluster_size: asked.min_cluster_size,
        top_k: asked.top_k,
        max_clusters: asked.max_clusters,
        order: asked.order,
        generation: reader.generation().number,
        searched: filter.searched(),
        clusters_found,
        changed: changed_files(&clusters),
        notes,
        clusters,
        totals,
        left_out,
        gate,
    })
}

/// All groups of copies, of every section.
struct Found {
    groups: Vec<Group>,
    /// Pieces with a copy that markers hide.
    hidden: usize,
}

/// Compares all pieces of a corpus.
fn found(
    corpus: &Corpus,
    chunks: &[Option<usize>],
    vectors: &CodeVectors,
    asked: &Asked,
    query: &DuplicatesQuery,
    wanted: Wanted,
    turn: &Turn,
) -> Result<Found> {
    let mut forms = alike::forms(corpus, turn)?;
    // All pairs of vectors cost most of the time: only functions without a copy are worth it, unless
    // what vectors alone say is asked for.
    let alone = forms.alone();
    let wants_behaviour = query.kinds.contains(&CopyKind::Behaviour);
    let admits = |unit: usize| wants_behaviour || alone[unit];
    let nearest = (asked.top_k, asked.min_score);
    let proposed = propose::pairs(vectors, corpus, chunks, &admits, nearest, turn)?;
    forms.add(corpus, &proposed.units());
    let mut groups = find::groups(corpus, &forms, wanted, turn)?;
    if wants_behaviour {
        groups.extend(propose::behaviour(corpus, &proposed, &groups, wanted));
    }
    groups.retain(|group| query.kinds.is_empty() || query.kinds.contains(&group.kind));
    let hidden = if wanted.marked { 0 } else { find::hidden(corpus, &forms) };
    Ok(Found { groups, hidden })
}

/// What is to be said of verdicts on clusters that are gone, where all are sought.
fn unused(verdicts: &Verdicts, drafts: &[Draft], query: &DuplicatesQuery) -> Vec<String> {
    let is_narrowed = !query.paths.is_empty() || !query.kinds.is_empty();
    if is_narrowed || query.min_score.is_some() || query.min_cluster_size.is_some() {
        return Vec::new();
    }
    let hashes: HashSet<&str> =
        drafts.iter().filter_map(|draft| draft.id.split('-').next()).collect();
    verdicts.notes(&hashes)
}

fn notes(catalog: &Catalog, searched: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if catalog.chunks.is_empty() {
        notes.push(
            "the index is empty: no file of the root is in scope; `sai status --skipped` says why"
                .to_owned(),
        );
    } else if searched == 0 {
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
