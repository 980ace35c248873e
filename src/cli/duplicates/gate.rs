//! `sai duplicates` as a gate: holds the report against what is known, keeps the baseline, takes
//! verdicts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::super::progress::Bar;
use super::super::{DONE, Ended, GATE, Session, index, print};
use crate::config::Config;
use crate::duplicates;
use crate::error::{Error, Result};
use crate::request::{
    Baseline, CopyVerdict, DuplicatesQuery, DuplicatesReply, FailOn, Gate, GateReport, Gone,
    Omission,
};
use crate::worker::Handle;
use crate::worker::base::Base;

/// Entries that are gone and named.
const GONE_SHOWN: usize = 5;

/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 12;

#[derive(Debug, Args)]
#[command(next_help_heading = "Gate for CI, and verdicts")]
pub(super) struct GateArgs {
    /// End with 4 when there is a `new` cluster, `any` cluster, or more than N of them [default: `new`
    /// with a baseline]
    #[arg(long, value_name = "new|any|N", value_parser = fail_on)]
    fail_on: Option<FailOn>,

    /// A file of known clusters: what it does not hold is new
    #[arg(long, value_name = "FILE", conflicts_with = "baseline_from_ref")]
    baseline: Option<PathBuf>,

    /// Write the clusters that there are into the file of `--baseline`
    #[arg(long, requires = "baseline", conflicts_with_all = ["fail_on", "since", "staged"])]
    update_baseline: bool,

    /// Take for known what was there where HEAD left a revision, such as `origin/main`
    #[arg(long, value_name = "REV")]
    baseline_from_ref: Option<String>,

    /// Judge a cluster in `sai-duplicates.yml`: `intentional`, `boilerplate`, `real`, or `none` to take
    /// a verdict back
    #[arg(long, num_args = 2, value_names = ["ID", "VERDICT"])]
    #[arg(conflicts_with_all = [
        "fail_on", "baseline", "baseline_from_ref", "html", "sarif", "markdown"
    ])]
    verdict: Option<Vec<String>>,

    /// The reason of the verdict
    #[arg(long, value_name = "TEXT", requires = "verdict")]
    because: Option<String>,
}

/// A value of `--fail-on`.
fn fail_on(text: &str) -> Result<FailOn, String> {
    FailOn::parse(text).map_err(|error| match error.next_step() {
        Some(hint) => format!("give {hint}"),
        None => error.to_string(),
    })
}

/// What the answer is for, beside being shown.
pub(super) enum Purpose {
    /// To be held against what is known.
    Hold {
        /// Where the known clusters come from, for a reader.
        against: Option<String>,
        /// The baseline's file, if there is one.
        file: Option<PathBuf>,
    },
    /// To become the baseline.
    Update { file: PathBuf, before: Option<Baseline> },
}

impl GateArgs {
    /// Whether the command line judges a cluster; then the report is not shown.
    pub(super) fn is_verdict(&self) -> bool {
        self.verdict.is_some()
    }

    /// Whether the baseline is written; then the report is not shown either.
    pub(super) fn is_update(&self) -> bool {
        self.update_baseline
    }

    /// Makes `query` a question for the gate, if one is asked for. What was there at another revision
    /// is found out first.
    pub(super) fn prepare(
        &self,
        query: &mut DuplicatesQuery,
        config: &Config,
        session: &Session,
    ) -> Result<Option<Purpose>, Ended> {
        let known = match (&self.baseline, &self.baseline_from_ref) {
            (Some(file), _) if self.update_baseline => {
                let before = Baseline::read(file)?;
                hold(query, FailOn::Any, None);
                return Ok(Some(Purpose::Update { file: file.clone(), before }));
            }
            (Some(file), _) => Some(Baseline::read(file)?.ok_or_else(|| missing(file))?),
            (None, Some(revision)) => {
                let (known, commit) = at(revision, query, config, session)?;
                let against = format!("{commit}, where HEAD left `{revision}`");
                if query.since.is_none() && !query.staged {
                    query.since = Some(revision.clone());
                }
                hold(query, self.fail_on.unwrap_or(FailOn::New), Some(known));
                return Ok(Some(Purpose::Hold { against: Some(against), file: None }));
            }
            (None, None) => None,
        };
        let fail_on = match (self.fail_on, &known) {
            (Some(fail_on), _) => fail_on,
            (None, Some(_)) => FailOn::New,
            (None, None) => return Ok(None),
        };
        let has_change = query.since.is_some() || query.staged;
        if fail_on == FailOn::New && known.is_none() && !has_change {
            let error = Error::usage("`--fail-on new` needs something that is known");
            let hint = "add --baseline FILE, --baseline-from-ref REV, --since REV or --staged";
            return Err(error.hint(hint).into());
        }
        hold(query, fail_on, known);
        Ok(Some(Purpose::Hold { against: None, file: self.baseline.clone() }))
    }

    /// Writes a verdict, or takes it back.
    pub(super) fn judge(
        &self,
        mut query: DuplicatesQuery,
        session: &Session,
        no_index: bool,
    ) -> Result<u8, Ended> {
        let Some([id, verdict]) = self.verdict.as_deref().and_then(<[String]>::first_chunk) else {
            return Ok(DONE);
        };
        let config = session.load()?.config;
        let root = config.root.clone();
        if verdict.eq_ignore_ascii_case("none") {
            let file = duplicates::forget(&root, id)?;
            return judged(id, None, &file, session);
        }
        let verdict = CopyVerdict::from_name(verdict)?;
        let Some(because) = &self.because else {
            let error = Error::usage("a verdict needs a reason");
            return Err(error.hint("`--because \"why the copies shall stay\"`").into());
        };
        query.include = Omission::ALL.to_vec();
        query.max_clusters = Some(0);
        let handle = Handle::start(config);
        let reply = ask(&handle, &query, session, no_index)?;
        let cluster = duplicates::named(&reply.clusters, id)?;
        let file = duplicates::judge(&root, cluster, verdict, because)?;
        judged(&cluster.id, Some(verdict), &file, session)
    }
}

/// Tells that a verdict was written.
fn judged(
    id: &str,
    verdict: Option<CopyVerdict>,
    file: &Path,
    session: &Session,
) -> Result<u8, Ended> {
    #[derive(Serialize)]
    struct Written<'a> {
        id: &'a str,
        verdict: Option<CopyVerdict>,
        file: &'a Path,
    }
    if session.globals.json {
        print::json(&Written { id, verdict, file })?;
    } else {
        let what = verdict.map_or("no verdict any more", CopyVerdict::name);
        print::out(&format!("{}: {what}, in {}\n", print::safe(id), file.display()))?;
    }
    Ok(DONE)
}

/// Makes `query` one for the gate, which looks at all clusters.
fn hold(query: &mut DuplicatesQuery, fail_on: FailOn, known: Option<Baseline>) {
    query.gate = Some(Box::new(Gate { fail_on, known }));
    query.max_clusters = Some(0);
}

fn missing(file: &Path) -> Error {
    let shown = file.display();
    Error::usage(format!("there is no baseline `{shown}`"))
        .hint("the same command with `--update-baseline` makes it; commit the file")
}

/// The clusters where HEAD left `revision`, and that commit.
fn at(
    revision: &str,
    query: &DuplicatesQuery,
    config: &Config,
    session: &Session,
) -> Result<(Baseline, String), Ended> {
    let base = Base::start(config, revision)?;
    let mut query = DuplicatesQuery { since: None, staged: false, sides: false, ..query.clone() };
    hold(&mut query, FailOn::Any, None);
    let reply = ask(base.handle(), &query, session, false)?;
    let report = reply.gate.ok_or_else(no_report)?;
    let commit = base.commit().chars().take(COMMIT_DIGITS).collect();
    Ok((report.now, commit))
}

fn no_report() -> Error {
    Error::new(crate::error::ErrorKind::Bug, "the gate did not report")
}

/// Asks once the index is what the files are: what an older one says would blame the wrong lines.
/// Ctrl-C ends it in good order.
pub(super) fn ask(
    handle: &Handle,
    query: &DuplicatesQuery,
    session: &Session,
    no_index: bool,
) -> Result<DuplicatesReply, Ended> {
    if !no_index {
        index::make(handle, false, session)?;
    }
    let bar = Bar::start(session.globals.quiet);
    bar.say("comparing code");
    index::watched(&bar, handle.duplicates(query.clone()))
}

impl Purpose {
    /// Does with the answer what it is for: returns what shall be shown of it, and the exit code.
    pub(super) fn end(
        &self,
        mut reply: DuplicatesReply,
        session: &Session,
    ) -> Result<(Option<DuplicatesReply>, u8), Ended> {
        let report = reply.gate.clone().ok_or_else(no_report)?;
        match self {
            Self::Update { file, before } => {
                update(file, before.as_ref(), &report.now, session)?;
                Ok((None, DONE))
            }
            Self::Hold { .. } => {
                let failing = report.failing.iter().map(|failing| failing.position);
                reply.clusters = failing.map(|at| reply.clusters[at].clone()).collect();
                Ok((Some(reply), if report.passed { DONE } else { GATE }))
            }
        }
    }

    /// Tells on stderr what the gate says; what it names is what the report shows.
    pub(super) fn tell(&self, report: &GateReport) {
        let Self::Hold { against, file } = self else { return };
        print::tell(&verdict_text(report, against.as_deref()));
        if let (Some(file), false) = (file, report.gone.is_empty()) {
            print::tell(&gone_text(&report.gone, file));
        }
    }
}

/// Whether the gate lets pass, what counted, and against what: `gate passed: no new copies (12 known)`.
pub(super) fn outcome(report: &GateReport, against: Option<&str>) -> String {
    let against = against.map_or_else(String::new, |against| format!(", against {against}"));
    let known = format!("{} known", print::number(report.known));
    let untouched = match report.untouched {
        0 => String::new(),
        count => format!(", {} older than the change", print::number(count)),
    };
    let counts = format!("({known}{untouched}{against})");
    let clusters = print::count(report.clusters, "cluster");
    let what = match (report.fail_on, report.passed) {
        (FailOn::New, true) => "no new copies".to_owned(),
        (FailOn::New, false) => format!("{} new", print::count(report.failing.len(), "cluster")),
        (FailOn::Any, _) => clusters,
        (FailOn::More(most), true) => format!("{clusters}, no more than {}", print::number(most)),
        (FailOn::More(most), false) => format!("{clusters}, more than {}", print::number(most)),
    };
    let passed = if report.passed { "passed" } else { "failed" };
    format!("gate {passed}: {what} {counts}")
}

/// The outcome, with what fails and why.
fn verdict_text(report: &GateReport, against: Option<&str>) -> String {
    let mut text = outcome(report, against);
    for failing in &report.failing {
        let symbol = failing.symbol.as_deref().map_or_else(String::new, |name| format!(" {name}"));
        let place = format!("{}:{}{symbol}", failing.path, failing.line);
        let _ = write!(text, "\n  {}  {}  {place}", failing.id, failing.reason);
    }
    text
}

/// What the baseline knows and is no more.
fn gone_text(gone: &[Gone], file: &Path) -> String {
    let (entries, are, them) =
        if gone.len() == 1 { ("entry", "is", "it") } else { ("entries", "are", "them") };
    let mut text = format!(
        "note: {} {entries} of {} {are} gone; `--update-baseline` removes {them}",
        print::number(gone.len()),
        file.display(),
    );
    for gone in gone.iter().take(GONE_SHOWN) {
        let _ = write!(text, "\n  {}  {}", gone.id, gone.at);
    }
    if gone.len() > GONE_SHOWN {
        let _ = write!(text, "\n  … {} more", print::number(gone.len() - GONE_SHOWN));
    }
    text
}

/// Writes the baseline and tells what it holds.
fn update(
    file: &Path,
    before: Option<&Baseline>,
    now: &Baseline,
    session: &Session,
) -> Result<(), Ended> {
    #[derive(Serialize)]
    struct Updated<'a> {
        file: &'a Path,
        clusters: usize,
        added: usize,
        removed: usize,
        changed: bool,
    }
    let ids = |baseline: &Baseline| -> BTreeSet<(String, usize)> {
        let clusters = baseline.clusters.iter();
        clusters.map(|known| (known.id.clone(), known.members)).collect()
    };
    let (old, new) = (before.map(ids).unwrap_or_default(), ids(now));
    let changed = now.write(file)?;
    let added = new.difference(&old).count();
    let removed = old.difference(&new).count();
    let clusters = now.clusters.len();
    if session.globals.json {
        return Ok(print::json(&Updated { file, clusters, added, removed, changed })?);
    }
    let state = if changed {
        format!("{} added, {} removed", print::number(added), print::number(removed))
    } else {
        "as before".to_owned()
    };
    let clusters = print::count(clusters, "cluster");
    print::out(&format!("{}: {clusters}, {state}\n", file.display()))?;
    if let Some(Err(error)) = before.map(|before| before.check(&now.settings)) {
        print::tell(&format!("note: {error}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Failing;

    fn text(fail_on: FailOn, failing: Vec<Failing>) -> String {
        let report = GateReport {
            passed: failing.is_empty(),
            fail_on,
            clusters: 3,
            new: Vec::new(),
            failing,
            known: 12,
            untouched: 1,
            gone: Vec::new(),
            now: Baseline::default(),
        };
        verdict_text(&report, Some("0123456789ab, where HEAD left `main`"))
    }

    fn failing() -> Vec<Failing> {
        vec![Failing {
            position: 0,
            id: "3f2a9c01b2d4-3".to_owned(),
            reason: "one more copy (3, the baseline knows 2)".to_owned(),
            path: "src/a.rs".to_owned(),
            line: 10,
            symbol: Some("parse".to_owned()),
        }]
    }

    #[test]
    fn the_gate_says_what_fails_and_why() {
        let counts =
            "(12 known, 1 older than the change, against 0123456789ab, where HEAD left `main`)";
        let row = "\n  3f2a9c01b2d4-3  one more copy (3, the baseline knows 2)  src/a.rs:10 parse";
        let cases = [
            (FailOn::New, vec![], format!("gate passed: no new copies {counts}")),
            (FailOn::New, failing(), format!("gate failed: 1 cluster new {counts}{row}")),
            (FailOn::Any, failing(), format!("gate failed: 3 clusters {counts}{row}")),
            (FailOn::More(3), vec![], format!("gate passed: 3 clusters, no more than 3 {counts}")),
            (
                FailOn::More(2),
                failing(),
                format!("gate failed: 3 clusters, more than 2 {counts}{row}"),
            ),
        ];
        for (fail_on, failing, expected) in cases {
            assert_eq!(text(fail_on, failing), expected);
        }
    }

    #[test]
    fn entries_that_are_gone_are_counted_and_the_first_are_named() {
        let gone = |count: usize| -> Vec<Gone> {
            let gone = |at| Gone { id: format!("aa{at}-2"), at: "src/a.rs parse".to_owned() };
            (0..count).map(gone).collect()
        };
        let file = Path::new("known.json");
        assert_eq!(
            gone_text(&gone(1), file),
            "note: 1 entry of known.json is gone; `--update-baseline` removes it\n  aa0-2  src/a.rs parse"
        );
        let text = gone_text(&gone(7), file);
        assert!(text.starts_with("note: 7 entries of known.json are gone; "), "{text}");
        assert!(text.ends_with("\n  aa4-2  src/a.rs parse\n  … 2 more"), "{text}");
    }
}
