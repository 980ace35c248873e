#!/usr/bin/env python3
"""Our table of word vectors as a Model2Vec folder, so that semble can be run with it.

    export_model2vec.py MODEL.bin OUT [--words N]

As near as the format gets: identifiers are split as ours are (a space goes between the parts of a compound, then lower case),
unknown words fall to their longest known pieces from the left, and a row is the vector times its scale times the square root of the
document weight, since Model2Vec has one table for questions and documents. What it can't say: counts under a square root (it takes
the mean), pieces of at least three letters, and the shares of file and folder names. `--words N` writes the first N words
only: a stand-in for runs without vectors. Layout of MODEL.bin: models/FORMAT.md.
"""

import argparse
import array
import json
import math
import os
import struct
import sys

UNKNOWN = "[UNK]"


def read_model(path):
    """(dimensions, words, rows as lists of floats)."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:7] != b"SAICODE":
        raise SystemExit(f"{path} is no model file of ours")
    n, d, _, word_bytes = struct.unpack_from("<4I", data, 8)
    scales = struct.unpack_from(f"<{n}f", data, 24)
    weights = struct.unpack_from(f"<{n}f", data, 24 + 4 * n)
    rows = array.array("b", data[24 + 8 * n : 24 + 8 * n + n * d])
    words = data[24 + 8 * n + n * d :].decode("ascii").split("\n")
    if len(words) != n or len(data) != 24 + 8 * n + n * d + word_bytes:
        raise SystemExit(f"{path}: the lengths don't fit together")
    factors = [scale * math.sqrt(max(weight, 0.0)) for scale, weight in zip(scales, weights)]
    return d, words, rows, factors


def tokenizer_of(words):
    """A tokenizers JSON: split compounds, lower case, words of letters or digits, longest pieces from the left."""
    replace = lambda pattern: {"type": "Replace", "pattern": {"Regex": pattern}, "content": " "}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 0, "content": UNKNOWN, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [replace("(?<=[a-z])(?=[A-Z])"), replace("(?<=[A-Z])(?=[A-Z][a-z])"), {"type": "Lowercase"}],
        },
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[a-z]+|[0-9]+"}, "behavior": "Removed", "invert": True},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": "",
            "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate([UNKNOWN, *words])},
        },
    }


def write_safetensors(path, d, rows, factors):
    """One tensor, `embeddings`, 32-bit floats; row 0 (the unknown word) is zero."""
    count = len(factors) + 1
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": [count, d], "data_offsets": [0, 4 * count * d]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        array.array("f", [0.0] * d).tofile(file)
        for number, factor in enumerate(factors):
            row = array.array("f", [factor * value for value in rows[number * d : (number + 1) * d]])
            if sys.byteorder == "big":
                row.byteswap()
            row.tofile(file)


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--words", type=int, default=0)
    arguments = parser.parse_args()
    d, words, rows, factors = read_model(arguments.model)
    kept = arguments.words or len(words)
    os.makedirs(arguments.out, exist_ok=True)
    write = lambda name, value: open(os.path.join(arguments.out, name), "w", encoding="utf-8").write(json.dumps(value))
    write("config.json", {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": d, "normalize": True, "seq_length": 1000000})
    write("modules.json", [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}])
    write("tokenizer.json", tokenizer_of(words[:kept]))
    write_safetensors(os.path.join(arguments.out, "model.safetensors"), d, rows, factors[:kept])
    print(f"{arguments.out}: {kept} words of {d} values")


if __name__ == "__main__":
    main()
