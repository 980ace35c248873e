"""What training, selection and evaluation share: the C kernels, word tables, and how a text becomes a vector.

A sparse matrix here is a tuple (start, id, value): the rows of text r are id[start[r]:start[r + 1]].
"""

import ctypes
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
C = ctypes.CDLL(os.path.join(HERE, "libkernels.so"))
C.table_new.restype = ctypes.c_void_p
C.table_new.argtypes = [ctypes.c_uint32]
C.table_find.restype = ctypes.c_int64
C.table_find.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
C.table_words.restype = ctypes.c_uint32
C.table_words.argtypes = [ctypes.c_void_p]
C.table_dump.argtypes = [ctypes.c_void_p] * 4
C.count_words.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int]
C.encode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
C.sparse_forward.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 5 + [ctypes.c_int, ctypes.c_void_p]
C.sparse_backward.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 5 + [ctypes.c_int] + [ctypes.c_void_p] * 3 + [ctypes.c_int]
C.adam_rows.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 4 + [ctypes.c_float] * 6
C.softmax_both.restype = ctypes.c_double
C.softmax_both.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]

WORD_MAX = 24
RUNS_MAX = 400  # how many runs of a text are read

# How much code, file stem and folders count in a chunk's vector.
SHARES = (0.6, 0.3, 0.1)
# A file of such a name is named after its folder.
GENERIC = {"index", "mod", "lib", "main", "init", "__init__", "package", "default"}


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Words:
    """A table of words: word to row. Made without words it counts those that it meets."""

    def __init__(self, words=None, capacity=4_000_000):
        self.table = C.table_new(len(words) + 8 if words else capacity)
        for row, word in enumerate(words or []):
            if C.table_find(self.table, word.encode(), len(word), 1) != row:
                raise ValueError(f"{word!r} occurs twice or is longer than {WORD_MAX} characters")
        room = 3 * RUNS_MAX + 256
        self.ids = np.zeros(room, np.int32)
        self.values = np.zeros(room, np.float32)

    def count(self, text):
        data = text.encode("utf8", "replace")
        C.count_words(self.table, data, len(data), RUNS_MAX)

    def counted(self):
        """The words met and how often."""
        n = C.table_words(self.table)
        keys = ctypes.create_string_buffer(n * WORD_MAX)
        lengths, counts = np.zeros(n, np.uint8), np.zeros(n, np.int64)
        C.table_dump(self.table, keys, pointer(lengths), pointer(counts))
        raw = keys.raw
        return [raw[i * WORD_MAX : i * WORD_MAX + length].decode() for i, length in enumerate(lengths.tolist())], counts

    def matrix(self, texts):
        """The sparse matrix of some texts."""
        start, ids, values = np.zeros(len(texts) + 1, np.int64), [], []
        for row, text in enumerate(texts):
            data = text.encode("utf8", "replace")
            n = C.encode(self.table, data, len(data), RUNS_MAX, pointer(self.ids), pointer(self.values))
            ids.append(self.ids[:n].copy())
            values.append(self.values[:n].copy())
            start[row + 1] = start[row] + n
        if not ids:
            return start, np.zeros(0, np.int32), np.zeros(0, np.float32)
        return start, np.concatenate(ids), np.concatenate(values)


def embed(matrix, table, weight=None):
    """Sums of rows, not yet of unit length; `weight` is that of a document's words."""
    start, ids, values = matrix
    out = np.empty((len(start) - 1, table.shape[1]), np.float32)
    C.sparse_forward(
        len(start) - 1, pointer(start), pointer(ids), pointer(values), pointer(table),
        pointer(weight) if weight is not None else None, table.shape[1], pointer(out),
    )
    return out


def unit(x):
    """Rows of unit length, and their lengths before."""
    length = np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    return x / length, length


def path_parts(path):
    """A path's stem and its last two folders as texts; a generic stem gives way to its folder."""
    stem = os.path.splitext(os.path.basename(path))[0]
    folders = [x for x in os.path.dirname(path).split("/") if x]
    if stem.lower() in GENERIC and folders:
        stem = folders.pop()
    return stem, " ".join(folders[-2:])


def compose(parts, shares=SHARES):
    """One unit vector of the unit vectors of code, stem and folders; a zero part drops out."""
    return unit(sum(share * part for share, part in zip(shares, parts)))[0]


def load_model(path):
    """Words, table and document weights of a model file (.bin, see ../FORMAT.md)."""
    data = open(path, "rb").read()
    if data[:8] != b"SAICODE1":
        raise ValueError(f"{path} is no model file")
    n, dim, _, word_bytes = np.frombuffer(data, "<u4", 4, 8)
    n, dim = int(n), int(dim)
    scale = np.frombuffer(data, "<f4", n, 24)
    weight = np.frombuffer(data, "<f4", n, 24 + 4 * n).copy()
    rows = np.frombuffer(data, np.int8, n * dim, 24 + 8 * n).reshape(n, dim)
    words = data[24 + 8 * n + n * dim :].decode("ascii").split("\n")
    return words, np.ascontiguousarray(rows * scale[:, None], np.float32), weight


def save_model(path, words, table, weight):
    """Writes a model file: int8 rows with one scale each."""
    scale = (np.abs(table).max(1) / 127 + 1e-12).astype("<f4")
    rows = np.round(table / scale[:, None]).astype(np.int8)
    text = "\n".join(words).encode("ascii")
    with open(path, "wb") as out:
        out.write(b"SAICODE1" + np.array([len(words), table.shape[1], RUNS_MAX, len(text)], "<u4").tobytes())
        out.write(scale.tobytes() + weight.astype("<f4").tobytes() + rows.tobytes() + text)
