#!/usr/bin/env bash
# Compares the lattice scheme with TenSEAL, which must be installed in the Python of
# HEARITH_TENSEAL_PYTHON, and with the crate fhe, which is built outside the workspace. Before
# measuring, fhe and ours read each other's ciphertexts. Writes bench/results/bfv.md. Arguments go
# to the program (--rounds, --rows).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${HEARITH_TENSEAL_PYTHON:-}" ]; then
    echo "bench: HEARITH_TENSEAL_PYTHON must name a Python with tenseal" >&2
    exit 1
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet --package hearith-bfv --example rates
scripts/test_fhe.sh
cargo build --release --quiet --locked --manifest-path bench/fhe/Cargo.toml
python3 bench/python/compare_lattice.py "$@"
