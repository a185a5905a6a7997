#!/usr/bin/env bash
# Compares sums in Debian's PostgreSQL with the kernel alone, GMP and plaintext numbers; writes
# bench/results/postgres.md. Arguments go to the program (--rows 100000 --reason "..." measures
# fewer rows, --out FILE writes another file).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

read -r installation _ <<<"$(scripts/postgres.sh installations)"
cargo build --release --quiet --package hearith-duckdb --example kernel
headers=$("${installation%%:*}/bin/pg_config" --includedir-server)
cc -O2 -shared -fPIC -I"$headers" -o "$target/postgres/gmp_sum.so" bench/postgres/gmp_sum.c -lgmp
HEARITH_POSTGRES=$installation "$target/postgres/venv/bin/python" bench/python/postgres_sum.py \
    --library "$target/postgres/gmp_sum.so" "$@"
