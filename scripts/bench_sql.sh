#!/usr/bin/env bash
# Compares he_sum in DuckDB with the kernel alone, and measures one node in Spark; writes
# bench/results/duckdb.md and scaling.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Also builds the example `kernel`, which bench/python/duckdb_sum.py runs.
scripts/extension.sh release
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement crates/python/requirements-full.txt
export PYTHONPATH=crates/python/python
.venv/bin/python bench/python/duckdb_sum.py
.venv/bin/python bench/python/spark_scaling.py
