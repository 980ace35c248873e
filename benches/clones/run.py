#!/usr/bin/env python3
"""Runs the tools over a corpus and scores them, language by language, in one run.

    run.py CORPUS --sai BINARY --jscpd BINARY_OR_NPM_FOLDER [--languages go,java] [--tools sai,jscpd,baseline] [--json OUT]
           [--set KEY=VALUE …] [--repeat N] [--predictions FOLDER] [--mode pairs|closure] [--labelled-only]

Each tool gets a copy of the language's folder, so that an index or a report of one is never an input of another. Prints a table:
precision, recall by type of clone, F1 over types 1 to 3, unrelated ends of chains that are joined, seconds, speed. `sai` is asked
for the report as it is by default, with all clusters; making its index is timed apart. With --labelled-only, pairs that nobody
labelled are neither right nor wrong (see bcb.py).
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile

from score import read_truth, score
from tools import JSCPD_MODES, ask_baseline, ask_jscpd, cheapest, indexed_and_asked, jscpd_binary, version_of

LANGUAGES = ["python", "typescript", "rust", "java", "go"]
TYPES = ["T1", "T2", "T3", "MT3", "T4", "fragment", "cluster"]
HEADINGS = [
    "tool", "language", "P", "wrong", *TYPES, "F1", "chain ends reported / joined", "wall s", "CPU s", "kLOC/CPU-s",
    "index wall s", "index CPU s", "kLOC/CPU-s with index",
]  # fmt: skip


def askers(options):
    """Name and question of each tool that was asked for."""
    wanted, found = options.tools.split(","), []
    if "sai" in wanted and options.sai:
        more = [word for setting in options.set for word in ("--set", setting)]
        found.append(("sai", lambda root, language: indexed_and_asked(options.sai, root, more)))
    if "jscpd" in wanted and options.jscpd:
        binary = jscpd_binary(options.jscpd)
        found += [
            (name, lambda root, language, flags=flags: ask_jscpd(binary, root, flags)) for name, flags in JSCPD_MODES.items()
        ]
    if "baseline" in wanted:
        found.append(("token baseline", ask_baseline))
    return found


def one_run(corpus, name, ask, language, options):
    """The figures of one tool in one language."""
    with tempfile.TemporaryDirectory(prefix="clones-") as scratch:
        root = os.path.join(os.path.realpath(scratch), language)
        shutil.copytree(os.path.join(corpus, "corpus", language), root)
        answers = [ask(root, language) for _ in range(options.repeat)]
    answer = answers[0]
    cost = cheapest([one.cost for one in answers])
    index = cheapest([one.index for one in answers]) if answer.index else None
    if options.predictions:
        os.makedirs(options.predictions, exist_ok=True)
        kept = f"{name.replace(' ', '-').replace(',', '')}.{language}.jsonl"
        with open(os.path.join(options.predictions, kept), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(prediction) + "\n" for prediction in answer.predictions)
    figures = score(
        read_truth(corpus, [language]),
        answer.predictions,
        root=os.path.join(corpus, "corpus", language),
        mode=options.mode,
        only_labelled_negatives=options.labelled_only,
        name=name,
    )
    figures |= {"language": language, "cost": vars(cost), "index_cost": vars(index) if index else None}
    return figures | {"remarks": answer.remarks}


def pooled(runs):
    """The figures of a tool over all languages, every pair counted once."""
    total = lambda get: sum(get(one) for one in runs)
    recall = {}
    for kind in TYPES:
        counts = [one["recall"][kind] for one in runs if kind in one["recall"]]
        hits, there = sum(one["hit"] for one in counts), sum(one["n"] for one in counts)
        if counts:
            recall[kind] = {"hit": hits, "n": there, "recall": hits / there}
    right, wrong = total(lambda one: one["tp"]), total(lambda one: one["fp"])
    core = [recall[kind] for kind in ("T1", "T2", "T3") if kind in recall]
    found = sum(one["hit"] for one in core) / max(1, sum(one["n"] for one in core))
    precision = right / max(1, right + wrong)
    chains = [[int(part) for part in one["clusters"]["chain_unrelated_joined"].split("/")] for one in runs]
    cost = lambda key: (
        {part: total(lambda one: one[key][part]) for part in ("wall", "cpu")} if all(one[key] for one in runs) else None
    )
    return {
        "name": runs[0]["name"],
        "language": "all",
        "loc": total(lambda one: one["loc"]),
        "tp": right,
        "fp": wrong,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * found / max(1e-9, precision + found),
        "chain_unrelated_reported": total(lambda one: one["chain_unrelated_reported"]),
        "clusters": {"chain_unrelated_joined": f"{sum(one[0] for one in chains)}/{sum(one[1] for one in chains)}"},
        "cost": cost("cost"),
        "index_cost": cost("index_cost"),
    }


def row(figures):
    cost, index, lines = figures["cost"], figures["index_cost"], figures["loc"] / 1000
    joined, ends = figures["clusters"]["chain_unrelated_joined"].split("/")
    recall = [f"{figures['recall'][kind]['recall']:.3f}" if kind in figures["recall"] else "" for kind in TYPES]
    cells = [
        figures["name"],
        figures["language"],
        f"{figures['precision']:.4f}",
        f"{figures['fp']}",
        *recall,
        f"{figures['f1']:.3f}",
    ]
    cells.append(f"{figures['chain_unrelated_reported']} / {joined} of {ends}" if int(ends) else "")
    cells += [f"{cost['wall']:.2f}", f"{cost['cpu']:.2f}"]
    cells.append(f"{lines / cost['cpu']:.0f}" if cost["cpu"] else "")
    cells += [f"{index['wall']:.2f}", f"{index['cpu']:.2f}", f"{lines / (cost['cpu'] + index['cpu']):.0f}"] if index else [""] * 3
    return cells


def table(rows):
    """Markdown; a column that no tool has anything in is left out."""
    shown = [at for at in range(len(HEADINGS)) if any(cells[at] for cells in rows)]
    lines = [[cells[at] for at in shown] for cells in [HEADINGS, ["---", "---", *["--:"] * (len(HEADINGS) - 2)], *rows]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--sai", help="the binary to run")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of sai; may be repeated")
    parser.add_argument("--jscpd", help="the native binary, or the folder it was installed in with npm")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--tools", default="sai,jscpd,baseline")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each question; the cheapest is shown")
    parser.add_argument("--predictions", metavar="FOLDER", help="keep what the tools said, for score.py --root")
    parser.add_argument("--mode", default="pairs", choices=["pairs", "closure"], help="what recall and precision are of")
    parser.add_argument("--labelled-only", action="store_true", help="wrong are pairs labelled as no clones, no others")
    parser.add_argument("--json", metavar="OUT")
    options = parser.parse_args()
    asked, all_runs, rows = askers(options), [], []
    if not asked:
        parser.error("nothing to run: give --sai or --jscpd, or the baseline among --tools")
    corpus = os.path.abspath(options.corpus)
    for name, ask in asked:
        runs = []
        for language in options.languages.split(","):
            runs.append(one_run(corpus, name, ask, language, options))
            print(name, language, "done", file=sys.stderr)
        all_runs += runs
        rows += [row(one) for one in runs]
        if len(runs) > 1:
            all_runs.append(pooled(runs))
            rows.append(row(all_runs[-1]))
    print(table(rows))
    if options.json:
        versions = {"sai": options.sai and version_of(options.sai)}
        versions["jscpd"] = options.jscpd and version_of(jscpd_binary(options.jscpd))
        about = {
            "corpus": os.path.basename(corpus),
            "versions": versions,
            "load": os.getloadavg(),
            "python": platform.python_version(),
        }
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"about": about, "runs": all_runs}, file, indent=1)


if __name__ == "__main__":
    main()
