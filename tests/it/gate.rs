//! The gate for CI over real repositories: what fails, what is printed of it, and what never fails.

use std::fs;
use std::path::Path;

use git2::{BranchType, Repository, ResetType};
use serde_json::Value;

use crate::support::{self, Output, Repo};

/// A function long enough to count, under a name.
fn price(name: &str) -> String {
    format!(
        "pub fn {name}(order: &Order, rates: &Rates) -> u64 {{
    let mut sum = 0;
    for line in &order.lines {{
        let rate = rates.of(line.country).unwrap_or(100);
        if line.amount > 10 && !line.is_returned {{
            sum += line.amount * line.price * rate / 100;
        }} else if line.is_gift {{
            sum += line.wrapping;
        }}
    }}
    sum + order.shipping - order.discount.min(sum)
}}
"
    )
}

/// Another one, unlike the first.
fn route(name: &str) -> String {
    format!(
        "pub fn {name}(graph: &Graph, start: Node) -> Vec<Node> {{
    let mut queue = VecDeque::from([start]);
    let mut seen = HashSet::new();
    while let Some(node) = queue.pop_front() {{
        if !seen.insert(node) {{
            continue;
        }}
        let next = graph.edges(node).filter(|edge| edge.is_open()).map(|edge| edge.to);
        queue.extend(next);
    }}
    seen.into_iter().collect()
}}
"
    )
}

/// A repository with two copies of a function and one of another, indexed by the first question.
fn shop() -> Repo {
    let repo = support::repo("//- /.gitignore\n.index\n");
    repo.write("src/orders.rs", price("order_price"));
    repo.write("src/baskets.rs", price("basket_price"));
    repo.write("src/routes.rs", route("route"));
    repo.commit("shop");
    repo
}

/// The same with its baseline committed.
fn known() -> Repo {
    let repo = shop();
    repo.sai(&["duplicates", "--baseline", "known.json", "--update-baseline"]).exits(0);
    repo.commit("baseline");
    repo
}

/// The gate against the committed baseline.
fn against_file(repo: &Repo) -> Output {
    repo.sai(&["duplicates", "--baseline", "known.json", "--fail-on", "new"])
}

/// The gate against what was there at the last commit.
fn against_head(repo: &Repo) -> Output {
    repo.sai(&["duplicates", "--baseline-from-ref", "HEAD", "--fail-on", "new"])
}

/// Asserts that the gate lets pass, both ways, and lists nothing.
#[track_caller]
fn passes(repo: &Repo) {
    for output in [against_file(repo), against_head(repo)] {
        let output = output.exits(0);
        assert_eq!(output.stdout, "", "{}", output.stderr);
        assert!(output.stderr.contains("gate passed: no new copies ("), "{}", output.stderr);
    }
}

/// Asserts that the gate fails, both ways, for `reason` alone, and lists files in `paths`.
#[track_caller]
fn fails(repo: &Repo, reason: &str, paths: &[&str]) {
    for output in [against_file(repo), against_head(repo)] {
        let output = output.exits(4);
        let (stdout, stderr) = (&output.stdout, &output.stderr);
        assert!(stderr.contains("gate failed: 1 cluster new ("), "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
        for path in paths {
            assert!(stdout.contains(path), "{path}: {stdout}");
        }
    }
}

fn text(repo: &Repo, path: &str) -> String {
    fs::read_to_string(repo.path().join(path)).expect("a file of the repository")
}

#[test]
fn shifted_lines_pass() {
    let repo = known();
    let before = text(&repo, "known.json");
    repo.write("src/orders.rs", format!("//! Orders.\n\nuse a::b;\n\n{}", price("order_price")));
    passes(&repo);
    let update = ["duplicates", "--baseline", "known.json", "--update-baseline"];
    assert_eq!(repo.sai(&update).exits(0).stdout, "known.json: 1 cluster, as before\n");
    assert_eq!(text(&repo, "known.json"), before, "not a byte");
}

#[test]
fn a_removed_copy_passes_and_what_is_gone_is_told() {
    let repo = shop();
    repo.write("src/carts.rs", price("cart_price"));
    repo.commit("a third");
    repo.sai(&["duplicates", "--baseline", "known.json", "--update-baseline"]).exits(0);
    repo.commit("baseline");
    repo.remove("src/carts.rs");
    passes(&repo);
    assert!(!against_file(&repo).stderr.contains("gone"));
    repo.remove("src/baskets.rs");
    passes(&repo);
    let told = against_file(&repo).stderr;
    assert!(told.contains("note: 1 entry of known.json is gone; `--update-baseline`"), "{told}");
    assert!(told.contains("-3  src/baskets.rs basket_price"), "{told}");
    let update = ["duplicates", "--baseline", "known.json", "--update-baseline"];
    let updated = repo.sai(&update).exits(0).stdout;
    assert_eq!(updated, "known.json: 0 clusters, 0 added, 1 removed\n");
    assert!(!against_file(&repo).exits(0).stderr.contains("gone"));
}

#[test]
fn one_more_copy_fails() {
    let repo = known();
    repo.write("src/carts.rs", price("cart_price"));
    let paths = ["src/baskets.rs", "src/carts.rs", "src/orders.rs"];
    fails(&repo, "one more copy (3, the baseline knows 2)", &paths);
    // In a file that was there, too.
    repo.remove("src/carts.rs");
    repo.write("src/routes.rs", format!("{}\n{}", route("route"), price("route_price")));
    fails(&repo, "one more copy (3, the baseline knows 2)", &["src/routes.rs"]);
}

#[test]
fn edited_members_pass() {
    let repo = known();
    let fixed = |name| price(name).replace("line.amount > 10", "line.amount >= 10");
    repo.write("src/orders.rs", fixed("order_price"));
    passes(&repo);
    repo.write("src/baskets.rs", fixed("basket_price"));
    passes(&repo);
    let more = |name| {
        let more =
            "    let free = order.coupons.iter().map(|coupon| coupon.worth).sum::<u64>();\n    sum";
        price(name).replace("    sum + order", &format!("{more} - free + order"))
    };
    repo.write("src/orders.rs", more("order_price"));
    passes(&repo);
    repo.write("src/baskets.rs", more("basket_price"));
    passes(&repo);
}

#[test]
fn a_renamed_file_passes() {
    let repo = known();
    repo.remove("src/orders.rs");
    repo.write("src/sales/order.rs", price("order_price"));
    passes(&repo);
    repo.commit("renamed");
    passes(&repo);
}

#[test]
fn a_new_file_fails_by_what_it_copies_only() {
    let repo = known();
    repo.write("src/new.rs", "pub fn small() -> u32 {\n    7\n}\n");
    passes(&repo);
    repo.write("src/new.rs", route("way"));
    fails(&repo, "-2  new  src/", &["src/new.rs", "src/routes.rs"]);
    let told = against_file(&repo).stderr;
    assert!(told.contains("(1 known)"), "{told}");
    assert!(!against_file(&repo).stdout.contains("src/orders.rs"), "what is known is not listed");
}

#[test]
fn on_a_rebased_branch_only_its_own_copies_count() {
    let repo = shop();
    let git = Repository::open(repo.path()).unwrap();
    let start = git.head().unwrap().peel_to_commit().unwrap();
    // Meanwhile somebody else's copies came to the main branch.
    repo.write("src/ways.rs", route("way"));
    repo.commit("theirs");
    let main = git.head().unwrap().peel_to_commit().unwrap();
    git.branch("branch", &start, false).unwrap();
    git.set_head("refs/heads/branch").unwrap();
    git.reset(start.as_object(), ResetType::Hard, None).unwrap();
    repo.write("src/branch.rs", "pub fn branch() -> u32 {\n    7\n}\n");
    repo.commit("ours");
    let gate = ["duplicates", "--baseline-from-ref", "main"];
    let diverged = repo.sai(&gate).exits(0).stderr;
    let digits: String = start.id().to_string().chars().take(12).collect();
    assert!(diverged.contains(&format!("against {digits}, where HEAD left `main`")), "{diverged}");
    // Rebased: main's commits first, then ours.
    git.reset(main.as_object(), ResetType::Hard, None).unwrap();
    repo.write("src/branch.rs", "pub fn branch() -> u32 {\n    7\n}\n");
    repo.commit("ours");
    let rebased = repo.sai(&gate).exits(0).stderr;
    assert!(rebased.contains("gate passed: no new copies (2 known, against "), "{rebased}");
    let since = repo.sai(&["duplicates", "--since", "main", "--fail-on", "new"]).exits(0).stderr;
    assert!(since.contains("(0 known, 2 older than the change)"), "{since}");
    repo.write("src/branch.rs", route("third_way"));
    repo.commit("ours");
    let copied = repo.sai(&gate).exits(4).stderr;
    assert!(copied.contains("one more copy (3, the baseline knows 2)"), "{copied}");
    assert!(git.find_branch("main", BranchType::Local).is_ok());
}

#[test]
fn an_empty_change_passes_whatever_there_is() {
    let repo = shop();
    repo.write("src/ways.rs", route("way"));
    repo.commit("more copies");
    for fail_on in ["new", "any", "0"] {
        for change in [&["--since", "HEAD"][..], &["--staged"], &["--baseline-from-ref", "HEAD"]] {
            let output =
                repo.sai(&[&["duplicates", "--fail-on", fail_on], change].concat()).exits(0);
            assert_eq!(output.stdout, "");
            assert!(output.stderr.contains("gate passed: "), "{}", output.stderr);
        }
    }
    let without = repo.sai(&["duplicates", "--since", "HEAD"]).exits(1);
    assert_eq!(without.stdout, "", "without a gate nothing was found");
}

#[test]
fn the_first_run_makes_the_baseline() {
    let repo = shop();
    let first = against_file(&repo).exits(2);
    assert!(first.stderr.contains("there is no baseline `known.json`"), "{}", first.stderr);
    assert!(first.stderr.contains("--update-baseline"), "{}", first.stderr);
    let update = ["duplicates", "--baseline", "known.json", "--update-baseline"];
    let made = repo.sai(&update).exits(0);
    assert_eq!(made.stdout, "known.json: 1 cluster, 1 added, 0 removed\n");
    let file: Value = serde_json::from_str(&text(&repo, "known.json")).unwrap();
    assert_eq!(file["schema"], "sai.duplicates.v1");
    assert_eq!(file["clusters"][0]["members"], 2);
    assert_eq!(file["clusters"][0]["copies"][1]["path"], "src/orders.rs");
    assert!(!text(&repo, "known.json").contains("_line"), "no line is in it");
    passes(&repo);
    let json = repo.sai(&[&update[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&json["clusters"], &json["changed"]), (&1.into(), &false.into()));
}

#[test]
fn changed_settings_are_an_error_that_names_them() {
    let repo = known();
    let args = ["duplicates", "--baseline", "known.json", "--min-cluster-size", "3"];
    let refused = repo.sai(&args).exits(2).stderr;
    let expected = "the baseline was made with other settings: min_cluster_size 2, now 3";
    assert!(refused.contains(expected), "{refused}");
    assert!(refused.contains("`--update-baseline`"), "{refused}");
    let narrowed = repo.sai(&["duplicates", "--baseline", "known.json", "-p", "src/**"]).exits(2);
    assert!(narrowed.stderr.contains("paths [], now [\"src/**\"]"), "{}", narrowed.stderr);
    let updated = repo.sai(&[&args[..], &["--update-baseline"]].concat()).exits(0);
    assert!(updated.stdout.contains("0 clusters, 0 added, 1 removed"), "{}", updated.stdout);
    assert!(updated.stderr.contains("made with other settings"), "{}", updated.stderr);
    repo.sai(&args).exits(0);
    // What a baseline does not depend on: the order, how much is shown, and what is only listed.
    let repo = known();
    repo.sai(&["duplicates", "--baseline", "known.json", "-n", "1"]).exits(0);
    // Made from a revision, it is always made with the same.
    repo.sai(&["duplicates", "--baseline-from-ref", "HEAD", "--min-cluster-size", "3"]).exits(0);
}

#[test]
fn a_broken_baseline_is_an_error_and_is_never_overwritten() {
    let repo = known();
    let whole = text(&repo, "known.json");
    for broken in ["", "fn main() {}\n", &whole[..whole.len() / 2]] {
        repo.write("known.json", broken);
        let refused = against_file(&repo).exits(2).stderr;
        assert!(refused.contains("`known.json` is no baseline"), "{refused}");
        let update = ["duplicates", "--baseline", "known.json", "--update-baseline"];
        repo.sai(&update).exits(2);
        assert_eq!(text(&repo, "known.json"), broken);
    }
}

#[test]
fn any_and_a_number_count_all_clusters() {
    let repo = shop();
    repo.write("src/ways.rs", route("way"));
    let any = repo.sai(&["duplicates", "--fail-on", "any"]).exits(4);
    assert!(any.stderr.contains("gate failed: 2 clusters ("), "{}", any.stderr);
    assert!(any.stdout.contains("src/orders.rs") && any.stdout.contains("src/ways.rs"));
    let more = repo.sai(&["duplicates", "--fail-on", "1", "-n", "1"]).exits(4);
    assert!(more.stderr.contains("gate failed: 2 clusters, more than 1 ("), "{}", more.stderr);
    assert!(more.stdout.contains("src/orders.rs") && more.stdout.contains("src/ways.rs"));
    let enough = repo.sai(&["duplicates", "--fail-on", "2"]).exits(0);
    assert_eq!(enough.stdout, "");
    assert!(enough.stderr.contains("gate passed: 2 clusters, no more than 2 ("));
}

#[test]
fn json_carries_what_the_gate_says() {
    let repo = known();
    repo.write("src/carts.rs", price("cart_price"));
    repo.write("src/ways.rs", route("way"));
    let args = ["duplicates", "--baseline", "known.json", "--json"];
    let reply = repo.sai(&args).exits(4).json();
    let gate = &reply["gate"];
    assert_eq!((&gate["passed"], &gate["fail_on"]), (&false.into(), &"new".into()));
    assert_eq!((&gate["clusters"], &gate["known"]), (&2.into(), &0.into()));
    assert_eq!(gate["gone"], serde_json::json!([]));
    let clusters = reply["clusters"].as_array().unwrap();
    let failing = gate["failing"].as_array().unwrap();
    assert_eq!((clusters.len(), failing.len()), (2, 2));
    for (cluster, failing) in clusters.iter().zip(failing) {
        assert_eq!((&cluster["id"], &cluster["is_new"]), (&failing["id"], &true.into()));
        assert!(gate["new"].as_array().unwrap().contains(&cluster["id"]));
    }
    let reasons: Vec<&str> = failing.iter().map(|f| f["reason"].as_str().unwrap()).collect();
    assert!(reasons.contains(&"new"), "{reasons:?}");
    assert!(reasons.contains(&"one more copy (3, the baseline knows 2)"), "{reasons:?}");
    repo.remove("src/carts.rs");
    repo.remove("src/ways.rs");
    let passed = repo.sai(&args).exits(0).json();
    assert_eq!((&passed["gate"]["passed"], &passed["gate"]["known"]), (&true.into(), &1.into()));
    assert_eq!(passed["clusters"], serde_json::json!([]));
    assert!(repo.sai(&["duplicates", "--json"]).exits(0).json()["gate"].is_null());
}

#[test]
fn staged_copies_fail_and_unstaged_ones_do_not() {
    let repo = known();
    repo.write("src/ways.rs", route("way"));
    let gate = ["duplicates", "--staged", "--baseline", "known.json"];
    let unstaged = repo.sai(&gate).exits(0).stderr;
    assert!(unstaged.contains("(1 known, 1 older than the change)"), "{unstaged}");
    let git = Repository::open(repo.path()).unwrap();
    let mut index = git.index().unwrap();
    index.add_path(Path::new("src/ways.rs")).unwrap();
    index.write().unwrap();
    assert!(repo.sai(&gate).exits(4).stderr.contains("-2  new  src/"));
    // A line beside the copy is not in it, wherever unstaged lines move it.
    repo.commit("ways");
    repo.write("src/orders.rs", format!("// One.\n{}", price("order_price")));
    index.read(true).unwrap();
    index.add_path(Path::new("src/orders.rs")).unwrap();
    index.write().unwrap();
    repo.write("src/orders.rs", format!("\n\n// One.\n{}", price("order_price")));
    repo.sai(&["duplicates", "--staged", "--fail-on", "any"]).exits(0);
}

#[test]
fn what_is_left_out_never_fails() {
    let repo = known();
    repo.write("tests/orders.rs", price("order_price"));
    repo.write("tests/baskets.rs", price("basket_price"));
    passes(&repo);
    let marked =
        format!("// sai-noduplicate: it must not change with the others\n{}", route("way"));
    repo.write("src/ways.rs", marked);
    passes(&repo);
}

#[test]
fn a_revision_is_looked_at_beside_the_tree_and_leaves_nothing() {
    let repo = known();
    repo.write("src/ways.rs", route("way"));
    let temporary = support::folder("");
    let git_index = fs::read(repo.path().join(".git/index")).unwrap();
    let ask = |args: &[&str]| {
        let mut command = support::command(repo.path(), args);
        command.env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        support::output(command.output().unwrap())
    };
    let left = || fs::read_dir(temporary.path()).unwrap().count();
    ask(&["duplicates", "--baseline-from-ref", "HEAD"]).exits(4);
    assert_eq!(left(), 0);
    assert_eq!(fs::read(repo.path().join(".git/index")).unwrap(), git_index);
    assert_eq!(text(&repo, "src/ways.rs"), route("way"), "the work tree stays");
    assert!(!repo.path().join(".git/worktrees").exists());
    let wrong = ask(&["duplicates", "--baseline-from-ref", "no-such"]).exits(2);
    assert!(wrong.stderr.contains("`no-such` names no commit"), "{}", wrong.stderr);
    assert_eq!(left(), 0);
    // A question that fails after the files were written.
    ask(&["duplicates", "--baseline-from-ref", "HEAD", "-p", "src/{"]).exits(2);
    assert_eq!(left(), 0);
}

#[test]
fn below_the_top_of_a_repository_the_gate_is_about_its_root() {
    let repo = support::repo("//- /.gitignore\n.index\n");
    repo.write("one/src/a.rs", price("a_price"));
    repo.write("one/src/b.rs", price("b_price"));
    repo.write("two/src/a.rs", route("route"));
    repo.write("two/src/b.rs", route("way"));
    repo.commit("two packages");
    let root = repo.path().join("one");
    let gate = ["duplicates", "--root", "one", "--baseline-from-ref", "HEAD"];
    let passed = repo.sai(&gate).exits(0).stderr;
    assert!(passed.contains("(1 known, against"), "{passed}");
    fs::write(root.join("src/c.rs"), price("c_price")).unwrap();
    fs::write(repo.path().join("two/src/c.rs"), route("third")).unwrap();
    let failed = repo.sai(&gate).exits(4);
    assert!(failed.stderr.contains("one more copy (3"), "{}", failed.stderr);
    assert!(!failed.stdout.contains("two/"), "{}", failed.stdout);
}

#[test]
fn without_git_a_baseline_file_serves() {
    let folder = support::folder("");
    folder.write("a.rs", price("a_price"));
    folder.write("b.rs", price("b_price"));
    let file = ["duplicates", "--baseline", "known.json"];
    folder.sai(&[&file[..], &["--update-baseline"]].concat()).exits(0);
    folder.sai(&file).exits(0);
    folder.write("c.rs", price("c_price"));
    folder.sai(&file).exits(4);
    let refused = folder.sai(&["duplicates", "--since", "HEAD", "--fail-on", "new"]).exits(2);
    assert!(refused.stderr.contains("there is no git repository"), "{}", refused.stderr);
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let repo = shop();
    let cases: &[(&[&str], &str)] = &[
        (&["--fail-on", "new"], "needs something that is known"),
        (&["--fail-on", "some"], "`new`, `any`, or"),
        (&["--update-baseline"], "--baseline"),
        (&["--baseline", "x", "--baseline-from-ref", "HEAD"], "cannot be used with"),
        (&["--baseline", "x", "--update-baseline", "--since", "HEAD"], "cannot be used with"),
        (&["--verdict", "abc"], "2 values"),
        (&["--because", "x"], "--verdict"),
        (&["--verdict", "abc", "fine", "--because", "x"], "unknown verdict `fine`"),
        (&["--verdict", "abc", "real"], "a verdict needs a reason"),
    ];
    for (args, expected) in cases {
        let refused = repo.sai(&[&["duplicates"], *args].concat()).exits(2);
        assert!(refused.stderr.contains(expected), "{args:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

fn id_of_the_only_cluster(repo: &Repo) -> String {
    let reply = repo.sai(&["duplicates", "--json"]).exits(0).json();
    assert_eq!(reply["clusters"].as_array().unwrap().len(), 1, "{reply}");
    reply["clusters"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_verdict_hides_a_cluster_until_it_grows() {
    let repo = shop();
    let id = id_of_the_only_cluster(&repo);
    let because = ["--because", "the two prices change apart"];
    let judged =
        repo.sai(&[&["duplicates", "--verdict", &id, "intentional"], &because[..]].concat());
    assert!(judged.exits(0).stdout.starts_with(&format!("{id}: intentional, in ")));
    assert!(text(&repo, "sai-duplicates.yml").contains("because: \"the two prices change apart\""));
    let hidden = repo.sai(&["duplicates", "--json"]).exits(1).json();
    let left = serde_json::json!([{"reason": "intentional", "clusters": 1, "members": 2}]);
    assert_eq!(hidden["left_out"], left);
    repo.sai(&["duplicates", "--fail-on", "any"]).exits(0);
    let all = repo.sai(&["duplicates", "--all", "--json"]).exits(0).json();
    assert_eq!(all["clusters"][0]["omission"], "intentional");
    assert_eq!(all["clusters"][0]["reason"], "judged intentional: the two prices change apart");
    repo.sai(&["duplicates", "--all", "--fail-on", "any"]).exits(0);

    repo.write("src/carts.rs", price("cart_price"));
    let grown = repo.sai(&["duplicates", "--json", "--fail-on", "any"]).exits(4).json();
    let reason = "judged intentional of 2 copies: the two prices change apart";
    assert_eq!(grown["clusters"][0]["reason"], reason);
    repo.remove("src/carts.rs");

    repo.remove("src/baskets.rs");
    let note = &repo.sai(&["duplicates", "--json", "--fail-on", "any"]).exits(0).json()["notes"][0];
    assert!(note.as_str().unwrap().contains("1 verdict in sai-duplicates.yml is about"), "{note}");
    repo.sai(&["duplicates", "--verdict", &id, "none"]).exits(0);
    let none = repo.sai(&["duplicates", "--verdict", &id, "none"]).exits(2).stderr;
    assert!(none.contains("there is no verdict on"), "{none}");
}

#[test]
fn a_verdict_names_a_cluster_that_is_there() {
    let repo = shop();
    let id = id_of_the_only_cluster(&repo);
    let near = format!("{}-3", id.split('-').next().unwrap());
    let args = ["duplicates", "--verdict", &near, "real", "--because", "x"];
    let unknown = repo.sai(&args).exits(2).stderr;
    assert!(unknown.contains(&format!("there is no cluster `{near}`")), "{unknown}");
    assert!(unknown.contains(&format!("the nearest is `{id}`")), "{unknown}");
    assert!(!repo.path().join("sai-duplicates.yml").exists());
    let args = ["duplicates", "--verdict", &id, "real", "--because", "to be merged", "--json"];
    let judged = repo.sai(&args).exits(0).json();
    assert_eq!((&judged["id"], &judged["verdict"]), (&id.as_str().into(), &"real".into()));
    let shown = repo.sai(&["duplicates", "--json"]).exits(0).json();
    assert_eq!(shown["clusters"][0]["reason"], "judged real: to be merged");
    assert!(shown["clusters"][0]["omission"].is_null());
}

#[test]
fn a_broken_file_of_verdicts_is_an_error_that_names_it() {
    let repo = shop();
    repo.write("sai-duplicates.yml", "schema: sai.verdicts.v1\nverdicts:\n  abc: yes\n");
    let refused = repo.sai(&["duplicates"]).exits(2).stderr;
    assert!(refused.contains("sai-duplicates.yml` holds no verdicts"), "{refused}");
    assert!(refused.contains("line 3"), "{refused}");
}
