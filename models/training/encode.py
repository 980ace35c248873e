"""Chooses among the mined pairs, evens them out, fixes the list of words and writes everything as numbers.

usage: encode.py PAIRS SOURCES.tsv... --out DATA.npz [--words N] [--potion FOLDER] [--keep-words MODEL.bin] [--test TASKS...]

PAIRS is mine.py's folder; a source without a line in SOURCES.tsv is left out. `--test` names task files of a held-out
set (objects with `query`): a pair with one of its queries is left out. `--keep-words` takes over a model's list of words.
"""

import argparse
import glob
import hashlib
import json
import os
import random
import re
import time
from collections import Counter

import numpy as np

from kernels import Words, load_model, path_parts
from kinds import KINDS

# What share of a source's pairs of a kind goes in, before the cap of the source.
SHARE = dict(doc=1.0, fulldoc=0.5, name=0.6, test=0.7, comment=0.7, path=1.0, header=1.0, commit=1.0, readme=1.0)
# A short text becomes a question this often, since that is how people ask.
WRAPPED = 0.2
WRAPPINGS = (
    "how does {} work", "how {} works", "how {} is implemented", "how is {} done", "where is {} implemented", "where is {} handled",
    "where do we {}", "where does it {}", "what does {}", "what {}", "how to {}", "code for {}", "code that does {}", "{} implementation",
    "{} logic", "{} handling", "which function does {}", "find the code for {}", "show me {}", "the place where {} happens", "how {}",
)
SAME_QUESTION = 6  # pairs with one and the same text, over all sources


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--words", type=int, default=40_000)
    parser.add_argument("--potion", help="folder of potion-base-8M: its words get into the list more easily")
    parser.add_argument("--keep-words", help="a model file whose list of words is taken over")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--source-cap", type=int, default=14_000)
    parser.add_argument("--language-cap", type=int, default=120_000)
    return parser.parse_args()


def squeezed(code):
    return "".join(code.split())[:400]


def number(*texts):
    """A stable 63-bit number for some texts."""
    return int.from_bytes(hashlib.blake2b("\0".join(texts).encode("utf8", "replace"), digest_size=8).digest(), "little") >> 1


def chosen(args, rng):
    """The pairs of training and of validation as tuples (kind, language, source, path, text, code)."""
    split_of = {}
    for name in args.sources:
        for line in open(name):
            source, _, _, _, split = line.rstrip("\n").split("\t")
            split_of[source] = split
    banned = {task["query"].lower() for name in args.test for task in json.load(open(name))}
    train, validation, seen, asked, left_out = [], [], set(), Counter(), 0
    for name in sorted(glob.glob(os.path.join(args.pairs, "*.jsonl"))):
        rows = [json.loads(line) for line in open(name)]
        if not rows or rows[0][2] not in split_of:
            continue
        rng.shuffle(rows)
        rows = [row for row in rows if row[1] and rng.random() < SHARE[row[0]]][: args.source_cap]
        is_train = split_of[rows[0][2]] == "train" if rows else False
        for row in rows:
            kind, _, _, _, text, code = row
            question = text.lower()
            if is_train and question in banned:
                left_out += 1
                continue
            key = number(kind, question, squeezed(code))
            if key in seen:
                continue
            seen.add(key)
            if is_train:
                asked[question] += 1
                if asked[question] > SAME_QUESTION:
                    continue
            (train if is_train else validation).append(row)
    print(f"{len(train)} for training, {len(validation)} for validation, {left_out} left out for the test's sake", flush=True)
    return train, validation


def capped(rows, cap, rng):
    rng.shuffle(rows)
    taken, out = Counter(), []
    for row in rows:
        if taken[row[1]] < cap:
            taken[row[1]] += 1
            out.append(row)
    return out


def word_list(rows, args):
    """The words that get a row, and how often each was met: the most frequent ones. A word that potion knows counts
    three times, since it begins with a meaning; long numbers do not count."""
    counter = Words()
    for row in rows:
        counter.count(row[4])
        counter.count(row[5])
    words, counts = counter.counted()
    count_of = dict(zip(words, counts.tolist()))
    if args.keep_words:
        listed = load_model(args.keep_words)[0]
    else:
        known = set()
        if args.potion:
            vocabulary = json.load(open(os.path.join(args.potion, "tokenizer.json")))["model"]["vocab"]
            known = {word for word in vocabulary if re.fullmatch("[a-z]{3,24}", word)}
        usable = [w for w, n in count_of.items() if n >= 3 and not (w.isdigit() and len(w) > 4)]
        usable.sort(key=lambda w: (-count_of[w] * (3 if w in known else 1), w))
        listed = usable[: args.words]
    covered = sum(count_of.get(word, 0) for word in listed) / counts.sum()
    print(f"{len(words)} words met, {len(listed)} listed, they cover {covered:.4f} of the running words", flush=True)
    return listed


def wrapped(row, rng):
    kind, text = row[0], row[4]
    if kind != "path" and len(text.split()) <= 9 and rng.random() < WRAPPED:
        text = text[:1].lower() + text[1:] if text[1:2].islower() else text
        return rng.choice(WRAPPINGS).format(text.rstrip(" ."))
    return text


def encoded(rows, split, words, languages, rng):
    parts = [path_parts(row[3]) if row[0] != "readme" else ("", "") for row in rows]
    texts = dict(
        query=[wrapped(row, rng) if split == "train" else row[4] for row in rows], code=[row[5] for row in rows],
        stem=[stem for stem, _ in parts], folders=[folders for _, folders in parts],
    )
    out = {}
    for part, of_part in texts.items():
        for name, array in zip(("start", "id", "value"), words.matrix(of_part)):
            out[f"{split}_{part}_{name}"] = array
    sources = sorted({row[2] for row in rows})
    at = {source: i for i, source in enumerate(sources)}
    out[f"{split}_kind"] = np.array([KINDS.index(row[0]) for row in rows], np.int8)
    out[f"{split}_language"] = np.array([languages.index(row[1]) for row in rows], np.int8)
    out[f"{split}_repository"] = np.array([at[row[2]] for row in rows], np.int32)
    out[f"{split}_repositories"] = np.array(sources)
    out[f"{split}_file"] = np.array([number(row[2], row[3]) for row in rows], np.int64)
    out[f"{split}_question"] = np.array([number(row[4].lower()) for row in rows], np.int64)
    out[f"{split}_code_hash"] = np.array([number(squeezed(row[5])) for row in rows], np.int64)
    # Where a pair's file stands among all files in order of their paths: neighbours are hard negatives.
    order = sorted(range(len(rows)), key=lambda i: (rows[i][2], rows[i][3]))
    place = np.zeros(len(rows), np.int32)
    place[order] = np.arange(len(rows))
    out[f"{split}_place"] = place
    return out


def main():
    args, rng, begun = options(), random.Random(11), time.time()
    train, validation = chosen(args, rng)
    train = capped(train, args.language_cap, rng)
    print(f"{len(train)} after the caps: {Counter(r[1] for r in train)} {Counter(r[0] for r in train)}", flush=True)
    listed = word_list(train, args)
    languages = sorted({row[1] for row in train + validation})
    words = Words(listed)
    out = {"words": np.array(listed), "languages": np.array(languages)}
    for split, rows in (("train", train), ("validation", validation)):
        out.update(encoded(rows, split, words, languages, rng))
        print(f"{split} encoded, {time.time() - begun:.0f} s", flush=True)
    documents_with = np.zeros(len(listed), np.int64)
    np.add.at(documents_with, out["train_code_id"], 1)
    np.savez(args.out, documents_with=documents_with, **out)
    print(f"done, {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
