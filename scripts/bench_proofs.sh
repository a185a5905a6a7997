#!/usr/bin/env bash
# Compares proofs with a plain program over gmpy2; writes bench/results/proofs.md. Arguments go to
# the program (--quick, --bits N, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --quiet --package hearith-bench --bin proofs
"${CARGO_TARGET_DIR:-target}/release/proofs" "$@"
