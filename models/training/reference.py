"""A plain reader of the model file, written from ../FORMAT.md alone, and the writer of the parity file.

usage: reference.py MODEL.bin PARITY.json NAME       writes the parity file of the model called NAME
       reference.py MODEL.bin PARITY.json --check    the largest difference of a component
"""

import json
import math
import os
import re
import struct
import sys

RUN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
GENERIC = ("index", "mod", "lib", "main", "init", "__init__", "package", "default")


class Model:
    def __init__(self, path):
        data = open(path, "rb").read()
        if data[:8] != b"SAICODE1":
            raise ValueError(f"{path} is no model file")
        self.n, self.dim, self.limit, word_bytes = struct.unpack_from("<4I", data, 8)
        self.scale = struct.unpack_from(f"<{self.n}f", data, 24)
        self.weight = struct.unpack_from(f"<{self.n}f", data, 24 + 4 * self.n)
        rows = 24 + 8 * self.n
        end = rows + self.n * self.dim
        self.rows = memoryview(data)[rows:end].cast("b")
        self.words = {word: row for row, word in enumerate(data[end:].decode("ascii").split("\n"))}
        if len(data) != end + word_bytes or len(self.words) != self.n:
            raise ValueError(f"{path} has a wrong length or a word twice")

    def counts(self, text):
        """Row to count, in order of first use."""
        out = {}
        for run in RUN.findall(text)[: self.limit]:
            word = run.lower()
            if len(word) > 200:
                continue
            if len(word) <= 24 and word in self.words:
                pieces = [word]
            elif len(word) >= 4:
                pieces = self.pieces(word)
            else:
                continue
            for piece in pieces:
                row = self.words[piece]
                out[row] = out.get(row, 0) + 1 / len(pieces)
        return out

    def pieces(self, word):
        at, out = 0, []
        while at < len(word) and len(out) < 64:
            for end in range(min(len(word), at + 12), at + 2, -1):
                if word[at:end] in self.words:
                    out.append(word[at:end])
                    at = end
                    break
            else:
                at += 1
        return out

    def embed(self, text, role):
        total = [0.0] * self.dim
        for row, count in self.counts(text).items():
            share = math.sqrt(count) * self.scale[row] * (self.weight[row] if role == "document" else 1)
            for i, value in enumerate(self.rows[row * self.dim : (row + 1) * self.dim]):
                total[i] += share * value
        return unit(total)

    def embed_chunk(self, path, code):
        stem = os.path.splitext(path.split("/")[-1])[0]
        folders = [x for x in path.split("/")[:-1] if x]
        if stem.lower() in GENERIC and folders:
            stem = folders.pop()
        parts = [self.embed(x, "document") for x in (code, stem, " ".join(folders[-2:]))]
        return unit([0.6 * a + 0.3 * b + 0.1 * c for a, b, c in zip(*parts)])

    def entry(self, text):
        if text["role"] == "chunk":
            return self.embed_chunk(text["path"], text["text"])
        return self.embed(text["text"], text["role"])


def unit(vector):
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector] if length else vector


def main():
    model, parity = Model(sys.argv[1]), sys.argv[2]
    if sys.argv[3] == "--check":
        texts = json.load(open(parity))["texts"]
        print("largest difference", max(abs(a - b) for t in texts for a, b in zip(t["vector"], model.entry(t))))
        return
    texts = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "parity-texts.json")))
    entries = [dict(text, vector=[round(x, 7) for x in model.entry(text)]) for text in texts]
    with open(parity, "w") as file:
        json.dump({"model": sys.argv[3], "dim": model.dim, "texts": entries}, file, ensure_ascii=True, indent=0)


if __name__ == "__main__":
    main()
