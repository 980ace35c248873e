"""What did a change do? Two report files, question by question.

The difference of a set is the mean over repositories of the mean difference of a question's NDCG@10; its interval comes
from drawing repositories and then questions, both builds on the same draw. An interval without 0 is a difference that
other repositories would likely show too. The biggest winners and losers are listed with both builds' first hits.
"""

from collections import defaultdict

from interval import bootstrap, mean_of_means
from judging import LENGTHS


def paired(before, after):
    """Rows of both reports that ask the same, as (row before, row after)."""
    key = lambda row: (row["repository"], row["number"], row["query"])
    known = {key(row): row for row in before}
    return [(known[key(row)], row) for row in after if key(row) in known]


def difference(pairs, draws):
    """Mean difference, its interval, and how many questions became better and worse."""
    values = defaultdict(list)
    for one, other in pairs:
        values[one["repository"]].append(other["ndcg10"] - one["ndcg10"])
    groups = list(values.values())
    flat = [value for group in groups for value in group]
    low, high = bootstrap(groups, draws)
    return mean_of_means(groups), low, high, sum(v > 1e-9 for v in flat), sum(v < -1e-9 for v in flat)


def compare(before, after, shown, draws):
    """The whole comparison as Markdown."""
    out = []
    for label, part in after["sets"].items():
        if label not in before["sets"]:
            continue
        pairs = paired(before["sets"][label]["rows"], part["rows"])
        if not pairs:
            continue
        out += [
            f"### {label}: {before['label']} → {after['label']}",
            "",
            "| what | before | after | difference | 95 % | better | worse | same |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            line("**all**", pairs, draws),
        ]
        for key in ("category", "language", "length"):
            parts = defaultdict(list)
            for pair in pairs:
                parts[pair[1][key]].append(pair)
            order = sorted(parts) if key != "length" else [name for _, name in LENGTHS if name in parts]
            if len(order) > 1:
                out += [line(f"{key}: {one}", parts[one], draws) for one in order]
        out += ["", *extremes("Winners", pairs, shown, 1), *extremes("Losers", pairs, shown, -1)]
    return "\n".join(out)


def line(name, pairs, draws):
    mean, low, high, better, worse = difference(pairs, draws)
    repositories = lambda side: mean_of_means(per_repository(pairs, side))
    return (
        f"| {name} | {repositories(0):.3f} | {repositories(1):.3f} | {mean:+.4f} | {low:+.4f} to {high:+.4f} "
        f"| {better} | {worse} | {len(pairs) - better - worse} |"
    )


def per_repository(pairs, side):
    values = defaultdict(list)
    for pair in pairs:
        values[pair[side]["repository"]].append(pair[side]["ndcg10"])
    return list(values.values())


def extremes(title, pairs, shown, sign):
    """The questions that gained or lost most."""
    changed = [(sign * (other["ndcg10"] - one["ndcg10"]), one, other) for one, other in pairs]
    changed = sorted((entry for entry in changed if entry[0] > 1e-9), key=lambda entry: -entry[0])[:shown]
    lines = [f"{title}:", ""] if changed else []
    for _, one, other in changed:
        lines += [
            f"- `{other['repository']}` “{other['query']}”: {one['ndcg10']:.3f} → {other['ndcg10']:.3f}; wanted {', '.join(other['targets'])}",
            f"  - before: {'; '.join(one['hits'][:3]) or 'nothing'}",
            f"  - after: {'; '.join(other['hits'][:3]) or 'nothing'}",
        ]
    return [*lines, ""] if lines else []
