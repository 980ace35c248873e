//! `sai duplicates`: shows which code repeats.

mod gate;

use clap::Args;

use super::print::{self, BOLD, DIM, Line, Look, PATH, PLAIN};
use super::similar::score;
use super::{DONE, Ended, NOTHING, Session, hits, index};
use crate::error::Result;
use crate::request::{Cluster, DuplicatesQuery, DuplicatesReply, Omission};
use crate::worker::Handle;

/// Find clusters of near-duplicate code, largest first
///
/// Each chunk's nearest neighbours with a cosine of at least the least score are joined; what is
/// joined is a cluster. A cluster is a hypothesis: read its members before you call them copies.
#[derive(Debug, Args)]
pub(super) struct DuplicatesArgs {
    /// The least cosine of two copies, 0 to 1 [default: `similarity.duplicate_min_score`]
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f32>,

    /// The least members of a cluster [default: `similarity.duplicate_min_cluster_size`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=1000))]
    min_cluster_size: Option<u16>,

    /// Neighbours of each chunk to look at, 1 to 50 [default: `similarity.top_k`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    top_k: Option<u8>,

    /// Clusters wanted, 1 to 500 [default: 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=500))]
    max_clusters: Option<u16>,

    /// Compare only code in paths that match a glob; `!` excludes; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    path: Vec<String>,

    /// Show everything that is left out by default
    #[arg(long)]
    all: bool,

    /// Only clusters in which lines lie that were added since HEAD left this revision
    #[arg(long, value_name = "REV")]
    since: Option<String>,

    /// Only clusters in which staged lines lie
    #[arg(long)]
    staged: bool,

    /// Fail when there is no index instead of making one
    #[arg(long)]
    no_index: bool,

    #[command(flatten)]
    gate: gate::GateArgs,
}

pub(super) fn run(args: &DuplicatesArgs, session: &Session) -> Result<u8, Ended> {
    let mut query = DuplicatesQuery {
        min_score: args.min_score,
        min_cluster_size: args.min_cluster_size.map(usize::from),
        top_k: args.top_k.map(usize::from),
        max_clusters: args.max_clusters.map(usize::from),
        paths: args.path.clone(),
        include: if args.all { Omission::ALL.to_vec() } else { Vec::new() },
        since: args.since.clone(),
        staged: args.staged,
        ..DuplicatesQuery::default()
    };
    if args.gate.is_verdict() {
        return args.gate.judge(query, session, args.no_index);
    }
    let config = session.load()?.config;
    let purpose = args.gate.prepare(&mut query, &config, session)?;
    let handle = Handle::start(config);
    let Some(purpose) = purpose else {
        let ask = || handle.duplicates(query.clone()).wait();
        let reply = index::first(&handle, session, args.no_index, ask)?;
        show(&reply, session)?;
        return Ok(if reply.clusters.is_empty() { NOTHING } else { DONE });
    };
    let reply = gate::ask(&handle, &query, session, args.no_index)?;
    let (shown, code) = purpose.end(reply, session)?;
    if let Some(reply) = shown {
        show(&reply, session)?;
        reply.gate.iter().for_each(|report| purpose.tell(report));
    }
    Ok(code)
}

fn show(reply: &DuplicatesReply, session: &Session) -> Result<(), Ended> {
    if session.globals.json {
        return Ok(print::json(reply)?);
    }
    print::out(&text(reply, session.look))?;
    print::tell(&summary(reply));
    print::notes(&reply.notes, &reply.changed);
    Ok(())
}

/// All clusters, a blank line between them.
fn text(reply: &DuplicatesReply, look: Look) -> String {
    let clusters = reply.clusters.iter().map(|cluster| cluster_text(cluster, look));
    clusters.collect::<Vec<_>>().join("\n")
}

fn cluster_text(cluster: &Cluster, look: Look) -> String {
    let mut head = Line::new(Look { width: None, ..look });
    head.push(BOLD, &print::count(cluster.size, "chunk"));
    let (low, high) = (cluster.min_similarity, cluster.max_similarity);
    head.push(DIM, &format!("  similarity {low:.2} to {high:.2}"));
    let mut text = head.end() + "\n";
    for member in &cluster.members {
        // Never cut, so that a path can be copied.
        let mut line = Line::new(Look { width: None, ..look });
        line.push(PATH, &format!("{}:{}-{}", member.path, member.start_line, member.end_line));
        if let Some(symbol) = &member.symbol {
            line.push(PLAIN, &format!("  {symbol}"));
        }
        hits::push_freshness(&mut line, member.freshness);
        text.push_str(&line.end());
        text.push('\n');
    }
    if let Some(more) = cluster.size.checked_sub(cluster.members.len()).filter(|more| *more > 0) {
        text.push_str(&look.paint(DIM, &format!("… {}", print::count(more, "other"))));
        text.push('\n');
    }
    text
}

fn summary(reply: &DuplicatesReply) -> String {
    let found = print::count(reply.clusters_found, "cluster");
    let shown = reply.clusters.len();
    let shown =
        if shown < reply.clusters_found { format!(", {shown} shown") } else { String::new() };
    format!(
        "{found} of at least {} chunks{shown} (similarity {:.2} or more; searched {} in {})",
        reply.min_cluster_size,
        reply.min_score,
        print::count(reply.searched.chunks, "chunk"),
        print::count(reply.searched.files, "file"),
    )
}
