#!/usr/bin/env bash
# Compares the JavaScript package with paillier-bigint, and writes bench/results/js.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/.venv/bin:$PATH
# Pinned by hash in its lock file; nothing else uses it.
npm install --prefix packages/js/bench --no-save --silent
scripts/js.sh bench
