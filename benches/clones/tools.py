"""Asking a tool for the clones of a folder: what it says, as predictions for the scorer, and what that cost.

Times are of the whole process with its children: wall, CPU (user and system), and the peak memory of the largest process.
"""

import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
JSCPD_MODES = {
    "jscpd default": [],
    "jscpd weak": ["--mode", "weak"],
    "jscpd weak, names and literals ignored": ["--mode", "weak", "--ignore-identifiers", "--ignore-literals"],
}


@dataclass
class Cost:
    """Seconds of wall and of CPU, KiB at the peak."""

    wall: float = 0.0
    cpu: float = 0.0
    peak_kib: int = 0


@dataclass
class Answer:
    """Predictions, and what the question cost; `index` is what a tool did beforehand, once."""

    predictions: list[dict]
    cost: Cost
    index: Cost | None = None
    remarks: dict = field(default_factory=dict)


def measured(command, accepted=(0,), folder=None):
    """Runs a command: its output and its cost. Another exit status than the accepted ones ends the bench with what it said."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        before = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode not in accepted:
            said = errors.read()[-600:].decode("utf-8", "replace").strip()
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {said}")
        return output.read(), Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def cheapest(costs):
    """The least of each figure over repeated runs: what else ran at the time only ever adds."""
    return Cost(min(one.wall for one in costs), min(one.cpu for one in costs), min(one.peak_kib for one in costs))


def indexed_and_asked(binary, root, more=()):
    """As `ask_sai`, with the index made before."""
    index = index_with_sai(binary, root, more)
    answer = ask_sai(binary, root, more)
    answer.index = index
    return answer


def region(path, start, end):
    return f"{path}:{start}-{end}"


def index_with_sai(binary, root, more=()):
    """What making the index from nothing costs."""
    return measured([binary, "--root", root, "--quiet", "index", "--force", *more])[1]


def ask_sai(binary, root, more=()):
    """All clusters of the report as it is by default, from the index that is there. Status 1 is "nothing found"."""
    output, cost = measured([binary, "--root", root, "--quiet", "duplicates", "--json", "-n", "0", *more], accepted=(0, 1))
    reply = json.loads(output)
    clusters = reply["clusters"]
    if reply["clusters_found"] > len(clusters):
        raise SystemExit(f"{binary} shows {len(clusters)} of {reply['clusters_found']} clusters although all were asked for")
    predictions = [
        {
            "id": cluster.get("id"),
            "members": [region(one["path"], one["start_line"], one["end_line"]) for one in cluster["members"]],
        }
        for cluster in clusters
    ]
    kinds = collections.Counter(cluster.get("kind", "?") for cluster in clusters)
    return Answer(predictions, cost, remarks={"clusters": kinds, "left_out": reply.get("left_out", [])})


def ask_jscpd(binary, root, more=()):
    """The pairs of a report as JSON. Files of any size are read, and no ignore file outside of the folder counts."""
    with tempfile.TemporaryDirectory() as out:
        fixed = ["--reporters", "json", "--output", out, "--silent", "--no-tips", "--no-gitignore", "--max-size", "100mb"]
        _, cost = measured([binary, ".", *fixed, *more], folder=root)
        with open(os.path.join(out, "jscpd-report.json"), encoding="utf-8") as file:
            found = json.load(file)["duplicates"]
    place = lambda one: region(os.path.normpath(one["name"]), one["start"], one["end"])
    return Answer([{"a": place(one["firstFile"]), "b": place(one["secondFile"])} for one in found], cost)


def ask_baseline(root, language):
    output, cost = measured([sys.executable, os.path.join(HERE, "baseline_tokens.py"), root, language])
    predictions = [json.loads(line) for line in output.splitlines()]
    inside = lambda place: os.path.relpath(place.rpartition(":")[0], root) + ":" + place.rpartition(":")[2]
    return Answer([{"a": inside(one["a"]), "b": inside(one["b"])} for one in predictions], cost)


def jscpd_binary(given):
    """The native program: `given` itself, or the one in the node_modules of a folder, so that no start of Node is timed."""
    if os.path.isfile(given):
        return os.path.abspath(given)
    found = glob.glob(os.path.join(given, "node_modules", "jscpd-*", "bin", "jscpd"))
    if not found:
        raise SystemExit(f"no jscpd in {given}: npm install --prefix {given} jscpd@5.3.3 jscpd-linux-x64-gnu@5.3.3")
    return os.path.abspath(found[0])


def version_of(binary):
    return subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
