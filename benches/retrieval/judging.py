"""From answers to a report: judging every question, then the tables.

A report file (JSON) holds for each set every question with its figures, targets and first hits, so that two builds can be
compared question by question later. Tables give NDCG@10 with its 95 % interval, hit@1, hit@10 and MRR; rows are the
whole set, then categories, languages and lengths of the question (words). Each row is a mean over repositories.
"""

from collections import defaultdict
from statistics import median

from interval import bootstrap, mean_of_means
from metric import judge, place_of

FIGURES = ("ndcg10", "hit1", "hit10", "mrr")
LENGTHS = ((1, "1 word"), (3, "2 to 3"), (6, "4 to 6"), (10, "7 to 10"), (10**9, "11 and more"))


def length_of(query):
    words = len(query.split())
    return next(name for limit, name in LENGTHS if words <= limit)


def judge_repository(repository, answers, paths):
    """One row a question, ready for the report file."""
    rows = []
    for task in repository.tasks:
        raw = answers.results.get(task.number, [])
        figures = judge([place_of(one) for one in raw], task.targets, paths)
        rows.append(
            {
                "repository": repository.name,
                "language": repository.language,
                "category": task.category,
                "length": length_of(task.query),
                "number": task.number,
                "query": task.query,
                **figures,
                "targets": [shown(place) for place in task.targets],
                "hits": [shown_hit(one) for one in raw[:5]],
            }
        )
    return rows


def shown(place):
    return place.path if place.first is None else f"{place.path}:{place.first}-{place.last}"


def shown_hit(raw):
    symbol = raw.get("symbol")
    score = raw.get("score")
    return shown(place_of(raw)) + (f" {symbol}" if symbol else "") + (f" ({score:.3f})" if isinstance(score, float) else "")


def grouped(rows, figure):
    """Lists of values, one a repository."""
    values = defaultdict(list)
    for row in rows:
        values[row["repository"]].append(row[figure])
    return list(values.values())


def summary(rows, draws):
    """The figures of some rows, with the interval of NDCG@10."""
    result = {figure: mean_of_means(grouped(rows, figure)) for figure in FIGURES}
    result["low"], result["high"] = bootstrap(grouped(rows, "ndcg10"), draws)
    result["questions"] = len(rows)
    result["repositories"] = len({row["repository"] for row in rows})
    return result


def table(title, rows, keys, draws):
    """Markdown: the whole, then one block of rows for each key (category, language, length, repository)."""
    lines = [
        f"### {title}",
        "",
        "| what | NDCG@10 | 95 % | hit@1 | hit@10 | MRR | questions | repositories |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        table_row("**all**", summary(rows, draws)),
    ]
    for key in keys:
        parts = defaultdict(list)
        for row in rows:
            parts[row[key]].append(row)
        order = sorted(parts) if key != "length" else [name for _, name in LENGTHS if name in parts]
        if len(order) > 1:
            lines += [table_row(f"{key}: {part}", summary(parts[part], draws)) for part in order]
    return "\n".join(lines)


def table_row(name, figures):
    return (
        f"| {name} | {figures['ndcg10']:.3f} | {figures['low']:.3f} to {figures['high']:.3f} | {figures['hit1']:.3f} "
        f"| {figures['hit10']:.3f} | {figures['mrr']:.3f} | {figures['questions']} | {figures['repositories']} |"
    )


def middle(values):
    return median(values) if values else None
