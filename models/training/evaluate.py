"""Judges model files on sets of questions over trees: vectors alone, and with BM25.

usage: evaluate.py MATERIAL.json --sets library docs ... MODEL.bin[:DIM] ...

MATERIAL.json is the file that benches/retrieval describes (`material.py` there): sets with questions, targets and trees.
Chunks are whole lines, about 1,500 characters (`--size`). A rank is a chunk; NDCG@10 and MRR@10 are means over the
repositories. BM25 is a plain one over the model's own words, with the path's words in the text; both are added as
z-scores, 0.7 for the vectors. Without a ranking's signals, so levels are below SAI's; differences between models count.
"""

import argparse
import json
import math
import os
from collections import defaultdict

import numpy as np

from kernels import Words, compose, embed, load_model, path_parts, unit

SOURCE = set(
    ".py .js .jsx .mjs .cjs .ts .tsx .go .rs .java .kt .kts .rb .php .c .h .cc .cpp .hpp .cs .swift .scala .sbt .ex .exs .lua .sh"
    " .bash .zsh .bats .zig .hs".split()
)
SKIPPED = set(".git node_modules .venv venv dist build .eggs __pycache__ .sai".split())
FILE_MAX = 400_000  # bytes
K1, B = 1.5, 0.75


def chunks_of(root, size):
    """Lists of (path, first line, last line) and of texts."""
    places, texts = [], []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        for name in sorted(files):
            full = os.path.join(folder, name)
            if os.path.splitext(name)[1].lower() not in SOURCE or os.path.islink(full) or os.path.getsize(full) > FILE_MAX:
                continue
            lines = open(full, encoding="utf8", errors="replace").read().split("\n")
            at = 0
            while at < len(lines):
                end, length = at, 0
                while end < len(lines) and (length == 0 or length + len(lines[end]) <= size):
                    length += len(lines[end]) + 1
                    end += 1
                text = "\n".join(lines[at:end])
                if text.strip():
                    places.append((os.path.relpath(full, root), at + 1, end))
                    texts.append(text)
                at = end
    return places, texts


def hits(place, target, exact):
    path, first, last = place
    wanted = target if isinstance(target, str) else target["path"]
    same = path == wanted or (not exact and (path.endswith("/" + wanted) or wanted.endswith("/" + path)))
    if not same or isinstance(target, str) or target.get("start_line") is None:
        return same
    return first <= target["end_line"] and target["start_line"] <= last


def judged(order, places, task, exact):
    """NDCG@10 and reciprocal rank of the best ten."""
    targets = task["relevant"] + task.get("secondary", [])
    ranks = []
    for target in targets:
        rank = next((r for r, i in enumerate(order, 1) if hits(places[i], target, exact)), None)
        if rank:
            ranks.append(rank)
    best = sum(1 / math.log2(r + 1) for r in range(1, min(10, len(targets)) + 1))
    return sum(1 / math.log2(r + 1) for r in set(ranks)) / best if best else 0.0, 1 / min(ranks) if ranks else 0.0


def bm25(words, queries, texts, places):
    """Scores of every chunk for every query."""
    extra = [" {0} {0} {1}".format(os.path.splitext(os.path.basename(p[0]))[0], " ".join(os.path.dirname(p[0]).split("/")[-3:])) for p in places]
    start, ids, values = words.matrix([e + " " + t for t, e in zip(texts, extra)])
    counts, owner = values**2, np.repeat(np.arange(len(texts)), np.diff(start))
    length = np.bincount(owner, counts, len(texts))
    gain = counts / (counts + K1 * (1 - B + B * length[owner] / length.mean()))
    order = np.argsort(ids, kind="stable")
    ids, gain, owner = ids[order], gain[order], owner[order]
    scores = np.zeros((len(queries), len(texts)), np.float32)
    q_start, q_ids, _ = words.matrix(queries)
    for q in range(len(queries)):
        for term in q_ids[q_start[q] : q_start[q + 1]]:
            a, b = np.searchsorted(ids, [term, term + 1])
            idf = math.log(1 + (len(texts) - (b - a) + 0.5) / (b - a + 0.5))
            scores[q, owner[a:b]] += idf * gain[a:b]
    return scores


def z(scores):
    return (scores - scores.mean(1, keepdims=True)) / (scores.std(1, keepdims=True) + 1e-9)


def repositories_of(material, label):
    """(name, language, root, tasks) of a set, and whether its paths are exact."""
    base = os.path.dirname(os.path.abspath(material))
    described = next(s for s in json.load(open(material))["sets"] if s["label"] == label)
    at = lambda key: os.path.normpath(os.path.join(base, described[key]))
    out = []
    for one in json.load(open(at("repositories"))):
        tasks, root = os.path.join(at("tasks"), one["name"] + ".json"), os.path.join(at("trees"), one["name"])
        if os.path.exists(tasks) and os.path.isdir(root):
            inner = one.get("benchmark_root") if described["root"] == "library" else None
            out.append((one["name"], one["language"], os.path.join(root, inner) if inner else root, json.load(open(tasks))))
    return out, described.get("paths") == "exact"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("material")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sets", required=True, help="with commas")
    parser.add_argument("--size", type=int, default=1500)
    parser.add_argument("--skip", default="", help="repositories left out, with commas")
    args = parser.parse_args()
    loaded = {}
    for model in args.models:
        path, _, dim = model.partition(":")
        if path not in loaded:
            listed, table, weight = load_model(path)
            loaded[path] = Words(listed), table, weight
    for label in args.sets.split(","):
        repositories, exact = repositories_of(args.material, label)
        figures, languages = defaultdict(list), defaultdict(lambda: defaultdict(list))
        for name, language, root, tasks in repositories:
            if name in args.skip.split(","):
                continue
            places, texts = chunks_of(root, args.size)
            queries = [task["query"] for task in tasks]
            parts = [path_parts(p[0]) for p in places]
            sides = {}
            for path, (words, table, weight) in loaded.items():
                matrices = [words.matrix(x) for x in (texts, [s for s, _ in parts], [f for _, f in parts])]
                sides[path] = embed(words.matrix(queries), table), [embed(m, table, weight) for m in matrices]
            lexical = z(bm25(next(iter(loaded.values()))[0], queries, texts, places))
            scores = {"BM25": lexical}
            for model in args.models:
                path, _, dim = model.partition(":")
                dim = int(dim or 256)
                query, document = sides[path]
                vectors = z(unit(query[:, :dim])[0] @ compose([unit(d[:, :dim])[0] for d in document]).T)
                scores[model] = vectors
                scores[model + " + BM25"] = 0.7 * vectors + 0.3 * lexical
            for system, matrix in scores.items():
                found = []
                for task, row in zip(tasks, matrix):
                    top = np.argpartition(-row, min(10, len(row) - 1))[:10]
                    found.append(judged(top[np.argsort(-row[top], kind="stable")], places, task, exact))
                means = np.mean(found, 0)
                figures[system].append(means)
                languages[system][language].append(means[0])
        for system, rows in figures.items():
            ndcg, mrr = np.mean(rows, 0)
            print(f"{label:12} {system:50} NDCG@10 {ndcg:.4f} MRR@10 {mrr:.4f} over {len(rows)} repositories", flush=True)
        for system in args.models:
            print(f"  {system} " + " ".join(f"{k} {np.mean(v):.2f}" for k, v in sorted(languages[system].items())), flush=True)


if __name__ == "__main__":
    main()
