#!/bin/sh
# Tries the documents of `sai duplicates` with the programs that read them:
#
#     sh tests/clients/report.sh path/to/sai [ROOT [SHOTS]]
#
# - the page in a real browser (`report.py`): keys, filters, phone and desk width, light and dark,
#   contrast; no error, no request. Chromium is taken from SAI_CHROMIUM or from PATH, else one is
#   fetched by Playwright.
# - the log for code scanners against the official schema (`sarif.py`), which SAI_SARIF_SCHEMA names,
#   else it is fetched.
#
# ROOT is an indexed folder with copies in it; without it a hostile one is made, whose names and code
# try to break out of the page. Screenshots go to the folder SHOTS. What is fetched lies in
# SAI_CLIENTS_CACHE, else under XDG_CACHE_HOME or ~/.cache.
set -eu

bin=${1:?usage: report.sh path/to/sai [ROOT [SHOTS]]}
here=$(cd "$(dirname "$0")" && pwd)
cache=${SAI_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sai/clients}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

python=$cache/report/bin/python
if ! "$python" -c 'import playwright, jsonschema' 2>/dev/null; then
    mkdir -p "$cache"
    python3 -m venv "$cache/report" >&2
    "$python" -m pip install --quiet 'playwright>=1.50,<2' 'jsonschema>=4,<5' >&2
fi
if [ ! -f "$cache/axe/node_modules/axe-core/axe.min.js" ]; then
    mkdir -p "$cache/axe"
    (cd "$cache/axe" && npm init -y && npm install axe-core@4) >&2
fi
chromium=${SAI_CHROMIUM:-$(command -v chromium || command -v google-chrome || true)}
[ -n "$chromium" ] || "$python" -m playwright install chromium >&2
schema=${SAI_SARIF_SCHEMA:-$cache/sarif-schema-2.1.0.json}
if [ ! -f "$schema" ]; then
    curl --fail --silent --show-error --location --output "$schema" \
        https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
fi

root=${2:-}
if [ -z "$root" ]; then
    root=$made/tree
    "$python" "$here/report.py" hostile "$root"
fi
"$bin" --root "$root" duplicates --all --html "$made/report.html" --sarif "$made/report.sarif" \
    --markdown "$made/report.md" >/dev/null
"$python" "$here/sarif.py" "$schema" "$made/report.sarif"
SAI_AXE="$cache/axe/node_modules/axe-core/axe.min.js" SAI_CHROMIUM="$chromium" \
    "$python" "$here/report.py" check "$made/report.html" ${3:+"$3"}
