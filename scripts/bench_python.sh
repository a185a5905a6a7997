#!/usr/bin/env bash
# Measures arrays in Python beside python-paillier; writes bench/results/python.md. Arguments go to bench/python/compare_phe.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/extension.sh release
PYTHONPATH=crates/python/python .venv/bin/python bench/python/compare_phe.py "$@"
