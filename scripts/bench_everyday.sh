#!/usr/bin/env bash
# Runs everyday lines in Hearith and in other libraries, and times single additions; writes
# bench/results/everyday.md and single-additions.md. The other libraries get a separate environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/extension.sh release
. scripts/peers.sh

PYTHONPATH=crates/python/python .venv/bin/python bench/python/everyday.py --library hearith --out "$work/hearith.json"
for library in phe heu tenseal; do
    "$work/bin/python" bench/python/everyday.py --library "$library" --out "$work/$library.json"
done
.venv/bin/python bench/python/everyday.py --table "$work"/{hearith,phe,heu,tenseal}.json
PYTHONPATH=crates/python/python .venv/bin/python bench/python/single_additions.py
