#!/usr/bin/env python3
"""Makes a labelled corpus of clones from real sources, by mutation and injection.

    gen_mutation.py --src LANGUAGE=FOLDER --out FOLDER [--per-op 50] [--clusters 25] [--chains 8] [--noise 120] [--seed 7]
    gen_mutation.py --join FOLDER

Real functions are mined, and only those are kept as seeds that are unlike all seeds before, so that a pair across groups is a
true negative by construction. Each seed gets one copy, changed by one operator of `mutations.py`; further there are clusters
(several copies of one seed), chains (each link a changed copy of the one before), short functions as noise, and labelled
negatives. All are laid out as ordinary files of a few functions each; two members of a group never share a file. The same
sources and the same seed give the same corpus.

Given more than one --src, one `functions.jsonl` and one `pairs.jsonl` are written; given one, `functions.LANGUAGE.jsonl` and so
on, which --join then puts together. What the fields are is in README.md.
"""

import argparse
import collections
import glob
import json
import os
import random
import re
import sys

from mutations import OPERATORS, TYPE_OF, donors_of, mutate
from syntax import LANGUAGES, grams, parse, similarities, tokens, walk, wrap

SKIPPED = re.compile(
    r"(^|/)(tests?|testing|testdata|__tests__|locale|migrations|vendor|gis/tests|examples?)(/|$)"
    r"|_test\.|\.test\.|\.spec\.|generated|\.pb\."
)
GENERATED = re.compile(rb"(?i)do not edit|@generated|automatically generated|code generated")
# What a function may not lie in: it is then a closure, not a function of its own.
ENCLOSING = frozenset(
    "arrow_function function_expression lambda closure_expression func_literal macro_definition lambda_expression "
    "object_creation_expression object".split()
)
LARGEST_FILE = 400_000
ENOUGH_MINED = 7500
CANDIDATES = 6000
CLUSTER_OPERATORS = ["T1_layout", "T1_comment", "T2_sri", "T2_lit", "T2_ari", "T3_ins", "T3_del", "T3_mod20"]
CHAIN_LINKS = 9
FILE_MEMBERS = 12


# ---- mining


def mine(language, root, longest=70):
    """Functions and methods of the sources, with their text moved to the left margin."""
    known = LANGUAGES[language]
    files = sorted(glob.glob(f"{root}/**/*.{known.extension}", recursive=True))
    random.Random("files-" + language).shuffle(files)
    large = 0
    for file in files:
        relative = file[len(root) :]
        if SKIPPED.search(relative) or file.endswith(".d.ts"):
            continue
        source = readable(file)
        if source is None:
            continue
        if b"\t" in source and language in ("python", "java"):
            source = source.expandtabs(4)
        for node in walk(known.parser.parse(source).root_node):
            mined = as_function(known, source, node)
            if mined is not None:
                large += mined["lines"] >= 10
                yield mined | {"file": relative.lstrip("/")}
        if large > ENOUGH_MINED:
            break


def readable(file):
    """The bytes of a source file that people wrote, or None."""
    try:
        with open(file, "rb") as opened:
            source = opened.read()
        source.decode("utf8")
    except (OSError, UnicodeDecodeError):
        return None
    return None if len(source) > LARGEST_FILE or GENERATED.search(source[:2000]) else source


def as_function(known, source, node):
    """A node as a function of its own: text, name, lines; or None."""
    if node.type not in known.functions or node.has_error:
        return None
    above = node.parent
    while above is not None:
        if above.type in known.functions or above.type in ENCLOSING:
            return None
        above = above.parent
    name = node.child_by_field_name("name")
    before = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
    if name is None or (before.strip() and not re.match(rb"^\s*(export\s+(default\s+)?)?(async\s+)?$", before)):
        return None
    indent = len(before) - len(before.lstrip())
    first, *rest = source[node.start_byte : node.end_byte].decode("utf8").split("\n")
    lines = [first, *(line[indent:] if line[:indent].strip() == "" else line.lstrip() for line in rest)]
    return {"text": "\n".join(lines), "name": name.text.decode(), "lines": len(lines)}


# ---- seeds


def candidates_of(language, functions):
    """Functions of 10 to 60 lines and 60 to 600 tokens, each once but for names and literals."""
    found, seen = [], set()
    for function in functions:
        if not 10 <= function["lines"] <= 60:
            continue
        _, node = parse(language, function["text"])
        if node is None or node.has_error:
            continue
        raw = tokens(node)
        if not 60 <= len(raw) <= 600:
            continue
        normalised = tuple(tokens(node, True))
        if normalised in seen:
            continue
        seen.add(normalised)
        found.append(function | {"raw": grams(raw, 3), "normalised": grams(normalised, 5)})
        if len(found) >= CANDIDATES:
            break
    return found


def choose_seeds(candidates, wanted):
    """Seeds that are unlike each other, greedily: below .30 by normalised 5-grams, below .22 by raw 3-grams, none inside another.

    The others are given back too; what comes after the last seed is in neither list.
    """
    seeds, rejected = [], []
    by_normalised, by_raw = collections.defaultdict(list), collections.defaultdict(list)
    for function in candidates:
        normalised, raw = function["normalised"], function["raw"]
        common = collections.Counter(at for gram in normalised for at in by_normalised[gram])
        common_raw = collections.Counter(at for gram in raw for at in by_raw[gram])
        share = lambda at: common[at] / (len(normalised) + len(seeds[at]["normalised"]) - common[at])
        is_like = (
            any(share(at) > 0.30 for at in common)
            or any(count / (len(raw) + len(seeds[at]["raw"]) - count) > 0.22 for at, count in common_raw.items())
            or any(count / min(len(normalised), len(seeds[at]["normalised"])) > 0.55 for at, count in common.items())
        )
        if is_like:
            rejected.append(function)
            continue
        function["nearest"] = max(((share(at), at) for at in common), default=None)
        for gram in normalised:
            by_normalised[gram].append(len(seeds))
        for gram in raw:
            by_raw[gram].append(len(seeds))
        seeds.append(function)
        if len(seeds) >= wanted:
            break
    return seeds, rejected


# ---- the corpus of one language


class Corpus:
    """What is placed so far, and the labelled pairs. Draws happen in the order of the methods in `make`."""

    def __init__(self, language, sources, options):
        self.language, self.options = language, options
        self.rng = random.Random(f"{options.seed}-{language}")
        self.placed, self.pairs, self.done = [], [], collections.Counter()
        functions = list(mine(language, sources))
        self.rng.shuffle(functions)
        self.small = [function for function in functions if 3 <= function["lines"] <= 6]
        candidates = candidates_of(language, functions)
        wanted = options.per_op * len(OPERATORS) + options.clusters + options.chains
        self.seeds, self.rejected = choose_seeds(candidates, int(wanted * 2.2))
        statements = {text for one in self.rejected[:1500] + candidates[-800:] for text in donors_of(language, one["text"])}
        self.donors = sorted(statements)
        self.rng.shuffle(self.donors)
        # Seeds are taken from the end; one that no operator could change is taken up again by nobody.
        self.order = list(range(len(self.seeds)))
        say(language, "mined", len(functions), "eligible", len(candidates), "seeds", len(self.seeds), "donors", len(self.donors))

    def make(self):
        self.add_pairs()
        self.add_clusters()
        self.add_chains()
        self.add_negatives()
        self.add_noise()

    def add(self, group, role, operator, text, source):
        name = f"{self.language}-{len(self.placed):05d}"
        self.placed.append({"id": name, "group": group, "role": role, "op": operator, "text": text, "src": source})
        return name

    def label(self, first, second, kind, operator, label, **more):
        self.pairs.append(
            {
                "id": f"{first}|{second}",
                "lang": self.language,
                "a": first,
                "b": second,
                "type": kind,
                "op": operator,
                "label": label,
                **more,
            }
        )

    def add_pairs(self):
        """So many seeds and copies an operator; a seed goes to the operator that lacks most and can change it."""
        queue = [operator for operator in OPERATORS for _ in range(self.options.per_op)]
        self.rng.shuffle(queue)
        lacking = collections.Counter(queue)
        while sum(lacking.values()) and self.order:
            at = self.order.pop()
            seed = self.seeds[at]
            urgency = lambda operator: -lacking[operator] + self.rng.random() * 3
            for operator in sorted([one for one in lacking if lacking[one] > 0], key=urgency):
                copied = self.copy_of(seed, operator)
                if copied is None:
                    continue
                text, node, done = copied
                _, seed_node = parse(self.language, seed["text"])
                raw, normalised = similarities(seed_node, node)
                first = self.add(f"{self.language}-p{at}", "seed", "seed", seed["text"], seed["file"])
                second = self.add(f"{self.language}-p{at}", "mutant", operator, text, seed["file"])
                lines = [seed["text"].count("\n") + 1, text.count("\n") + 1]
                scores = {"sim_tok3": round(raw, 4), "sim_norm5": round(normalised, 4)}
                self.label(first, second, TYPE_OF[operator], operator, 1, **scores, lines=lines, **done)
                lacking[operator] -= 1
                self.done[operator] += 1
                break

    def copy_of(self, seed, operator):
        """A changed copy that parses and differs: text, node, what was done; or None."""
        host = None
        if operator == "FRAG":
            if not self.rejected:
                return None
            host = self.rng.choice(self.rejected)["text"]
        copied = mutate(self.rng, self.language, seed["text"], operator, self.donors, host)
        if copied is None or copied[0] == seed["text"]:
            return None
        _, node = parse(self.language, copied[0])
        return None if node is None or node.has_error else (copied[0], node, copied[1])

    def add_clusters(self):
        """A seed and three to seven copies of it, each by another operator."""
        for _ in range(self.options.clusters):
            if not self.order:
                break
            at = self.order.pop()
            seed, group = self.seeds[at], f"{self.language}-c{at}"
            members = [(self.add(group, "seed", "seed", seed["text"], seed["file"]), "seed")]
            for operator in self.rng.sample(CLUSTER_OPERATORS, self.rng.randint(3, 7)):
                copied = mutate(self.rng, self.language, seed["text"], operator, self.donors)
                if copied and copied[0] != seed["text"]:
                    members.append((self.add(group, "cluster", operator, copied[0], seed["file"]), operator))
            for first, second in in_pairs(members):
                subtypes = [TYPE_OF.get(operator, "T1") for _, operator in (first, second)]
                self.pairs.append(
                    {
                        "id": f"{first[0]}|{second[0]}",
                        "lang": self.language,
                        "a": first[0],
                        "b": second[0],
                        "type": "cluster",
                        "op": "cluster",
                        "subtypes": subtypes,
                        "label": 1,
                    }
                )
            self.done["cluster_groups"] += 1
            self.done["cluster_members"] += len(members)

    def add_chains(self):
        """Up to ten links, each the one before with a fifth of its statements edited: neighbours are clones, ends are not.

        Neighbours and pairs of at least .55 are clones, those below .30 are none, and what lies between is neutral.
        """
        for _ in range(self.options.chains):
            at = next((at for at in popped(self.order) if self.seeds[at]["lines"] >= 22), None)
            if at is None:
                break
            seed = self.seeds[at]
            links = [seed["text"]]
            for _ in range(CHAIN_LINKS):
                copied = mutate(self.rng, self.language, links[-1], "T3_mod20", self.donors)
                if not copied:
                    break
                links.append(copied[0])
            if len(links) < 5:
                continue
            group = f"{self.language}-h{at}"
            names = [self.add(group, "chain", f"chain{number}", text, seed["file"]) for number, text in enumerate(links)]
            nodes = [parse(self.language, text)[1] for text in links]
            for first, second in in_pairs(range(len(links))):
                raw, normalised = similarities(nodes[first], nodes[second])
                label = 1 if second == first + 1 or normalised >= 0.55 else 0 if normalised < 0.30 else -1
                scores = {"sim_tok3": round(raw, 4), "sim_norm5": round(normalised, 4)}
                self.label(names[first], names[second], "chain", f"chain_d{second - first}", label, **scores)
            self.done["chains"] += 1
            self.done["chain_members"] += len(links)

    def add_negatives(self):
        """Hard negatives (seeds with the seed nearest to them) and random ones."""
        name_of = {int(re.sub(r"\D", "", one["group"].split("-")[1])): one["id"] for one in self.placed if one["role"] == "seed"}
        near = [
            (self.seeds[at]["nearest"][0], name_of[at], name_of[self.seeds[at]["nearest"][1]])
            for at in name_of
            if self.seeds[at]["nearest"] and self.seeds[at]["nearest"][1] in name_of
        ]
        for similarity, first, second in sorted(near, reverse=True)[: self.options.per_op * 5]:
            self.label(first, second, "neg_hard", "nearest_other_seed", 0, sim_norm5=round(similarity, 4))
        names = list(name_of.values())
        for _ in range(self.options.per_op * 3):
            first, second = self.rng.sample(names, 2)
            self.label(first, second, "neg_random", "random", 0)

    def add_noise(self):
        """Functions of three to six lines, which a report may or may not show: neutral."""
        for function in self.small:
            _, node = parse(self.language, function["text"])
            if node is None or node.has_error:
                continue
            number = self.done["noise"]
            self.add(f"{self.language}-n{number}", "noise", "small", function["text"], function["file"])
            self.done["noise"] = number + 1
            if self.done["noise"] >= self.options.noise:
                break

    def lay_out(self):
        """Spreads what is placed over files and writes them; how many files."""
        count = max(4, len(self.placed) // 8)
        files, groups = [[] for _ in range(count)], [set() for _ in range(count)]
        self.rng.shuffle(self.placed)
        for one in self.placed:
            for _ in range(60):
                at = self.rng.randrange(count)
                if one["group"] not in groups[at] and len(files[at]) < FILE_MEMBERS:
                    break
            files[at].append(one)
            groups[at].add(one["group"])
        for number, members in enumerate(files):
            if members:
                write_file(self.options.out, self.language, number, members)
        return sum(1 for members in files if members)


def write_file(out, language, number, members):
    """One source file; its members learn their path and lines."""
    module, unit = f"mod_{number % 23:02d}", f"Unit{number:04d}"
    name = unit if language == "java" else unit.lower()
    path = f"corpus/{language}/{module}/{name}.{LANGUAGES[language].extension}"
    lines = {"go": [f"package {module}", ""], "java": [f"package {module};", "", f"public class {unit} {{", ""]}.get(language, [])
    for at, member in enumerate(members):
        text = member["text"]
        has_type = language in ("rust", "typescript") and wrap(language, text)[1] == 1
        if has_type:
            lines.append(f"{'impl' if language == 'rust' else 'class'} {unit}Part{at} {{")
        # A string over several lines can't be indented; where there may be one, the text stays at the margin.
        if (has_type or language == "java") and "`" not in text and '"""' not in text:
            text = "\n".join("    " + line if line.strip() else line for line in text.split("\n"))
        start = len(lines) + 1
        lines.extend(text.split("\n"))
        member.update(path=path, start=start, end=len(lines))
        lines.extend(["}", ""] if has_type else [""])
    if language == "java":
        lines.append("}")
    place = os.path.join(out, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def in_pairs(members):
    members = list(members)
    return ((members[first], members[second]) for first in range(len(members)) for second in range(first + 1, len(members)))


def popped(order):
    """Takes from the end as long as it is asked for more."""
    while order:
        yield order.pop()


def say(*words):
    print(*words, file=sys.stderr)


# ---- files


def write(options, corpora, tag):
    """functions, pairs and manifest of the corpora."""
    text_of = {one["id"]: one["text"] for corpus in corpora for one in corpus.placed}
    place = lambda name: os.path.join(options.out, name)
    with open(place(f"functions{tag}.jsonl"), "w", encoding="utf-8") as file:
        for one in sorted((one for corpus in corpora for one in corpus.placed), key=lambda one: one["id"]):
            kept = {key: one[key] for key in ("id", "group", "role", "op", "path", "start", "end", "src")}
            file.write(json.dumps(kept | {"lang": one["id"].split("-")[0]}) + "\n")
    with open(place(f"pairs{tag}.jsonl"), "w", encoding="utf-8") as file:
        for pair in (pair for corpus in corpora for pair in corpus.pairs):
            file.write(json.dumps(pair | {"code_a": text_of[pair["a"]], "code_b": text_of[pair["b"]]}) + "\n")


def join(folder):
    """functions.LANGUAGE.jsonl of all languages as functions.jsonl; pairs alike."""
    for name in ("functions", "pairs"):
        parts = [os.path.join(folder, f"{name}.{language}.jsonl") for language in sorted(LANGUAGES)]
        with open(os.path.join(folder, f"{name}.jsonl"), "w", encoding="utf-8") as joined:
            for part in filter(os.path.exists, parts):
                with open(part, encoding="utf-8") as file:
                    joined.write(file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--src", action="append", default=[], metavar="LANGUAGE=FOLDER")
    parser.add_argument("--out")
    parser.add_argument("--per-op", type=int, default=50, help="pairs an operator")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--clusters", type=int, default=25)
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--noise", type=int, default=120)
    parser.add_argument("--join", metavar="FOLDER", help="put the files of single languages together, and no more")
    options = parser.parse_args()
    if options.join:
        return join(options.join)
    if not options.src or not options.out:
        parser.error("--src and --out are needed")
    corpora, manifest = [], {}
    for given in options.src:
        language, _, sources = given.partition("=")
        if language not in LANGUAGES:
            parser.error(f"{language} is none of {', '.join(LANGUAGES)}")
        corpus = Corpus(language, sources, options)
        corpus.make()
        files = corpus.lay_out()
        corpora.append(corpus)
        manifest[language] = corpus.done | {"functions": len(corpus.placed), "files": files}
        say(language, dict(corpus.done))
    tag = f".{corpora[0].language}" if len(corpora) == 1 else ""
    write(options, corpora, tag)
    with open(os.path.join(options.out, f"manifest{tag}.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    return None


if __name__ == "__main__":
    main()
