#!/usr/bin/env bash
# Compares subgroup keys with DJN keys and HEU's Okamoto-Uchiyama; writes bench/results/variants.md.
# HEU gets a separate environment. Arguments go to the program (--quick, --bits N,N, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. scripts/peers.sh
cargo build --release --quiet --package hearith-bench --bin variants
"${CARGO_TARGET_DIR:-target}/release/variants" "$@"
