#!/usr/bin/env python3
"""Commit subjects as questions: what people wrote about a change, and the files that they changed.

    commit_set.py select MIRROR --language LANGUAGE [--revision REV] [--part PART] [--list commits.json]
    commit_set.py lay MIRRORS OUT [--list commits.json] [--trees DIR] [--part PART]

`select` chooses commits of a bare clone by the rules below and writes their hashes into the list; `lay` makes the set from
the list and bare clones: OUT/PART/{repositories.json, tasks, trees}, ready for a material file. The list holds names and
hashes only; subjects and code stay in the clones.

The rules. A commit counts when it is no merge, changes one or two source files (`sources.is_source`) and at most six files and
120 lines of source in all, its subject says something (three to sixteen words after cleaning; no release, revert, dependency,
formatting, typo, lint, CI or documentation subject), and when at least half of the lines that it added (at least one) still
stand in its files at the pinned revision, so that the answer is still there. At most three questions have the same
answer, and at most forty come from a repository, taken evenly over its history.
"""

import argparse
import json
import os
import re
import subprocess
import sys

from sources import git, is_source, lay_tree, mirror_of

HERE = os.path.dirname(os.path.abspath(__file__))
PER_REPOSITORY = 40
PER_FILE = 3
LOOKED_AT = 6000
MOST_LINES = 120

CHORES = re.compile(
    r"\b(revert|release[sd]?|bump|changelog|typos?|spelling|whitespace|lint(er|ing)?|clippy|rustfmt|gofmt|prettier|eslint|rubocop|fourmolu|ormolu|hlint"
    r"|swiftlint|spotless|ktlint|shellcheck|stylua|luacheck|checkstyle|javadocs?|kdocs?|readme|copyright|licen[sc]e|dependenc(y|ies)|renovate|dependabot"
    r"|travis|appveyor|github actions?|workflow|nits?|wip|todos?|fixup|squash|warnings?|indent(ation)?|reformat(ting)?|formatting|re-?indent"
    r"|clean ?-?ups?|code style|coding style|merge|backport|cherry.?pick|docstrings?|docs?|documentation|comments?|unused (imports?|variables?)"
    r"|minor|misc|various|rename[sd]?|move[sd]?|refactor(ing|ed|s)?|simplif(y|ied)|tests?|specs?|version)\b"
    r"|^(chore|style|ci|build|docs?|test|refactor)(\([^)]*\))?!?:|^v?\d+\.\d+|signed-off",
    re.IGNORECASE,
)


def cleaned(subject):
    """The subject without numbers of issues, tags in brackets at the beginning, emoji and the like."""
    subject = re.sub(r"^(feat|fix|perf|feature|bugfix)(\([^)]*\))?!?:\s*", lambda m: scope_of(m.group(2)), subject.strip(), flags=re.IGNORECASE)
    subject = re.sub(r":[a-z_]+:\s*", "", subject)
    subject = re.sub(r"^(\[[^\]]{1,20}\]\s*:?\s*)+", "", subject)
    subject = re.sub(r"^[A-Z][A-Z]+-\d+[:.,]?\s*", "", subject)
    subject = re.sub(r"[\s,;(\[]*\b(fix(e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issue|pr|gh)[\s:]*(issue\s*)?(#|gh-)\d+[)\]]*", "", subject, flags=re.IGNORECASE)
    subject = re.sub(r"\s*[(\[]?\s*(#|gh-)\d+(\s*,\s*#\d+)*\s*[)\]]?", "", subject, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", subject).strip(" .;,:-")


def scope_of(scope):
    """`fix(router): ` asks about the router; a plain `fix: ` says nothing."""
    return scope[1:-1] + ": " if scope else ""


def says_something(subject):
    words = re.findall(r"[A-Za-z][A-Za-z0-9_'-]+", subject)
    plain = sum(character.isascii() for character in subject) >= 0.97 * max(len(subject), 1)
    return 3 <= len(subject.split()) <= 16 and len(words) >= 3 and plain and not CHORES.search(subject)


def commits_of(mirror, revision):
    """(hash, subject, changed paths) of the newest commits without merges, newest first."""
    text = git(mirror, "log", "--no-merges", "--no-renames", "-n", str(LOOKED_AT), "--name-only", "--format=%x01%H%x02%s", revision)
    for block in text.split("\x01")[1:]:
        head, _, rest = block.partition("\n")
        commit, _, subject = head.partition("\x02")
        yield commit, subject, [line for line in rest.splitlines() if line]


def answers_of(changed, standing):
    """The changed source files that still stand at the revision."""
    return [path for path in changed if is_source(path) and path in standing]


def is_focused(changed):
    return 1 <= sum(map(is_source, changed)) <= 2 and len(changed) <= 6


class Standing:
    """The files of a revision, and which lines stand in them."""

    def __init__(self, mirror, revision):
        self.mirror, self.revision = mirror, revision
        self.files = set(git(mirror, "ls-tree", "-r", "--name-only", revision).splitlines())
        self.lines = {}

    def __contains__(self, path):
        return path in self.files

    def has(self, path, line):
        if path not in self.lines:
            self.lines[path] = {one.strip() for one in git(self.mirror, "show", f"{self.revision}:{path}").splitlines()}
        return line in self.lines[path]


def still_there(mirror, commit, paths, standing):
    """Whether a commit changes few lines, and at least half of those that it added stand in its files at the revision."""
    try:
        patch = git(mirror, "show", "--format=", "--no-renames", "-U0", commit, "--", *paths)
        added, path, changed = [], None, 0
        for line in patch.splitlines():
            if line.startswith("+++ "):
                path = line[6:].rstrip("\t")
            elif line.startswith(("+", "-")) and not line.startswith("---"):
                changed += 1
                if line.startswith("+") and len(line.strip()) > 4:
                    added.append((path, line[1:].strip()))
        kept = sum(path in standing and standing.has(path, line) for path, line in added)
    except subprocess.CalledProcessError:
        return False  # A partial clone may lack a file of this commit.
    return changed <= MOST_LINES and kept >= 1 and 2 * kept >= len(added)


def select(mirror, revision):
    """Hashes of the commits that make good questions, newest first."""
    standing = Standing(mirror, revision)
    candidates, subjects, per_file = [], set(), {}
    for commit, raw, changed in commits_of(mirror, revision):
        subject = cleaned(raw)
        answers = answers_of(changed, standing)
        if not answers or not is_focused(changed) or not says_something(subject) or subject.lower() in subjects or CHORES.search(raw):
            continue
        if any(per_file.get(path, 0) >= 4 * PER_FILE for path in answers) or not still_there(mirror, commit, answers, standing):
            continue
        subjects.add(subject.lower())
        candidates.append((commit, answers))
        for path in answers:
            per_file[path] = per_file.get(path, 0) + 1
    return evenly(candidates)


def evenly(candidates):
    """At most `PER_REPOSITORY` commits, spread over the history, no file the answer more than `PER_FILE` times."""
    for step in range(max(len(candidates) // PER_REPOSITORY, 1), 0, -1):
        chosen, per_file = [], {}
        for commit, answers in candidates[::step]:
            if len(chosen) < PER_REPOSITORY and all(per_file.get(path, 0) < PER_FILE for path in answers):
                chosen.append(commit[:12])
                for path in answers:
                    per_file[path] = per_file.get(path, 0) + 1
        if len(chosen) == PER_REPOSITORY:
            break
    return chosen


def tasks_of(mirror, revision, commits):
    """The questions of a repository: cleaned subject, changed source files at the revision."""
    standing = Standing(mirror, revision)
    tasks = []
    for commit in commits:
        subject, _, rest = git(mirror, "show", "--name-only", "--no-renames", "--format=%s", commit).partition("\n")
        answers = answers_of(rest.splitlines(), standing)
        if answers:
            tasks.append({"query": cleaned(subject), "relevant": answers, "secondary": [], "category": "commit"})
    return tasks


def read_list(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_list(path, repositories):
    """One repository a line, so that a change of one is a change of one line."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(one) for one in repositories) + "\n]\n")


def run_select(arguments):
    mirror = os.path.abspath(arguments.mirror)
    revision = git(mirror, "rev-parse", arguments.revision).strip()
    repository = arguments.repository or re.sub(r"/repo$", "", mirror).split("/")[-1].replace("+", "/")
    entry = {
        "name": arguments.name or repository.split("/")[-1],
        "language": arguments.language,
        "repository": repository,
        "revision": revision,
        "part": arguments.part,
        "commits": select(mirror, revision),
    }
    others = [one for one in read_list(arguments.list) if one["name"] != entry["name"]]
    if entry["commits"]:
        others.append(entry)
    write_list(arguments.list, sorted(others, key=lambda one: (one["part"], one["name"])))
    print(f"{entry['name']}: {len(entry['commits'])} commits")


def run_lay(arguments):
    listed = [one for one in read_list(arguments.list) if not arguments.part or one["part"] == arguments.part]
    for part in sorted({one["part"] for one in listed}):
        folder = os.path.join(arguments.out, part)
        os.makedirs(os.path.join(folder, "tasks"), exist_ok=True)
        laid = [one for one in listed if one["part"] == part and lay(one, arguments.mirrors, folder, arguments.trees)]
        with open(os.path.join(folder, "repositories.json"), "w", encoding="utf-8") as file:
            json.dump([{"name": one["name"], "language": one["language"]} for one in laid], file, indent=1)


def lay(one, mirrors, folder, trees):
    """Writes tasks and tree of a repository; false when there is no clone of it or the clone lacks the revision."""
    mirror = mirror_of(mirrors, one["repository"])
    if mirror is None:
        print(f"{one['name']}: no bare clone of {one['repository']} below {mirrors}", file=sys.stderr)
        return False
    tasks = tasks_of(mirror, one["revision"], one["commits"])
    with open(os.path.join(folder, "tasks", one["name"] + ".json"), "w", encoding="utf-8") as file:
        json.dump(tasks, file, indent=1)
    tree = os.path.join(trees or os.path.join(folder, "trees"), one["name"])
    if not os.path.isdir(tree):
        lay_tree(mirror, one["revision"], tree)
    print(f"{one['part']}/{one['name']}: {len(tasks)} questions")
    return True


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    ways = parser.add_subparsers(dest="way", required=True)
    chooser = ways.add_parser("select", help="choose commits of one repository and put them into the list")
    chooser.add_argument("mirror", help="a bare clone")
    chooser.add_argument("--language", required=True)
    chooser.add_argument("--revision", default="HEAD")
    chooser.add_argument("--repository", help="OWNER/NAME (default: from the folder's name OWNER+NAME)")
    chooser.add_argument("--name", help="name in the set (default: NAME)")
    chooser.add_argument("--part", default="more", help="the set that it belongs to")
    chooser.add_argument("--list", default=os.path.join(HERE, "commits.json"))
    chooser.set_defaults(run=run_select)
    layer = ways.add_parser("lay", help="make the set from the list and bare clones")
    layer.add_argument("mirrors", help="folder with bare clones, OWNER+NAME/repo or OWNER/NAME.git")
    layer.add_argument("out")
    layer.add_argument("--trees", help="folder with trees that are laid out already, or where to lay them (default: OUT/PART/trees)")
    layer.add_argument("--part", help="only this part of the list")
    layer.add_argument("--list", default=os.path.join(HERE, "commits.json"))
    layer.set_defaults(run=run_lay)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
