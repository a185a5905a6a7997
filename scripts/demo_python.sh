#!/usr/bin/env bash
# Builds the dependencies of the demo in Python (command line, DuckDB extension, Python package),
# and runs it. BITS (3072) chooses the key size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
scripts/extension.sh release
HEARITH_COMMAND=$target/release/hearith PYTHONPATH=crates/python/python .venv/bin/python scripts/demo.py
