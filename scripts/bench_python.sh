#!/usr/bin/env bash
# Measures arrays in Python beside python-paillier; writes bench/results/python.md. Arguments go to bench/python/compare_phe.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --release --skip-install --manifest-path crates/python/Cargo.toml
PYTHONPATH=crates/python/python .venv/bin/python bench/python/compare_phe.py "$@"
