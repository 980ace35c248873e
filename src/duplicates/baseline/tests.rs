//! What is known after code moved, came, went and was edited.

use std::slice::from_ref;

use proptest::prelude::*;

use super::*;
use crate::duplicates::sample::{cluster, member};

/// A cluster of the members `path symbol hash`, the first of which is the medoid.
fn of(members: &[(&str, &str, &str)]) -> Cluster {
    let members: Vec<Member> =
        members.iter().map(|(path, symbol, hash)| member(path, symbol, hash, 1..=9)).collect();
    cluster(&members[0].hash.clone(), members)
}

fn baseline(clusters: &[Cluster]) -> Baseline {
    Baseline::of(Settings::default(), clusters)
}

fn compared(before: &[Cluster], now: &[Cluster]) -> (Vec<Known>, usize) {
    let now: Vec<&Cluster> = now.iter().collect();
    let comparison = compare(&baseline(before).clusters, &now);
    (comparison.known, comparison.gone.len())
}

#[test]
fn what_stays_is_known_and_what_goes_is_gone() {
    let a = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa"), ("c.rs", "f", "aa")]);
    let b = of(&[("a.rs", "g", "bb"), ("b.rs", "g", "bb")]);
    let both = [a.clone(), b.clone()];
    assert_eq!(compared(&both, &both), (vec![Known::Whole; 2], 0));
    assert_eq!(compared(&both, std::slice::from_ref(&b)), (vec![Known::Whole], 1));
    assert_eq!(compared(from_ref(&a), &both), (vec![Known::Whole, Known::No], 0));
    assert_eq!(compared(&[], &both), (vec![Known::No; 2], 0));
    let fewer = of(&[("a.rs", "f", "aa"), ("c.rs", "f", "aa")]);
    assert_eq!(compared(&[a], &[fewer]), (vec![Known::Whole], 0));
}

#[test]
fn one_more_copy_is_more_than_is_known() {
    let two = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa")]);
    let three = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa"), ("c.rs", "f", "aa")]);
    assert_eq!(compared(from_ref(&two), from_ref(&three)), (vec![Known::Fewer(2)], 0));
    // A copy moved and another came: the count tells.
    let moved = of(&[("a.rs", "f", "aa"), ("c.rs", "f", "aa"), ("d.rs", "f", "aa")]);
    assert_eq!(compared(&[two], &[moved]), (vec![Known::Fewer(2)], 0));
}

#[test]
fn edited_and_moved_members_are_known() {
    let before = of(&[("a.rs", "f", "aa"), ("b.rs", "g", "aa")]);
    let cases = [
        ("moved", of(&[("x.rs", "f", "aa"), ("y.rs", "g", "aa")])),
        ("one edited", of(&[("a.rs", "f", "aa"), ("b.rs", "g", "a2")])),
        ("the medoid edited", of(&[("a.rs", "f", "a2"), ("b.rs", "g", "aa")])),
        ("both edited alike", of(&[("a.rs", "f", "a2"), ("b.rs", "g", "a2")])),
        ("one moved, the other edited", of(&[("b.rs", "g", "a2"), ("x.rs", "f", "aa")])),
    ];
    for (what, now) in cases {
        assert_eq!(compared(from_ref(&before), &[now]), (vec![Known::Whole], 0), "{what}");
    }
    let other = of(&[("a.rs", "h", "cc"), ("b.rs", "i", "cc")]);
    assert_eq!(compared(&[before], &[other]), (vec![Known::No], 1));
}

#[test]
fn what_was_known_apart_is_known_together_and_the_other_way_round() {
    let a = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa")]);
    let b = of(&[("a.rs", "g", "bb"), ("b.rs", "g", "bb")]);
    let both =
        of(&[("a.rs", "f", "aa"), ("a.rs", "g", "bb"), ("b.rs", "f", "aa"), ("b.rs", "g", "bb")]);
    let apart = [a, b];
    assert_eq!(compared(&apart, std::slice::from_ref(&both)), (vec![Known::Whole], 0));
    assert_eq!(compared(std::slice::from_ref(&both), &apart), (vec![Known::Whole; 2], 0));
    // With a stranger among them they are one more.
    let mut more = both.clone();
    more.members.push(member("z.rs", "z", "bb", 1..=9));
    more.size = 5;
    assert_eq!(compared(&apart, &[more]), (vec![Known::Fewer(4)], 0));
}

#[test]
fn a_known_copy_excuses_one_copy_only() {
    // `f` was rewritten as a copy of `h`: one more of these, though `f` had a copy before.
    let before = [
        of(&[("a.rs", "f", "aa"), ("a.rs", "g", "aa")]),
        of(&[("b.rs", "h", "bb"), ("b.rs", "i", "bb")]),
    ];
    let now = of(&[("b.rs", "h", "bb"), ("a.rs", "f", "bb"), ("b.rs", "i", "bb")]);
    assert_eq!(compared(&before, &[now]), (vec![Known::Fewer(2)], 1));
    // Two that were copies of others are new as copies of each other.
    let now = of(&[("a.rs", "f", "cc"), ("b.rs", "h", "cc")]);
    let (known, _) = compared(&before, &[before[0].clone(), before[1].clone(), now]);
    assert_eq!(known, [Known::Whole, Known::Whole, Known::No]);
}

#[test]
fn sections_are_compared_with_their_own() {
    let mut tests = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa"), ("tests/a.rs", "f", "aa")]);
    tests.place = Place::Test;
    let source = of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa")]);
    assert_eq!(compared(&[tests.clone()], from_ref(&source)), (vec![Known::No], 1));
    let both = [tests, source];
    assert_eq!(compared(&both, &both), (vec![Known::Whole; 2], 0));
}

#[test]
fn a_baseline_is_text_that_reads_well_in_a_difference() {
    let settings = Settings { min_score: Some(0.93), ..Settings::default() };
    let clusters = [
        of(&[("b.rs", "g", "bb"), ("a \"quoted\".rs", "", "b2")]),
        of(&[("b.rs", "f", "aa"), ("a.rs", "f", "aa")]),
    ];
    let text = Baseline::of(settings, &clusters).text();
    let (_, list) = text.split_once("\"clusters\": ").unwrap();
    assert_eq!(
        list,
        r#"[
    {
      "id": "bb", "kind": "exact", "place": "source", "members": 2,
      "copies": [
        {"path":"a \"quoted\".rs","hash":"b2"},
        {"path":"b.rs","symbol":"g","hash":"bb"}
      ]
    },
    {
      "id": "aa", "kind": "exact", "place": "source", "members": 2,
      "copies": [
        {"path":"a.rs","symbol":"f","hash":"aa"},
        {"path":"b.rs","symbol":"f","hash":"aa"}
      ]
    }
  ]
}
"#
    );
    assert!(text.contains("\n    \"min_score\": 0.93,\n"), "{text}");
    assert!(baseline(&[]).text().ends_with("\"clusters\": []\n}\n"));
    // Lines and the order of things change nothing.
    let mut moved = clusters.clone();
    moved.reverse();
    for cluster in &mut moved {
        cluster.members.reverse();
        cluster.members.iter_mut().for_each(|member| member.start_line += 40);
    }
    let settings = Settings { min_score: Some(0.93), ..Settings::default() };
    assert_eq!(Baseline::of(settings, &moved).text(), text);
}

#[test]
fn a_baseline_is_written_in_one_step_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("known.json");
    assert_eq!(Baseline::read(&file).unwrap(), None);
    let first = baseline(&[of(&[("a.rs", "f", "aa"), ("b.rs", "f", "aa")])]);
    assert!(first.write(&file).unwrap());
    assert!(!first.write(&file).unwrap(), "as before");
    assert_eq!(Baseline::read(&file).unwrap(), Some(first));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    let nowhere = folder.path().join("no/such/folder.json");
    let error = baseline(&[]).write(&nowhere).unwrap_err();
    assert!(error.to_string().starts_with("cannot write `"), "{error}");
}

#[test]
fn what_is_no_baseline_says_so_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("known.json");
    let cases = [
        ("", "is no baseline: EOF"),
        ("fn main() {}\n", "is no baseline: expected"),
        ("{\"schema\": \"sai.duplicates.v9\"}", "is of the format `sai.duplicates.v9`, not `sai."),
        ("{\"schema\": \"sai.duplicates.v1\", \"clusters\": []}", "missing field `settings`"),
        (&baseline(&[]).text().replace("top_k", "top_j"), "unknown field `top_j`"),
    ];
    for (text, expected) in cases {
        std::fs::write(&file, text).unwrap();
        let error = Baseline::read(&file).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(error.next_step().unwrap().contains("--update-baseline"));
    }
    std::fs::write(&file, b"\xff\xfe").unwrap();
    assert!(Baseline::read(&file).unwrap_err().to_string().contains("is not UTF-8"));
    assert!(Baseline::read(folder.path()).unwrap_err().to_string().contains("is no file"));
}

#[test]
fn other_settings_are_named() {
    let before = Settings { min_cluster_size: 2, min_score: Some(0.9), ..Settings::default() };
    let known = Baseline::of(before.clone(), &[]);
    assert!(known.check(&before).is_ok());
    let include = vec![Omission::Tests];
    let now = Settings { min_cluster_size: 3, min_score: None, include, ..before };
    let error = known.check(&now).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the baseline was made with other settings: include [], now [\"tests\"]; \
         min_cluster_size 2, now 3; min_score 0.9, now null"
    );
    assert!(error.next_step().unwrap().contains("`--update-baseline`"));
}

/// Clusters of functions of few names, so that much is alike.
fn clusters() -> impl Strategy<Value = Vec<Cluster>> {
    let plain = (0u8..12, 0u8..4, 0u8..8);
    let members = prop::collection::vec(plain, 2..6);
    prop::collection::vec(members, 0..6).prop_map(|clusters| {
        clusters
            .iter()
            .map(|members| {
                let members = members.iter().map(|(path, symbol, hash)| {
                    let (path, hash) = (format!("{path}.rs"), format!("{hash:012x}"));
                    member(&path, &format!("f{symbol}"), &hash, 1..=9)
                });
                let members: Vec<Member> = members.collect();
                cluster(&members[0].hash.clone(), members)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn a_report_is_known_to_its_own_baseline(now in clusters()) {
        let (known, gone) = compared(&now, &now);
        prop_assert!(known.iter().all(|known| *known == Known::Whole), "{known:?}");
        prop_assert_eq!(gone, 0);
    }

    #[test]
    fn the_order_of_clusters_and_members_changes_nothing(
        before in clusters(), now in clusters(), seed in any::<u64>(),
    ) {
        let entries = baseline(&before).clusters;
        let first = compare(&entries, &now.iter().collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..now.len()).collect();
        order.sort_by_key(|at| (*at as u64).wrapping_mul(seed | 1));
        let other = compare(&entries, &order.iter().map(|at| &now[*at]).collect::<Vec<_>>());
        // Clusters that are equal in all but their place in the list may change roles.
        let sorted = |mut known: Vec<(String, Known)>| { known.sort_by_key(|k| format!("{k:?}")); known };
        let name = |at: usize| format!("{:?}", now[at].members);
        let a = sorted((0..now.len()).map(|at| (name(at), first.known[at])).collect());
        let b = sorted(order.iter().enumerate().map(|(pos, at)| (name(*at), other.known[pos])).collect());
        prop_assert_eq!(a, b);
        prop_assert_eq!(first.gone, other.gone);
    }

    /// Taking a copy away makes nothing new.
    #[test]
    fn fewer_members_are_never_new(before in clusters(), which in any::<prop::sample::Index>()) {
        prop_assume!(!before.is_empty());
        let mut now = before.clone();
        let at = which.index(now.len());
        let medoid = now[at].members.pop().unwrap();
        now[at].size -= 1;
        if now[at].size < 2 { now.remove(at); }
        let (known, _) = compared(&before, &now);
        prop_assert!(known.iter().all(|known| *known == Known::Whole), "{known:?} {medoid:?}");
    }

    /// A copy that nothing knows is found, wherever it comes.
    #[test]
    fn one_more_copy_never_passes(before in clusters(), which in any::<prop::sample::Index>()) {
        prop_assume!(!before.is_empty());
        let mut now = before.clone();
        let at = which.index(now.len());
        now[at].members.push(member("new.rs", "new", "ffffffffffff", 1..=9));
        now[at].size += 1;
        let (known, _) = compared(&before, &now);
        let more = known.iter().filter(|known| **known != Known::Whole).count();
        prop_assert!(more >= 1);
    }

    /// No more copies are excused than are known.
    #[test]
    fn known_copies_are_never_more_than_the_baseline_has(before in clusters(), now in clusters()) {
        let (known, _) = compared(&before, &now);
        let excused: usize = now.iter().zip(&known).map(|(cluster, known)| match known {
            Known::Whole => cluster.size,
            _ => 0,
        }).sum();
        let all: usize = before.iter().map(|cluster| cluster.size).sum();
        // A matched entry excuses as many members as it has, whoever they are; what is left of
        // others is counted once more.
        prop_assert!(excused <= 2 * all);
    }
}
