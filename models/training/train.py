"""Trains the table: a question's vector near the vector of the code it speaks of, far from the rest of the batch.

usage: train.py DATA.npz OUT.bin --potion FOLDER [options]      a new table from potion-base-8M's vectors
       train.py DATA.npz OUT.bin --from-model MODEL.bin [...]   goes on from a model of ours, turned to its main axes

The loss is a symmetric InfoNCE over the batch, taken on the first 256, 128 and 64 values of the vectors (Matryoshka),
so that the beginning of a row is a model of its own. A document's vector is mixed as in use: code, file stem and
folders. The table is the average of the steps' tables. Prints the validation's mean reciprocal ranks by kind.
"""

import argparse
import os
import time

import numpy as np

from kernels import SHARES, C, Words, compose, embed, load_model, pointer, save_model, unit
from kinds import COARSE, KINDS, PATH_ONLY, SCORED

DIMS = ((256, 1.0), (128, 0.7), (64, 0.5))  # values kept, weight of their loss; the last in every other step
BETA1, BETA2, EPSILON = 0.9, 0.99, 1e-8
WARM_UP = 30  # steps
AVERAGE_EVERY = 5  # steps
CANDIDATES = 2500  # documents of a repository among which validation ranks


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--potion", help="folder of potion-base-8M")
    parser.add_argument("--from-model", help="a model file to go on from")
    parser.add_argument("--length", type=float, default=0.5, help="initial length of a row: idf ** (1 - x) * potion's own ** x")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--block", type=int, default=256, help="pairs of one repository in a row")
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--scale", type=float, default=16, help="of the similarities before the softmax")
    parser.add_argument("--drop-code", type=float, default=0.12, help="share of a document's words left out")
    parser.add_argument("--drop-query", type=float, default=0.05)
    parser.add_argument("--near", type=float, default=0.3, help="share of the batches made of neighbouring files' pairs")
    parser.add_argument("--repository", type=float, default=0.3, help="share made of blocks of one repository")
    parser.add_argument("--language", type=float, default=0.2, help="share made of one language; the rest is mixed")
    parser.add_argument("--even", type=float, default=0.4, help="0 to 1: evens out the languages")
    parser.add_argument("--bare", type=float, default=0.3, help="share of the documents without their path")
    parser.add_argument("--path-only", type=float, default=0.1, help="share with the path alone, where the kind allows it")
    parser.add_argument("--average", type=float, default=0.99, help="of the averaged table, a step")
    parser.add_argument("--skip", default="", help="sources to leave out, with commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check-every", type=int, default=400)
    return parser.parse_args()


class Pairs:
    """The encoded pairs of one split: sparse matrices of query, code, stem and folders, and what is known of each."""

    def __init__(self, data, split):
        def matrix(part):
            start, ids, values = (data[f"{split}_{part}_{x}"] for x in ("start", "id", "value"))
            return np.ascontiguousarray(start, np.int64), np.ascontiguousarray(ids, np.int32), np.ascontiguousarray(values, np.float32)

        self.query = matrix("query")
        self.document = [matrix(part) for part in ("code", "stem", "folders")]
        self.kind, self.language, self.repository, self.file, self.question, self.code = (
            data[f"{split}_{x}"] for x in ("kind", "language", "repository", "file", "question", "code_hash")
        )
        self.place = data[f"{split}_place"]
        self.repositories = [str(x) for x in data[f"{split}_repositories"]]
        self.coarse = np.isin(self.kind, [KINDS.index(k) for k in COARSE])

    def __len__(self):
        return len(self.kind)


# ---- the table at the beginning ----


def potion_rows(folder, words):
    """For each word the mean of the potion vectors of its word pieces."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    vectors = load_file(os.path.join(folder, "model.safetensors"))["embeddings"].astype(np.float32)
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = 1
    pieces = [[i for i in e.ids if i != unknown] or [0] for e in tokenizer.encode_batch(words, add_special_tokens=False)]
    return np.stack([vectors[p].mean(0) for p in pieces])


def first_table(args, words, idf, data):
    """The table and the document weights before the first step."""
    if args.from_model:
        old_words, old_table, old_weight = load_model(args.from_model)
        old_table = main_axes(data, words, old_words, old_table, old_weight)
        at = {word: row for row, word in enumerate(old_words)}
        known = np.array([at.get(word, -1) for word in words])
        table = np.zeros((len(words), old_table.shape[1]), np.float32)
        weight = np.ones(len(words), np.float32)
        table[known >= 0], weight[known >= 0] = old_table[known[known >= 0]], old_weight[known[known >= 0]]
        # A word that the old model spelt in pieces begins as their mean.
        missing = np.flatnonzero(known < 0)
        start, ids, values = Words(old_words).matrix([words[i] for i in missing])
        table[missing] = embed((start, ids, values), old_table)
        return table, weight
    rows = potion_rows(args.potion, words)
    own = np.linalg.norm(rows, axis=1) + 1e-6
    length = idf ** (1 - args.length) * (own * idf.mean() / own.mean()) ** args.length
    return (rows / own[:, None] * length[:, None]).astype(np.float32), np.ones(len(words), np.float32)


def main_axes(data, words, old_words, table, weight):
    """The same model with its rows turned so that the first values carry the most: no similarity changes."""
    at = {word: row for row, word in enumerate(old_words)}
    translate = np.array([at.get(word, -1) for word in words], np.int32)
    pairs = Pairs(data, "validation")

    def vectors(matrix, weight=None):
        start, ids, values = matrix
        moved = translate[ids]
        return unit(embed((start, np.maximum(moved, 0), np.where(moved < 0, 0, values).astype(np.float32)), table, weight))[0]

    seen = np.concatenate([vectors(pairs.query), vectors(pairs.document[0], weight), vectors(pairs.document[1], weight)])
    _, axes = np.linalg.eigh(seen.T @ seen)
    return np.ascontiguousarray(table @ axes[:, ::-1], np.float32)


# ---- validation ----


class Validation:
    """Ranks each pair's document among those of its repository."""

    def __init__(self, pairs):
        rng = np.random.default_rng(7)
        self.pairs = pairs
        self.groups = [rng.permutation(np.flatnonzero(pairs.repository == r))[:CANDIDATES] for r in np.unique(pairs.repository)]

    def __call__(self, table, weight, dim=None):
        """MRR@10 by kind, mean over the repositories, and `score`, the mean over the kinds of SCORED."""
        pairs = self.pairs
        cut = (lambda x: np.ascontiguousarray(x[:, :dim])) if dim else (lambda x: x)
        table = cut(table)
        query = unit(embed(pairs.query, table))[0]
        parts = [unit(embed(matrix, table, weight))[0] for matrix in pairs.document]
        document = compose(parts)
        bare = pairs.kind == KINDS.index("path")
        document[bare] = parts[0][bare]
        found = {kind: [] for kind in KINDS}
        for group in self.groups:
            scores = query[group] @ document[group].T
            right = scores[np.arange(len(group)), np.arange(len(group))]
            same_file = pairs.file[group][:, None] == pairs.file[group][None]
            scores[same_file & pairs.coarse[group][:, None]] = -9  # another chunk of the right file is no error
            rank = (scores > right[:, None]).sum(1) + 1
            reciprocal = np.where(rank <= 10, 1 / rank, 0)
            for number, kind in enumerate(KINDS):
                of_kind = pairs.kind[group] == number
                if of_kind.sum() >= 20:
                    found[kind].append(reciprocal[of_kind].mean())
        means = {kind: float(np.mean(x)) if x else 0.0 for kind, x in found.items()}
        means["score"] = float(np.mean([means[kind] for kind in SCORED]))
        return means


def shown(means):
    return " ".join(f"{kind} {value:.4f}" for kind, value in means.items())


# ---- batches ----


def batches(pairs, args, rng):
    """Index arrays without end. Most batches are blocks of one repository: negatives that are hard and fair."""
    skipped = [i for i, name in enumerate(pairs.repositories) if name in args.skip.split(",")]
    usable = np.flatnonzero(~np.isin(pairs.repository, skipped))
    count = np.bincount(pairs.language[usable], minlength=pairs.language.max() + 1).clip(1).astype(float)
    chance = (count / count.max()) ** -args.even
    chance = (chance / chance.max()).clip(0.25, 1) if args.even else np.ones(len(count))
    print(f"training on {len(usable)} pairs, {chance[pairs.language[usable]].sum():.0f} a pass")
    while True:
        ids = rng.permutation(usable)
        ids = ids[rng.random(len(ids)) < chance[pairs.language[ids]]]
        cuts = np.cumsum([int(len(ids) * share) for share in (args.near, args.repository, args.language)])
        near, repository, language, mixed = np.split(ids, cuts)
        near = near[np.lexsort((pairs.place[near], pairs.repository[near]))]
        out = in_blocks(near, args, rng) + in_blocks(repository[np.argsort(pairs.repository[repository], kind="stable")], args, rng)
        for run in (language[np.argsort(pairs.language[language], kind="stable")], mixed):
            out += [run[i : i + args.batch] for i in range(0, len(run) - args.batch + 1, args.batch)]
        for i in rng.permutation(len(out)):
            yield out[i]


def in_blocks(ids, args, rng):
    blocks = [ids[i : i + args.block] for i in range(0, len(ids) - args.block + 1, args.block)]
    blocks = [blocks[i] for i in rng.permutation(len(blocks))]
    of_batch = args.batch // args.block
    return [np.concatenate(blocks[i : i + of_batch]) for i in range(0, len(blocks) - of_batch + 1, of_batch)]


def rows_of(matrix, rows, drop, rng):
    """Some rows of a sparse matrix, a share of their words set to nothing."""
    start = np.zeros(len(rows) + 1, np.int64)
    start[1:] = np.cumsum(matrix[0][rows + 1] - matrix[0][rows])
    at = np.arange(start[-1]) + np.repeat(matrix[0][rows] - start[:-1], start[1:] - start[:-1])
    values = matrix[2][at]
    if drop > 0:
        values = values * (rng.random(len(values), dtype=np.float32) >= drop)
    return start, np.ascontiguousarray(matrix[1][at]), np.ascontiguousarray(values, np.float32)


def document_shares(kind, args, rng):
    """How each document of a batch is mixed, and which are their path alone."""
    draw = rng.random(len(kind))
    shares = np.tile(np.float32(SHARES), (len(kind), 1))
    shares[(draw < args.bare) | (kind == KINDS.index("path"))] = (1, 0, 0)
    path_only = (draw > 1 - args.path_only) & np.isin(kind, [KINDS.index(k) for k in PATH_ONLY])
    shares[path_only] = (0, 0.8, 0.2)
    return shares, path_only


def not_negative(pairs, ids, path_only):
    """Which documents of a batch say nothing against a query: the same question or code, another chunk of the right
    file where the file is what is asked for, and another kind of pair from the same file (they overlap)."""
    file, kind, coarse = pairs.file[ids], pairs.kind[ids], pairs.coarse[ids] | path_only
    same_file = file[:, None] == file[None]
    mask = same_file & (coarse[:, None] | coarse[None] | (kind[:, None] != kind[None]))
    mask |= pairs.question[ids][:, None] == pairs.question[ids][None]
    mask |= pairs.code[ids][:, None] == pairs.code[ids][None]
    np.fill_diagonal(mask, False)
    return np.flatnonzero(mask)


# ---- a step ----


class Trainer:
    def __init__(self, table, weight, args):
        self.table, self.weight, self.args = table, weight, args
        self.first, self.second, self.gradient = (np.zeros_like(table) for _ in range(3))
        threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
        self.weight_gradient = np.zeros((threads, len(table)), np.float32)
        self.weight_first, self.weight_second = np.zeros_like(weight), np.zeros_like(weight)
        self.average_table, self.average_weight = table.copy(), weight.copy()
        self.step = 0

    def learn(self, pairs, ids, rate, rng):
        """One step on a batch; returns its loss on all values."""
        args, dim = self.args, self.table.shape[1]
        query = rows_of(pairs.query, ids, args.drop_query, rng)
        shares, path_only = document_shares(pairs.kind[ids], args, rng)
        document = [rows_of(m, ids, args.drop_code if i == 0 else 0, rng) for i, m in enumerate(pairs.document)]
        q = embed(query, self.table)
        parts = [embed(m, self.table, self.weight) for m in document]
        masked = not_negative(pairs, ids, path_only)
        q_gradient, part_gradients = np.zeros_like(q), [np.zeros_like(p) for p in parts]
        shown_loss = 0
        for number, (kept, share) in enumerate(DIMS):
            if kept > dim or (number == 2 and self.step % 2):
                continue
            loss = self.contrast(q[:, :kept], [p[:, :kept] for p in parts], shares, masked, share, q_gradient, part_gradients)
            shown_loss = loss if kept == dim else shown_loss
        self.back(query, q_gradient, None)
        for matrix, gradient in zip(document, part_gradients):
            self.back(matrix, gradient, self.weight)
        self.update(np.concatenate([query[1]] + [m[1] for m in document]), rate)
        return shown_loss

    def contrast(self, q, parts, shares, masked, share, q_gradient, part_gradients):
        """The loss on the values given, and its gradients."""
        n, kept, scale = len(q), q.shape[1], np.float32(self.args.scale)
        q, q_length = unit(q)
        units = [unit(p) for p in parts]
        d, d_length = unit(sum(shares[:, i : i + 1] * units[i][0] for i in range(3)))
        q, d = np.ascontiguousarray(q), np.ascontiguousarray(d)
        logits = (q @ d.T) * scale
        logits.ravel()[masked] = -1e4
        slope = np.empty_like(logits)
        loss = C.softmax_both(pointer(logits), pointer(slope), n)
        slope *= np.float32(share) * scale / n
        to_q, to_d = slope @ d, slope.T @ q
        q_gradient[:, :kept] += across(to_q, q) / q_length
        to_d = across(to_d, d) / d_length
        for i, (part, length) in enumerate(units):
            gradient = across(shares[:, i : i + 1] * to_d, part) / length
            gradient[length[:, 0] < 1e-3] = 0
            part_gradients[i][:, :kept] += gradient
        return loss

    def back(self, matrix, gradient, weight):
        start, ids, values = matrix
        C.sparse_backward(
            len(start) - 1, pointer(start), pointer(ids), pointer(values), pointer(self.table),
            pointer(weight) if weight is not None else None, self.table.shape[1], pointer(gradient),
            pointer(self.gradient), pointer(self.weight_gradient), len(self.table),
        )

    def update(self, ids, rate):
        self.step += 1
        correct1, correct2 = 1 - BETA1**self.step, 1 - BETA2**self.step
        touched = np.zeros(len(self.table), bool)
        touched[ids] = True
        rows = np.flatnonzero(touched).astype(np.int32)
        C.adam_rows(
            len(rows), pointer(rows), self.table.shape[1], pointer(self.table), pointer(self.first), pointer(self.second),
            pointer(self.gradient), rate, BETA1, BETA2, correct1, correct2, EPSILON,
        )
        g = self.weight_gradient.sum(0)
        self.weight_gradient[:] = 0
        self.weight_first = BETA1 * self.weight_first + (1 - BETA1) * g
        self.weight_second = BETA2 * self.weight_second + (1 - BETA2) * g * g
        change = (self.weight_first / correct1) / (np.sqrt(self.weight_second / correct2) + EPSILON)
        self.weight[:] = (self.weight - rate * change).clip(0.02)
        if self.step % AVERAGE_EVERY == 0:
            share = np.float32(max(1 - self.args.average**AVERAGE_EVERY, AVERAGE_EVERY / self.step))
            self.average_table += share * (self.table - self.average_table)
            self.average_weight += share * (self.weight - self.average_weight)


def across(gradient, direction):
    """The part of a gradient that is across a unit vector: along it nothing changes."""
    return gradient - direction * (gradient * direction).sum(1, keepdims=True)


def main():
    args = options()
    data = np.load(args.data, allow_pickle=True)
    words = [str(w) for w in data["words"]]
    pairs, validate = Pairs(data, "train"), Validation(Pairs(data, "validation"))
    idf = np.log(len(pairs) / (1 + data["documents_with"].astype(np.float32))).clip(0.1).astype(np.float32)
    rng = np.random.default_rng(args.seed)
    table, weight = first_table(args, words, idf, data)
    trainer = Trainer(np.ascontiguousarray(table, np.float32), weight, args)
    print(f"{len(pairs)} pairs, {len(words)} words; at first {shown(validate(table, weight))}", flush=True)
    total = int(args.epochs * len(pairs) / args.batch)
    begun, supply, smooth = time.time(), batches(pairs, args, rng), None
    while (done := max(trainer.step / total, (time.time() - begun) / args.seconds)) < 1:
        rate = args.rate * min(1, (trainer.step + 1) / WARM_UP) * (1 - done)
        loss = trainer.learn(pairs, next(supply), rate, rng)
        smooth = loss if smooth is None else 0.97 * smooth + 0.03 * loss
        if trainer.step % 50 == 0:
            print(f"{trainer.step} of {total}, {time.time() - begun:.0f} s, loss {smooth:.3f}, rate {rate:.4f}", flush=True)
        if trainer.step % args.check_every == 0:
            print("  validation", shown(validate(trainer.average_table, trainer.average_weight)), flush=True)
    save_model(args.out, words, trainer.average_table, trainer.average_weight)
    words, table, weight = load_model(args.out)
    for dim in (256, 128, 64):
        print(f"int8, first {dim}: {shown(validate(table, weight, dim))}", flush=True)
    print(f"{trainer.step} steps, {time.time() - begun:.0f} s, options {vars(args)}")


if __name__ == "__main__":
    main()
