#!/usr/bin/env bash
# Runs unit tests in Miri, Rust's interpreter, which finds undefined behaviour. Miri supports no
# vector instructions, so the portable engine is used. It supports no C, so tests that need GMP are
# not compiled. Needs a nightly toolchain with the components miri and rust-src; without them it
# fails with a message.
# Usage: scripts/miri.sh [PACKAGE...]   (hearith-arith, whose tests take seconds in Miri; those of
# hearith-paillier, with its keys, take very long)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=("$@")
[ ${#packages[@]} -gt 0 ] || packages=(hearith-arith)

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "miri: not installed; run:  rustup toolchain install nightly --component miri,rust-src" >&2
    exit 1
fi
# No isolation: keys come from the operating system's random numbers. Tree borrows, and pointers
# made from integers: rayon's queues need both.
export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-permissive-provenance ${MIRIFLAGS:-}"
# Few cases of each random test: a program runs some hundred times slower here.
export PROPTEST_CASES=2 HEARITH_ENGINE=serial RAYON_NUM_THREADS=2
for package in "${packages[@]}"; do
    cargo +nightly miri test --target-dir "${CARGO_TARGET_DIR:-target}/miri" --package "$package" --lib
done
