#!/usr/bin/env python3
"""The reference: functions that share enough runs of normalised tokens.

    baseline_tokens.py FOLDER LANGUAGE [--thr .5] [--cluster single|complete|medoid|mutual] [--k 10]
                       [--min-lines 5] [--min-tokens 40] [--gate 0]

Each function is the set of its runs of five tokens, with identifiers, strings and numbers blanked and comments dropped. A pair is
two functions, neither inside the other, whose sets have a Jaccard similarity of at least --thr (and whose raw tokens overlap by
at least --gate). Prints lines of JSON: pairs with their score, or with --cluster clusters.
"""

import argparse
import collections
import json
import os
from dataclasses import dataclass

from grouping import GROUPINGS
from syntax import LANGUAGES, grams, jaccard, tokens, walk

# A run of tokens that more functions have is too common to propose a pair.
COMMON_GRAM = 200


@dataclass(frozen=True)
class Function:
    path: str
    start: int
    end: int
    grams: frozenset
    bag: collections.Counter

    def place(self):
        return f"{self.path}:{self.start}-{self.end}"

    def overlaps(self, other):
        return self.path == other.path and self.start <= other.end and other.start <= self.end


def functions_of(root, language, least_lines, least_tokens):
    known, found = LANGUAGES[language], []
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if not name.endswith(f".{known.extension}"):
                continue
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                tree = known.parser.parse(file.read())
            for node in walk(tree.root_node):
                if node.type not in known.functions:
                    continue
                start, end = node.start_point[0] + 1, node.end_point[0] + 1
                raw = tokens(node)
                if end - start + 1 >= least_lines and len(raw) >= least_tokens:
                    found.append(Function(path, start, end, frozenset(grams(tokens(node, True), 5)), collections.Counter(raw)))
    return found


def edges_of(functions, threshold, gate):
    """{(first, second): similarity} of the pairs that pass."""
    having = collections.defaultdict(list)
    for number, function in enumerate(functions):
        for gram in function.grams:
            having[gram].append(number)
    edges = {}
    for number, function in enumerate(functions):
        lists = (having[gram] for gram in function.grams)
        candidates = {other for there in lists if len(there) <= COMMON_GRAM for other in there if other > number}
        for other in sorted(candidates):
            like = functions[other]
            if function.overlaps(like):
                continue
            similarity = jaccard(function.grams, like.grams)
            if similarity >= threshold and overlap(function.bag, like.bag) >= gate:
                edges[number, other] = similarity
    return edges


def overlap(left, right):
    return sum((left & right).values()) / max(left.total(), right.total())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root")
    parser.add_argument("lang", choices=LANGUAGES)
    parser.add_argument("--thr", type=float, default=0.5)
    parser.add_argument("--cluster", choices=GROUPINGS)
    parser.add_argument("--k", type=int, default=10, help="how many nearest count for --cluster mutual")
    parser.add_argument("--min-lines", type=int, default=5)
    parser.add_argument("--min-tokens", type=int, default=40)
    parser.add_argument("--gate", type=float, default=0.0)
    options = parser.parse_args()
    functions = functions_of(options.root, options.lang, options.min_lines, options.min_tokens)
    edges = edges_of(functions, options.thr, options.gate)
    if options.cluster is None:
        for (first, second), similarity in edges.items():
            print(json.dumps({"a": functions[first].place(), "b": functions[second].place(), "score": round(similarity, 4)}))
        return
    for cluster in GROUPINGS[options.cluster](edges, options.k):
        if len(cluster) > 1:
            print(json.dumps({"members": [functions[one].place() for one in sorted(cluster)]}))


if __name__ == "__main__":
    main()
