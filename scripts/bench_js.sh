#!/usr/bin/env bash
# Measures the JavaScript package beside paillier-bigint, and writes bench/results/js.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/.venv/bin:$PATH
# As its lock says, by hash; nothing else uses it.
npm install --prefix packages/js/bench --no-save --silent
scripts/js.sh bench
