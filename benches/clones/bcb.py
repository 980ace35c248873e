#!/usr/bin/env python3
"""Lays out a sample of BigCloneBench's labelled pairs as a corpus for run.py and score.py.

    bcb.py --clone BARE_CLONE_OF_zhengly1/bigclonebench --out FOLDER [--seed 7]
    run.py FOLDER --labelled-only [--mode closure] --languages java --sai … --jscpd …

The subset (commit 47de996) holds 22.7 thousand Java methods, each in a class of its own, and 91,677 labelled pairs. 4,000 are drawn:
types 1 and 2, strong type 3 (T3), moderate type 3 (MT3), weak type 3 and type 4 (T4), and pairs that are no clones. T4's labels
are mostly wrong (Krinke and Ragkhitwetsagul, 2025): that column is shown, and nothing should be tuned on it. Pairs that nobody
labelled say nothing, so precision is over labelled negatives alone.
"""

import argparse
import json
import os
import random
import subprocess

from syntax import LANGUAGES, walk

COMMIT = "47de99612e9f285bf8ecc800760f70de66d80c33"
LABELS = "folder_1/clone_labels.txt"
# The number that the label file has for a type, its name here, and how many pairs are drawn.
DRAWN = {"0": ("T1", 500), "1": ("T2", 500), "2": ("T3", 800), "3": ("MT3", 500), "4": ("T4", 500), "5": ("neg_labelled", 1200)}


def git(clone, *arguments, given=None):
    return subprocess.run(["git", "--git-dir", clone, *arguments], input=given, capture_output=True, check=True).stdout


def draw(labels, seed):
    """(first, second, type) of the pairs that are drawn, in the order of the file within a type."""
    by_type = {number: [] for number in DRAWN}
    for line in labels.splitlines():
        parts = line.split(",")
        if len(parts) == 4 and parts[0] != parts[1]:
            by_type[parts[3]].append((parts[0], parts[1]))
    rng = random.Random(seed)
    drawn = []
    for number, (name, count) in DRAWN.items():
        there = list(dict.fromkeys(by_type[number]))
        drawn += [(*pair, name) for pair in rng.sample(there, min(count, len(there)))]
    return drawn


def texts_of(clone, names):
    """{id: (path, bytes)} of the methods that are asked for."""
    paths = {}
    for path in git(clone, "ls-tree", "-r", "--name-only", COMMIT).decode().splitlines():
        name = os.path.basename(path).removesuffix(".java")
        if path.endswith(".java") and name in names:
            paths[name] = path
    asked = "".join(f"{COMMIT}:{path}\n" for path in paths.values())
    output, at, texts = git(clone, "cat-file", "--batch", given=asked.encode()), 0, {}
    for name, path in paths.items():
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        texts[name] = (path, output[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return texts


def method_lines(text):
    """First and last line of the method in its class; of the whole text where none parses."""
    nodes = [node for node in walk(LANGUAGES["java"].parser.parse(text).root_node) if node.type == "method_declaration"]
    if not nodes:
        return 1, max(1, text.count(b"\n"))
    outer = min(nodes, key=lambda node: node.start_byte)
    return outer.start_point[0] + 1, outer.end_point[0] + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clone", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    drawn = draw(git(options.clone, "show", f"{COMMIT}:{LABELS}").decode(), options.seed)
    texts = texts_of(options.clone, {name for pair in drawn for name in pair[:2]})
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "functions.jsonl"), "w", encoding="utf-8") as file:
        for name in sorted(texts):
            path, text = texts[name]
            place = os.path.join("corpus", "java", path)
            os.makedirs(os.path.dirname(os.path.join(options.out, place)), exist_ok=True)
            with open(os.path.join(options.out, place), "wb") as source:
                source.write(text)
            start, end = method_lines(text)
            function = {"id": name, "group": name, "role": "method", "op": "method", "path": place, "start": start, "end": end}
            file.write(json.dumps(function | {"src": path, "lang": "java"}) + "\n")
    known = [pair for pair in drawn if pair[0] in texts and pair[1] in texts]
    with open(os.path.join(options.out, "pairs.jsonl"), "w", encoding="utf-8") as file:
        for first, second, kind in known:
            label = 0 if kind == "neg_labelled" else 1
            code = {"code_a": texts[first][1].decode("utf-8", "replace"), "code_b": texts[second][1].decode("utf-8", "replace")}
            pair = {"id": f"{first}|{second}", "lang": "java", "a": first, "b": second, "type": kind, "op": kind, "label": label}
            file.write(json.dumps(pair | code) + "\n")
    print(f"{len(texts)} methods, {len(known)} pairs")


if __name__ == "__main__":
    main()
