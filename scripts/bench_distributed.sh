#!/usr/bin/env bash
# Times key generation without a dealer; writes bench/results/distributed-keygen.md. Arguments go to
# the program. TNO's package is installed into target/tno for the comparison; HEARITH_TNO names an
# interpreter that has it, or is `none`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tno=${HEARITH_TNO:-}
if [ -z "$tno" ]; then
    work=${CARGO_TARGET_DIR:-target}/tno
    [ -x "$work/bin/python" ] || python3 -m venv "$work"
    "$work/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/tno.txt
    tno=$work/bin/python
fi
[ "$tno" != none ] || tno=
cargo build --release --quiet --package hearith
python3 bench/distributed_keygen.py --program "${CARGO_TARGET_DIR:-target}/release/hearith" ${tno:+--tno "$tno"} "$@"
