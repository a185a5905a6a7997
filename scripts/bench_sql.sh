#!/usr/bin/env bash
# Measures he_sum in DuckDB beside the kernel alone, and one node in Spark; writes bench/results/duckdb.md and scaling.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --package hearith-duckdb --example kernel
.venv/bin/python crates/duckdb/package.py
VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --release --skip-install --manifest-path crates/python/Cargo.toml
.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement crates/python/requirements-full.txt
export PYTHONPATH=crates/python/python
.venv/bin/python bench/python/duckdb_sum.py
.venv/bin/python bench/python/spark_scaling.py
