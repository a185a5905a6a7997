#!/usr/bin/env bash
# Compares residue conversion with NTL and FLINT, for which it builds the peer program; writes
# bench/results/rns-software.md.
# Arguments go to the program (--quick, --out FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! [ -e /usr/include/NTL/ZZ.h ] || ! [ -e /usr/include/flint/fmpz.h ]; then
    command="apt-get install --no-install-recommends libntl-dev libflint-dev"
    if [ "$(id -u)" -ne 0 ]; then
        echo "bench: missing packages; run:  sudo $command" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $command -y -qq >/dev/null
fi

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/bench"
export HEARITH_RNS_LIBRARIES="$target/bench/rns_libraries"
c++ -O3 -march=native -std=c++17 -o "$HEARITH_RNS_LIBRARIES" bench/rns/libraries.cpp -lntl -lflint -lgmp -lpthread
cargo build --release --quiet --package hearith-bench --bin rns
"$target/release/rns" "$@"
