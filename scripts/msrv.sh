#!/usr/bin/env bash
# Compiles every crate with the oldest supported Rust: the `rust-version` of the workspace. Cargo
# itself rejects an older one, so the number cannot be too low or too high.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
# version COMMAND...: prints the major and minor version of a command's compiler.
version() {
    "$@" --version | sed -E 's/^rustc ([0-9]+\.[0-9]+).*/\1/'
}

if [ "$(version rustc)" = "$oldest" ]; then
    echo "msrv: the compiler in use is Rust $oldest, the oldest supported version, so all builds check it"
    exit
fi
if ! command -v rustup >/dev/null || ! toolchain=$(rustup toolchain list | grep -oE "^$oldest(\.[0-9]+)?-\S+" | head -n 1); then
    echo "msrv: Rust $oldest, the oldest supported version, is not installed; run:  rustup toolchain install --profile minimal $oldest" >&2
    exit 1
fi
cargo "+$toolchain" check --quiet --workspace --all-features --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
echo "msrv: all crates compile with Rust $oldest"
