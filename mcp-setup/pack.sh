#!/usr/bin/env bash
# Packs a built program into an archive for install.sh, with its SHA-256 beside it.
#
#   pack.sh PROGRAM ARCHIVE.tar.gz
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: pack.sh PROGRAM ARCHIVE.tar.gz" >&2; exit 2; }
program="$1"
archive="$2"
checkout="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/sai/mcp-setup"
cp "$program" "$dir/sai/sai"
chmod 755 "$dir/sai/sai"
cp "$checkout"/LICENSE-* "$checkout/README.md" "$dir/sai/"
cp "$checkout"/mcp-setup/setup.sh "$checkout"/mcp-setup/install.sh "$dir/sai/mcp-setup/"
tar -czf "$archive" -C "$dir" sai
if command -v sha256sum >/dev/null 2>&1; then sum=sha256sum; else sum="shasum -a 256"; fi
$sum <"$archive" | cut -d ' ' -f 1 >"$archive.sha256"
