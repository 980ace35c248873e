"""Does the bench itself count right? `python3 -m unittest` in this folder, with the packages of requirements.txt."""

import json
import os
import random
import tempfile
import unittest

from gen_mutation import Corpus, choose_seeds
from grouping import GROUPINGS
from mutations import OPERATORS, mutate
from run import HEADINGS, pooled, table
from score import read_truth, score
from speed import lay
from syntax import grams, jaccard, parse, tokens
from tools import measured

SAMPLE = """def weigh(items, limit):
    # what fits
    total = 0
    names = []
    for item in items:
        size = item.size * 12
        label = "small one"
        if total + size > limit:
            break
        total += size
        names.append(label)
        names.append(item.name)
        names.append("of 40 items")
    count = len(names)
    share = total / limit
    rest = limit - total
    return total, count, share, rest
"""


def folder_of(case, functions, pairs):
    """A labelled folder that is removed after the test."""
    scratch = tempfile.TemporaryDirectory()
    case.addCleanup(scratch.cleanup)
    for name, rows in (("functions", functions), ("pairs", pairs)):
        with open(os.path.join(scratch.name, name + ".jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return scratch.name


def function(name, group, start, end, path="corpus/go/a.go", role="seed", op="seed"):
    return {"id": name, "group": group, "role": role, "op": op, "path": path, "start": start, "end": end, "src": "", "lang": "go"}


def pair(first, second, kind, label, op=None):
    return {"id": f"{first}|{second}", "lang": "go", "a": first, "b": second, "type": kind, "op": op or kind, "label": label}


class Scoring(unittest.TestCase):
    def setUp(self):
        functions = [
            function("a", "one", 1, 10),
            function("b", "one", 1, 10, "corpus/go/b.go"),
            function("c", "two", 21, 30),
            function("d", "two", 21, 30, "corpus/go/b.go", "mutant", "FRAG"),
            function("n", "small", 40, 43, role="noise"),
        ]
        pairs = [pair("a", "b", "T1", 1), pair("c", "d", "fragment", 1), pair("a", "c", "neg_random", 0)]
        self.truth = read_truth(folder_of(self, functions, pairs))

    def figures(self, *predictions, **more):
        return score(self.truth, predictions, **more)

    def test_a_pair_counts_when_both_sides_are_covered(self):
        root = os.path.join(self.truth.folder, "corpus/go")
        right = self.figures({"a": "a.go:1-8", "b": "b.go:4-12"}, root=root)
        self.assertEqual((right["tp"], right["fp"], right["recall"]["T1"]["recall"], right["precision"]), (1, 0, 1.0, 1.0))
        short = self.figures({"a": "corpus/go/a.go:1-6", "b": "corpus/go/b.go:1-10"})
        self.assertEqual((short["tp"], short["recall"]["T1"]["recall"], short["by_op"]["partial:T1"]["recall"]), (0, 0.0, 1.0))

    def test_regions_of_one_pair_add_up(self):
        parts = [{"a": f"corpus/go/a.go:{lines}", "b": f"corpus/go/b.go:{lines}"} for lines in ("1-4", "5-8")]
        self.assertEqual(self.figures(*parts)["tp"], 1)

    def test_a_part_is_enough_for_a_fragment(self):
        found = self.figures({"a": "corpus/go/a.go:22-27", "b": "corpus/go/b.go:22-27"})
        self.assertEqual((found["recall"]["fragment"]["recall"], found["predicted_pairs"]), (1.0, 0))

    def test_across_groups_is_wrong_unless_it_is_noise_or_a_host(self):
        cluster = {"members": ["corpus/go/a.go:1-10", "corpus/go/a.go:21-30", "corpus/go/a.go:40-43", "corpus/go/b.go:21-30"]}
        found = self.figures(cluster)
        self.assertEqual((found["fp"], found["noise_pairs"], found["host_pairs"], found["tp"]), (1, 3, 1, 1))
        self.assertEqual(found["neg_hits"], {"hit": 1, "n": 1})

    def test_only_labelled_negatives_are_wrong_when_asked_so(self):
        found = self.figures({"a": "corpus/go/b.go:1-10", "b": "corpus/go/a.go:21-30"}, only_labelled_negatives=True)
        self.assertEqual((found["fp"], found["neutral"]), (0, 1))

    def test_the_closure_joins_what_pairs_do_not_say(self):
        pairs = [
            {"a": "corpus/go/a.go:1-10", "b": "corpus/go/b.go:1-10"},
            {"a": "corpus/go/b.go:1-10", "b": "corpus/go/a.go:21-30"},
        ]
        self.assertEqual(self.figures(*pairs)["neg_hits"]["hit"], 0)
        self.assertEqual(self.figures(*pairs, mode="closure")["neg_hits"]["hit"], 1)

    def test_an_unknown_file_is_counted_and_no_more(self):
        self.assertEqual(self.figures({"a": "x.go:1-9", "b": "y.go:1-9"})["unmapped_files"], 2)

    def test_languages_are_pooled_pair_by_pair(self):
        found = self.figures({"a": "corpus/go/a.go:1-10", "b": "corpus/go/b.go:1-10"}) | {"name": "x"}
        found |= {"cost": {"wall": 1.0, "cpu": 2.0}, "index_cost": None}
        both = pooled([found, found | {"recall": {"T1": {"hit": 0, "n": 3, "recall": 0.0}}}])
        self.assertEqual((both["recall"]["T1"], both["cost"]["cpu"], both["tp"]), ({"hit": 1, "n": 4, "recall": 0.25}, 4.0, 2))


class Mutating(unittest.TestCase):
    def test_every_operator_gives_another_function_that_parses(self):
        for operator in OPERATORS:
            tries = (mutate(random.Random(at), "python", SAMPLE, operator, ["spare = 12 + total"], SAMPLE) for at in range(20))
            text, _ = next(filter(None, tries))
            _, node = parse("python", text)
            self.assertFalse(node is None or node.has_error, operator)
            self.assertNotEqual(text, SAMPLE, operator)

    def test_the_same_draws_give_the_same_copy(self):
        copies = {mutate(random.Random(5), "python", SAMPLE, "T3_mod20", ["spare = 12 + total"])[0] for _ in range(3)}
        self.assertEqual(len(copies), 1)

    def test_types_one_and_two_keep_the_tokens(self):
        of = lambda text, normalised: tokens(parse("python", text)[1], normalised)
        for operator, normalised in (("T1_layout", False), ("T1_comment", False), ("T2_sri", True), ("T2_lit", True)):
            text, _ = mutate(random.Random(1), "python", SAMPLE, operator, [])
            self.assertEqual(of(text, normalised), of(SAMPLE, normalised), operator)

    def test_seeds_are_unlike(self):
        one = {"text": SAMPLE, "raw": grams(list("abcdefgh"), 3), "normalised": grams(list("abcdefgh"), 5)}
        other = one | {"raw": grams(list("stuvwxyz"), 3), "normalised": grams(list("stuvwxyz"), 5)}
        seeds, rejected = choose_seeds([dict(one), dict(one), dict(other)], 9)
        self.assertEqual((len(seeds), len(rejected)), (2, 1))

    def test_labelled_lines_are_those_of_the_functions(self):
        with tempfile.TemporaryDirectory() as out:
            options = type("Options", (), {"seed": 1, "per_op": 0, "clusters": 0, "chains": 0, "noise": 0, "out": out})()
            corpus = Corpus("python", out, options)
            for number in range(3):
                corpus.add(f"python-p{number}", "seed", "seed", SAMPLE.rstrip("\n"), "x.py")
            corpus.lay_out()
            for one in corpus.placed:
                with open(os.path.join(out, one["path"]), encoding="utf-8") as file:
                    lines = file.read().split("\n")[one["start"] - 1 : one["end"]]
                self.assertEqual("\n".join(lines), one["text"])


class Grouping(unittest.TestCase):
    def test_what_a_chain_becomes(self):
        chain = {(0, 1): 0.9, (1, 2): 0.8, (2, 3): 0.85}
        made = {name: sorted(sorted(one) for one in group(chain, 10) if len(one) > 1) for name, group in GROUPINGS.items()}
        self.assertEqual(made["single"], [[0, 1, 2, 3]])
        self.assertEqual(made["complete"], [[0, 1], [2, 3]])
        self.assertEqual(made["medoid"], [[0, 1, 2]])

    def test_jaccard(self):
        self.assertEqual((jaccard({1, 2}, {2, 3}), jaccard(set(), {1})), (1 / 3, 0.0))


class Running(unittest.TestCase):
    def test_a_column_without_anything_is_left_out(self):
        rows = [[name, *[""] * (len(HEADINGS) - 1)] for name in "xy"]
        self.assertEqual(table(rows).splitlines()[0], "| tool |")

    def test_a_command_is_measured_and_its_failure_told(self):
        output, cost = measured(["python3", "-c", "print(1)"])
        self.assertEqual(output, b"1\n")
        self.assertGreater(cost.peak_kib, 0)
        with self.assertRaisesRegex(SystemExit, "ended with 3: no"):
            measured(["python3", "-c", "import sys; sys.stderr.write('no'); sys.exit(3)"])

    def test_a_tree_takes_its_share_of_every_folder(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("one", "two"):
                for number in range(4):
                    path = os.path.join(scratch, name, f"f{number}.py")
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write("x = 1\n" * 10)
            folders = [os.path.join(scratch, name) for name in ("one", "two")]
            self.assertEqual(lay(folders, os.path.join(scratch, "tree"), 40), 40)
            self.assertEqual(sorted(os.listdir(os.path.join(scratch, "tree", "two"))), ["f0.py", "f1.py"])


if __name__ == "__main__":
    unittest.main()
