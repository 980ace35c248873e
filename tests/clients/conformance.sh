#!/bin/sh
# Tries the server with the protocol's own conformance suite, in both eras:
#
#     sh tests/clients/conformance.sh path/to/sai
#
# The suite speaks HTTP only, so the production server is built with a way in over HTTP
# (`tests/clients/conformance.rs`; nothing of it is in the binary). It serves a small repository
# that the binary indexes. What may fail, and why, is in `conformance-expected.yml`: anything else
# that fails is an error, and so is anything listed that passes.
#
# SAI_CONFORMANCE_SERVER names a server that is built already; SAI_CARGO_FLAGS is passed to cargo.
# `conformance` is taken from PATH; without it one is fetched, with the node it needs, to
# SAI_CLIENTS_CACHE, else under XDG_CACHE_HOME or ~/.cache. What the suite found lies in
# SAI_CONFORMANCE_OUT, else is removed.
set -eu

bin=${1:?usage: conformance.sh path/to/sai}
here=$(cd "$(dirname "$0")" && pwd)
cache=${SAI_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sai/clients}

if ! command -v conformance >/dev/null 2>&1; then
    PATH=$cache/conformance/node_modules/.bin:$PATH
    export PATH
    if ! command -v conformance >/dev/null 2>&1; then
        mkdir -p "$cache/conformance"
        (
            cd "$cache/conformance"
            npm init -y
            npm install node@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12
        ) >&2
    fi
fi

server=${SAI_CONFORMANCE_SERVER:-}
if [ -z "$server" ]; then
    # The last artifact that cargo names is the example; the messages are one JSON object a line.
    # shellcheck disable=SC2086
    server=$(cd "$here/../.." && cargo build --release --locked --features conformance \
        ${SAI_CARGO_FLAGS:-} --example conformance --message-format json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
fi

work=$(mktemp -d)
pid=
# Both are ended, whatever happens.
trap 'if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$work/repository"
printf 'pub fn backoff_delay(attempt: u32) -> u64 {\n    100 * 2u64.pow(attempt)\n}\n' \
    >"$work/repository/retry.rs"
(cd "$work/repository" && "$bin" index) >&2

"$server" "$work/repository" >"$work/address" &
pid=$!
until [ -s "$work/address" ]; do
    kill -0 "$pid"
    sleep 0.1
done
url=$(cat "$work/address")

out=${SAI_CONFORMANCE_OUT:-$work/out}
failed=0
for revision in 2025-11-25 2026-07-28; do
    status=0
    conformance server --url "$url" --suite all --spec-version "$revision" \
        --expected-failures "$here/conformance-expected.yml" \
        --output-dir "$out/$revision" >"$work/said" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$work/said" >&2
        failed=1
    fi
    echo "conformance $revision: $(grep -E '^Total:' "$work/said" || echo "exit $status")"
done
exit "$failed"
