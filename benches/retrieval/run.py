#!/usr/bin/env python3
"""The retrieval bench: how well does a sai binary find code?

    run.py score   --sai BINARY --material MATERIAL.json [--set LABEL]… [--out REPORT.json]
    run.py compare BEFORE.json AFTER.json
    run.py tokens  --sai BINARY --material MATERIAL.json [--set LABEL]…
    run.py peers   --sai BINARY --material MATERIAL.json --peers PEERS.json [--out TABLE.json]

`score` asks every question of the sets and prints tables by category, language and length of the question, with 95 %
intervals; `compare` shows what changed between two reports; `tokens` counts what an agent reads until it meets the first right
hit; `peers` asks other tools the same. The sets: `material.py`; making them: `commit_set.py` and `doc_set.py`; the rules:
`metric.py`, `interval.py`. Python 3.11, nothing else. Figures and how they were taken: docs/benchmarks.md.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import comparing
import judging
import material
import peers.table
import tokens
import tools
from interval import DRAWS


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    ways = parser.add_subparsers(dest="way", required=True)
    score = ways.add_parser("score", help="ask all questions of the sets")
    for_material(score)
    score.add_argument("--out", help="write every question's figures into this file (JSON)")
    score.add_argument("--label", default="", help="name of this build in comparisons (default: its version)")
    score.add_argument("--fresh", action="store_true", help="make every index anew first; without it an index that is there is used")
    score.add_argument("--brief", action="store_true", help="one line a set instead of tables")
    score.add_argument("--repositories", action="store_true", help="also a row for each repository")
    score.add_argument("--jobs", type=int, default=1, help="repositories asked at the same time (spoils the times)")
    score.add_argument("--draws", type=int, default=DRAWS, help=f"draws of the bootstrap (default {DRAWS})")
    score.add_argument("more", nargs="*", help="after --: more options for `sai search`, for example -- --mode lexical")
    compare = ways.add_parser("compare", help="two reports, question by question")
    compare.add_argument("before")
    compare.add_argument("after")
    compare.add_argument("--shown", type=int, default=10, help="winners and losers listed for each set")
    compare.add_argument("--draws", type=int, default=DRAWS)
    counted = ways.add_parser("tokens", help="what is read until the first right hit, by the benchmark's token rule")
    for_material(counted)
    counted.add_argument("--jobs", type=int, default=1, help="questions asked at the same time")
    counted.add_argument("--out", help="write the figures into this file (JSON)")
    counted.add_argument("more", nargs="*", help="after --: more options for `sai search`")
    others = ways.add_parser("peers", help="our tool and others in one run")
    for_material(others)
    others.add_argument("--peers", required=True, help="the peers file (see peers/table.py)")
    others.add_argument(
        "--slow-per-repository", type=int, default=0, metavar="N", help="at most N questions a repository for tools that are a process a question"
    )
    others.add_argument("--tool", action="append", default=[], help="only tools whose name begins so; may be repeated")
    others.add_argument("--out", help="write every question's figures of every tool into this file (JSON)")
    others.add_argument("--draws", type=int, default=DRAWS)
    joined = ways.add_parser("table", help="the table of files that `peers --out` wrote, as one")
    joined.add_argument("files", nargs="+")
    joined.add_argument("--draws", type=int, default=DRAWS)
    arguments = parser.parse_args()
    {"score": run_score, "compare": run_compare, "tokens": run_tokens, "peers": run_peers, "table": run_table}[arguments.way](arguments)


def for_material(parser):
    """The arguments that say what to ask, of whom."""
    parser.add_argument("--sai", required=True, help="the binary to measure")
    parser.add_argument("--material", required=True, help="the material file (see material.py)")
    parser.add_argument("--set", action="append", default=[], help="only the set of this label; may be repeated")
    parser.add_argument("--repository", action="append", default=[], help="only this repository; may be repeated")
    parser.add_argument("--language", action="append", default=[], help="only repositories of this language; may be repeated")
    parser.add_argument("--per-repository", type=int, default=0, metavar="N", help="a sample of at most N questions of each repository, the same every time")


def sets_of(arguments):
    return material.load(arguments.material, arguments.set, arguments.repository, arguments.language, arguments.per_repository)


def run_score(arguments):
    report = {"label": arguments.label or tools.version_of(arguments.sai), "sets": {}}
    for questions in sets_of(arguments):
        part = score_set(questions, arguments)
        report["sets"][questions.label] = part
        print_set(questions.label, part, arguments)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    if any(part["failures"] for part in report["sets"].values()):
        sys.exit(1)


def score_set(questions, arguments):
    """Every question of a set, asked and judged."""
    ask = lambda repository: tools.ask_sai(repository, arguments.sai, arguments.fresh, arguments.more)
    with ThreadPoolExecutor(max_workers=max(arguments.jobs, 1)) as pool:
        answered = list(pool.map(ask, questions.repositories))
    part = {"rows": [], "milliseconds": [], "failures": {}}
    for repository, answers in zip(questions.repositories, answered):
        if answers.failure:
            part["failures"][repository.name] = answers.failure
            print(f"{questions.label}: {repository.name}: {answers.failure}", file=sys.stderr)
        part["rows"] += judging.judge_repository(repository, answers, questions.paths)
        part["milliseconds"] += answers.milliseconds
    return part


def print_set(label, part, arguments):
    rows = part["rows"]
    if not rows:
        print(f"{label}: no questions (is the material laid out?)")
        return
    middle = judging.middle(part["milliseconds"])
    if arguments.brief:
        figures = judging.summary(rows, arguments.draws)
        categories = sorted({row["category"] for row in rows})
        parts = {one: judging.summary([row for row in rows if row["category"] == one], 1)["ndcg10"] for one in categories}
        shown = " ".join(f"{one} {value:.4f}" for one, value in parts.items()) if len(parts) > 1 else ""
        print(
            f"{label:12} ndcg10 {figures['ndcg10']:.4f} [{figures['low']:.3f} {figures['high']:.3f}] hit1 {figures['hit1']:.4f} "
            f"hit10 {figures['hit10']:.4f} mrr {figures['mrr']:.4f} n {figures['questions']} p50 {middle or 0:.2f} ms {shown}",
            flush=True,
        )
        return
    keys = ["category", "language", "length", *(["repository"] if arguments.repositories else [])]
    print(judging.table(label, rows, keys, arguments.draws))
    print(f"\nA question took {middle or 0:.2f} ms (median).\n", flush=True)


def run_compare(arguments):
    before, after = (json.load(open(name, encoding="utf-8")) for name in (arguments.before, arguments.after))
    print(comparing.compare(before, after, arguments.shown, arguments.draws))


def run_tokens(arguments):
    figures = {}
    for questions in sets_of(arguments):
        figures[questions.label] = tokens.measure(questions, arguments.sai, arguments.jobs, arguments.more)
        print(tokens.table(questions.label, figures[questions.label]) + "\n", flush=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


def run_peers(arguments):
    def progress(outcome, name, label):
        part = outcome[name][label]
        figure = judging.summary(part["rows"], 1)["ndcg10"]
        print(f"{name}: {label}: {figure:.3f}, {len(part['failures'])} failures", file=sys.stderr, flush=True)
        if arguments.out:
            with open(arguments.out, "w", encoding="utf-8") as file:
                json.dump(outcome, file, indent=1)

    outcome = peers.table.measure(sets_of(arguments), arguments.sai, arguments.peers, arguments.slow_per_repository, arguments.tool, progress)
    print(peers.table.markdown(outcome, arguments.draws))


def run_table(arguments):
    outcomes = [json.load(open(name, encoding="utf-8")) for name in arguments.files]
    print(peers.table.markdown(peers.table.join(outcomes), arguments.draws))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # Whoever reads the tables has seen enough; what is left to flush has no reader either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
