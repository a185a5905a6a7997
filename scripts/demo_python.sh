#!/usr/bin/env bash
# Builds what the demo in Python needs (command line, DuckDB extension, Python package), and runs it. BITS (3072) chooses the key size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --package hearith
.venv/bin/python crates/duckdb/package.py
VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --release --skip-install --manifest-path crates/python/Cargo.toml
HEARITH_COMMAND=$target/release/hearith PYTHONPATH=crates/python/python .venv/bin/python scripts/demo.py
