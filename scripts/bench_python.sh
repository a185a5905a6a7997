#!/usr/bin/env bash
# Measures arrays in Python beside python-paillier, single numbers beside its own (HEARITH_PHE_EXAMPLES may name the folder of its example
# programs), and memory; writes bench/results/python.md, phe.md and memory.md. Arguments go to bench/python/compare_phe.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/extension.sh release
PYTHONPATH=crates/python/python .venv/bin/python bench/python/compare_phe.py "$@"
PYTHONPATH=crates/python/python .venv/bin/python bench/python/phe_numbers.py ${HEARITH_PHE_EXAMPLES:+--examples "$HEARITH_PHE_EXAMPLES"}
PYTHONPATH=crates/python/python .venv/bin/python bench/python/memory.py
