#!/bin/sh
# Installs SAI from an archive: fetches or opens it, checks its SHA-256, and runs the set-up script
# that is in it. Options that are not named here go to that script (`--help` lists them).
#
#   sh install.sh --archive FILE-OR-URL [--sha256 HEX] [OPTIONS OF setup.sh]
#
# SAI_URL stands for --archive. Without --sha256, the sum is read from the same place with `.sha256`
# added to its name.
set -eu

die() { printf 'error: %s\n' "$*" >&2; exit 1; }

sha256_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1" | cut -d ' ' -f 1
  else
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  fi
}

# Copies a file or what lies at an address; only encrypted addresses are fetched.
fetch() {
  case "$1" in
    https://*) curl --proto '=https' --proto-redir '=https' -fsSL --connect-timeout 20 -o "$2" "$1" ;;
    *://*) die "$1: only https is fetched" ;;
    *) cp "$1" "$2" ;;
  esac
}

archive="${SAI_URL:-}"
sum=
# What is not for this script is kept in order behind the loop's own arguments.
count=$#
while [ "$count" -gt 0 ]; do
  case "$1" in
    --archive | --sha256)
      [ "$count" -ge 2 ] || die "$1 needs a value"
      if [ "$1" = --archive ]; then archive="$2"; else sum="$2"; fi
      shift 2
      count=$((count - 2))
      ;;
    *)
      set -- "$@" "$1"
      shift
      count=$((count - 1))
      ;;
  esac
done
[ -n "$archive" ] || die "which archive? pass --archive FILE-OR-URL, or set SAI_URL"

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
fetch "$archive" "$dir/sai.tar.gz" || die "cannot get $archive"
if [ -z "$sum" ]; then
  fetch "$archive.sha256" "$dir/sum" || die "no SHA-256 for $archive: pass --sha256 HEX"
  sum="$(cut -d ' ' -f 1 "$dir/sum")"
fi
found="$(sha256_of "$dir/sai.tar.gz")"
[ "$found" = "$sum" ] || die "the archive is not what it should be: SHA-256 $found, wanted $sum"

mkdir "$dir/sai"
tar -xzf "$dir/sai.tar.gz" -C "$dir/sai" --strip-components 1
[ -x "$dir/sai/sai" ] && [ -f "$dir/sai/mcp-setup/setup.sh" ] || die "$archive is no archive of SAI"
bash "$dir/sai/mcp-setup/setup.sh" --prebuilt "$dir/sai/sai" "$@"
