"""Asking a tool: each adapter takes a repository and returns its answers, with how long they took.

An adapter is a function `(repository, options) -> Answers`. `sai` is asked with `sai search --batch`, all questions of a
repository in one process; the adapters of other tools are in `peers.py`.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field

from metric import DEPTH


@dataclass
class Answers:
    """What a tool said: results by question number (dicts with path and lines), milliseconds a question, index time."""

    results: dict[int, list[dict]] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)
    cpu_milliseconds: list[float] = field(default_factory=list)
    index_seconds: float | None = None
    index_cpu: float | None = None
    peak_kib: int | None = None
    failure: str | None = None


def questions_file(repository):
    """A temporary file of JSON lines {"id", "query"}; the caller removes it."""
    handle, path = tempfile.mkstemp(suffix=".jsonl", prefix="questions-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        for task in repository.tasks:
            file.write(json.dumps({"id": task.number, "query": task.query}) + "\n")
    return path


def read_answers(text):
    """Answers from JSON lines {"id", "ms"?, "results"}."""
    answers = Answers()
    for line in text.splitlines():
        if line.strip():
            one = json.loads(line)
            answers.results[int(one["id"])] = one["results"]
            if "ms" in one:
                answers.milliseconds.append(one["ms"])
            if "cpu_ms" in one:
                answers.cpu_milliseconds.append(one["cpu_ms"])
    return answers


def ask_sai(repository, binary, fresh=False, more=()):
    """All questions of a repository, in one `sai search --batch`; `fresh` makes the index anew before."""
    if fresh:
        made = subprocess.run([binary, "index", "--force", "--quiet", "--root", repository.root], capture_output=True, text=True)
        if made.returncode:
            return Answers(failure=f"sai index ended with {made.returncode}: {made.stderr.strip()[-300:]}")
    questions = questions_file(repository)
    try:
        command = [binary, "search", "--root", repository.root, "--batch", questions, "--limit", str(DEPTH), *more]
        done = subprocess.run(command, capture_output=True, text=True)
    finally:
        os.remove(questions)
    if done.returncode:
        return Answers(failure=f"sai search ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return read_answers(done.stdout)


def version_of(binary):
    done = subprocess.run([binary, "--version"], capture_output=True, text=True)
    return done.stdout.strip()
