"""Does the bench itself count right? `python3 -m unittest` in this folder."""

import unittest

import comparing
import tokens
from commit_set import cleaned, says_something
from doc_extract import documented_functions
from doc_set import first_sentence, names_it, question_of
from interval import bootstrap, mean_of_means
from metric import Place, judge
from peers.bm25 import runs
from sources import is_source


class Metric(unittest.TestCase):
    def test_ranks_are_of_results_not_of_files(self):
        results = [Place("a.py", 1, 5), Place("a.py", 6, 9), Place("lib/b.py", 1, 3)]
        figures = judge(results, [Place("b.py", 2, 2)], "suffix")
        self.assertEqual((figures["ranks"], figures["hit1"], figures["ndcg10"]), ([3], 0.0, 0.5))
        self.assertEqual(judge(results, [Place("b.py", 2, 2)], "exact")["ranks"], [])

    def test_lines_have_to_overlap_where_both_have_some(self):
        self.assertEqual(judge([Place("a", 1, 5)], [Place("a", 6, 9)], "exact")["ranks"], [])
        self.assertEqual(judge([Place("a", 1, 6)], [Place("a", 6, 9)], "exact")["ranks"], [1])
        self.assertEqual(judge([Place("a")], [Place("a", 6, 9)], "exact")["ranks"], [1])

    def test_two_targets_in_one_result_count_once(self):
        figures = judge([Place("a", 1, 9)], [Place("a", 1, 2), Place("a", 3, 4)], "exact")
        self.assertAlmostEqual(figures["ndcg10"], 1 / (1 + 0.6309297535714575))


class Intervals(unittest.TestCase):
    def test_repositories_weigh_alike(self):
        self.assertEqual(mean_of_means([[1.0], [0.0, 0.0, 0.0]]), 0.5)
        self.assertEqual(bootstrap([[0.25], [0.25]]), (0.25, 0.25))

    def test_an_interval_holds_the_mean_and_comes_out_the_same_again(self):
        groups = [[0.0, 1.0, 1.0], [0.5, 0.5], [1.0, 0.0, 0.2]]
        low, high = bootstrap(groups)
        self.assertTrue(low < mean_of_means(groups) < high)
        self.assertEqual(bootstrap(groups), (low, high))

    def test_a_comparison_counts_what_became_better_and_worse(self):
        row = lambda repository, number, value: {"repository": repository, "number": number, "query": "q", "ndcg10": value}
        pairs = comparing.paired([row("a", 0, 0.5), row("a", 1, 1.0)], [row("a", 0, 1.0), row("a", 1, 0.0), row("b", 0, 1.0)])
        mean, _, _, better, worse = comparing.difference(pairs, 10)
        self.assertEqual((mean, better, worse), (-0.25, 1, 1))


class Commits(unittest.TestCase):
    def test_subjects_lose_numbers_and_tags(self):
        self.assertEqual(cleaned("fix(router): keep the trailing slash (#123)"), "router: keep the trailing slash")
        self.assertEqual(cleaned("LANG-1050: Reject empty keys, fixes #7."), "Reject empty keys")

    def test_chores_are_no_questions(self):
        self.assertTrue(says_something("Flush the buffer when a reader closes"))
        for chore in ("Bump version to 1.2.3", "Fix typo in the parser", "Revert the last change again", "Fix bug"):
            self.assertFalse(says_something(chore), chore)

    def test_tests_and_examples_are_no_answers(self):
        self.assertTrue(is_source("src/net/retry.go") and is_source("bin/deploy"))
        for path in ("src/retry_test.go", "tests/a.py", "examples/a.rs", "README.md", "src/Ftp/FtpAdapterTestCase.php"):
            self.assertFalse(is_source(path), path)


class Documentation(unittest.TestCase):
    def test_a_function_its_attributes_and_its_end_are_found(self):
        rust = ["/// Opens the file. More.", "#[inline]", "pub fn open(", "    path: &Path,", ") -> File {", "    read(path)", "}", "", "fn other() {}"]
        (found,) = documented_functions(rust, "rust")
        self.assertEqual((found.name, found.doc_first, found.doc_last, found.first, found.last), ("open", 1, 1, 3, 7))

    def test_python_is_read_with_its_own_parser(self):
        (found,) = documented_functions(["def f(a):", '    """Adds one', '    to it."""', "    return a + 1"], "python")
        self.assertEqual((found.doc_first, found.doc_last, found.first, found.last), (2, 3, 1, 4))

    def test_a_declaration_alone_is_no_answer(self):
        self.assertEqual(documented_functions(["  /** Adds two numbers of a kind. */", "  public int add(int a, int b);"], "java"), [])

    def test_markup_goes_and_go_names_go(self):
        self.assertEqual(first_sentence("Returns the {@link Foo} of `bar`, e.g. one. Second."), "Returns the Foo of bar, e.g. one")
        self.assertEqual(question_of("Walk visits every node once", "Walk", "go"), "visits every node once")
        self.assertIsNone(question_of("See also the other one here", "f", "python"))
        self.assertTrue(names_it("opens a connection", "newConnection"))
        self.assertFalse(names_it("opens a socket", "newConnection"))


class Tokens(unittest.TestCase):
    def test_what_is_read_before_the_first_hit_counts(self):
        units = [(Place("a", 1, 2), "one two"), (Place("b", 1, 2), "three")]
        points = tokens.curve(units, [Place("b", 1, 1), Place("c")], "exact", lambda text: len(text.split()))
        self.assertEqual((points, tokens.first_hit(points)), ([(0, 0), (2, 0), (3, 1)], 3))
        self.assertEqual((tokens.recall_at(points, 2, 2), tokens.recall_at(points, 500, 2)), (0.0, 0.5))

    def test_printed_hits_are_told_apart_by_their_head_lines(self):
        text = "a.py:1-2  f  0.5\n1    def f():\n\nb.py:3-4  g  0.4\n3    def g():\n"
        self.assertEqual(tokens.blocks(text, ["a.py:1-2", "b.py:3-4"]), [text[: text.index("b.py")], text[text.index("b.py") :]])


class Baseline(unittest.TestCase):
    def test_chunks_cover_a_file_without_gaps(self):
        lines = ["x" * 100] * 40
        found = list(runs(lines))
        self.assertEqual([found[0][0], found[-1][1]], [1, 40])
        self.assertTrue(all(one[1] + 1 == other[0] for one, other in zip(found, found[1:])))
