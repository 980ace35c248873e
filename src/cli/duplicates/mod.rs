//! `sai duplicates`: shows which code repeats, on the terminal and in files for others.
//!
//! The arguments and which renderer answers them; one file a format. All of them show the one reply
//! and know nothing of how it was found.

mod beside;
mod folders;
mod gate;
mod html;
mod markdown;
mod output;
mod phrases;
#[cfg(test)]
mod sample;
mod sarif;
mod show;
mod table;

use std::path::PathBuf;

use clap::Args;

use super::progress::Bar;
use super::search::names;
use super::similar::score;
use super::{DONE, Ended, NOTHING, Session, index, print};
use crate::error::{Error, Result};
use crate::request::{ClusterOrder, CopyKind, DuplicatesQuery, DuplicatesReply, Omission};
use crate::worker::Handle;
use output::Output;

/// Clusters that are printed when the command line does not say how many.
const CLUSTERS_SHOWN: usize = 50;

/// Find code that repeats, what is best worth a look first
///
/// Prints clusters of copies: exact ones, renamed ones, definitions that share much of their tokens,
/// and equal lines inside of others; with the lines that could go if each became one.
/// What repeats outside of production code or by its nature is counted and left out: --all and
/// --include show it. docs/duplicates.md explains the report.
#[derive(Debug, Args)]
pub(super) struct DuplicatesArgs {
    /// Only clusters whose most alike members are at least so similar, 0 to 1
    ///
    /// Without it tokens decide, and `similarity.duplicate_min_score` is the cosine from which on
    /// vectors propose what tokens then compare.
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f32>,

    /// The least members of a cluster [default: `similarity.duplicate_min_cluster_size`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=1000))]
    min_cluster_size: Option<u16>,

    /// Neighbours of each chunk that vectors propose, 1 to 50 [default: `similarity.top_k`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    top_k: Option<u8>,

    /// Clusters wanted, up to 500, or 0 for all [default: 50; in files 500 (HTML) or all (others)]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=500))]
    max_clusters: Option<u16>,

    /// Compare only code in paths that match a glob; `!` excludes; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    path: Vec<String>,

    /// Only clusters of these kinds; repeat or separate by commas [default: all but `behaviour`]
    #[arg(
        short,
        long,
        value_delimiter = ',',
        value_parser = names(CopyKind::ALL, CopyKind::name, CopyKind::from_name)
    )]
    kind: Vec<CopyKind>,

    /// Show what is left out for these reasons; repeat or separate by commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "REASON",
        value_parser = names(Omission::ALL, Omission::name, Omission::from_name)
    )]
    include: Vec<Omission>,

    /// Show everything that is left out by default
    #[arg(long, conflicts_with = "include")]
    all: bool,

    /// Which clusters come first [default: payoff]
    #[arg(
        long,
        value_parser = names(ClusterOrder::ALL, ClusterOrder::name, ClusterOrder::from_name)
    )]
    order: Option<ClusterOrder>,

    /// Only clusters in which lines lie that were added since HEAD left this revision
    #[arg(long, value_name = "REV")]
    since: Option<String>,

    /// Only clusters in which staged lines lie
    #[arg(long)]
    staged: bool,

    /// Show both sides of one cluster: its id, or the id up to the dash
    #[arg(long, value_name = "ID")]
    #[arg(conflicts_with_all = ["fail_on", "baseline", "baseline_from_ref", "verdict"])]
    show: Option<String>,

    /// With --show: the member to compare with the medoid, by its number [default: the first three]
    #[arg(long, value_name = "N", requires = "show")]
    member: Option<usize>,

    /// Write the report as one page for a browser; `-` is stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the report for code scanners (SARIF 2.1.0); `-` is stdout
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write the report as a comment for a pull request; `-` is stdout
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Fail when there is no index instead of making one
    #[arg(long)]
    no_index: bool,

    #[command(flatten)]
    gate: gate::GateArgs,
}

/// A format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Html,
    Sarif,
    Markdown,
}

impl DuplicatesArgs {
    /// The documents that are asked for.
    ///
    /// # Errors
    /// Usage: two of them go to stdout, or one cannot be written.
    fn documents(&self, json: bool) -> Result<Vec<(Format, Output)>> {
        let asked = [
            (Format::Html, &self.html),
            (Format::Sarif, &self.sarif),
            (Format::Markdown, &self.markdown),
        ];
        let named = asked.iter().filter_map(|(format, file)| Some((*format, file.as_ref()?)));
        let documents: Vec<(Format, Output)> =
            named.map(|(format, file)| (format, Output::of(file))).collect();
        let on_stdout = documents.iter().filter(|(_, output)| *output == Output::Stdout).count();
        let said_there = usize::from(json || self.gate.is_update());
        if on_stdout > 0 && on_stdout + said_there > 1 {
            return Err(Error::usage("only one document can go to stdout")
                .hint("name files for the others: `--html report.html --sarif report.sarif`"));
        }
        documents.iter().try_for_each(|(_, output)| output.check())?;
        Ok(documents)
    }

    fn query(&self, documents: &[(Format, Output)]) -> DuplicatesQuery {
        let has = |wanted| documents.iter().any(|(format, _)| *format == wanted);
        let max_clusters = match self.max_clusters {
            Some(max) => Some(usize::from(max)),
            None if has(Format::Sarif) || has(Format::Markdown) => Some(0),
            None if has(Format::Html) => Some(html::CLUSTERS_MAX),
            None => None,
        };
        DuplicatesQuery {
            min_score: self.min_score,
            min_cluster_size: self.min_cluster_size.map(usize::from),
            top_k: self.top_k.map(usize::from),
            max_clusters,
            paths: self.path.clone(),
            kinds: self.kind.clone(),
            include: if self.all { Omission::ALL.to_vec() } else { self.include.clone() },
            order: self.order,
            since: self.since.clone(),
            staged: self.staged,
            cluster: self.show.clone(),
            sides: self.show.is_some() || has(Format::Html),
            gate: None,
        }
    }

    /// Whether only what a change touches is asked for.
    fn is_of_a_change(&self) -> bool {
        self.since.is_some() || self.staged
    }

    /// Clusters that are printed.
    fn shown(&self) -> usize {
        match self.max_clusters {
            None => CLUSTERS_SHOWN,
            Some(0) => usize::MAX,
            Some(max) => usize::from(max),
        }
    }
}

pub(super) fn run(args: &DuplicatesArgs, session: &Session) -> Result<u8, Ended> {
    let documents = args.documents(session.globals.json)?;
    let mut query = args.query(&documents);
    if args.gate.is_verdict() {
        return args.gate.judge(query, session, args.no_index);
    }
    let config = session.load()?.config;
    let name = config.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let purpose = args.gate.prepare(&mut query, &config, session)?;
    let handle = Handle::start(config);
    let Some(purpose) = purpose else {
        let reply = ask(&handle, &query, args.no_index, session)?;
        args.write(&documents, &reply, &reply, &name)?;
        let is_empty = reply.clusters.is_empty();
        args.show(reply, &documents, session)?;
        // A document was asked for and is there, whatever it says.
        return Ok(if is_empty && documents.is_empty() { NOTHING } else { DONE });
    };
    let reply = gate::ask(&handle, &query, session, args.no_index)?;
    let all = if documents.is_empty() { None } else { Some(reply.clone()) };
    let (shown, code) = purpose.end(reply, session)?;
    if let Some(all) = &all {
        args.write(&documents, all, shown.as_ref().unwrap_or(all), &name)?;
    }
    if let Some(reply) = shown {
        let report = reply.gate.clone();
        args.show(reply, &documents, session)?;
        report.iter().for_each(|report| purpose.tell(report));
    }
    Ok(code)
}

/// Asks under a spinner; when there is no index yet, makes one and asks again.
fn ask(
    handle: &Handle,
    query: &DuplicatesQuery,
    no_index: bool,
    session: &Session,
) -> Result<DuplicatesReply, Ended> {
    index::first(handle, session, no_index, || {
        let bar = Bar::start(session.globals.quiet);
        bar.say("comparing code");
        let reply = handle.duplicates(query.clone()).wait();
        bar.clear();
        reply
    })
}

impl DuplicatesArgs {
    /// Writes the documents: those for tools and browsers about `all` clusters, the comment about those
    /// that are shown.
    fn write(
        &self,
        documents: &[(Format, Output)],
        all: &DuplicatesReply,
        shown: &DuplicatesReply,
        name: &str,
    ) -> Result<()> {
        for (format, output) in documents {
            output.write(&match format {
                Format::Html => html::text(all, name, self.is_of_a_change())?,
                Format::Sarif => sarif::text(all),
                Format::Markdown => markdown::text(shown, self.is_of_a_change()),
            })?;
        }
        Ok(())
    }

    /// Prints the reply, where stdout is free for it, and what a person should know.
    fn show(
        &self,
        mut reply: DuplicatesReply,
        documents: &[(Format, Output)],
        session: &Session,
    ) -> Result<(), Ended> {
        if session.globals.json {
            if self.show.is_none() {
                // Sides were asked for another format's sake.
                let members = reply.clusters.iter_mut().flat_map(|cluster| &mut cluster.members);
                members.for_each(|member| member.side = None);
            }
            return Ok(print::json(&reply)?);
        }
        // What fails at the gate is printed, all of it.
        let count = if reply.gate.is_some() { usize::MAX } else { self.shown() };
        if documents.iter().all(|(_, output)| *output != Output::Stdout) {
            print::out(&match (&self.show, reply.clusters.first()) {
                (Some(_), Some(cluster)) => show::text(cluster, self.member, session.look)?,
                _ => table::text(&reply, count, session.look),
            })?;
        }
        if self.show.is_none() && (!session.globals.quiet || reply.clusters.is_empty()) {
            for line in table::summary(&reply, count, self.is_of_a_change()) {
                print::tell(&line);
            }
        }
        for (_, output) in documents {
            if let (Output::File(file), false) = (output, session.globals.quiet) {
                print::tell(&format!("wrote {}", file.display()));
            }
        }
        print::notes(&reply.notes, &reply.changed);
        Ok(())
    }
}
