#!/usr/bin/env bash
# Tests the lattice scheme against the crate fhe: each decrypts what the other encrypted and added.
# fhe is built outside the workspace, in a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo test --release --quiet --locked --manifest-path bench/fhe/Cargo.toml
