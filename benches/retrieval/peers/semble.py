#!/usr/bin/env python3
"""Asks the PyPI package semble (run with a Python that has it).

    semble.py MODEL MODE ROOT QUESTIONS OUT LIMIT

MODEL is a Model2Vec folder (`export_model2vec.py` writes one of our table); MODE is `bm25` (BM25 and semble's ranking; the vectors
don't count) or `hybrid`, semble's default. Nothing is fetched.
"""

import json
import os
import sys
import tempfile
import time

# A script's own folder comes first in the search path, and this file has the package's name.
sys.path.pop(0)
os.environ["HF_HUB_OFFLINE"] = "1"
CACHE = tempfile.TemporaryDirectory(prefix="semble-cache-")
os.environ["SEMBLE_CACHE_LOCATION"] = CACHE.name
from semble import SembleIndex  # noqa: E402


def main():
    model, mode, root, questions, out, limit = sys.argv[1:7]
    began, cpu = time.perf_counter(), time.process_time()
    index = SembleIndex.from_path(root, model_path=model)
    with open(out, "w", encoding="utf-8") as answers:
        answers.write(json.dumps({"index_seconds": time.perf_counter() - began, "index_cpu": time.process_time() - cpu}) + "\n")
        for line in open(questions, encoding="utf-8"):
            question, asked, spent = json.loads(line), time.perf_counter(), time.process_time()
            hits = index.search(question["query"], top_k=int(limit), alpha=0.0 if mode == "bm25" else None)
            milliseconds = (time.perf_counter() - asked) * 1000
            results = [{"path": hit.chunk.file_path, "start_line": hit.chunk.start_line, "end_line": hit.chunk.end_line} for hit in hits]
            answers.write(json.dumps({"id": question["id"], "ms": milliseconds, "cpu_ms": (time.process_time() - spent) * 1000, "results": results}) + "\n")


if __name__ == "__main__":
    main()
