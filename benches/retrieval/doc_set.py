#!/usr/bin/env python3
"""Documentation as questions: the first sentence of a function's documentation, and the function without it.

    doc_set.py MIRRORS OUT [--list docs.json] [--name NAME]

Makes OUT/{repositories.json, tasks, trees} from bare clones of the repositories in the list (name, language, repository,
revision, folder). The trees lack the documentation of every function that was recognised (blank lines stand in its place, so
that line numbers stay), whether it became a question or not. A target is the function: path, first and last line.

A sentence becomes a question when it has 4 to 40 words (in Go after the function's name was taken from its beginning), is plain
text, is said of one function only, and the function has at least two lines; at most seventy come from a
repository, taken evenly. Category: `named` when a word of the sentence is a word of the function's name, else `unnamed`.
How functions and their documentation are recognised: `doc_extract.py`.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter

from doc_extract import documented_functions
from sources import git, is_source, lay_tree, mirror_of

HERE = os.path.dirname(os.path.abspath(__file__))
PER_REPOSITORY = 70
EXTENSIONS = {
    "python": ("py",), "javascript": ("js", "mjs", "cjs"), "typescript": ("ts",), "go": ("go",), "rust": ("rs",), "java": ("java",),
    "kotlin": ("kt",), "scala": ("scala",), "csharp": ("cs",), "php": ("php",), "ruby": ("rb",), "swift": ("swift",), "elixir": ("ex",),
    "lua": ("lua",), "haskell": ("hs",), "zig": ("zig",), "c": ("c",), "cpp": ("hpp", "h", "cc"),
}  # fmt: skip
NO_QUESTION = re.compile(
    r"todo|fixme|deprecated|inherit|copyright|https?:|eslint|noqa|pragma|internal use|same as|alias|^see\b|see also|overload|this function is\W*$|@\w|\bxxx\b",
    re.IGNORECASE,
)


def first_sentence(text):
    """The first sentence of a documentation text, without markup."""
    text = re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", text)
    text = re.sub(r":[\w:]+:`~?\.?([^`<]+)(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    text = re.sub(r"<see \w+=\"(?:\w:)?([^\"]*)\"\s*/>", r"\1", text)
    text = re.sub(r"</?[A-Za-z][^>]*>", " ", text)
    text = re.sub(r"[`*]+|__|@[cp]\s|\\[a-z]+\s", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    end = re.search(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.!?:](\s|$)", text)
    return (text[: end.start()] if end else text).strip()


def words_of(name):
    """Lower-case words of an identifier."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def question_of(sentence, name, language):
    """The sentence, in Go without the function's name at its beginning, or None when it makes no question."""
    if language == "go":
        sentence = re.sub(rf"^{re.escape(name)}(\(\))?\b[\s,:-]*", "", sentence)
    sentence = re.sub(r"\s*-{4,}$", "", sentence)
    words = sentence.split()
    letters = re.findall(r"[A-Za-z]{2,}", sentence)
    plain_text = sentence.isascii() and not re.search(r"[{}<>;=|\\]", sentence)
    return sentence if 4 <= len(words) <= 40 and len(letters) >= 4 and plain_text and not NO_QUESTION.search(sentence) else None


def names_it(question, name):
    """Whether a word of the question (its first five letters) is a word of the function's name."""
    stems = {word[:5] for word in words_of(name) if len(word) > 2}
    return any(word.lower()[:5] in stems for word in re.findall(r"[A-Za-z]{3,}", question))


def strip_tree(tree, language):
    """Takes the documentation out of a tree's functions; returns [(question, name, path, first, last)]."""
    found = []
    for folder, _, files in sorted(os.walk(tree)):
        for name in sorted(files):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, tree).replace(os.sep, "/")
            if name.rsplit(".", 1)[-1] not in EXTENSIONS[language] or not is_source(path) or os.path.islink(full):
                continue
            found += strip_file(full, path, language)
    return found


def strip_file(full, path, language):
    with open(full, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    lines = text.split("\n")
    functions = documented_functions([line.rstrip("\r") for line in lines], language)
    for function in functions:
        for number in range(function.doc_first, function.doc_last + 1):
            lines[number - 1] = ""
    if functions:
        with open(full, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write("\n".join(lines))
    asked = [(question_of(first_sentence(one.text), one.name, language), one.name, path, one.first, one.last) for one in functions]
    return [one for one in asked if one[0] and one[4] > one[3]]


def chosen(found):
    """Sentences said once only, at most `PER_REPOSITORY`, evenly."""
    said = Counter(question.lower() for question, *_ in found)
    once = [one for one in found if said[one[0].lower()] == 1]
    step = max(len(once) / PER_REPOSITORY, 1)
    return [once[int(index * step)] for index in range(min(len(once), PER_REPOSITORY))]


def make(one, mirrors, out):
    """Tree and tasks of one repository; false when there is no clone of it."""
    mirror = mirror_of(mirrors, one["repository"])
    if mirror is None:
        print(f"{one['name']}: no bare clone of {one['repository']} below {mirrors}", file=sys.stderr)
        return False
    revision = one["revision"] or git(mirror, "rev-parse", "HEAD").strip()
    tree = os.path.join(out, "trees", one["name"])
    if os.path.exists(tree):
        raise SystemExit(f"{tree} exists; remove it to make the set anew")
    lay_tree(mirror, revision, tree, one["folder"])
    found = strip_tree(tree, one["language"])
    tasks = [
        {
            "query": question,
            "relevant": [{"path": path, "start_line": first, "end_line": last}],
            "secondary": [],
            "category": "named" if names_it(question, name) else "unnamed",
        }
        for question, name, path, first, last in chosen(found)
    ]
    with open(os.path.join(out, "tasks", one["name"] + ".json"), "w", encoding="utf-8") as file:
        json.dump(tasks, file, indent=1)
    print(f"{one['name']:22} {one['language']:11} {revision[:12]} {len(found)} documented functions, {len(tasks)} questions")
    return bool(tasks)


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("mirrors", help="folder with bare clones, OWNER+NAME/repo or OWNER/NAME.git")
    parser.add_argument("out")
    parser.add_argument("--list", default=os.path.join(HERE, "docs.json"))
    parser.add_argument("--name", action="append", default=[], help="only this repository; may be repeated")
    arguments = parser.parse_args()
    with open(arguments.list, encoding="utf-8") as file:
        listed = json.load(file)
    for folder in ("tasks", "trees"):
        os.makedirs(os.path.join(arguments.out, folder), exist_ok=True)
    made = [one for one in listed if (not arguments.name or one["name"] in arguments.name) and make(one, arguments.mirrors, arguments.out)]
    if not arguments.name:
        with open(os.path.join(arguments.out, "repositories.json"), "w", encoding="utf-8") as file:
            json.dump([{"name": one["name"], "language": one["language"]} for one in made], file, indent=1)


if __name__ == "__main__":
    main()
