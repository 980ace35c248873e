//! What the gate lets pass, and what it says of what it does not.

use super::*;
use crate::duplicates::report::Member;
use crate::duplicates::sample::{cluster, member};
use crate::error::ErrorKind;

fn of(hash: &str, paths: &[&str]) -> Cluster {
    let members: Vec<Member> = paths.iter().map(|path| member(path, "f", hash, 10..=20)).collect();
    cluster(hash, members)
}

fn touched(mut cluster: Cluster) -> Cluster {
    cluster.is_touched = true;
    cluster
}

fn judged(
    clusters: &mut [Cluster],
    fail_on: FailOn,
    known: Option<&[Cluster]>,
    has_change: bool,
) -> GateReport {
    let known = known.map(|clusters| Baseline::of(Settings::default(), clusters));
    judge(clusters, &Gate { fail_on, known }, has_change, Settings::default()).unwrap()
}

fn reasons(report: &GateReport) -> Vec<(&str, &str)> {
    report.failing.iter().map(|fail| (fail.id.as_str(), fail.reason.as_str())).collect()
}

#[test]
fn without_a_change_every_unknown_cluster_is_new() {
    let known = [of("aa", &["a.rs", "b.rs"])];
    let mut now = [known[0].clone(), of("bb", &["a.rs", "c.rs"])];
    let report = judged(&mut now, FailOn::New, Some(&known), false);
    assert_eq!(reasons(&report), [("bb-2", "new")]);
    assert_eq!((report.passed, report.known, report.untouched), (false, 1, 0));
    assert_eq!(now.map(|cluster| cluster.is_new), [Some(false), Some(true)]);
}

#[test]
fn with_a_change_only_what_it_touches_is_new() {
    let known = [of("aa", &["a.rs", "b.rs"]), of("dd", &["x.rs", "y.rs"])];
    let mut now = [
        touched(known[0].clone()),
        of("bb", &["a.rs", "c.rs"]),
        touched(of("cc", &["d.rs", "e.rs"])),
    ];
    let report = judged(&mut now, FailOn::New, Some(&known), true);
    assert_eq!(reasons(&report), [("cc-2", "new")]);
    assert_eq!((report.known, report.untouched, report.clusters), (1, 1, 2));
    assert_eq!(report.gone, [Gone { id: "dd-2".to_owned(), at: "x.rs f".to_owned() }]);
    assert_eq!(report.failing[0].position, 2);
    let passed = judged(&mut now[..2], FailOn::New, Some(&known), true);
    assert!(passed.passed && passed.failing.is_empty() && passed.new.is_empty());
}

#[test]
fn more_members_than_known_fail_wherever_the_change_is() {
    let known = [of("aa", &["a.rs", "b.rs"])];
    let three = of("aa", &["a.rs", "b.rs", "c.rs"]);
    let report = judged(&mut [touched(three.clone())], FailOn::New, Some(&known), true);
    assert_eq!(reasons(&report), [("aa-3", "one more copy (3, the baseline knows 2)")]);
    let report = judged(&mut [three], FailOn::New, Some(&known), true);
    let why = "one more copy (3, the baseline knows 2; no line of the change lies in it)";
    assert_eq!(reasons(&report), [("aa-3", why)]);
    let four = of("aa", &["a.rs", "b.rs", "c.rs", "d.rs"]);
    let report = judged(&mut [four], FailOn::New, Some(&known), false);
    assert_eq!(reasons(&report), [("aa-4", "2 more copies (4, the baseline knows 2)")]);
}

#[test]
fn without_a_baseline_what_a_change_touches_is_new() {
    let mut now = [of("aa", &["a.rs", "b.rs"]), touched(of("bb", &["a.rs", "c.rs"]))];
    let report = judged(&mut now, FailOn::New, None, true);
    assert_eq!(reasons(&report), [("bb-2", "new")]);
}

#[test]
fn any_and_a_number_count_what_the_report_shows() {
    let known = [of("aa", &["a.rs", "b.rs"])];
    let now = || [known[0].clone(), touched(of("bb", &["a.rs", "c.rs"]))];
    let any = judged(&mut now(), FailOn::Any, Some(&known), false);
    assert_eq!(reasons(&any), [("aa-2", "known"), ("bb-2", "new")]);
    let change = judged(&mut now(), FailOn::Any, Some(&known), true);
    assert_eq!(reasons(&change), [("bb-2", "new")]);
    let enough = judged(&mut now(), FailOn::More(2), None, false);
    assert!(enough.passed && enough.failing.is_empty());
    let more = judged(&mut now(), FailOn::More(1), None, false);
    assert_eq!(more.failing.len(), 2);
    assert!(judged(&mut [], FailOn::Any, None, false).passed);
}

#[test]
fn what_a_person_hid_and_what_only_vectors_say_never_fails() {
    let kinds: [fn(&mut Cluster); 3] = [
        |cluster| cluster.omission = Some(Omission::Intentional),
        |cluster| cluster.omission = Some(Omission::Marked),
        |cluster| cluster.kind = CopyKind::Behaviour,
    ];
    for change in kinds {
        let mut cluster = touched(of("aa", &["a.rs", "b.rs"]));
        change(&mut cluster);
        let mut now = [cluster];
        let report = judged(&mut now, FailOn::Any, None, true);
        assert!(report.passed && report.clusters == 0, "{report:?}");
        assert_eq!(report.now.clusters, []);
        assert_eq!(now[0].is_new, None);
    }
    // Tests are left out by default; whoever asks for them means them.
    let mut tests = of("aa", &["tests/a.rs", "tests/b.rs"]);
    tests.omission = Some(Omission::Tests);
    assert!(!judged(&mut [tests], FailOn::Any, None, false).passed);
}

#[test]
fn other_settings_are_refused() {
    let known = Baseline::of(Settings { top_k: 9, ..Settings::default() }, &[]);
    let gate = Gate { fail_on: FailOn::New, known: Some(known) };
    let error = judge(&mut [], &gate, false, Settings::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().ends_with("other settings: top_k 9, now 0"), "{error}");
}

#[test]
fn what_fails_is_a_word_or_a_number() {
    for (text, expected) in [("new", FailOn::New), ("any", FailOn::Any), ("0", FailOn::More(0))] {
        assert_eq!(FailOn::parse(text).unwrap(), expected);
        assert_eq!(expected.to_string(), text);
    }
    for text in ["", "all", "-1", "3%", "NEW"] {
        assert!(FailOn::parse(text).is_err(), "{text}");
    }
}
