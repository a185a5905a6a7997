#!/usr/bin/env bash
# Measures the election's server under load; writes bench/results/election-server.md. Arguments go to the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --quiet --package hearith-election-server --example election_load
.venv/bin/python bench/python/election_server.py "$@"
