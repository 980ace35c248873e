"""The list of sources for mine.py, with their licences read again.

usage: sources.py repos.tsv packages.tsv --mirrors MIRRORS --packages PACKAGES > SOURCES.tsv

MIRRORS/OWNER+NAME/repo is a bare clone of a line of repos.tsv; PACKAGES/REGISTRY+NAME is an unpacked package of
packages.tsv (a scoped npm name has + for its slash). What is not there is named on stderr and left out, as is a
repository whose licence files name no permissive licence.
"""

import argparse
import csv
import os
import re
import subprocess
import sys

PERMISSIVE = (
    ("Apache-2.0", r"Apache License"),
    ("MPL-2.0", r"Mozilla Public License"),
    ("BSL-1.0", r"Boost Software License"),
    ("MIT", r"Permission is hereby granted, free of charge"),
    ("BSD", r"Redistribution and use in source and binary forms"),
    ("ISC", r"Permission to use, copy, modify,? (?:and/or|and) distribute"),
    ("Unlicense", r"(?i)unlicense"),
)


def licence_of(text):
    """The permissive licence that a licence file grants, GPL family, or None."""
    if re.search(r"GNU (?:AFFERO|LESSER|GENERAL|LIBRARY)", text, re.I):
        return "GPL family"
    return next((name for name, pattern in PERMISSIVE if re.search(pattern, text)), None)


def shown(git_dir, name):
    return subprocess.run(["git", "--git-dir", git_dir, "show", name], capture_output=True).stdout.decode("utf8", "replace")


def rows(name):
    with open(name, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories")
    parser.add_argument("packages_list")
    parser.add_argument("--mirrors", required=True)
    parser.add_argument("--packages", required=True)
    args = parser.parse_args()
    for row in rows(args.repositories):
        git_dir = os.path.join(args.mirrors, row["repository"].replace("/", "+"), "repo")
        if not os.path.isdir(git_dir):
            print("missing", row["repository"], file=sys.stderr)
            continue
        found = {licence_of(shown(git_dir, f"{row['commit']}:{file}")) for file in row["licence found in"].split(",")}
        if found - {None, "GPL family"}:
            print(row["repository"], "git", git_dir, row["language"], row["split"], sep="\t")
        else:
            print("no permissive licence", row["repository"], file=sys.stderr)
    for row in rows(args.packages_list):
        registry, _, name = row["package"].partition(":")
        folder = os.path.join(args.packages, f"{registry}+{name.replace('/', '+')}")
        if os.path.isdir(folder):
            print(row["package"], "dir", folder, row["language"], "train", sep="\t")
        else:
            print("missing", row["package"], file=sys.stderr)


if __name__ == "__main__":
    main()
