#!/usr/bin/env bash
# Measures the engines of machines without AVX-512 beside GMP and HEU; writes bench/results/everywhere.md. HEU gets an environment of its own.
# Arguments go to the program (--quick, --bits N,N, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=${CARGO_TARGET_DIR:-target}/peers
[ -x "$work/bin/python" ] || .venv/bin/python -m venv "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/peers.txt
export HEARITH_PEERS_PYTHON=${HEARITH_PEERS_PYTHON:-$PWD/$work/bin/python}
cargo build --release --quiet --package hearith-bench --bin everywhere
"${CARGO_TARGET_DIR:-target}/release/everywhere" "$@"
