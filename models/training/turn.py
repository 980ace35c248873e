"""Turns a finished model to its main axes: no similarity changes, and the first 128 or 64 values say the most they can.

usage: turn.py DATA.npz MODEL.bin OUT.bin

The axes are those of the validation pairs' query, code and stem vectors.
"""

import sys

import numpy as np

from kernels import load_model, save_model
from train import main_axes


def main():
    data_file, model, out = sys.argv[1:4]
    data = np.load(data_file, allow_pickle=True)
    words, table, weight = load_model(model)
    save_model(out, words, main_axes(data, [str(w) for w in data["words"]], words, table, weight), weight)


if __name__ == "__main__":
    main()
