//! Here is a report: how does it become one page that needs nothing else?
//!
//! The page is [`report.html`](report.html) with its style and script and the report as JSON in it. The
//! script puts all text into the page as text; what may run is named by a nonce made from the report's
//! hash, so that nothing in the report can name it; and the page may not reach any network.
//! Syntax colours and which lines stand beside each other are found out here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

use super::super::print;
use super::beside::{self, Marked};
use super::{folders, gate, phrases};
use crate::error::{Error, Result};
use crate::parse::{self, Highlight};
use crate::request::{Cluster, CopyKind, DuplicatesReply, Freshness, Member, Omission, Side};
use crate::types::{Hash, Language, Place, is_deceptive};

const PAGE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Clusters of a page.
pub(super) const CLUSTERS_MAX: usize = 500;

/// Members of a cluster.
const MEMBERS_MAX: usize = 100;

/// Bytes of code with its colours, as JSON; clusters beyond come without their code.
const CODE_BYTES_MAX: usize = 8 << 20;

/// Lines of a member that are shown.
const LINES_MAX: usize = 400;

/// Bytes of a member that are shown.
const SIDE_BYTES_MAX: usize = 48 << 10;

/// The page. `name` stands in its title; `of_a_change` tells whether only what a change touches was
/// asked for.
///
/// # Errors
/// Bug: the report cannot be written as JSON.
pub(super) fn text(reply: &DuplicatesReply, name: &str, of_a_change: bool) -> Result<String> {
    let data = Data::new(reply, name, of_a_change);
    let json = serde_json::to_string(&data).map_err(|error| {
        Error::new(crate::error::ErrorKind::Bug, "cannot write the report as JSON").because(error)
    })?;
    // Within a script element only `<` can end it or begin a comment.
    let json = json.replace('<', "\\u003c");
    let nonce = Hash::of(json.as_bytes()).0.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + json.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (hole, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.push_str(match hole {
            "nonce" => &nonce,
            "style" => STYLE,
            "script" => SCRIPT,
            "data" => &json,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// All that the page shows.
#[derive(Serialize)]
struct Data {
    name: String,
    version: &'static str,
    min_cluster_size: usize,
    files: usize,
    lines: usize,
    copied_lines: usize,
    spare_lines: usize,
    share: String,
    found: usize,
    /// What is said when there is no cluster.
    nothing: String,
    of_a_change: bool,
    /// What the gate says.
    gate: Option<String>,
    left_out: Vec<LeftOutData>,
    notes: Vec<String>,
    /// Files that are no longer as they were indexed.
    changed: usize,
    /// What had to be left off, a sentence each.
    cut: Vec<String>,
    kinds: Vec<Named>,
    places: Vec<Named>,
    /// The folders of the map; members name them by position.
    folders: Vec<String>,
    clusters: Vec<ClusterData>,
}

#[derive(Serialize)]
struct LeftOutData {
    said: String,
    flag: String,
}

/// A value with the words for it.
#[derive(Serialize)]
struct Named {
    id: &'static str,
    said: &'static str,
}

#[derive(Serialize)]
struct ClusterData {
    id: String,
    kind: CopyKind,
    place: Place,
    size: usize,
    low: f32,
    high: f32,
    similarity: String,
    medoid: usize,
    tokens: usize,
    lines: usize,
    payoff: f32,
    touched: bool,
    new: bool,
    /// Why the gate does not let it pass.
    failing: Option<String>,
    omission: Option<Omission>,
    reason: Option<String>,
    /// What lowers its place in the list.
    discounts: Option<String>,
    differs: Option<String>,
    examples: Vec<String>,
    members: Vec<MemberData>,
}

#[derive(Serialize)]
struct MemberData {
    path: String,
    first: u32,
    last: u32,
    symbol: Option<String>,
    kind: &'static str,
    language: Language,
    folder: usize,
    similarity: String,
    touched: bool,
    freshness: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<CodeData>,
}

/// A member's text. Positions count UTF-16 units, as scripts do.
#[derive(Serialize)]
struct CodeData {
    text: String,
    /// Three numbers each: units since the last range, units, colour.
    colors: Vec<u32>,
    /// Two numbers each: units since the last range, units.
    marks: Vec<u32>,
    /// The same for the medoid's text beside this one.
    medoid_marks: Vec<u32>,
    /// Runs of rows, four numbers each: line of the medoid and of this member (from 0, -1 for none),
    /// rows, and whether both lines are the same (1).
    rows: Vec<i32>,
    /// Lines that are not shown.
    cut: usize,
}

impl Data {
    fn new(reply: &DuplicatesReply, name: &str, of_a_change: bool) -> Self {
        // What is new or touched comes first, so that it is never cut off.
        let mut clusters: Vec<&Cluster> = reply.clusters.iter().collect();
        clusters.sort_by_key(|cluster| (cluster.is_new != Some(true), !cluster.is_touched));
        clusters.truncate(CLUSTERS_MAX);
        let mut weights: BTreeMap<&str, usize> = BTreeMap::new();
        for member in clusters.iter().flat_map(|cluster| &cluster.members) {
            let lines = (member.end_line + 1).saturating_sub(member.start_line) as usize;
            *weights.entry(folders::of(member.path.as_str())).or_default() += lines;
        }
        let opened = folders::opened(&weights);
        let opened: Vec<&str> = opened.iter().map(String::as_str).collect();
        let folder = |path: &str| {
            let holding = opened.iter().enumerate().filter(|(_, folder)| {
                let below = path.strip_prefix(**folder);
                folder.is_empty() || below.is_some_and(|below| below.starts_with('/'))
            });
            holding.max_by_key(|(_, folder)| folder.len()).map_or(0, |(at, _)| at)
        };
        let mut room = CODE_BYTES_MAX;
        let mut without_code = 0;
        let clusters: Vec<ClusterData> = clusters
            .iter()
            .map(|cluster| {
                let codes = if room > 0 { codes(cluster) } else { Vec::new() };
                let bytes: usize = codes.iter().flatten().map(CodeData::bytes).sum();
                let fits = bytes <= room;
                room = if fits { room - bytes } else { 0 };
                without_code += usize::from(!fits || codes.is_empty());
                let failing = phrases::failing(reply, cluster).map(str::to_owned);
                let codes = if fits { codes } else { Vec::new() };
                ClusterData { failing, ..ClusterData::new(cluster, codes, &folder) }
            })
            .collect();
        Self {
            cut: cut(reply.clusters_found, clusters.len(), without_code),
            name: shown(name),
            version: env!("CARGO_PKG_VERSION"),
            min_cluster_size: reply.min_cluster_size,
            files: reply.searched.files,
            lines: reply.totals.lines,
            copied_lines: reply.totals.copied_lines,
            spare_lines: reply.totals.spare_lines,
            share: phrases::share(reply.totals.copied_lines, reply.totals.lines),
            found: reply.clusters_found,
            nothing: phrases::nothing(reply, of_a_change),
            of_a_change,
            gate: reply.gate.as_ref().map(|report| phrases::sentence(&gate::outcome(report, None))),
            left_out: reply
                .left_out
                .iter()
                .map(|left| LeftOutData {
                    said: phrases::left_out(left),
                    flag: format!("--include {}", left.reason),
                })
                .collect(),
            notes: reply
                .notes
                .iter()
                .map(|note| shown(note))
                .chain(
                    phrases::ignored(&reply.totals).map(|lines| format!("never compared: {lines}")),
                )
                .collect(),
            changed: reply.changed.len(),
            kinds: CopyKind::ALL
                .iter()
                .map(|kind| Named { id: kind.name(), said: phrases::meaning(*kind) })
                .collect(),
            places: Place::ALL
                .iter()
                .map(|place| Named { id: place.name(), said: phrases::section(*place) })
                .collect(),
            folders: opened.iter().map(|folder| shown(folder)).collect(),
            clusters,
        }
    }
}

/// What the page has to leave off.
fn cut(found: usize, clusters: usize, without_code: usize) -> Vec<String> {
    let mut cut = Vec::new();
    if clusters < found {
        cut.push(format!(
            "This page holds the first {clusters} of {} clusters; `--path` and `--kind` choose \
             others, `--json -n 0` gives all.",
            print::number(found),
        ));
    }
    if without_code > 0 {
        cut.push(format!(
            "{without_code} of the clusters come without their code, which would make the page too \
             large; `sai duplicates --show ID` shows it."
        ));
    }
    cut
}

impl ClusterData {
    fn new(
        cluster: &Cluster,
        codes: Vec<Option<CodeData>>,
        folder: &dyn Fn(&str) -> usize,
    ) -> Self {
        let codes = codes.into_iter().chain(std::iter::repeat_with(|| None));
        let members = cluster.members.iter().zip(codes).enumerate();
        let is_named = |at: usize| at < MEMBERS_MAX || at == cluster.medoid;
        let members = members.filter(|(at, _)| is_named(*at)).map(|(_, member)| member);
        Self {
            id: cluster.id.clone(),
            kind: cluster.kind,
            place: cluster.place,
            size: cluster.size,
            low: cluster.min_similarity,
            high: cluster.max_similarity,
            similarity: phrases::similarity(cluster),
            medoid: cluster.medoid.min(MEMBERS_MAX),
            tokens: cluster.tokens,
            lines: cluster.lines,
            payoff: cluster.payoff,
            touched: cluster.is_touched,
            new: cluster.is_new == Some(true),
            failing: None,
            omission: cluster.omission,
            reason: cluster.reason.as_deref().map(shown),
            discounts: phrases::discounts(cluster).as_deref().map(phrases::sentence),
            differs: phrases::counted(&cluster.differs),
            examples: cluster.differs.examples.iter().map(|example| shown(example)).collect(),
            members: members.map(|(member, code)| MemberData::new(member, code, folder)).collect(),
        }
    }
}

impl MemberData {
    fn new(member: &Member, code: Option<CodeData>, folder: &dyn Fn(&str) -> usize) -> Self {
        let of_side = member.side.as_ref().map(|side| side.language);
        Self {
            path: shown(member.path.as_str()),
            first: member.start_line,
            last: member.end_line,
            symbol: member.symbol.as_deref().map(shown),
            kind: member.kind.name(),
            language: of_side.unwrap_or_else(|| Language::of(&member.path, "")),
            folder: folder(member.path.as_str()),
            similarity: phrases::rounded(member.similarity),
            touched: member.is_touched,
            freshness: match member.freshness {
                Freshness::Unchanged | Freshness::NotIndexed => None,
                Freshness::Moved => Some("moved since indexing"),
                Freshness::Changed => Some("changed since indexing"),
                Freshness::Missing => Some("file is gone"),
            },
            code,
        }
    }
}

/// The code of each member; none when the medoid's is not at hand.
fn codes(cluster: &Cluster) -> Vec<Option<CodeData>> {
    let Some(medoid) = &cluster.members[cluster.medoid].side else { return Vec::new() };
    let code = |member: &Member| member.side.as_ref().map(|side| CodeData::new(side, medoid));
    cluster.members.iter().map(code).collect()
}

impl CodeData {
    fn new(side: &Side, medoid: &Side) -> Self {
        let (text, cut) = beginning(&side.text);
        let (medoid_text, _) = beginning(&medoid.text);
        let written = Written::new(text);
        let medoid_written = Written::new(medoid_text);
        let rows = if std::ptr::eq(side, medoid) {
            Vec::new()
        } else {
            let left = Marked { text: medoid_text, marks: &side.medoid_marks };
            runs(&beside::rows(left, Marked { text, marks: &side.marks }))
        };
        Self {
            colors: written.colors(side.language, text),
            marks: written.ranges(&side.marks),
            medoid_marks: medoid_written.ranges(&side.medoid_marks),
            rows,
            text: written.text,
            cut,
        }
    }

    /// About how long it is as JSON.
    fn bytes(&self) -> usize {
        let numbers =
            self.colors.len() + self.marks.len() + self.medoid_marks.len() + self.rows.len();
        self.text.len() + 3 * numbers + 100
    }
}

/// As much of a text as is shown, in whole lines, and how many lines are not.
fn beginning(text: &str) -> (&str, usize) {
    let lines = beside::lines(text);
    let fits = |(at, line): (usize, &Range<usize>)| at < LINES_MAX && line.end <= SIDE_BYTES_MAX;
    let shown = lines.iter().enumerate().take_while(|line| fits(*line)).count();
    let end = shown.checked_sub(1).map_or(0, |last| lines[last].end);
    if shown == lines.len() { (text, 0) } else { (&text[..end], lines.len() - shown) }
}

/// Rows as runs; see [`CodeData::rows`].
fn runs(rows: &[beside::Row]) -> Vec<i32> {
    let line = |at: Option<usize>| at.map_or(-1, |at| at as i32);
    let mut runs: Vec<[i32; 4]> = Vec::new();
    for row in rows {
        let (left, right, same) = (line(row.left), line(row.right), i32::from(row.is_same));
        let goes_on = |from: i32, count: i32, to: i32| {
            if from < 0 { to < 0 } else { to == from + count }
        };
        match runs.last_mut() {
            Some([l, r, count, s])
                if *s == same && goes_on(*l, *count, left) && goes_on(*r, *count, right) =>
            {
                *count += 1;
            }
            _ => runs.push([left, right, 1, same]),
        }
    }
    runs.concat()
}

/// A text with deceptive characters written out, and where each of its bytes came to lie.
struct Written {
    text: String,
    /// UTF-16 units before each byte, and before the end.
    units: Vec<u32>,
    /// Units that a written-out character takes.
    deceptive: Vec<Range<u32>>,
}

impl Written {
    fn new(text: &str) -> Self {
        let mut written = Self {
            text: String::new(),
            units: Vec::with_capacity(text.len() + 1),
            deceptive: vec![],
        };
        let mut unit = 0;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            written.units.extend(std::iter::repeat_n(unit, c.len_utf8()));
            if c == '\r' && rest.peek().is_none_or(|next| *next == '\n') {
                continue;
            }
            if is_deceptive(c) && c != '\n' && c != '\t' {
                let before = written.text.len();
                written.text.extend(c.escape_unicode());
                let after = unit + (written.text.len() - before) as u32;
                written.deceptive.push(unit..after);
                unit = after;
            } else {
                written.text.push(c);
                unit += c.len_utf16() as u32;
            }
        }
        written.units.push(unit);
        written
    }

    /// Where bytes of the original lie now; those beyond its end are at the end.
    fn range(&self, bytes: &Range<usize>) -> Range<u32> {
        let unit = |byte: usize| self.units[byte.min(self.units.len() - 1)];
        unit(bytes.start)..unit(bytes.end)
    }

    /// Ranges as numbers; see [`CodeData::marks`].
    fn ranges(&self, ranges: &[Range<usize>]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(2 * ranges.len());
        let mut at = 0;
        for range in ranges.iter().map(|range| self.range(range)) {
            if range.start >= at && !range.is_empty() {
                numbers.extend([range.start - at, range.end - range.start]);
                at = range.end;
            }
        }
        numbers
    }

    /// Colours as numbers; see [`CodeData::colors`].
    fn colors(&self, language: Language, text: &str) -> Vec<u32> {
        let colored = parse::highlight(language, text)
            .into_iter()
            .filter_map(|(bytes, highlight)| Some((self.range(&bytes), color(highlight)?)));
        let mut ranges: Vec<(Range<u32>, u32)> = Vec::new();
        let mut deceptive = self.deceptive.iter().cloned().peekable();
        for (range, color) in colored {
            let mut start = range.start;
            while let Some(hidden) = deceptive.next_if(|hidden| hidden.start < range.end) {
                ranges.push((start..hidden.start.max(start), color));
                start = hidden.end.max(start);
                ranges.push((hidden, DECEPTIVE));
            }
            ranges.push((start..range.end.max(start), color));
        }
        ranges.extend(deceptive.map(|hidden| (hidden, DECEPTIVE)));
        let mut numbers = Vec::with_capacity(3 * ranges.len());
        let mut at = 0;
        for (range, color) in ranges.into_iter().filter(|(range, _)| !range.is_empty()) {
            if range.start >= at {
                numbers.extend([range.start - at, range.end - range.start, color]);
                at = range.end;
            }
        }
        numbers
    }
}

/// The colour of what was written out.
const DECEPTIVE: u32 = 8;

/// A colour's number: a position in the script's `COLORS`.
const fn color(highlight: Highlight) -> Option<u32> {
    Some(match highlight {
        Highlight::Keyword => 0,
        Highlight::Function => 1,
        Highlight::Type => 2,
        Highlight::String => 3,
        Highlight::Number => 4,
        Highlight::Comment => 5,
        Highlight::Constant => 6,
        Highlight::Property => 7,
        Highlight::Other => return None,
    })
}

/// A name with deceptive characters written out.
fn shown(text: &str) -> String {
    print::safe(text)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::sample;
    use super::*;

    /// The report in a page, as its script reads it.
    fn data(page: &str) -> Value {
        let (_, data) = page.split_once("type=\"application/json\"").unwrap();
        let (_, data) = data.split_once('>').unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        serde_json::from_str(data).unwrap()
    }

    fn page(reply: &DuplicatesReply) -> String {
        text(reply, "name", false).unwrap()
    }

    #[test]
    fn a_page_holds_the_report_and_reaches_nothing() {
        let page = page(&sample::reply());
        let data = data(&page);
        assert_eq!(data["clusters"][1]["id"], "3f2a9c01b7de-2");
        assert_eq!(data["folders"], serde_json::json!(["src", "src/b"]));
        assert_eq!(data["clusters"][1]["members"][1]["folder"], 1);
        assert_eq!(data["cut"].as_array().unwrap().len(), 1, "3 found, 2 given: {}", data["cut"]);
        for hole in ["nonce", "style", "script", "data"] {
            assert!(!page.contains(&format!("{{{{{hole}}}}}")), "{hole}");
        }
        assert!(page.contains("default-src 'none'"));
        let lower = page.to_lowercase();
        for reach in ["https://", "src=\"", "href=\"http", "@import", "url(", "fetch(", "innerhtml"]
        {
            assert!(!lower.contains(reach), "{reach}");
        }
    }

    #[test]
    fn names_and_code_cannot_leave_their_place() {
        let hostile = page(&sample::hostile());
        let harmless = page(&sample::reply());
        for hazard in ["<script", "</script", "<!--", "<img"] {
            let count = |page: &str| page.to_lowercase().matches(hazard).count();
            assert_eq!(count(&hostile), count(&harmless), "{hazard}");
        }
        assert!(!hostile.contains('\u{202e}'));
        let code = &data(&hostile)["clusters"][1]["members"][0]["code"];
        let text = code["text"].as_str().unwrap();
        assert!(
            text.starts_with("// </script><img src=x onerror=alert(1)>|`@all`\\u{202e}\n"),
            "{text}"
        );
        let nonce = |page: &str| {
            let (_, nonce) = page.split_once("'nonce-").unwrap();
            nonce.split_once('\'').unwrap().0.to_owned()
        };
        assert_ne!(nonce(&hostile), nonce(&harmless), "nobody knows it before the report is made");
    }

    #[test]
    fn what_is_new_comes_first() {
        let mut reply = sample::failing();
        reply.clusters.insert(0, sample::test_cluster());
        let data = data(&page(&reply));
        assert_eq!(data["gate"], "Gate failed: 1 cluster new (14 known)");
        assert_eq!(data["clusters"][0]["failing"], "new");
        assert_eq!(data["clusters"][0]["new"], true);
        assert_eq!(data["clusters"][1]["new"], false);
    }

    #[test]
    fn pages_of_one_report_are_equal() {
        assert_eq!(page(&sample::reply()), page(&sample::reply()));
    }

    #[test]
    fn positions_count_utf_16_units_of_what_is_shown() {
        let written = Written::new("a\r\n\u{202e}漢\u{1f600}b\r");
        assert_eq!(written.text, "a\n\\u{202e}漢\u{1f600}b");
        // The bytes of `b`: after 1 + 2 + 3 + 3 + 4.
        assert_eq!(written.range(&(13..14)), 13..14);
        assert_eq!(written.ranges(&[0..1, 6..9, 13..99]), [0, 1, 9, 1, 2, 1]);
        assert_eq!(written.deceptive.first(), Some(&(2..10)));
        assert_eq!(written.deceptive.len(), 1);
    }

    #[test]
    fn colours_give_way_to_what_is_written_out() {
        let text = "// a\u{202e}b\nlet x = 1;";
        let colors = Written::new(text).colors(Language::Rust, text);
        let of = |at: usize| [colors[3 * at], colors[3 * at + 1], colors[3 * at + 2]];
        assert_eq!([of(0), of(1), of(2)], [[0, 4, 5], [0, 8, DECEPTIVE], [0, 1, 5]]);
        assert_eq!(of(3), [1, 3, 0], "`let` is a keyword");
        let plain = Written::new("\u{202e}").colors(Language::Text, "\u{202e}");
        assert_eq!(plain, [0, 8, DECEPTIVE]);
    }

    #[test]
    fn rows_become_runs() {
        let row = |left, right, is_same| beside::Row { left, right, is_same };
        let rows = [
            row(Some(0), Some(0), true),
            row(Some(1), Some(1), true),
            row(Some(2), None, false),
            row(Some(3), None, false),
            row(Some(4), Some(2), true),
        ];
        assert_eq!(runs(&rows), [0, 0, 2, 1, 2, -1, 2, 0, 4, 2, 1, 1]);
    }

    #[test]
    fn long_code_is_cut_and_said_to_be() {
        let text = "x\n".repeat(LINES_MAX + 5);
        let (shown, cut) = beginning(&text);
        assert_eq!((shown.lines().count(), cut), (LINES_MAX, 5));
        assert_eq!(beginning(&"x".repeat(SIDE_BYTES_MAX + 1)), ("", 1));
        assert_eq!(beginning("a\nb"), ("a\nb", 0));
    }

    #[test]
    fn of_many_members_the_first_and_the_medoid_are_named() {
        let mut reply = sample::reply();
        let cluster = &mut reply.clusters[1];
        cluster.members = vec![cluster.members[0].clone(); 300];
        cluster.members[250].symbol = Some("medoid".to_owned());
        (cluster.size, cluster.medoid) = (300, 250);
        let cluster = &data(&page(&reply))["clusters"][1];
        assert_eq!(cluster["members"].as_array().unwrap().len(), MEMBERS_MAX + 1);
        assert_eq!((&cluster["size"], &cluster["medoid"]), (&300.into(), &MEMBERS_MAX.into()));
        assert_eq!(cluster["members"][MEMBERS_MAX]["symbol"], "medoid");
    }

    #[test]
    fn a_page_stays_small_and_says_what_it_leaves_off() {
        let mut cluster = sample::cluster();
        for member in &mut cluster.members {
            let side = member.side.as_mut().unwrap();
            side.text = format!("{}\n", "let a = b;".repeat(20)).repeat(200);
            side.marks.clear();
            side.medoid_marks.clear();
            side.language = Language::Text;
        }
        let reply = DuplicatesReply {
            clusters: vec![cluster; 600],
            clusters_found: 600,
            ..sample::reply()
        };
        let page = page(&reply);
        assert!(page.len() < CODE_BYTES_MAX + (2 << 20), "{}", page.len());
        let data = data(&page);
        assert_eq!(data["clusters"].as_array().unwrap().len(), CLUSTERS_MAX);
        let cut = data["cut"].to_string();
        assert!(cut.contains("first 500 of 600") && cut.contains("without their code"), "{cut}");
    }
}
