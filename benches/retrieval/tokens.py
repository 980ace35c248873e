"""How much does an agent read until it meets the answer? The benchmark's token rule.

The results of a question are read from the first on (at most fifty), tokens (cl100k) summed; a target counts as met when the
result that overlaps it has been read. Expected tokens: those read when the first target is met, or 32,000 when none is,
as a mean over questions. Recall at a budget: the share of targets met before the budget is spent, a mean over questions.

Two texts are counted: `printed`, what `sai search` prints for a hit (head line and snippet with line numbers), and `snippet`, the
snippet alone, which is how the benchmark counts its own product. Either needs a tokenizer: `pip install bpe-openai` or tiktoken.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, median

from metric import Place, overlap, same_path

HITS = 50
CAP = 32_000
BUDGETS = (500, 1_000, 2_000, 4_000)


def counter():
    """A function from text to its number of cl100k tokens."""
    try:
        import bpe_openai

        encoding = bpe_openai.get_encoding("cl100k_base")
        return lambda text: len(encoding.encode(text))
    except ImportError:
        pass
    try:
        import tiktoken
    except ImportError:
        raise SystemExit("counting tokens needs a tokenizer: pip install bpe-openai (or tiktoken), and run this with that Python") from None
    encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def searched(binary, root, query, json_wanted, more):
    command = [binary, *(["--json"] if json_wanted else []), "search", "--root", root, "--limit", str(HITS), *more, "--", query]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def units_of(binary, root, query, more):
    """For each hit its place, what is printed of it, and its snippet."""
    answer = searched(binary, root, query, True, more)
    hits = json.loads(answer)["hits"] if answer.strip() else []
    printed = blocks(searched(binary, root, query, False, more), [f"{one['path']}:{one['start_line']}-{one['end_line']}" for one in hits])
    return [
        (Place(one["path"], one["start_line"], one["end_line"]), text, one.get("snippet") or "")
        for one, text in zip(hits, printed, strict=True)
    ]


def blocks(text, heads):
    """The printed text cut at the head lines, which come in the order of the hits; what stands before the first belongs to it."""
    found, current, waiting = [], [], list(heads)
    for line in text.splitlines(keepends=True):
        if waiting and line.startswith(waiting[0]):
            if len(waiting) < len(heads):
                found.append("".join(current))
                current = []
            waiting.pop(0)
        current.append(line)
    if waiting:
        raise SystemExit(f"the printed hits lack {waiting[0]}")
    return [*found, "".join(current)] if heads else []


def curve(units, targets, rule, tokens_of):
    """(tokens read, targets met) after each unit, from (0, 0) on."""
    met, total, points = set(), 0, [(0, 0)]
    for place, text in units:
        total += tokens_of(text)
        met |= {number for number, target in enumerate(targets) if same_path(place.path, target.path, rule) and overlap(place, target)}
        points.append((total, len(met)))
    return points


def first_hit(points):
    return next((tokens for tokens, met in points if met), None)


def recall_at(points, budget, targets):
    return max((met for tokens, met in points if tokens <= budget), default=0) / targets


def measure(questions, binary, jobs, more):
    """Figures of a set for both texts: expected tokens, median to the first hit, recall at the budgets."""
    tokens_of = counter()
    asked = [(repository, task) for repository in questions.repositories for task in repository.tasks]
    with ThreadPoolExecutor(max_workers=max(jobs, 1)) as pool:
        units = list(pool.map(lambda pair: units_of(binary, pair[0].root, pair[1].query, more), asked))
    figures = {}
    for name, column in (("printed", 1), ("snippet", 2)):
        curves = [
            (curve([(unit[0], unit[column]) for unit in found], task.targets, questions.paths, tokens_of), len(task.targets))
            for (_, task), found in zip(asked, units)
        ]
        figures[name] = summarised(curves)
    return figures


def summarised(curves):
    hits = [first_hit(points) for points, _ in curves]
    return {
        "expected": fmean(CAP if hit is None else hit for hit in hits),
        "median": median(CAP if hit is None else hit for hit in hits),
        "missed": sum(hit is None for hit in hits),
        "recall": {budget: fmean(recall_at(points, budget, targets) for points, targets in curves) for budget in BUDGETS},
    }


def table(label, figures):
    lines = [
        f"### {label}",
        "",
        "| text | expected tokens | median | never met | " + " | ".join(f"recall at {budget}" for budget in BUDGETS) + " |",
        "| --- " * (4 + len(BUDGETS)) + "|",
    ]
    for name, one in figures.items():
        recall = " | ".join(f"{one['recall'][budget]:.3f}" for budget in BUDGETS)
        lines.append(f"| {name} | {one['expected']:.0f} | {one['median']:.0f} | {one['missed']} | {recall} |")
    return "\n".join(lines)
