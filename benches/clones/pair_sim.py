#!/usr/bin/env python3
"""How alike labelled pairs are by tokens: quantiles by type, and shares above thresholds.

    pair_sim.py PAIRS.jsonl …
"""

import collections
import sys

from score import read_lines
from syntax import LANGUAGES, parse, similarities


def node_of(language, code):
    unit, function = parse(language, code)
    return function or LANGUAGES[language].parser.parse(unit.encode()).root_node


def main():
    for file in sys.argv[1:]:
        found = collections.defaultdict(list)
        for pair in read_lines(file):
            raw, normalised = similarities(node_of(pair["lang"], pair["code_a"]), node_of(pair["lang"], pair["code_b"]))
            found[pair["type"], pair["label"]].append((normalised, raw))
        print("##", file)
        for (kind, label), values in sorted(found.items()):
            normalised, raw = sorted(one for one, _ in values), sorted(one for _, one in values)
            at = lambda there, quantile: there[min(len(there) - 1, int(quantile * len(there)))]
            above = lambda there, least: sum(one >= least for one in there) / len(there)
            print(
                f"{kind:14s} label={label:2d} n={len(values):5d} "
                f"norm5 p5/50/95 {at(normalised, 0.05):.2f}/{at(normalised, 0.5):.2f}/{at(normalised, 0.95):.2f}  "
                f">=.5 {above(normalised, 0.5):.3f} >=.7 {above(normalised, 0.7):.3f} | "
                f"tok3 p50 {at(raw, 0.5):.2f} >=.5 {above(raw, 0.5):.3f}"
            )


if __name__ == "__main__":
    main()
