#!/usr/bin/env bash
# Compares encryption over the integers with a plain program over GMP, in seconds and in units of
# FLINT's product of two 20-million-bit numbers in the same run; writes bench/results/dghv.md.
# Arguments go to the program (--quick, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/bench_ntt.sh --build
target=${CARGO_TARGET_DIR:-target}
export HEARITH_NTT_FLINT="$target/bench/ntt_flint"
cargo build --release --quiet --package hearith-bench --bin dghv
"$target/release/dghv" "$@"
