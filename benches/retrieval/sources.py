"""What is source code, and what are tests and examples? Shared by the scripts that make sets."""

import os
import re
import subprocess
import tempfile

EXTENSIONS = set(
    "py pyi rb php js jsx mjs cjs ts tsx vue svelte go rs java kt kts scala c h cc cpp cxx hpp hh cs swift lua hs ex exs "
    "sh bash zsh fish zig ml mli clj erl dart r jl pl pm nim sql".split()
)
# Places that are no library code: a question about the code shouldn't have its answer there.
BESIDE = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|testdata|fixtures?|mocks?|e2e|it|benchmarks?|benches|bench|docs?|documentation|website|examples?|_examples"
    r"|samples?|demos?|playground|vendor|vendored|third_party|thirdparty|node_modules|dist|\.github|\.ci)(/|$)"
    r"|(^|/)(test_[^/]*|[^/]*[._-](test|tests|spec)|conftest|[^/]*Tests?|[^/]*TestCase|[^/]*Spec)\.[^/]+$"
    r"|\.(d\.ts|min\.js|generated\.[a-z]+)$",
)


def is_source(path):
    """Library code by name: a known extension, or a script of a `bin` or `libexec` folder, outside of tests, docs and examples."""
    name = path.rsplit("/", 1)[-1]
    known = name.rsplit(".", 1)[-1].lower() in EXTENSIONS if "." in name else bool(re.search(r"(^|/)(bin|libexec)/", path))
    return known and not BESIDE.search(path)


def git(mirror, *arguments):
    """Output of git on a bare repository; bytes that are no UTF-8 become replacement characters."""
    done = subprocess.run(["git", "--git-dir", mirror, "-c", "core.quotepath=off", *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def lay_tree(mirror, revision, folder, inside=""):
    """Writes the files of a revision (or of a folder of it) into `folder`, which is made.

    `git archive` would leave out what a repository marks `export-ignore`, tests among it, so an index of our own is checked out.
    Files that a partial clone lacks are left out.
    """
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "GIT_INDEX_FILE": os.path.join(scratch, "index")}
        run = lambda *arguments, **more: subprocess.run(
            ["git", "--git-dir", mirror, "--work-tree", scratch, *arguments], env=environment, capture_output=True, **more
        )
        run("read-tree", revision, check=True)
        names = run("ls-files", "-z", "--", *([inside] if inside else []), check=True).stdout
        run("checkout-index", "-q", "-z", "--stdin", f"--prefix={os.path.abspath(folder)}/", input=names)


def mirror_of(mirrors, repository):
    """Where a bare clone of OWNER/NAME lies below `mirrors`: OWNER+NAME/repo, OWNER+NAME, OWNER/NAME.git or NAME.git; or None."""
    flat, name = repository.replace("/", "+"), repository.split("/")[-1]
    for place in (f"{flat}/repo", flat, f"{repository}.git", f"{name}.git"):
        if os.path.isfile(os.path.join(mirrors, place, "HEAD")):
            return os.path.join(mirrors, place)
    return None
