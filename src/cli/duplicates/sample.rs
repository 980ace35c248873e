//! A report for tests of the renderers.

use crate::request::{
    Baseline, Cluster, ClusterOrder, CopyKind, Differences, DuplicatesReply, FailOn, Failing,
    Freshness, GateReport, LeftOut, Member, Omission, Searched, Side, Totals,
};
use crate::types::{ChunkKind, Language, Place, RelPath};

/// The medoid's text.
pub(super) const LEFT: &str = "fn add() {\n    let total = \"a\";\n    total\n}";

/// The other member's.
pub(super) const RIGHT: &str = "fn join() {\n    let sum = \"b\";\n    sum\n}";

pub(super) fn path(path: &str) -> RelPath {
    RelPath::new(path.as_ref()).expect("a relative path")
}

fn marks(text: &str, words: &[&str]) -> Vec<std::ops::Range<usize>> {
    let mut marks: Vec<_> = words
        .iter()
        .flat_map(|word| text.match_indices(word).map(|(at, _)| at..at + word.len()))
        .collect();
    marks.sort_by_key(|mark| mark.start);
    marks
}

fn member(at: &str, symbol: &str, side: Side) -> Member {
    Member {
        path: path(at),
        start_line: 10,
        end_line: 13,
        symbol: Some(symbol.to_owned()),
        kind: ChunkKind::Function,
        place: Place::Source,
        similarity: 1.0,
        cosine: Some(0.97),
        hash: "00112233aabb".to_owned(),
        is_touched: false,
        freshness: Freshness::Unchanged,
        side: Some(side),
    }
}

/// Two members, the first of them the medoid.
pub(super) fn cluster() -> Cluster {
    let left_marks = marks(LEFT, &["add", "total", "\"a\""]);
    let left = Side {
        language: Language::Rust,
        text: LEFT.to_owned(),
        marks: left_marks.clone(),
        medoid_marks: Vec::new(),
    };
    let right = Side {
        language: Language::Rust,
        text: RIGHT.to_owned(),
        marks: marks(RIGHT, &["join", "sum", "\"b\""]),
        medoid_marks: left_marks,
    };
    Cluster {
        id: "3f2a9c01b7de-2".to_owned(),
        kind: CopyKind::Renamed,
        size: 2,
        min_similarity: 0.999,
        max_similarity: 1.0,
        medoid: 0,
        tokens: 15,
        lines: 4,
        payoff: 3.5,
        discounts: Vec::new(),
        place: Place::Source,
        differs: Differences {
            names: 2,
            literals: 1,
            tokens: 0,
            examples: vec!["total → sum".to_owned(), "\"a\" → \"b\"".to_owned()],
        },
        omission: None,
        reason: None,
        is_touched: false,
        is_new: None,
        members: vec![member("src/a.rs", "add", left), member("src/b/c.rs", "join", right)],
    }
}

/// A cluster of tests, shown because it was asked for.
pub(super) fn test_cluster() -> Cluster {
    let mut cluster = cluster();
    cluster.id = "aa00aa00aa00-5".to_owned();
    cluster.kind = CopyKind::Exact;
    cluster.size = 5;
    cluster.differs = Differences::default();
    cluster.place = Place::Test;
    cluster.omission = Some(Omission::Tests);
    cluster.min_similarity = 1.0;
    cluster
}

pub(super) fn reply() -> DuplicatesReply {
    DuplicatesReply {
        min_score: 0.93,
        min_cluster_size: 2,
        top_k: 10,
        max_clusters: 50,
        order: ClusterOrder::Payoff,
        generation: 3,
        searched: Searched { files: 7, chunks: 70 },
        clusters_found: 3,
        clusters: vec![test_cluster(), cluster()],
        totals: Totals {
            lines: 1000,
            copied_lines: 25,
            spare_lines: 12,
            import_lines: 40,
            licence_lines: 0,
        },
        left_out: vec![
            LeftOut { reason: Omission::Tests, clusters: 12, members: 30 },
            LeftOut { reason: Omission::Marked, clusters: 0, members: 1 },
        ],
        changed: Vec::new(),
        notes: Vec::new(),
        gate: None,
    }
}

/// A report with a gate that one cluster does not pass.
pub(super) fn failing() -> DuplicatesReply {
    let mut cluster = cluster();
    cluster.is_new = Some(true);
    cluster.is_touched = true;
    let failing = Failing {
        position: 0,
        id: cluster.id.clone(),
        reason: "new".to_owned(),
        path: "src/a.rs".to_owned(),
        line: 10,
        symbol: Some("add".to_owned()),
    };
    let gate = GateReport {
        passed: false,
        fail_on: FailOn::New,
        clusters: 1,
        failing: vec![failing],
        new: vec![cluster.id.clone()],
        known: 14,
        untouched: 0,
        gone: Vec::new(),
        now: Baseline::default(),
    };
    DuplicatesReply { clusters: vec![cluster], gate: Some(gate), ..reply() }
}

/// A report whose names and code try to break out of what shows them.
pub(super) fn hostile() -> DuplicatesReply {
    let evil = "</script><img src=x onerror=alert(1)>|`@all`\u{202e}";
    let mut reply = reply();
    let cluster = &mut reply.clusters[1];
    cluster.reason = Some(evil.to_owned());
    cluster.differs.examples = vec![format!("{evil} → <!--<script>")];
    for member in &mut cluster.members {
        member.path =
            path(&format!("src/<b>&\"'|`@org/team` [x](y) %20 ü\u{202e}/{}", member.path));
        member.symbol = Some(evil.to_owned());
        if let Some(side) = &mut member.side {
            side.text.insert_str(0, &format!("// {evil}\n"));
            side.marks.clear();
            side.medoid_marks.clear();
        }
    }
    reply.notes = vec![evil.to_owned()];
    reply
}
