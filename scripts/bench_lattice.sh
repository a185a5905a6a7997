#!/usr/bin/env bash
# Measures the lattice scheme beside TenSEAL, which the Python in HEARITH_TENSEAL_PYTHON has; writes bench/results/bfv.md. Arguments
# go to the program (--rounds, --rows).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${HEARITH_TENSEAL_PYTHON:-}" ]; then
    echo "bench: HEARITH_TENSEAL_PYTHON must be a Python that has tenseal" >&2
    exit 1
fi
cargo build --release --quiet --package hearith-bfv --example rates
python3 bench/python/compare_tenseal.py "$@"
