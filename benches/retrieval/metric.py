"""How good is a list of results? The public benchmark's rule, in plain functions.

A result is a rank: chunks of one file are not merged. A target's rank is the first result whose path matches and
whose lines overlap the target's lines; a target or a result without lines is a whole file. Relevance is yes or no.
NDCG@10 sums 1/log2(rank + 1) over the distinct ranks that hit something and divides by the best sum that so many
targets allow. Rules for paths: `suffix` is the benchmark's own (equal, or one ends in `/` and the other), `exact` is equality.
"""

import math
from dataclasses import dataclass

DEPTH = 10


@dataclass(frozen=True)
class Place:
    """A file, or lines `first..=last` of it (counted from 1; None when the whole file is meant)."""

    path: str
    first: int | None = None
    last: int | None = None


def place_of(raw):
    """The place in a task's `relevant` list or in a tool's answer: a path, or an object with a path and perhaps lines."""
    if isinstance(raw, str):
        return Place(raw)
    path = raw.get("path") or raw.get("file_path") or raw.get("file") or ""
    first, last = raw.get("start_line"), raw.get("end_line")
    if first is None or last is None:
        return Place(path)
    return Place(path, int(first), int(last))


def same_path(one, other, rule):
    one, other = one.replace("\\", "/"), other.replace("\\", "/")
    if one == other:
        return True
    return rule == "suffix" and (one.endswith("/" + other) or other.endswith("/" + one))


def overlap(result, target):
    if target.first is None or result.first is None:
        return True
    return result.first <= target.last and target.first <= result.last


def rank_of(results, target, rule):
    """The rank (from 1) at which the target is first met, or None."""
    for rank, result in enumerate(results, 1):
        if same_path(result.path, target.path, rule) and overlap(result, target):
            return rank
    return None


def ndcg(ranks, targets, depth=DEPTH):
    if not targets:
        return 0.0
    gain = sum(1 / math.log2(rank + 1) for rank in set(ranks) if rank <= depth)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, targets) + 1))
    return gain / best


def judge(results, targets, rule, depth=DEPTH):
    """All figures of one question: NDCG, the ranks met, hit@1, hit@10 and the reciprocal of the first rank."""
    ranks = [rank for target in targets if (rank := rank_of(results[:depth], target, rule))]
    first = min(ranks, default=None)
    return {
        "ndcg10": ndcg(ranks, len(targets), depth),
        "hit1": float(first == 1),
        "hit10": float(first is not None),
        "mrr": 1 / first if first else 0.0,
        "ranks": ranks,
    }
