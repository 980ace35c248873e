//! Code that repeats: what is found, what it is called, what is left out, through the real worker.

use sai::request::{
    Cluster, ClusterOrder, CopyKind, DuplicatesQuery, DuplicatesReply, IndexQuery, Omission,
};
use sai::worker::Handle;

use crate::support::{self, Repo};

const INVOICE: &str = "\
pub fn total_of_invoice(invoice: &Invoice, rates: &Rates) -> Result<Money, Failure> {
    let mut total = Money::zero(invoice.currency);
    for line in &invoice.lines {
        let price = rates.price(line.article, line.day)?;
        let discount = line.discount.unwrap_or_default();
        total += price * line.count - discount;
    }
    if total.is_negative() {
        return Err(Failure::negative(invoice.number));
    }
    Ok(total.rounded(2))
}
";

const SHIPMENT: &str = "\
pub fn route_of_shipment(shipment: &Shipment, map: &RoadMap) -> Option<Route> {
    let mut open = BinaryHeap::from([Step::first(shipment.from)]);
    let mut seen = HashSet::new();
    while let Some(step) = open.pop() {
        if step.at == shipment.to {
            return Some(step.trace());
        }
        if !seen.insert(step.at) {
            continue;
        }
        open.extend(map.roads(step.at).map(|road| step.along(road)));
    }
    None
}
";

/// The same code with other names and literals.
fn renamed(code: &str) -> String {
    [("total", "sum"), ("invoice", "bill"), ("rates", "tariff"), ("price", "cost"), ("(2)", "(3)")]
        .iter()
        .fold(code.to_owned(), |code, (from, to)| code.replace(from, to))
}

fn indexed(repo: &Repo) -> Handle {
    let handle = support::handle(repo.path());
    handle.index(IndexQuery::default()).wait().expect("indexed");
    handle
}

fn found(repo: &Repo, query: DuplicatesQuery) -> DuplicatesReply {
    indexed(repo).duplicates(query).wait().expect("duplicates")
}

fn all(repo: &Repo) -> Vec<Cluster> {
    found(repo, DuplicatesQuery::default()).clusters
}

/// `path:first-last` of every member.
fn places(cluster: &Cluster) -> Vec<String> {
    let place = |member: &sai::request::Member| {
        format!("{}:{}-{}", member.path, member.start_line, member.end_line)
    };
    cluster.members.iter().map(place).collect()
}

fn repo() -> Repo {
    support::repo("//- /README.md\n# Tree\n")
}

#[test]
fn layout_and_comments_make_no_difference() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    let spaced = INVOICE
        .replace("    let price", "    // What it costs on that day.\n        let price")
        .replace("rates.price(line.article, line.day)", "rates\n  .price(line.article,line.day)");
    repo.write("src/deep/b.rs", format!("use crate::Money;\n\n{spaced}"));
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    let cluster = &clusters[0];
    assert_eq!(cluster.kind, CopyKind::Exact);
    assert_eq!(places(cluster), ["src/a.rs:1-12", "src/deep/b.rs:3-16"]);
    assert!(cluster.min_similarity > 0.999 && cluster.max_similarity < 1.001);
    assert_eq!(
        (cluster.differs.names, cluster.differs.literals, cluster.differs.tokens),
        (0, 0, 0)
    );
    assert!(cluster.lines >= 12 && cluster.payoff > 0.0, "{cluster:?}");
}

#[test]
fn other_names_and_literals_are_said_to_be_what_differs() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    repo.write("src/b.rs", renamed(INVOICE));
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0].kind, CopyKind::Renamed);
    let differs = &clusters[0].differs;
    assert!(differs.names >= 4 && differs.literals == 1 && differs.tokens == 0, "{differs:?}");
    assert!(differs.examples.iter().any(|example| example.contains(" → ")), "{differs:?}");
}

#[test]
fn an_edited_copy_is_near_and_marked_where_it_differs() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    repo.write(
        "src/b.rs",
        INVOICE.replace("Ok(total.rounded(2))", "audit(&total);\n    Ok(total)"),
    );
    let query = DuplicatesQuery { sides: true, ..DuplicatesQuery::default() };
    let clusters = found(&repo, query).clusters;
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    let cluster = &clusters[0];
    assert_eq!(cluster.kind, CopyKind::Near);
    assert!((0.5..1.0).contains(&cluster.min_similarity), "{cluster:?}");
    let other = cluster.members.iter().enumerate().find(|(at, _)| *at != cluster.medoid);
    let side = other.and_then(|(_, member)| member.side.as_ref()).expect("its text");
    let marked: String = side.marks.iter().map(|mark| &side.text[mark.clone()]).collect();
    let whole = side.text.contains("audit(&total)") == marked.contains("audit");
    assert!(whole && !marked.is_empty() && marked.len() < side.text.len() / 3, "{marked:?}");
}

#[test]
fn lines_that_two_strangers_share_are_a_fragment() {
    let shared = "\
        let mut request = client.request(method, base.join(path)?);
        request.header(\"accept\", \"application/json\");
        request.header(\"authorization\", token.bearer());
        request.timeout(Duration::from_secs(limits.seconds));
        let response = request.send()?;
        let body = response.text()?;
";
    let repo = repo();
    let (before, after) = INVOICE.split_once("    if total").expect("it is there");
    repo.write("src/a.rs", format!("{before}{shared}    if total{after}"));
    let (before, after) = SHIPMENT.split_once("        if step").expect("it is there");
    repo.write("src/b.rs", format!("{before}{shared}        if step{after}"));
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0].kind, CopyKind::Fragment);
    assert_eq!(places(&clusters[0]), ["src/a.rs:8-13", "src/b.rs:5-10"]);
    assert_eq!(clusters[0].members[0].symbol.as_deref(), Some("total_of_invoice"));
}

#[test]
fn a_chain_of_edits_joins_no_strangers() {
    // Each step replaces two statements of ten; the ends share nothing but the frame.
    let statements = [
        "    let first = state.push(input[0], limit)?;\n",
        "    if state.depth() > limit { return Err(Failure::deep(limit)); }\n",
        "    for item in input { state.add(*item * 3); }\n",
        "    while let Some(next) = state.pop() { state.seen.insert(next); }\n",
        "    match state.mode { Mode::Wide => state.widen(), Mode::Flat => {} }\n",
        "    let pairs: Vec<_> = input.iter().zip(state.rows()).collect();\n",
        "    state.log.push(format!(\"{limit} of {}\", input.len()));\n",
        "    let [low, high] = state.bounds.map(|bound| bound.clamp(1, limit));\n",
        "    unsafe_free(&mut state.pool, |slot| slot.age > 9 && !slot.pinned);\n",
        "    let Some(last) = input.last() else { return Ok(()) };\n",
        "    state.table[3][limit as usize] ^= 0xff;\n",
        "    loop { if state.step()?.is_done() { break; } }\n",
        "    drop(std::mem::replace(&mut state.cache, Cache::with(limit)));\n",
        "    state.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.id.cmp(&b.id)));\n",
        "    let share = input.len() as f64 / f64::from(limit) - 0.5;\n",
        "    state.names.retain(|name, _| name.starts_with('_') || name.len() > 7);\n",
        "    assert!(state.is_open, \"closed {:?}\", state.reason);\n",
        "    state.send(Message::Batch { limit, rows: input.to_vec() })?.wait();\n",
        "    let text = std::str::from_utf8(&state.bytes[2..])?.trim().to_owned();\n",
        "    if let Err(error) = state.flush() { warn!(%error, \"not flushed\"); }\n",
        "    state.left = state.right.take().map(|node| node.rotate(Side::Left));\n",
        "    *state.counts.entry(limit).or_default() += u64::from(input[1]);\n",
        "    state.clock.advance(Duration::from_millis(20).saturating_mul(limit));\n",
        "    return_early!(state, input.is_empty() && limit == 0);\n",
    ];
    let repo = repo();
    for step in 0..8 {
        let body: String = statements[step * 2..step * 2 + 10].concat();
        let name = format!("step_{step}");
        repo.write(
            &format!("src/{name}.rs"),
            format!("fn {name}(state: &mut State, input: &[u32], limit: u32) -> Result<()> {{\n{body}    Ok(())\n}}\n"),
        );
    }
    let clusters = all(&repo);
    let whole: Vec<&Cluster> = clusters.iter().filter(|c| c.kind != CopyKind::Fragment).collect();
    assert!(!whole.is_empty(), "{clusters:?}");
    for cluster in whole {
        assert!(cluster.min_similarity >= 0.4 && cluster.size < 5, "{cluster:?}");
    }
}

#[test]
fn tests_and_other_places_are_counted_and_shown_when_asked_for() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    repo.write("tests/b.rs", INVOICE);
    repo.write("src/c.rs", format!("#[cfg(test)]\nmod tests {{\n{SHIPMENT}\n}}\n"));
    repo.write("examples/d.rs", SHIPMENT);
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!(reply.clusters_found, 0, "{reply:?}");
    let counts: Vec<(Omission, usize, usize)> =
        reply.left_out.iter().map(|left| (left.reason, left.clusters, left.members)).collect();
    assert_eq!(counts, [(Omission::Tests, 1, 2)]);
    let query = DuplicatesQuery { include: vec![Omission::Tests], ..DuplicatesQuery::default() };
    let reply = found(&repo, query);
    assert_eq!(places(&reply.clusters[0]), ["src/a.rs:1-12", "tests/b.rs:1-12"]);
    assert_eq!(reply.clusters[0].place.name(), "test");
    assert!(reply.left_out.is_empty(), "{reply:?}");
}

#[test]
fn a_marker_hides_the_member_that_it_stands_at() {
    let repo = repo();
    for name in ["a", "b", "c"] {
        repo.write(&format!("src/{name}.rs"), INVOICE);
    }
    repo.write("src/b.rs", format!("// sai-noduplicate: kept for the old protocol\n{INVOICE}"));
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!(places(&reply.clusters[0]), ["src/a.rs:1-12", "src/c.rs:1-12"]);
    assert_eq!((reply.left_out[0].reason, reply.left_out[0].members), (Omission::Marked, 1));
    let query = DuplicatesQuery { include: vec![Omission::Marked], ..DuplicatesQuery::default() };
    assert_eq!(found(&repo, query).clusters[0].size, 3);
}

#[test]
fn a_copied_type_is_one_finding_and_not_one_a_method() {
    let class = format!("impl Ledger {{\n{INVOICE}\n{SHIPMENT}}}\n");
    let repo = repo();
    repo.write("src/a.rs", format!("{class}\nfn unlike() {{}}\n"));
    repo.write("src/b.rs", &class);
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0].members[0].kind.name(), "type");
    // One more copy of a method: that family has more members, and is told by itself.
    repo.write("src/c.rs", SHIPMENT);
    let clusters = all(&repo);
    let sizes: Vec<usize> = clusters.iter().map(|cluster| cluster.size).collect();
    assert!(sizes == [2, 3] || sizes == [3, 2], "{clusters:?}");
}

#[test]
fn an_id_moves_with_the_content() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    repo.write("src/b.rs", renamed(INVOICE));
    let before = all(&repo)[0].id.clone();
    repo.write("src/a.rs", format!("// One more line.\n\n{INVOICE}"));
    repo.remove("src/b.rs");
    repo.write("lib/moved.rs", renamed(INVOICE));
    let after = &all(&repo)[0];
    assert_eq!(after.id, before);
    assert_eq!(places(after), ["lib/moved.rs:1-12", "src/a.rs:3-14"]);
    // One more copy changes the count alone.
    repo.write("src/c.rs", INVOICE);
    let more = all(&repo)[0].id.clone();
    assert_eq!(more.split('-').next(), before.split('-').next());
    assert!(before.ends_with("-2") && more.ends_with("-3"), "{before} {more}");
    let handle = indexed(&repo);
    let by_id = |id: &str| {
        let query = DuplicatesQuery {
            cluster: Some(id.to_owned()),
            sides: true,
            ..DuplicatesQuery::default()
        };
        handle.duplicates(query).wait()
    };
    let one = by_id(&before).expect("by the hash").clusters;
    assert_eq!((one.len(), one[0].id.as_str()), (1, more.as_str()));
    assert!(one[0].members.iter().all(|member| member.side.is_some()));
    let error = by_id("0123456789ab").expect_err("no such cluster");
    assert!(error.to_string().contains("0123456789ab"), "{error}");
}

#[test]
fn order_size_and_kind_narrow_the_list() {
    let repo = repo();
    for n in 0..4 {
        repo.write(
            &format!("src/small_{n}.rs"),
            "fn tiny(a: u32) -> u32 {\n    let b = a + 1;\n    b * 2 + call(a, b)\n}\n",
        );
    }
    repo.write("src/a.rs", INVOICE);
    repo.write("src/b.rs", INVOICE);
    let sizes = |order| {
        let query = DuplicatesQuery { order: Some(order), ..DuplicatesQuery::default() };
        found(&repo, query).clusters.iter().map(|cluster| cluster.size).collect::<Vec<_>>()
    };
    assert_eq!(sizes(ClusterOrder::Size), [4, 2]);
    assert_eq!(sizes(ClusterOrder::Payoff), [2, 4]);
    let query = DuplicatesQuery { kinds: vec![CopyKind::Near], ..DuplicatesQuery::default() };
    assert_eq!(found(&repo, query).clusters_found, 0);
    let query = DuplicatesQuery { min_cluster_size: Some(3), ..DuplicatesQuery::default() };
    let reply = found(&repo, query);
    assert_eq!((reply.clusters_found, reply.clusters[0].size), (1, 4));
    // A near copy joins only while so much likeness is enough.
    repo.write(
        "src/c.rs",
        INVOICE.replace("Ok(total.rounded(2))", "audit(&total);\n    Ok(total)"),
    );
    let sizes = |min_score| {
        let query = DuplicatesQuery { min_score, ..DuplicatesQuery::default() };
        let clusters = found(&repo, query).clusters;
        clusters.iter().find(|c| c.kind != CopyKind::Exact || c.size == 2).map(|c| c.size)
    };
    assert_eq!((sizes(None), sizes(Some(0.6)), sizes(Some(0.99))), (Some(3), Some(3), Some(2)));
    repo.remove("src/c.rs");
    // Lines in a member, lines that could go: each counts once.
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!((reply.totals.copied_lines, reply.totals.spare_lines), (4 * 4 + 24, 3 * 4 + 12));
}

#[test]
fn tables_and_imports_are_no_copies() {
    let repo = repo();
    for (file, word) in [("a", "Red"), ("b", "Tall")] {
        let arms: String =
            (0..30).map(|n| format!("        {word}::Kind{n} => \"{word} {n}\",\n")).collect();
        let imports: String = (0..20).map(|n| format!("use crate::shared::part_{n};\n")).collect();
        repo.write(
            &format!("src/{file}.rs"),
            format!("{imports}\nfn name_{file}(kind: {word}) -> &'static str {{\n    match kind {{\n{arms}    }}\n}}\n"),
        );
    }
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!(reply.clusters_found, 0, "{reply:?}");
    assert_eq!(reply.left_out[0].reason, Omission::Boilerplate, "{:?}", reply.left_out);
    let query = DuplicatesQuery { include: Omission::ALL.to_vec(), ..DuplicatesQuery::default() };
    let shown = found(&repo, query).clusters;
    assert!(shown[0].reason.as_deref().is_some_and(|why| why.contains("again and again")));
}

#[test]
fn imports_and_licences_are_never_compared_and_counted() {
    let repo = repo();
    let licence = "// Copyright the authors.\n// Licensed under terms.\n\n// The room of totals.\n";
    let imports =
        "use crate::money::{\n    Money,\n    Rates,\n};\nuse crate::failure::Failure;\n\n";
    repo.write("src/a.rs", format!("{licence}{imports}{INVOICE}"));
    repo.write("src/b.rs", format!("{licence}{imports}{SHIPMENT}"));
    repo.write("tools/c.pl", "# Copyright the authors.\nuse strict;\n");
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!(reply.clusters_found, 0, "{reply:?}");
    assert_eq!((reply.totals.import_lines, reply.totals.licence_lines), (10, 4));
}

/// A function that is one list of values.
const STYLE: &str = "\
fn style() -> Style {
    Style {
        width: measure(Part::Width, ruler),
        border: edges.first().thin(),
        colour: Colour::Blue.lighter(shade),
        folders: vec![root, home.join(user)],
        is_shown: !hidden && depth < LIMIT,
        format: &*template[kind],
        order: Order::Newest,
        next: Some(Box::new(inner)),
    }
}
";

#[test]
fn lists_of_other_values_are_no_copies_and_those_of_the_same_rank_lower() {
    let other: String = [("ruler", "scale"), ("edges", "lines"), ("Blue", "Red"), ("root", "base")]
        .iter()
        .chain(&[("home", "away"), ("hidden", "closed"), ("kind", "name"), ("inner", "outer")])
        .chain(&[("shade", "tint"), ("LIMIT", "MOST"), ("depth", "level"), ("user", "group")])
        .fold(STYLE.to_owned(), |code, (from, to)| code.replace(from, to))
        .replace("        format", "        depth: level.max(1),\n        format");
    let repo = repo();
    repo.write("src/a.rs", STYLE);
    repo.write("src/b.rs", &other);
    let reply = found(&repo, DuplicatesQuery::default());
    assert_eq!(reply.clusters_found, 0, "{reply:?}");
    let query = DuplicatesQuery { include: Omission::ALL.to_vec(), ..DuplicatesQuery::default() };
    let reasons: Vec<_> = found(&repo, query).clusters.into_iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [Some("lists of values".to_owned())]);
    let same = STYLE.replace("fn style", "fn look");
    assert_eq!(discounts(&[("src/a.rs", STYLE), ("src/b.rs", &same)]), ["lists of values"]);
    // A list in which something is decided is code.
    let [decides, too] = ["style", "look"].map(|name| {
        let code = STYLE.replace("fn style", &format!("fn {name}"));
        code.replace("Order::Newest", "if by_day { Order::Day } else { Order::Newest }")
    });
    assert!(discounts(&[("src/a.rs", &decides), ("src/b.rs", &too)]).is_empty());
}

/// The discounts of the only cluster of some files.
fn discounts(files: &[(&str, &str)]) -> Vec<&'static str> {
    let repo = repo();
    files.iter().for_each(|(path, code)| repo.write(path, code));
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    clusters[0].discounts.clone()
}

#[test]
fn what_lowers_a_clusters_place_is_said() {
    let bill = &renamed(INVOICE);
    assert!(discounts(&[("src/a.rs", INVOICE), ("src/b.rs", bill)]).is_empty());
    assert_eq!(discounts(&[("src/a.rs", &format!("{INVOICE}{bill}"))]), ["all in one file"]);
    let older = discounts(&[("src/v1/a.rs", INVOICE), ("src/v2/a.rs", bill)]);
    assert_eq!(older, ["an older version, kept beside its successor"]);
    let leaving = &format!("#[deprecated]\n{INVOICE}");
    assert_eq!(discounts(&[("src/a.rs", leaving), ("src/b.rs", bill)]), ["deprecated code"]);
    let waiting = &INVOICE.replace("line.day)?", "line.day).await?");
    let colours = discounts(&[("src/a.rs", waiting), ("src/b.rs", bill)]);
    assert_eq!(colours, ["one that waits and one that does not"]);
    let [narrow, wide] = ["i32", "u64"].map(|kind| INVOICE.replace("of_invoice", kind));
    let types = discounts(&[("src/a.rs", &narrow), ("src/b.rs", &wide)]);
    assert_eq!(types, ["one for each type or size"]);
}

#[test]
fn code_without_a_grammar_is_compared_by_its_words() {
    let rules = "\
.card .title { margin: 2px auto; color: var(--shade); }
.card > img:first-child { float: left; max-width: 40%; }
@media (max-width: 40rem) { .card { display: grid; gap: 1rem; } }
.card:hover, .card:focus-within { box-shadow: 0 2px 6px rgb(0 0 0 / 20%); }
.card p + p::before { content: '»'; padding-inline: .5em; }
#main.wide .card { grid-template-columns: repeat(3, minmax(0, 1fr)); }
";
    let repo = repo();
    repo.write("web/a.css", format!("body {{ margin: 0 }}\n{rules}"));
    repo.write("web/b.css", format!("{rules}p {{ line-height: 1.4 }}\n"));
    // Data repeats by its nature.
    let rows: String =
        (0..40).map(|n| format!("  {{\"id\": {n}, \"name\": \"row {n}\"}},\n")).collect();
    repo.write("data/a.json", format!("[\n{rows}  null\n]\n"));
    repo.write("data/b.json", format!("[\n{rows}  1\n]\n"));
    let clusters = all(&repo);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(places(&clusters[0]), ["web/a.css:2-7", "web/b.css:1-6"]);
}

#[test]
fn what_only_vectors_hold_for_alike_is_shown_when_asked_for() {
    let repo = repo();
    repo.write("src/a.rs", INVOICE);
    repo.write(
        "src/b.rs",
        "pub fn invoice_total(invoice: &Invoice, rates: &Rates) -> Result<Money, Failure> {\n    \
         let lines = invoice.lines.iter();\n    \
         let sums = lines.map(|line| rates.price(line.article, line.day).map(|price| {\n        \
         price * line.count - line.discount.unwrap_or_default()\n    }));\n    \
         let total = sums.sum::<Result<Money, Failure>>()?;\n    \
         match total.is_negative() {\n        \
         true => Err(Failure::negative(invoice.number)),\n        \
         false => Ok(total.rounded(2)),\n    }\n}\n",
    );
    assert!(all(&repo).is_empty());
    let query = DuplicatesQuery {
        kinds: vec![CopyKind::Behaviour],
        min_score: Some(0.6),
        ..DuplicatesQuery::default()
    };
    let clusters = found(&repo, query).clusters;
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0].kind, CopyKind::Behaviour);
}
