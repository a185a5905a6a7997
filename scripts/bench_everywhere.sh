#!/usr/bin/env bash
# Measures the engines of machines without AVX-512 beside GMP and HEU; writes bench/results/everywhere.md. HEU gets an environment of its own.
# Arguments go to the program (--quick, --bits N,N, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. scripts/peers.sh
cargo build --release --quiet --package hearith-bench --bin everywhere
"${CARGO_TARGET_DIR:-target}/release/everywhere" "$@"
