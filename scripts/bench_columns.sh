#!/usr/bin/env bash
# Compares the command line, with keys of both schemes, with phe, HEU and TenSEAL, which must be
# installed in the Python of HEARITH_PEERS_PYTHON; writes bench/results/columns.md. Arguments go to
# the program (--rows, --largest).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${HEARITH_PEERS_PYTHON:-}" ]; then
    echo "bench: HEARITH_PEERS_PYTHON must name a Python with phe, sf-heu and tenseal" >&2
    exit 1
fi
cargo build --release --quiet --package hearith
.venv/bin/python bench/python/compare_columns.py "$@"
