#!/bin/sh
# Tries a server with other people's clients, in an indexed repository:
#
#     sh tests/clients/run.sh path/to/sai
#
# - the Python SDK in both eras of the protocol (`python_sdk.py`). SAI_PYTHON names a Python that
#   has `mcp`; without it one is made.
# - the inspector's strict listing, which fails on schemas that some client refuses. `mcp-inspector`
#   is taken from PATH; without it one is fetched, with the node it needs.
#
# What is fetched lies in SAI_CLIENTS_CACHE, else under XDG_CACHE_HOME or ~/.cache.
set -eu

bin=${1:?usage: run.sh path/to/sai}
# Clients start a server with few variables; a prebuilt DuckDB is found through this one.
set -- env ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} "$bin" mcp
here=$(cd "$(dirname "$0")" && pwd)
cache=${SAI_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sai/clients}

python=${SAI_PYTHON:-}
if [ -z "$python" ]; then
    python=$cache/venv/bin/python
    if ! "$python" -c 'import mcp' 2>/dev/null; then
        mkdir -p "$cache"
        python3 -m venv "$cache/venv" >&2
        "$python" -m pip install --quiet 'mcp>=2.3,<3' >&2
    fi
fi

if ! command -v mcp-inspector >/dev/null 2>&1; then
    PATH=$cache/node/node_modules/.bin:$PATH
    export PATH
    if ! command -v mcp-inspector >/dev/null 2>&1; then
        mkdir -p "$cache/node"
        (
            cd "$cache/node"
            npm init -y
            npm install node@22 @modelcontextprotocol/inspector@2.12.0
        ) >&2
    fi
fi

for mode in auto legacy; do
    "$python" "$here/python_sdk.py" "$mode" "$@"
done

for era in legacy modern; do
    # A schema error is an exit code, a warning is a line; neither is wanted.
    status=0
    list=$(mcp-inspector --cli "$@" --protocol-era "$era" --method tools/list --strict 2>&1) ||
        status=$?
    if [ "$status" -ne 0 ] || printf '%s' "$list" | grep -qi warning; then
        printf '%s\n' "$list" >&2
        exit 1
    fi
    echo "inspector $era: tools/list is strict"
    mcp-inspector --cli "$@" --protocol-era "$era" --method tools/call \
        --tool-name sai_search_code --tool-arg query=backoff limit=1 | grep -q 'src/retry.rs'
    echo "inspector $era: sai_search_code answers"
    tools=$(mcp-inspector --cli "$@" --protocol-era "$era" --method tools/list --format json |
        grep -o '"name": *"sai_[a-z_]*"' | grep -o 'sai_[a-z_]*' | sort -u)
    for tool in $tools; do
        # 5 says that the tool answered with an error, 1 that the call was refused.
        status=0
        answer=$(mcp-inspector --cli "$@" --protocol-era "$era" --method tools/call \
            --tool-name "$tool" --tool-args-json '{}' 2>&1) || status=$?
        case $status in
        0 | 1 | 5) ;;
        *)
            printf '%s: %s\n' "$tool" "$answer" >&2
            exit 1
            ;;
        esac
    done
    echo "inspector $era: answered:" $tools
done
