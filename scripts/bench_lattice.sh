#!/usr/bin/env bash
# Measures the lattice scheme beside TenSEAL, which the Python in HEARITH_TENSEAL_PYTHON has, and the crate fhe, which is built outside of the workspace
# and reads our ciphertexts first, as ours does its; writes bench/results/bfv.md. Arguments go to the program (--rounds, --rows).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${HEARITH_TENSEAL_PYTHON:-}" ]; then
    echo "bench: HEARITH_TENSEAL_PYTHON must be a Python that has tenseal" >&2
    exit 1
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet --package hearith-bfv --example rates
scripts/test_fhe.sh
cargo build --release --quiet --locked --manifest-path bench/fhe/Cargo.toml
python3 bench/python/compare_lattice.py "$@"
