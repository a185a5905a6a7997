#!/usr/bin/env bash
# Compares proofs with zk-paillier's; writes bench/results/zk-paillier.md. Needs the network or
# cached crates, because zk-paillier is built outside the workspace. Arguments go to the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet --package hearith-bench --bin proofs
cargo build --release --quiet --locked --manifest-path bench/zk-paillier/Cargo.toml
.venv/bin/python bench/python/zk_paillier.py "$@"
