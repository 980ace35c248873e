#!/usr/bin/env python3
"""Plain BM25 over chunks of lines: the floor that any ranking has to pass.

    bm25.py ROOT QUESTIONS OUT LIMIT

Chunks are runs of lines up to 1,500 characters; a chunk's words are those of its text, the file's stem twice and the last three
folders; identifiers count whole and split. k1 = 1.5, b = 0.75.
"""

import heapq
import json
import math
import os
import re
import sys
import time
from collections import Counter, defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from sources import EXTENSIONS  # noqa: E402

SKIPPED = {"node_modules", "__pycache__", "venv", "dist", "build"}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
CHUNK = 1500
K1, B = 1.5, 0.75


def words_of(text, known):
    """Identifiers in lower case, and their parts where there is more than one; `known` remembers."""
    words = []
    for identifier in IDENTIFIER.findall(text):
        if identifier not in known:
            parts = [part.lower() for part in PART.findall(identifier)]
            known[identifier] = [identifier.lower(), *parts] if len(parts) > 1 else [identifier.lower()]
        words += known[identifier]
    return words


def chunks_of(root):
    """(path, first line, last line, text) of every chunk of source below a folder."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.rsplit(".", 1)[-1].lower() not in EXTENSIONS or os.path.islink(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
            relative = os.path.relpath(path, root)
            stem = os.path.splitext(name)[0]
            where = f" {stem} {stem} " + " ".join(os.path.dirname(relative).split(os.sep)[-3:])
            yield from ((relative, first, last, text + where) for first, last, text in runs(lines))


def runs(lines):
    first, size = 0, 0
    for at, line in enumerate(lines):
        if at > first and size + len(line) > CHUNK:
            yield first + 1, at, "\n".join(lines[first:at])
            first, size = at, 0
        size += len(line) + 1
    if any(line.strip() for line in lines[first:]):
        yield first + 1, len(lines), "\n".join(lines[first:])


def main():
    root, questions, out, limit = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    began, cpu, known = time.perf_counter(), time.process_time(), {}
    places, postings, lengths = [], defaultdict(list), []
    for path, first, last, text in chunks_of(root):
        words = words_of(text, known)
        for word, count in Counter(words).items():
            postings[word].append((len(places), count))
        places.append({"path": path, "start_line": first, "end_line": last})
        lengths.append(len(words))
    mean = sum(lengths) / max(len(lengths), 1) or 1
    with open(out, "w", encoding="utf-8") as answers:
        answers.write(json.dumps({"index_seconds": time.perf_counter() - began, "index_cpu": time.process_time() - cpu}) + "\n")
        for line in open(questions, encoding="utf-8"):
            question, asked, spent = json.loads(line), time.perf_counter(), time.process_time()
            scores = defaultdict(float)
            for word in words_of(question["query"], known):
                found = postings.get(word, ())
                weight = math.log(1 + (len(places) - len(found) + 0.5) / (len(found) + 0.5))
                for chunk, count in found:
                    scores[chunk] += weight * count / (count + K1 * (1 - B + B * lengths[chunk] / mean))
            best = heapq.nlargest(limit, scores.items(), key=lambda entry: (entry[1], -entry[0]))
            milliseconds = (time.perf_counter() - asked) * 1000
            answers.write(json.dumps({"id": question["id"], "ms": milliseconds, "cpu_ms": (time.process_time() - spent) * 1000, "results": [places[chunk] for chunk, _ in best]}) + "\n")


if __name__ == "__main__":
    main()
