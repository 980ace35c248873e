"""Where questions and trees lie: reading the material file.

Nothing of a machine is written in these scripts. A material file (JSON) names the sets, with paths relative to itself:

    {"sets": [
      {"label": "library", "repositories": "semble/repos.json", "tasks": "semble/annotations", "trees": "trees", "root": "library"},
      {"label": "checkouts", "repositories": "semble/repos.json", "tasks": "semble/annotations", "trees": "trees", "root": "checkout"},
      {"label": "commits", "repositories": "commits/repositories.json", "tasks": "commits/tasks", "trees": "commits/trees", "root": "checkout"},
      {"label": "docs", "repositories": "docs/repositories.json", "tasks": "docs/tasks", "trees": "docs/trees", "root": "checkout"}]}

`repositories`  a list of {"name", "language", "benchmark_root"?}
`tasks`         a folder of NAME.json: lists of {"query", "relevant": [path or {"path","start_line","end_line"}], "secondary", "category"}
`trees`         a folder with a folder NAME for each repository; a tool may write its index into it
`root`          library: only the folder `benchmark_root` is searched; checkout: the whole tree
`paths`         suffix (the benchmark's rule, default) or exact
"""

import json
import os
import random
from dataclasses import dataclass, field

from metric import Place, place_of


@dataclass(frozen=True)
class Task:
    """One question: its number within the repository, the text, what would answer it."""

    number: int
    query: str
    category: str
    targets: tuple[Place, ...]


@dataclass
class Repository:
    """A tree to search, with its questions."""

    name: str
    language: str
    root: str
    tasks: list[Task] = field(default_factory=list)


@dataclass
class QuestionSet:
    """A labelled list of repositories, judged by one rule for paths."""

    label: str
    paths: str
    repositories: list[Repository]


def load(material_file, labels=(), names=(), languages=(), per_repository=0):
    """The sets of a material file, perhaps only some of them, or only so many questions of each repository."""
    base = os.path.dirname(os.path.abspath(material_file))
    with open(material_file, encoding="utf-8") as file:
        described = json.load(file)["sets"]
    unknown = set(labels) - {one["label"] for one in described}
    if unknown:
        raise SystemExit(f"{material_file} has no set {', '.join(sorted(unknown))}")
    return [
        read_set(base, one, names, languages, per_repository)
        for one in described
        if not labels or one["label"] in labels
    ]


def read_set(base, described, names, languages, per_repository):
    folder = lambda key: os.path.normpath(os.path.join(base, described[key]))
    with open(folder("repositories"), encoding="utf-8") as file:
        listed = json.load(file)
    repositories = []
    for one in sorted(listed, key=lambda entry: entry["name"]):
        name = one["name"]
        tasks_file = os.path.join(folder("tasks"), name + ".json")
        tree = os.path.join(folder("trees"), name)
        wanted = (not names or name in names) and (not languages or one["language"] in languages)
        if not wanted or not os.path.isfile(tasks_file) or not os.path.isdir(tree):
            continue
        inside = one.get("benchmark_root") if described.get("root") == "library" else None
        repository = Repository(name, one["language"], os.path.normpath(os.path.join(tree, inside or ".")))
        repository.tasks = spread(read_tasks(tasks_file), per_repository)
        repositories.append(repository)
    return QuestionSet(described["label"], described.get("paths", "suffix"), repositories)


def read_tasks(tasks_file):
    with open(tasks_file, encoding="utf-8") as file:
        raw = json.load(file)
    return [
        Task(
            number,
            one["query"],
            one.get("category", ""),
            tuple(place_of(place) for place in [*one.get("relevant", []), *one.get("secondary", [])]),
        )
        for number, one in enumerate(raw)
    ]


def spread(tasks, at_most):
    """At most so many tasks (0: all), drawn by a fixed seed so that a sample is the same every time and of no one category."""
    if not at_most or len(tasks) <= at_most:
        return tasks
    return sorted(random.Random(len(tasks)).sample(tasks, at_most), key=lambda task: task.number)
