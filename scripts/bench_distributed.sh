#!/usr/bin/env bash
# Times keys without a dealer; writes bench/results/distributed-keygen.md. Arguments go to the program. HEARITH_TNO names an interpreter
# with tno.mpc.protocols.distributed_keygen, which is timed too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --quiet --package hearith
python3 bench/distributed_keygen.py --program "${CARGO_TARGET_DIR:-target}/release/hearith" ${HEARITH_TNO:+--tno "$HEARITH_TNO"} "$@"
