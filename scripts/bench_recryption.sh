#!/usr/bin/env bash
# Measures recryption over the integers and circuits on it; writes bench/results/recryption.md.
# Arguments go to the program (--quick, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --release --quiet --package hearith-bench --bin recryption
"${CARGO_TARGET_DIR:-target}/release/recryption" "$@"
