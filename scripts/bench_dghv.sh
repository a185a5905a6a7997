#!/usr/bin/env bash
# Measures encryption over the integers beside a plain program over GMP, in seconds and in units of FLINT's product of 20 million bits by as
# many in the same run; writes bench/results/dghv.md. Arguments go to the program (--quick, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/bench_ntt.sh --build
target=${CARGO_TARGET_DIR:-target}
export HEARITH_NTT_FLINT="$target/bench/ntt_flint"
cargo build --release --quiet --package hearith-bench --bin dghv
"$target/release/dghv" "$@"
