"""Our tool and others in one run: index time, query time, memory, quality.

The peers file (JSON) says where the others lie; one that isn't named is left out:

    {"bm25": {}, "semble": {"python": "venv/bin/python", "stand_in": "model-of-few-words", "model": "our-table"},
     "probe": {"binary": "probe"}, "codegraph": {"binary": "codegraph", "home": "folder"}, "ripgrep": {"binary": "rg"}}

Paths are relative to the file. All tools get the same questions of the same trees in turn. `sai`, BM25 and semble answer all questions
of a tree in one process, so their query time is warm; the others are a process a question. Memory is the largest resident set of a
tool's processes. Answers of probe, codegraph and ripgrep are reduced to distinct files where the benchmark does so (all sets but
the documentation's), which is in their favour: no chunk of a file wastes a rank. codegraph writes into the tree and so
gets a copy, without telemetry and with a home of its own.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from statistics import median

from interval import bootstrap, mean_of_means
from judging import grouped, judge_repository
from material import spread
from metric import DEPTH
from tools import Answers, questions_file, read_answers, version_of

PATIENCE = 300
HERE = os.path.dirname(os.path.abspath(__file__))
STOP_WORDS = set(
    "the and for how are was were that this with from into when where what which who whom why does did has have had its their they them then than"
    " but not can will would should could may might been being all any each few more most other some such only own same too very just about after"
    " also before between during through under over out off per via use uses used using you your our".split()
)


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds by the clock, seconds of CPU (its children's too), largest resident set."""

    seconds: float
    cpu: float
    peak_kib: int


def measured(command, environment=None):
    """Runs a process; (exit status, stdout, `Cost`). What takes longer than `PATIENCE` is ended and counts as failed."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment)
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        cost = Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        out.seek(0)
        return process.returncode, out.read().decode("utf-8", "replace"), cost


def sai(repository, options):
    """Index anew, then all questions in one process."""
    status, _, indexing = measured([options["binary"], "index", "--force", "--quiet", "--root", repository.root])
    if status:
        return Answers(failure=f"sai index ended with {status}")
    questions = questions_file(repository)
    try:
        command = [options["binary"], "search", "--root", repository.root, "--batch", questions, "--limit", str(DEPTH)]
        status, out, asking = measured(command)
    finally:
        os.remove(questions)
    if status:
        return Answers(failure=f"sai search ended with {status}")
    answers = read_answers(out)
    answers.index_seconds, answers.index_cpu = indexing.seconds, indexing.cpu
    answers.peak_kib = max(indexing.peak_kib, asking.peak_kib)
    return answers


def batch(repository, command, environment=None):
    """A script of this folder that writes its answers, the index time first."""
    questions = questions_file(repository)
    handle, out = tempfile.mkstemp(suffix=".jsonl")
    os.close(handle)
    try:
        status, _, cost = measured([*command, repository.root, questions, out, str(DEPTH)], environment)
        if status:
            return Answers(failure=f"{command[1]} ended with {status}")
        with open(out, encoding="utf-8") as file:
            first, _, rest = file.read().partition("\n")
    finally:
        os.remove(questions)
        os.remove(out)
    answers = read_answers(rest)
    made = json.loads(first)
    answers.index_seconds, answers.index_cpu, answers.peak_kib = made["index_seconds"], made["index_cpu"], cost.peak_kib
    return answers


def bm25(repository, _options):
    return batch(repository, [sys.executable, os.path.join(HERE, "bm25.py")])


def semble(repository, options, mode, model):
    return batch(repository, [options["python"], os.path.join(HERE, "semble.py"), options[model], mode])


def one_by_one(repository, ask, answers=None):
    """A process (or several) a question; `ask` returns (results, cost)."""
    answers = answers or Answers(peak_kib=0)
    for task in repository.tasks:
        results, cost = ask(task.query)
        answers.results[task.number] = results
        answers.milliseconds.append(cost.seconds * 1000)
        answers.cpu_milliseconds.append(cost.cpu * 1000)
        answers.peak_kib = max(answers.peak_kib or 0, cost.peak_kib)
    return answers


def probe(repository, options):
    def ask(query):
        command = [options["binary"], "search", query, repository.root, "--format", "json", "--max-results", str(3 * DEPTH)]
        _, out, cost = measured(command)
        start = out.find("{")
        found = json.loads(out[start:]).get("results", []) if start >= 0 else []
        path = lambda one: os.path.relpath(os.path.join(repository.root, one["file"]), repository.root)
        return [{"path": path(one), "start_line": one["lines"][0], "end_line": one["lines"][1]} for one in found], cost

    return one_by_one(repository, ask)


def codegraph(repository, options):
    environment = {**os.environ, "HOME": options["home"], "CODEGRAPH_TELEMETRY": "0", "DO_NOT_TRACK": "1"}
    with tempfile.TemporaryDirectory(prefix="codegraph-") as folder:
        copy = os.path.join(folder, os.path.basename(repository.root))
        shutil.copytree(repository.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".index", ".git"))
        status, _, made = measured([options["binary"], "init", copy], environment)
        if status:
            return Answers(failure=f"codegraph init ended with {status}")

        def ask(query):
            command = [options["binary"], "query", query, "--path", copy, "--json", "--limit", str(2 * DEPTH)]
            _, out, cost = measured(command, environment)
            start = out.find("[")
            found = [one["node"] for one in json.loads(out[start:])] if start >= 0 else []
            return [{"path": one["filePath"], "start_line": one["startLine"], "end_line": one["endLine"]} for one in found], cost

        return one_by_one(repository, ask, Answers(index_seconds=made.seconds, index_cpu=made.cpu, peak_kib=made.peak_kib))


def files_with(binary, text, root):
    """Files that hold a string, those with most such lines first, and what that cost."""
    _, out, cost = measured([binary, "--count", "--no-heading", "--ignore-case", "--fixed-strings", "--", text, root])
    counted = sorted((line.rpartition(":") for line in out.splitlines()), key=lambda entry: -int(entry[2] or 0))
    return [os.path.relpath(path, root) for path, _, _ in counted], cost


def ripgrep_string(repository, options):
    """The question as one string, files by lines that match: the benchmark's own baseline."""

    def ask(query):
        files, cost = files_with(options["binary"], query, repository.root)
        return [{"path": path} for path in files[:DEPTH]], cost

    return one_by_one(repository, ask)


def ripgrep_words(repository, options):
    """Every word of the question, files by how many of the words they hold."""

    def ask(query):
        words = [word for word in dict.fromkeys(re.findall(r"[A-Za-z][A-Za-z0-9_]{2,}", query)) if word.lower() not in STOP_WORDS]
        held, total = Counter(), Cost(0, 0, 0)
        for word in words:
            files, cost = files_with(options["binary"], word, repository.root)
            held.update(files[:500])
            total = Cost(total.seconds + cost.seconds, total.cpu + cost.cpu, max(total.peak_kib, cost.peak_kib))
        return [{"path": path} for path, _ in held.most_common(DEPTH)], total

    return one_by_one(repository, ask)


def contestants(binary, peers_file):
    """(name, how it is asked, whether a question is a process of its own) of every tool at hand."""
    with open(peers_file, encoding="utf-8") as file:
        peers = json.load(file)
    base = os.path.dirname(os.path.abspath(peers_file))
    # Only what has a slash is a path; a bare name is looked for where programs lie.
    peers = {
        name: {key: os.path.join(base, value) if "/" in value else value for key, value in options.items()} for name, options in peers.items()
    }
    known = [
        (version_of(binary), "sai", lambda r: sai(r, {"binary": binary}), False),
        ("BM25", "bm25", lambda r: bm25(r, {}), False),
        ("semble, BM25 + ranking", "semble", lambda r: semble(r, peers["semble"], "bm25", "stand_in"), False),
        ("semble, hybrid with our table", "semble", lambda r: semble(r, peers["semble"], "hybrid", "model"), False),
        ("probe", "probe", lambda r: probe(r, peers["probe"]), True),
        ("codegraph", "codegraph", lambda r: codegraph(r, peers["codegraph"]), True),
        ("ripgrep, whole question", "ripgrep", lambda r: ripgrep_string(r, peers["ripgrep"]), True),
        ("ripgrep, its words", "ripgrep", lambda r: ripgrep_words(r, peers["ripgrep"]), True),
    ]
    return [(name, ask, by_process) for name, key, ask, by_process in known if key == "sai" or key in peers]


def by_file(answers):
    """Distinct files in order instead of places."""
    for number, results in answers.results.items():
        answers.results[number] = [{"path": path} for path in dict.fromkeys(one["path"] for one in results)]
    return answers


def measure(sets, binary, peers_file, slow_per_repository, only, progress):
    """Every tool on every set: rows, times and memory, by tool and label; `progress` gets what there is after each."""
    outcome = {}
    for name, ask, by_process in contestants(binary, peers_file):
        if only and not any(name.lower().startswith(one.lower()) for one in only):
            continue
        for questions in sets:
            outcome.setdefault(name, {})[questions.label] = measure_set(questions, ask, by_process, slow_per_repository if by_process else 0)
            progress(outcome, name, questions.label)
    return outcome


def measure_set(questions, ask, by_process, per_repository):
    part = {"rows": [], "index_seconds": [], "index_cpu": [], "milliseconds": [], "cpu_milliseconds": [], "peak_kib": 0, "failures": {}}
    # Only the documentation set asks for one function everywhere; elsewhere these tools are judged by file.
    as_files = by_process and not all(task.targets[0].first for one in questions.repositories for task in one.tasks)
    for whole in questions.repositories:
        repository = replace(whole, tasks=spread(whole.tasks, per_repository))
        answers = ask(repository)
        if answers.failure:
            part["failures"][repository.name] = answers.failure
        part["rows"] += judge_repository(repository, by_file(answers) if as_files else answers, questions.paths)
        part["milliseconds"] += answers.milliseconds
        part["cpu_milliseconds"] += answers.cpu_milliseconds
        if answers.index_seconds is not None:
            part["index_seconds"].append(answers.index_seconds)
            part["index_cpu"].append(answers.index_cpu or 0.0)
        part["peak_kib"] = max(part["peak_kib"], answers.peak_kib or 0)
    return part


def join(outcomes):
    """Outcomes of several runs as one; a set of a tool that was measured twice counts as measured last."""
    joined = {}
    for outcome in outcomes:
        for name, parts in outcome.items():
            joined.setdefault(name, {}).update(parts)
    return joined


def markdown(outcome, draws):
    """NDCG@10 of every tool on every set with its interval, then times and memory."""
    labels = list(dict.fromkeys(label for parts in outcome.values() for label in parts))
    lines = ["| NDCG@10 (95 %) | " + " | ".join(labels) + " |", "| --- " * (len(labels) + 1) + "|"]
    for name, parts in outcome.items():
        lines.append(f"| {name} | " + " | ".join(quality(parts.get(label), draws) for label in labels) + " |")
    for label in labels:
        lines += ["", f"| {label} | index, s (CPU s) | question p50, ms (CPU ms) | peak MiB | questions |", "| --- | --- | --- | --- | --- |"]
        lines += [f"| {name} | {cost_of(parts[label])} |" for name, parts in outcome.items() if label in parts]
    return "\n".join(lines)


def quality(part, draws):
    if not part:
        return "-"
    low, high = bootstrap(grouped(part["rows"], "ndcg10"), draws)
    return f"{mean_of_means(grouped(part['rows'], 'ndcg10')):.3f} ({low:.3f} to {high:.3f})"


def cost_of(part):
    index = f"{sum(part['index_seconds']):.1f} ({sum(part['index_cpu']):.1f})" if part["index_seconds"] else "none"
    query = f"{median(part['milliseconds']):.2f}" if part["milliseconds"] else "-"
    cpu = f" ({median(part['cpu_milliseconds']):.0f})" if part["cpu_milliseconds"] else ""
    return f"{index} | {query}{cpu} | {part['peak_kib'] / 1024:.0f} | {len(part['rows'])}"
