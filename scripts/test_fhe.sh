#!/usr/bin/env bash
# The lattice scheme beside the crate fhe: each decrypts what the other encrypted and added up. It is built outside of the workspace, in a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo test --release --quiet --locked --manifest-path bench/fhe/Cargo.toml
