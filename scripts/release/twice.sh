#!/usr/bin/env bash
# Builds parts of a release a second time, from a clone in another folder into other folders, and
# compares each file with the one in dist/release. Usage: twice.sh [PART...] (by default all that
# this machine can build). HEARITH_RELEASE_TWICE names the folder; by default it is a new one, which
# is removed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
first=${HEARITH_RELEASE_OUT:-$root/dist/release}
if [ -n "${HEARITH_RELEASE_TWICE:-}" ]; then
    mkdir -p "$HEARITH_RELEASE_TWICE"
    folder=$(cd "$HEARITH_RELEASE_TWICE" && pwd)
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi

[ -d "$folder/another-clone" ] || git clone --quiet "$root" "$folder/another-clone"
git -C "$folder/another-clone" checkout --quiet --detach "$(git -C "$root" rev-parse HEAD)"
# Its own tools: zig names their folder in debug information.
"$folder/another-clone/scripts/setup.sh" release
options=() names=()
[ $# -eq 0 ] || options=(--only "$@")
mkdir -p "$folder/second"
CARGO_TARGET_DIR=$folder/objects HEARITH_RELEASE_OUT=$folder/second "$folder/another-clone/scripts/release.sh" "${options[@]}"
# With chosen parts, other files of the first build have no counterpart.
[ $# -eq 0 ] || mapfile -t names < <("$root/scripts/release.sh" --files "$@")
"$root/scripts/release/compare.py" "$first" "$folder/second" "${names[@]/#/--only=}" | tee "${CARGO_TARGET_DIR:-$root/target}/release-work/twice.txt"
