//! Verdicts read, written among comments, and refused.

use proptest::prelude::*;

use super::*;
use crate::duplicates::sample::{cluster, member};

const FILE: &str = "\
# Ours.
schema: sai.verdicts.v1

verdicts:
  # The protocols change apart.
  \"0a\":
    verdict: intentional
    members: 3
    because: two protocols
    at: src/a.rs f
  # Later.
  bb:
    verdict: real
    members: 2
    because: \"to be merged # soon\"
# The end.
";

fn tree(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(VERDICTS_FILE), text).unwrap();
    folder
}

fn text_of(root: &tempfile::TempDir) -> String {
    fs::read_to_string(root.path().join(VERDICTS_FILE)).unwrap()
}

fn two(hash: &str) -> Cluster {
    let members = [("src/x.rs", "one"), ("src/y.rs", "two")];
    let members = members.map(|(path, symbol)| member(path, symbol, hash, 1..=9));
    cluster(hash, members.to_vec())
}

#[test]
fn a_verdict_hides_as_many_members_as_were_judged() {
    let verdicts = load(tree(FILE).path()).unwrap();
    let hidden =
        Some((Some(Omission::Intentional), "judged intentional: two protocols".to_owned()));
    assert_eq!(verdicts.on("0a", 2), hidden);
    assert_eq!(verdicts.on("0a", 3), hidden);
    let shown = "judged intentional of 3 copies: two protocols".to_owned();
    assert_eq!(verdicts.on("0a", 4), Some((None, shown)));
    let real = "judged real: to be merged # soon".to_owned();
    assert_eq!(verdicts.on("bb", 9), Some((None, real)));
    assert_eq!(verdicts.on("cc", 2), None);
    assert_eq!(load(tempfile::tempdir().unwrap().path()).unwrap(), Verdicts::default());
    assert_eq!(load(tree("# nothing yet\n").path()).unwrap(), Verdicts::default());
}

#[test]
fn verdicts_on_what_is_gone_are_told() {
    let verdicts = load(tree(FILE).path()).unwrap();
    assert_eq!(verdicts.notes(&HashSet::from(["0a", "bb", "cc"])), [""; 0]);
    assert_eq!(
        verdicts.notes(&HashSet::from(["bb"])),
        ["1 verdict in sai-duplicates.yml is about clusters that are gone: 0a (src/a.rs f); `sai \
          duplicates --verdict ID none` removes one"]
    );
    let note = verdicts.notes(&HashSet::new()).remove(0);
    assert!(note.starts_with("2 verdicts in sai-duplicates.yml are about clusters"), "{note}");
}

#[test]
fn the_first_verdict_makes_the_file() {
    let root = tempfile::tempdir().unwrap();
    let file =
        judge(root.path(), &two("0f"), CopyVerdict::Boilerplate, " they are\n tables ").unwrap();
    assert_eq!(file, root.path().join(VERDICTS_FILE));
    let entry = "schema: sai.verdicts.v1\nverdicts:\n  \"0f\":\n    verdict: boilerplate\n    members: 2\n    \
                 because: \"they are tables\"\n    at: \"src/x.rs one\"\n";
    assert_eq!(text_of(&root), format!("{HEAD}{entry}"));
    forget(root.path(), "0f-2").unwrap();
    assert_eq!(text_of(&root), format!("{HEAD}schema: sai.verdicts.v1\nverdicts:\n"));
    assert_eq!(load(root.path()).unwrap(), Verdicts::default());
}

#[test]
fn comments_and_other_verdicts_stay_as_they_are() {
    let root = tree(FILE);
    let entry = "  \"0f\":\n    verdict: real\n    members: 2\n    because: \"why: \\\"so\\\"\"\n    \
                 at: \"src/x.rs one\"\n";
    judge(root.path(), &two("0f"), CopyVerdict::Real, "why: \"so\"").unwrap();
    assert_eq!(text_of(&root), FILE.replace("  # Later.\n", &format!("{entry}  # Later.\n")));
    // A second verdict replaces the first.
    judge(root.path(), &two("0f"), CopyVerdict::Intentional, "so").unwrap();
    let text = text_of(&root);
    assert!(
        text.contains("\"0f\":\n    verdict: intentional\n") && text.contains("# Later."),
        "{text}"
    );
    forget(root.path(), "0f").unwrap();
    assert_eq!(text_of(&root), FILE);
    forget(root.path(), "bb").unwrap();
    assert!(text_of(&root).ends_with("  # Later.\n# The end.\n"), "{}", text_of(&root));
}

#[test]
fn a_file_in_another_style_is_written_anew_unless_comments_would_be_lost() {
    let flow =
        "{schema: sai.verdicts.v1, verdicts: {\"0a\": {verdict: real, members: 2, because: x}}}\n";
    let root = tree(flow);
    judge(root.path(), &two("0f"), CopyVerdict::Real, "y").unwrap();
    assert_eq!(load(root.path()).unwrap().judged.len(), 2);
    let root = tree(&format!("# ours\n{flow}"));
    let error = judge(root.path(), &two("0f"), CopyVerdict::Real, "y").unwrap_err();
    assert!(error.to_string().contains("cannot be changed line by line"), "{error}");
    assert_eq!(text_of(&root), format!("# ours\n{flow}"));
}

#[test]
fn what_is_no_file_of_verdicts_says_where() {
    let cases = [
        ("verdicts: [", "line 2"),
        ("schema: sai.verdicts.v2\n", "its format is `sai.verdicts.v2`"),
        (&FILE.replace("intentional", "fine"), "unknown variant `fine`"),
        (&FILE.replace("members: 3", "members: many"), "line 8"),
        (&FILE.replace("members: 3", "files: '**'"), "unknown field `files`"),
        (&FILE.replace("because: two protocols", "because: ' '"), "`0a` has no reason"),
        (&FILE.replace("\"0a\":", "\"../x\":"), "`../x` is no id of a cluster"),
        (&FILE.replace("  bb:", "  \"0a\":"), "duplicate"),
        ("- a\n- b\n", "invalid type"),
    ];
    for (text, expected) in cases {
        let root = tree(text);
        let error = load(root.path()).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(expected) && shown.contains(VERDICTS_FILE), "{text}\n{shown}");
        assert!(judge(root.path(), &two("0f"), CopyVerdict::Real, "y").is_err());
        assert_eq!(text_of(&root), text, "a file that is not understood stays");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let outside = tree(FILE);
    let root = tempfile::tempdir().unwrap();
    let link = root.path().join(VERDICTS_FILE);
    std::os::unix::fs::symlink(outside.path().join(VERDICTS_FILE), link).unwrap();
    assert!(load(root.path()).unwrap_err().to_string().ends_with("is a link"));
}

#[test]
fn a_very_long_file_is_refused() {
    let root = tree(&"# x\n".repeat(BYTES_MAX as usize / 4 + 1));
    assert!(load(root.path()).unwrap_err().to_string().contains("has more than"));
}

#[test]
fn a_verdict_needs_a_reason_and_a_cluster() {
    let root = tempfile::tempdir().unwrap();
    let error = judge(root.path(), &two("0f"), CopyVerdict::Real, " \n").unwrap_err();
    assert_eq!(error.to_string(), "a verdict needs a reason");
    let error = forget(tree(FILE).path(), "0b-2").unwrap_err();
    assert_eq!(error.to_string(), "there is no verdict on `0b-2`");
    assert!(error.next_step().unwrap().starts_with("the nearest is `0a`"), "{error:?}");
}

#[test]
fn a_cluster_is_named_by_its_id_or_a_beginning_of_it() {
    let clusters = [two("3f2a9c01b2d4"), two("3f2a9c01ffff"), two("77aa00000000")];
    let found = |id| named(&clusters, id).map(|cluster| cluster.id.as_str());
    assert_eq!(found("77aa00000000-2").unwrap(), "77aa00000000-2");
    assert_eq!(found("3f2a9c01b2d4").unwrap(), "3f2a9c01b2d4-2");
    assert_eq!(found("77aa").unwrap(), "77aa00000000-2");
    for (id, nearest) in [("3f2a", "3f2a9c01b2d4-2"), ("77aa00000000-3", "77aa00000000-2")] {
        let error = found(id).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no cluster `{id}`"));
        assert!(error.next_step().unwrap().contains(nearest), "{error:?}");
    }
    assert!(named(&[], "x").unwrap_err().next_step().unwrap().contains("--all"));
}

proptest! {
    /// Whatever is written can be read, and nothing else changes.
    #[test]
    fn verdicts_come_and_go(
        steps in prop::collection::vec((0u8..5, ".{1,20}", any::<bool>()), 1..8)
    ) {
        let root = tree(FILE);
        let mut expected = load(root.path()).unwrap().judged;
        for (id, because, sets) in steps {
            let id = format!("{id:x}c");
            if sets && !because.trim().is_empty() {
                judge(root.path(), &two(&id), CopyVerdict::Intentional, &because).unwrap();
                expected.insert(id.clone(), Judged {
                    verdict: CopyVerdict::Intentional,
                    members: 2,
                    because: because.split_whitespace().collect::<Vec<_>>().join(" "),
                    at: "src/x.rs one".to_owned(),
                });
            } else {
                prop_assert_eq!(forget(root.path(), &id).is_ok(), expected.remove(&id).is_some());
            }
            prop_assert_eq!(&load(root.path()).unwrap().judged, &expected);
        }
        for comment in FILE.lines().filter(|line| line.trim().starts_with('#')) {
            prop_assert!(text_of(&root).contains(comment));
        }
    }
}
