#!/usr/bin/env bash
# Compares the engines for machines without AVX-512 with GMP and HEU; writes
# bench/results/everywhere.md. HEU gets a separate environment. Arguments go to the program
# (--quick, --bits N,N, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. scripts/peers.sh
cargo build --release --quiet --package hearith-bench --bin everywhere
"${CARGO_TARGET_DIR:-target}/release/everywhere" "$@"
