#!/usr/bin/env python3
"""How long the tools take over a large tree of real source, and how much memory.

    speed.py --lay FOLDER … --tree TREE [--lines 1000000]            links (or copies) source files of the folders into TREE
    speed.py --tree TREE --sai BINARY --jscpd BINARY_OR_NPM_FOLDER [--repeat N] [--set KEY=VALUE …] [--json OUT]

All tools are asked over the same files, one after the other, in one run: jscpd in its modes; sai with making the index, with the
report from an index that is there, and the two together. Wall and CPU seconds are of the process with its children, and the peak
is the resident set of the largest process, as `/usr/bin/time -v` has it; of repeated runs, the cheapest figure.
"""

import argparse
import json
import os
import shutil

from tools import JSCPD_MODES, Cost, ask_jscpd, ask_sai, cheapest, index_with_sai, jscpd_binary, version_of

EXTENSIONS = frozenset(".py .ts .tsx .js .mjs .cjs .rs .java .go .c .h .cc .cpp .hpp .cs .kt .rb .php .swift .scala".split())
LARGEST_FILE = 1_000_000


def lay(folders, tree, wanted):
    """Links files of each folder until it has its share of the lines that are still wanted; how many lines there are."""
    lines = 0
    for number, folder in enumerate(folders):
        share = (wanted - lines) / (len(folders) - number)
        lines += lay_folder(os.path.abspath(folder), tree, share)
    return lines


def lay_folder(top, tree, wanted):
    """Source files in the order of their paths; a little more than `wanted` lines where there are so many."""
    lines = 0
    for here, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in ("node_modules", "target"))
        for source in sorted(os.path.join(here, name) for name in names):
            is_source = os.path.splitext(source)[1] in EXTENSIONS and os.path.isfile(source) and not os.path.islink(source)
            if not is_source or os.path.getsize(source) > LARGEST_FILE:
                continue
            place = os.path.join(tree, os.path.basename(top), os.path.relpath(source, top))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            link_or_copy(source, place)
            lines += count_lines(source)
            if lines >= wanted:
                return lines
    return lines


def link_or_copy(source, place):
    if os.path.exists(place):
        return
    try:
        os.link(source, place)
    except OSError:
        shutil.copyfile(source, place)


def count_lines(file):
    with open(file, "rb") as opened:
        return opened.read().count(b"\n")


def lines_of(tree):
    """Lines and files of a tree, an index in it left out."""
    lines = files = 0
    for here, inner, names in os.walk(tree):
        inner[:] = [name for name in inner if not name.startswith(".")]
        lines += sum(count_lines(os.path.join(here, name)) for name in names)
        files += len(names)
    return lines, files


def times(options):
    """(what, cost, how many pairs or clusters) of every question."""
    tree = os.path.abspath(options.tree)
    if options.jscpd:
        binary = jscpd_binary(options.jscpd)
        for name, flags in JSCPD_MODES.items():
            answers = [ask_jscpd(binary, tree, flags) for _ in range(options.repeat)]
            yield name, cheapest([one.cost for one in answers]), f"{len(answers[0].predictions)} pairs"
    if options.sai:
        more = [word for setting in options.set for word in ("--set", setting)]
        index = cheapest([index_with_sai(options.sai, tree, more) for _ in range(options.repeat)])
        yield "sai index", index, ""
        answers = [ask_sai(options.sai, tree, more) for _ in range(options.repeat)]
        cost, shown = cheapest([one.cost for one in answers]), f"{len(answers[0].predictions)} clusters"
        yield "sai duplicates", cost, shown
        peak = max(index.peak_kib, cost.peak_kib)
        yield "sai index and duplicates", Cost(index.wall + cost.wall, index.cpu + cost.cpu, peak), shown
        shutil.rmtree(os.path.join(tree, ".index"), ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", required=True)
    parser.add_argument("--lay", nargs="+", metavar="FOLDER")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--sai")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--jscpd")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", metavar="OUT")
    options = parser.parse_args()
    if options.lay:
        print(f"{lay(options.lay, options.tree, options.lines)} lines")
    lines, files = lines_of(options.tree)
    versions = {"sai": options.sai and version_of(options.sai)}
    versions["jscpd"] = options.jscpd and version_of(jscpd_binary(options.jscpd))
    load = os.getloadavg()
    print(f"{lines:,} lines, {files:,} files; load before {load[0]:.1f}\n")
    print("| tool | wall s | CPU s | kLOC/s | kLOC/CPU-s | peak MiB | found |\n| --- | --: | --: | --: | --: | --: | --- |")
    found = []
    for name, cost, said in times(options):
        speed = f"{lines / 1000 / cost.wall:.0f} | {lines / 1000 / cost.cpu:.0f}"
        print(f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} | {speed} | {cost.peak_kib / 1024:.0f} | {said} |", flush=True)
        found.append((name, cost, said))
    if options.json:
        rows = [{"name": name, **vars(cost), "found": said} for name, cost, said in found]
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"lines": lines, "files": files, "load": load, "versions": versions, "runs": rows}, file, indent=1)


if __name__ == "__main__":
    main()
