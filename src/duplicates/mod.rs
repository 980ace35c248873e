//! Here is a generation: which of its code repeats, how sure is that, and what would removing it save?
//!
//! Tokens decide ([`code`], [`alike`], [`fragments`]), vectors propose ([`propose`]); what is alike
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
mod plain;
mod propose;
mod report;
#[cfg(test)]
mod sample;
mod sets;
mod shape;
mod show;
mod touched;
mod verdicts;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::retrieval::{Catalog, CodeVectors, Freshness, LIMIT_MAX, PathFilter};
use crate::store::Reader;
use crate::turn::Turn;
use crate::types::{Hash, LineRange, Place, RelPath};

pub use baseline::{Baseline, KnownCluster, KnownCopy, Settings};
use code::Corpus;
use find::{Group, Wanted};
pub use gate::{FailOn, Failing, Gate, GateReport, Gone};
use report::CLUSTERS_DEFAULT;
pub use report::{
    CLUSTERS_MAX, Cluster, ClusterOrder, CopyKind, Differences, DuplicatesQuery, DuplicatesReply,
    LeftOut, Member, Omission, Side, Totals,
};
use show::Shown;
use touched::Added;
use verdicts::Verdicts;
pub use verdicts::{CopyVerdict, VERDICTS_FILE, forget, judge, named};

/// Hex digits of a hash in an id.
const ID_DIGITS: usize = 12;

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
    let corpus = code::corpus(reader, catalog, &|file| filter.admits_file(file), turn)?;
    let chunks = propose::chunks_of_units(catalog, &corpus);
    let mut forms = alike::forms(&corpus, turn)?;
    let nearest = (asked.top_k, asked.min_score);
    // All pairs of vectors cost most of the time: only functions without a copy are worth it, unless
    // what vectors alone say is asked for.
    let alone = forms.alone();
    let wants_behaviour = query.kinds.contains(&CopyKind::Behaviour);
    let admits = |unit: usize| wants_behaviour || alone[unit];
    let proposed = propose::pairs(vectors, &corpus, &chunks, &admits, nearest, turn)?;
    forms.add(&corpus, &proposed.units());
    let includes = |reason: Omission| query.include.contains(&reason);
    let wanted = Wanted { size: asked.min_cluster_size, marked: includes(Omission::Marked) };
    let mut groups = find::groups(&corpus, &forms, wanted, turn)?;
    if wants_behaviour {
        groups.extend(propose::behaviour(&corpus, &proposed, &groups, wanted));
    }
    if let Some(least) = query.min_score {
        groups.retain(|group| group.similarity.1 >= least.clamp(0.0, 1.0));
    }
    if !query.kinds.is_empty() {
        groups.retain(|group| query.kinds.contains(&group.kind));
    }

    let mut drafts: Vec<Draft> =
        groups.iter().map(|group| draft(&corpus, group, &verdicts)).collect();
    let unused = unused(&verdicts, &drafts, query);
    if let (Some(added), None) = (&added, &query.gate) {
        drafts.retain(|draft| is_touched(draft, &corpus, catalog, added));
    }
    order(&mut drafts, asked.order);
    let (mut kept, left): (Vec<Draft>, Vec<Draft>) =
        drafts.into_iter().partition(|draft| draft.omission.is_none_or(includes));
    if let Some(id) = &query.cluster {
        kept.extend(left.iter().cloned());
        kept = vec![find_cluster(kept, id)?];
    }
    let mut left_out = left_out(&left);
    if !wanted.marked {
        let members = find::hidden(&corpus, &forms);
        left_out.extend((members > 0).then_some(LeftOut {
            reason: Omission::Marked,
            clusters: 0,
            members,
        }));
    }
    let totals = totals(&corpus, catalog, &kept);
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

/// A group with what is said about it, before its members are looked at.
#[derive(Clone, Debug)]
struct Draft<'a> {
    group: &'a Group,
    id: String,
    lines: usize,
    payoff: f32,
    omission: Option<Omission>,
    reason: Option<String>,
}

fn draft<'a>(corpus: &Corpus, group: &'a Group, verdicts: &Verdicts) -> Draft<'a> {
    let medoid = &group.pieces[group.medoid];
    let lines = spare_lines(group);
    let omission = by_place(group.place).or(group.boilerplate.map(|_| Omission::Boilerplate));
    let (hash, members) = (hex(medoid.hash), group.pieces.len());
    let (judged, said) = verdicts.on(&hash, members).unzip();
    Draft {
        group,
        id: format!("{hash}-{members}"),
        lines,
        payoff: payoff(corpus, group),
        omission: judged.flatten().or(omission),
        reason: said.or_else(|| group.boilerplate.map(str::to_owned)),
    }
}

/// Whether lines that a change added lie in a member.
fn is_touched(draft: &Draft, corpus: &Corpus, catalog: &Catalog, added: &Added) -> bool {
    draft.group.pieces.iter().any(|piece| {
        let file = &catalog.files[corpus.files[piece.file].at];
        touched::lies_in(added, file.row.path.as_str(), piece.lines)
    })
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

/// The beginning of a hash, in hex digits.
fn hex(hash: Hash) -> String {
    let mut digits: String = hash.0.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(ID_DIGITS);
    digits
}

/// Why a section is not shown by default.
fn by_place(place: Place) -> Option<Omission> {
    match place {
        Place::Source => None,
        Place::Test => Some(Omission::Tests),
        Place::Example => Some(Omission::Examples),
        Place::Docs => Some(Omission::Docs),
        Place::Generated => Some(Omission::Generated),
        Place::Vendored => Some(Omission::Vendored),
        Place::Config => Some(Omission::Config),
    }
}

fn line_count(lines: LineRange) -> usize {
    (lines.end - lines.start + 1) as usize
}

/// Lines that could go if a group became one piece: those of all members but the medoid, as far as
/// they are alike.
fn spare_lines(group: &Group) -> usize {
    let others = group.pieces.iter().enumerate().filter(|(at, _)| *at != group.medoid);
    let spare: f32 =
        others.map(|(_, piece)| line_count(piece.lines) as f32 * piece.similarity).sum();
    spare.round() as usize
}

/// What a reader gains from a group: the tokens that could go, in lines of [`LINE_TOKENS`], less where
/// the members are less alike, share fewer names, or are only parts of what they stand in.
fn payoff(corpus: &Corpus, group: &Group) -> f32 {
    /// Tokens of an ordinary line.
    const LINE_TOKENS: f32 = 8.0;
    /// Fewer tokens than this are hardly worth a name of their own.
    const ENOUGH: f32 = 50.0;
    /// Each further member adds less: ten copies are one finding.
    const FURTHER: f32 = 0.75;
    /// A part of a function is harder to take out than a whole one.
    const FRAGMENT: f32 = 0.6;
    /// What shares no name at all is worth this much of what shares all.
    const STRANGERS: f32 = 0.3;
    /// Members of one file are seen by whoever edits it.
    const ONE_FILE: f32 = 0.8;
    /// Overloads of one name do the same for other types; languages without generics demand them.
    const OVERLOADS: f32 = 0.3;
    let medoid = &group.pieces[group.medoid];
    let is_one_file = group.pieces.iter().all(|piece| piece.file == medoid.file);
    let further = (group.pieces.len() as f32 - 1.0).powf(FURTHER);
    let kind = if group.kind == CopyKind::Fragment { FRAGMENT } else { 1.0 };
    let names =
        STRANGERS + (1.0 - STRANGERS) * shape::shared_names(corpus, &group.pieces, group.medoid);
    let is_overload = is_one_file
        && medoid.symbol.is_some()
        && group.pieces.iter().all(|piece| piece.symbol == medoid.symbol && piece.unit.is_some());
    let place = match (is_overload, is_one_file) {
        (true, _) => OVERLOADS,
        (_, true) => ONE_FILE,
        _ => 1.0,
    };
    let tokens = medoid.tokens.len() as f32;
    let enough = if group.kind == CopyKind::Fragment { 2.0 * ENOUGH } else { ENOUGH };
    let size = tokens / LINE_TOKENS * (tokens / enough).min(1.0);
    size * further * group.similarity.0.powi(2) * kind * names * place
}

/// Brings drafts into order; among equals the content decides, then the place.
fn order(drafts: &mut [Draft], order: ClusterOrder) {
    let by_size = |draft: &Draft| match order {
        ClusterOrder::Size => draft.group.pieces.len(),
        ClusterOrder::Payoff => 0,
    };
    drafts.sort_by(|a, b| {
        by_size(b)
            .cmp(&by_size(a))
            .then(b.payoff.total_cmp(&a.payoff))
            .then_with(|| a.id.cmp(&b.id))
            .then_with(|| {
                let place = |draft: &Draft| draft.group.pieces[0].tokens.start;
                place(a).cmp(&place(b))
            })
    });
}

/// The cluster that `id` names, whole or up to the dash.
fn find_cluster<'a>(drafts: Vec<Draft<'a>>, id: &str) -> Result<Draft<'a>> {
    let wanted = id.trim();
    let is_it = |draft: &Draft| {
        draft.id == wanted
            || draft.id.split('-').next() == Some(wanted)
            || draft.id.split('-').next() == wanted.split('-').next()
    };
    let exact = drafts.iter().position(|draft| draft.id == wanted);
    let at = exact.or_else(|| drafts.iter().position(is_it));
    at.and_then(|at| drafts.into_iter().nth(at)).ok_or_else(|| {
        Error::usage(format!("no cluster has the id `{wanted}`"))
            .hint("`sai duplicates` lists the ids; they change with the code")
    })
}

/// What was left out, by reason.
fn left_out(drafts: &[Draft]) -> Vec<LeftOut> {
    let mut counts: BTreeMap<Omission, (usize, usize)> = BTreeMap::new();
    for draft in drafts {
        if let Some(reason) = draft.omission {
            let (clusters, members) = counts.entry(reason).or_default();
            *clusters += 1;
            *members += draft.group.pieces.len();
        }
    }
    let left_out = |(reason, (clusters, members))| LeftOut { reason, clusters, members };
    counts.into_iter().map(left_out).collect()
}

fn totals(corpus: &Corpus, catalog: &Catalog, drafts: &[Draft]) -> Totals {
    let lines = |file: usize| catalog.files[corpus.files[file].at].row.lines as usize;
    let mut copied: HashMap<usize, Vec<LineRange>> = HashMap::new();
    let mut spare: HashMap<usize, Vec<LineRange>> = HashMap::new();
    for draft in drafts {
        for (at, piece) in draft.group.pieces.iter().enumerate() {
            copied.entry(piece.file).or_default().push(piece.lines);
            if at != draft.group.medoid {
                spare.entry(piece.file).or_default().push(piece.lines);
            }
        }
    }
    Totals {
        lines: (0..corpus.files.len()).map(lines).sum(),
        copied_lines: copied.into_values().map(union).sum(),
        spare_lines: spare.into_values().map(union).sum(),
    }
}

/// How many lines some ranges cover together.
fn union(mut ranges: Vec<LineRange>) -> usize {
    ranges.sort_unstable();
    let (mut covered, mut end) = (0, 0);
    for range in ranges {
        let start = range.start.max(end + 1);
        if range.end >= start {
            covered += (range.end - start + 1) as usize;
            end = range.end;
        }
    }
    covered
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
