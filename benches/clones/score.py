#!/usr/bin/env python3
"""Scores predicted clones against a labelled folder, function by function.

    score.py --truth FOLDER --pred FILE [--lang python,…] [--root FOLDER/corpus/LANGUAGE] [--mode pairs|closure] [--min-cover .7]
             [--min-score S] [--seconds S] [--bcb] [--name NAME] [--json OUT] [--quiet]

FOLDER has functions.jsonl and pairs.jsonl. FILE has a line of JSON each, one of

    {"a": "path:start-end", "b": "path:start-end", "score"?: 0.93}       a pair
    {"members": ["path:start-end", …]}                                   a cluster: all its pairs

Lines are 1-based and included; paths are absolute, or relative to FOLDER or to --root.

A predicted region counts for every labelled function that it overlaps. Two functions are reported as a pair when in both of them
the regions predicted for that pair cover at least --min-cover of the lines (.7 is the "ok" of Bellon's and BigCloneBench's
evaluation). Less is a partial hit, which is enough for fragments only.

recall     labelled clones of a type that are reported, of all of the type
precision  right pairs of the right and wrong ones. Right: within a group. Wrong: across groups, or labelled as no clone. Neutral,
           counted apart: pairs of a chain that are neither, pairs with a function of a few lines (noise), and pairs across groups
           with the host of a fragment, which was drawn from what is too like a seed to be one, so may well be its clone
closure    the transitive closure of the pairs: B-cubed precision and recall, the largest cluster, impure ones, and unrelated
           ends of chains that are joined. With --mode closure, recall and precision are the closure's as well
"""

import argparse
import collections
import itertools
import json
import os
from dataclasses import dataclass, field

CORE_TYPES = ("T1", "T2", "T3")
PARTIAL_SHARE, PARTIAL_LINES = 0.25, 5


def read_lines(file):
    with open(file, encoding="utf-8") as opened:
        for line in opened:
            if line.strip():
                yield json.loads(line)


@dataclass
class Truth:
    """The labelled functions and pairs of a folder, perhaps of some languages only."""

    folder: str
    functions: dict[str, dict]
    pairs: dict[frozenset, dict]
    in_file: dict[str, list] = field(default_factory=dict)

    def lines_of(self, name):
        return self.functions[name]["end"] - self.functions[name]["start"] + 1

    def total_lines(self):
        total = 0
        for path in {one["path"] for one in self.functions.values()}:
            try:
                with open(os.path.join(self.folder, path), encoding="utf-8", errors="replace") as file:
                    total += sum(1 for _ in file)
            except OSError:
                continue
        return total


def read_truth(folder, languages=()):
    folder = os.path.abspath(folder)
    functions = {one["id"]: one for one in read_lines(f"{folder}/functions.jsonl") if not languages or one["lang"] in languages}
    pairs = {
        frozenset((pair["a"], pair["b"])): pair
        for pair in read_lines(f"{folder}/pairs.jsonl")
        if pair["a"] in functions and pair["b"] in functions
    }
    in_file = collections.defaultdict(list)
    for one in functions.values():
        in_file[os.path.normpath(one["path"])].append((one["start"], one["end"], one["id"]))
    return Truth(folder, functions, pairs, dict(in_file))


# ---- from regions to pairs of functions


class Regions:
    """Which lines of which functions are covered, pair by pair."""

    def __init__(self, truth, root=None):
        self.truth, self.count, self.unknown_files = truth, 0, set()
        self.roots = [truth.folder, *([os.path.abspath(root)] if root else [])]
        self.below = os.path.relpath(os.path.abspath(root), truth.folder) if root else ""
        # Two sets of lines a pair of names, in the order of the names.
        self.covered = collections.defaultdict(lambda: (set(), set()))

    def functions_at(self, region):
        """The functions that a `path:start-end` overlaps, with the lines it covers in each."""
        self.count += 1
        path, _, lines = region.rpartition(":")
        first, _, last = lines.partition("-")
        first, last = int(first), int(last or first)
        if os.path.isabs(path):
            inside = next((root for root in self.roots if path.startswith(root + "/")), None)
            path = path[len(inside) + 1 :] if inside else path
        path = os.path.normpath(path)
        there = self.truth.in_file.get(path) or self.truth.in_file.get(os.path.normpath(os.path.join(self.below, path)))
        if there is None:
            self.unknown_files.add(path)
            return []
        overlaps = ((name, max(start, first), min(end, last)) for start, end, name in there)
        return [(name, range(start, end + 1)) for name, start, end in overlaps if start <= end]

    def add(self, prediction):
        """A pair or a cluster."""
        members = prediction["members"] if "members" in prediction else (prediction["a"], prediction["b"])
        for left, right in itertools.combinations([self.functions_at(member) for member in members], 2):
            for (name, lines), (other, other_lines) in itertools.product(left, right):
                if name == other:
                    continue
                if name > other:
                    name, lines, other, other_lines = other, other_lines, name, lines
                first, second = self.covered[name, other]
                first.update(lines)
                second.update(other_lines)

    def pairs(self, least_cover):
        """Pairs that are reported, and those reported at least in part."""
        full, partial = set(), set()
        for (name, other), (lines, other_lines) in self.covered.items():
            share, other_share = len(lines) / self.truth.lines_of(name), len(other_lines) / self.truth.lines_of(other)
            pair = frozenset((name, other))
            if min(share, other_share) >= least_cover:
                full.add(pair)
            if max(share, other_share) >= PARTIAL_SHARE or min(len(lines), len(other_lines)) >= PARTIAL_LINES:
                partial.add(pair)
        return full, partial


def closure_of(pairs):
    """What the pairs join, as lists of names."""
    parent = {}

    def find(name):
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for pair in pairs:
        first, second = pair
        parent[find(first)] = find(second)
    clusters = collections.defaultdict(list)
    for name in list(parent):
        clusters[find(name)].append(name)
    return [cluster for cluster in clusters.values() if len(cluster) > 1]


# ---- figures


class Hits:
    """Hits and possible hits by key."""

    def __init__(self):
        self.counts = collections.defaultdict(lambda: [0, 0])

    def add(self, key, is_hit):
        self.counts[key][0] += is_hit
        self.counts[key][1] += 1

    def figures(self, keys=None):
        keys = self.counts if keys is None else keys
        return {key: {"hit": self.counts[key][0], "n": self.counts[key][1], "recall": share(*self.counts[key])} for key in keys}


def share(part, whole):
    return round(part / whole, 4)


def recalls(truth, predicted, partial):
    """Recall by type, by operator and by language."""
    by_type, by_operator, by_language = Hits(), Hits(), Hits()
    for pair, labelled in truth.pairs.items():
        if labelled["label"] != 1:
            continue
        kind = labelled["type"]
        key = kind if kind != "chain" else "chain_adjacent" if labelled["op"] == "chain_d1" else "chain_far_similar"
        is_hit = pair in (partial if kind == "fragment" else predicted)
        by_type.add(key, is_hit)
        by_operator.add(key if kind in ("cluster", "chain") else labelled["op"], is_hit)
        if kind in (*CORE_TYPES, "MT3"):
            by_operator.add(f"partial:{kind}", pair in partial)
            by_language.add(truth.functions[labelled["a"]]["lang"], is_hit)
    return by_type, by_operator, by_language


def verdicts(truth, predicted, only_labelled_negatives):
    """Right, wrong, neutral, host and noise among the predicted pairs, and which are wrong and why."""
    count, wrong = collections.Counter(), []
    for pair in predicted:
        first, second = pair
        labelled = truth.pairs.get(pair)
        functions = truth.functions[first], truth.functions[second]
        if "noise" in (functions[0]["role"], functions[1]["role"]):
            count["noise"] += 1
        elif labelled:
            count[{1: "right", -1: "neutral", 0: "wrong"}[labelled["label"]]] += 1
            if labelled["label"] == 0:
                wrong.append((first, second, labelled["type"]))
        elif only_labelled_negatives:
            count["neutral"] += 1
        elif functions[0]["group"] == functions[1]["group"]:
            count["right"] += 1
        elif "FRAG" in (functions[0]["op"], functions[1]["op"]):
            count["host"] += 1
        else:
            count["wrong"] += 1
            wrong.append((first, second, "cross_group"))
    return count, sorted(wrong)


def cluster_figures(truth, clusters):
    """B-cubed precision and recall and what was joined wrongly."""
    group_of = {name: one["group"] for name, one in truth.functions.items() if one["role"] not in ("noise", "chain")}
    sizes = collections.Counter(group_of.values())
    cluster_of = {name: number for number, cluster in enumerate(clusters) for name in cluster}
    precision = recall = count = 0
    for name, group in group_of.items():
        if sizes[group] < 2:
            continue
        together = [one for one in (clusters[cluster_of[name]] if name in cluster_of else [name]) if one in group_of]
        same = sum(1 for one in together if group_of[one] == group)
        precision, recall, count = precision + same / len(together), recall + same / sizes[group], count + 1
    groups_in = lambda cluster: {truth.functions[one]["group"] for one in cluster if truth.functions[one]["role"] != "noise"}
    unrelated = [pair for pair, labelled in truth.pairs.items() if labelled["type"] == "chain" and labelled["label"] == 0]
    is_joined = lambda first, second: first in cluster_of and cluster_of.get(first) == cluster_of.get(second)
    joined = sum(1 for first, second in unrelated if is_joined(first, second))
    return {
        "n": len(clusters),
        "largest": max((len(cluster) for cluster in clusters), default=0),
        "impure": sum(1 for cluster in clusters if len(groups_in(cluster)) > 1),
        "b3_precision": share(precision, max(1, count)),
        "b3_recall": share(recall, max(1, count)),
        "chain_unrelated_joined": f"{joined}/{len(unrelated)}",
    }


def score(truth, predictions, root=None, mode="pairs", min_cover=0.7, only_labelled_negatives=False, name="", seconds=None):
    """All figures of one tool's predictions, as they are written with --json."""
    regions = Regions(truth, root)
    for prediction in predictions:
        regions.add(prediction)
    full, partial = regions.pairs(min_cover)
    clusters = closure_of(full)
    predicted = full
    if mode == "closure":
        predicted = {frozenset(pair) for cluster in clusters for pair in itertools.combinations(cluster, 2)}
    by_type, by_operator, by_language = recalls(truth, predicted, partial)
    count, wrong = verdicts(truth, predicted, only_labelled_negatives)
    negatives = [pair for pair, labelled in truth.pairs.items() if labelled["label"] == 0]
    core = [by_type.counts[kind] for kind in CORE_TYPES if kind in by_type.counts]
    recall = sum(hit for hit, _ in core) / max(1, sum(whole for _, whole in core))
    precision = count["right"] / max(1, count["right"] + count["wrong"])
    lines = truth.total_lines()
    apart = sum(1 for pair in negatives if truth.pairs[pair]["type"] == "chain" and pair in predicted)
    place = lambda one: "{path}:{start}-{end}".format(**truth.functions[one])
    figures = {
        "name": name,
        "functions": len(truth.functions),
        "loc": lines,
        "predicted_regions": regions.count,
        "predicted_pairs": len(predicted),
        "tp": count["right"],
        "fp": count["wrong"],
        "neutral": count["neutral"],
        "noise_pairs": count["noise"],
        "host_pairs": count["host"],
        "precision": round(precision, 4),
        "recall_T1T2T3": round(recall, 4),
        "f1": round(2 * precision * recall / max(1e-9, precision + recall), 4),
        "recall": by_type.figures(),
        "by_op": by_operator.figures(sorted(by_operator.counts)),
        "by_lang": {language: share(*counts) for language, counts in by_language.counts.items()},
        "neg_hits": {"hit": sum(1 for pair in negatives if pair in predicted), "n": len(negatives)},
        "fp_hard": sum(1 for _, _, why in wrong if why == "neg_hard"),
        "clusters": cluster_figures(truth, clusters),
        "chain_unrelated_reported": apart,
        "unmapped_files": len(regions.unknown_files),
        "fp_examples": [{"a": place(first), "b": place(second), "why": why} for first, second, why in wrong[:10]],
    }
    if seconds:
        figures |= {"seconds": seconds, "kloc_per_s": round(lines / 1000 / seconds, 1)}
    return figures


def summary(figures, name):
    clusters = figures["clusters"]
    parts = [
        f"{name}: P={figures['precision']} R(T1-3)={figures['recall_T1T2T3']} F1={figures['f1']}",
        " ".join(f"{kind}={one['recall']}" for kind, one in figures["recall"].items()),
        f"pairs={figures['predicted_pairs']} fp={figures['fp']} noise={figures['noise_pairs']}",
        f"clusters n={clusters['n']} max={clusters['largest']} impure={clusters['impure']} B3P={clusters['b3_precision']} "
        f"B3R={clusters['b3_recall']} chainjoin={clusters['chain_unrelated_joined']}",
    ]
    if "kloc_per_s" in figures:
        parts.append(f"{figures['kloc_per_s']} kLOC/s")
    if figures["unmapped_files"]:
        parts.append(f"UNMAPPED {figures['unmapped_files']}")
    return " | ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--truth", required=True)
    parser.add_argument("--pred", required=True)
    parser.add_argument("--lang")
    parser.add_argument("--root")
    parser.add_argument("--mode", default="pairs", choices=["pairs", "closure"])
    parser.add_argument("--min-cover", type=float, default=0.7)
    parser.add_argument("--min-score", type=float, help="pairs of a lower score are passed over")
    parser.add_argument("--seconds", type=float, help="how long the tool took")
    parser.add_argument(
        "--bcb", action="store_true", help="wrong are labelled negatives only (BigCloneBench: the rest is unlabelled)"
    )
    parser.add_argument("--name", default="")
    parser.add_argument("--json")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    truth = read_truth(options.truth, options.lang.split(",") if options.lang else ())
    predictions = (
        one for one in read_lines(options.pred) if options.min_score is None or one.get("score", 1) >= options.min_score
    )
    figures = score(truth, predictions, options.root, options.mode, options.min_cover, options.bcb, options.name, options.seconds)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    if not options.quiet:
        print(summary(figures, options.name or options.pred))


if __name__ == "__main__":
    main()
