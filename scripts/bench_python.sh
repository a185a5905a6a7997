#!/usr/bin/env bash
# Compares arrays and single-value operations in Python with python-paillier, and measures memory;
# writes bench/results/python.md, phe.md and memory.md. HEARITH_PHE_EXAMPLES may name the folder of
# python-paillier's example programs. Arguments go to bench/python/compare_phe.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/extension.sh release
PYTHONPATH=crates/python/python .venv/bin/python bench/python/compare_phe.py "$@"
PYTHONPATH=crates/python/python .venv/bin/python bench/python/phe_numbers.py ${HEARITH_PHE_EXAMPLES:+--examples "$HEARITH_PHE_EXAMPLES"}
PYTHONPATH=crates/python/python .venv/bin/python bench/python/memory.py
