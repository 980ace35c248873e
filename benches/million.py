#!/usr/bin/env python3
"""Lays out a tree of very many real source files, for measuring how SAI scales.

    python3 million.py LIST TREE [--clones FOLDER] [--keep-going]

LIST has a package a line, `#` begins a comment:

    git OWNER/NAME REVISION     a bare clone below FOLDER: OWNER+NAME/repo or OWNER/NAME.git
    crate NAME VERSION          from cargo's registry; fetched with cargo where it isn't there
    npm NAME VERSION            fetched with `npm pack`
    pypi NAME VERSION           a wheel, fetched with pip; nothing of a package is run

Every package gets a folder of its own, KIND/NAME-VERSION, so that a package that is there already is left alone and the command
can be repeated. Only files with an ending of a programming language or of prose are kept, up to 1 MB each: what is left out is
data, pictures and binaries. Two packages of the same name in different versions are two packages; a list should avoid them.
Needs Python 3.11 and, by the kinds in the list, git, cargo, npm, pip.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

ENDINGS = set(
    "py pyi rs ts tsx js jsx mjs cjs java kt kts scala go c h cc cpp cxx hh hpp hxx inl cs rb php swift lua zig ex exs hs "
    "sh bash zsh sql vue svelte ml mli r jl pl pm el clj md rst".split()
)
LARGEST = 1_000_000
"""Bytes; a larger file of source is nearly always generated."""


def wanted(name, size):
    """Whether a file of a package is laid out. Names that would leave the package's folder are refused."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return False
    return path.suffix[1:].lower() in ENDINGS and 0 < size <= LARGEST


def lay(into, name, content):
    """Writes one file of a package. A name that the file system refuses is passed over."""
    target = into / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError as error:
        print(f"passed over {target}: {error}", file=sys.stderr)


def lay_git(into, name, revision, clones):
    """The files of a revision of a bare clone; objects that the clone lacks are passed over."""
    owner, _, project = name.partition("/")
    places = [clones / f"{owner}+{project}" / "repo", clones / owner / f"{project}.git"]
    clone = next((place for place in places if place.is_dir()), None)
    if clone is None:
        raise FileNotFoundError(f"no clone of {name} below {clones}")
    # A clone may lack objects, and git shall not go and fetch them one by one.
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    git = ["git", "-c", "safe.directory=*", "-C", str(clone)]
    listing = subprocess.run(
        [*git, "ls-tree", "-r", "-z", revision], env=environment, check=True, capture_output=True
    ).stdout
    blobs = []
    for entry in listing.split(b"\0"):
        head, _, path = entry.partition(b"\t")
        fields = head.split()
        if len(fields) == 3 and fields[0] in (b"100644", b"100755"):
            blobs.append((fields[2].decode(), path.decode(errors="replace")))
    blobs = [blob for blob in blobs if wanted(blob[1], 1)]
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{blob}\n" for blob, _ in blobs).encode())
        asked.seek(0)
        reader = subprocess.Popen(
            [*git, "cat-file", "--batch"], env=environment, stdin=asked, stdout=subprocess.PIPE
        )
        for _, path in blobs:
            fields = reader.stdout.readline().split()
            if len(fields) != 3:
                continue
            content = reader.stdout.read(int(fields[2]))
            reader.stdout.read(1)
            if wanted(path, len(content)):
                lay(into, path, content)
        reader.stdout.close()
        reader.wait()


def lay_folder(into, folder):
    """The files of an unpacked package."""
    for above, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(above, name)
            inside = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and wanted(inside, path.stat().st_size):
                lay(into, inside, path.read_bytes())


def lay_crate(into, name, version, _clones):
    """A crate as cargo keeps it; one that it doesn't have is fetched as the dependency of an empty crate."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))

    def kept():
        return next(iter(home.glob(f"registry/src/*/{name}-{version}")), None)

    if kept() is None:
        with tempfile.TemporaryDirectory() as project:
            manifest = Path(project, "Cargo.toml")
            manifest.write_text(
                '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n'
                f'[lib]\npath = "lib.rs"\n[dependencies]\n{name} = "={version}"\n'
            )
            Path(project, "lib.rs").write_text("")
            subprocess.run(["cargo", "fetch", "--quiet", "--manifest-path", str(manifest)], check=True)
    found = kept()
    if found is None:
        raise FileNotFoundError(f"cargo did not bring {name} {version}")
    lay_folder(into, found)


def lay_npm(into, name, version, _clones):
    """A package of npm, without what it depends on."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        archive = next(Path(folder).glob("*.tgz"))
        with tarfile.open(archive) as files:
            for member in files:
                inside = member.name.partition("/")[2]
                if member.isfile() and wanted(inside, member.size):
                    lay(into, inside, files.extractfile(member).read())


def lay_pypi(into, name, version, _clones):
    """A wheel, without what it depends on. Wheels are archives: unlike a source package, one is opened without running it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        # Many a package has no wheel for the Python that runs this.
        command += ["--python-version", "3.14"]
        subprocess.run([*command, "--dest", folder, f"{name}=={version}"], check=True)
        archive = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as files:
            for member in files.infolist():
                if not member.is_dir() and wanted(member.filename, member.file_size):
                    lay(into, member.filename, files.read(member))


KINDS = {"git": lay_git, "crate": lay_crate, "npm": lay_npm, "pypi": lay_pypi}


def packages(text):
    """The lines of a list as (kind, name, version), each once, in its order."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        if len(fields) != 3 or fields[0] not in KINDS:
            raise ValueError(f"line {number} is not KIND NAME VERSION with a kind of {', '.join(KINDS)}: {line}")
        found[tuple(fields)] = None
    return list(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--clones", type=Path, default=Path("."), help="folder of the bare clones")
    parser.add_argument("--keep-going", action="store_true", help="say which packages could not be had, and lay out the others")
    options = parser.parse_args()
    for kind, name, version in packages(options.list.read_text()):
        into = options.tree / kind / f"{name.replace('/', '+')}-{version[:12] if kind == 'git' else version}"
        if into.is_dir():
            continue
        # A package appears under its name only once it is whole.
        partial = into.with_name(f"{into.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            KINDS[kind](partial, name, version, options.clones)
        except (OSError, subprocess.CalledProcessError, StopIteration) as error:
            shutil.rmtree(partial)
            if not options.keep_going:
                raise
            print(f"left out {kind} {name} {version}: {error}", file=sys.stderr)
            continue
        partial.rename(into)
        print(f"{kind} {name} {version}")


if __name__ == "__main__":
    main()
