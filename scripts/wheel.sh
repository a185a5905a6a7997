#!/usr/bin/env bash
# Builds the wheel in dist/ with the list of its dependencies, and tries it in a fresh virtual
# environment. On Linux it runs with glibc 2.28 and later, whatever this machine has: zig's linker
# knows the symbols of each release.
# Arguments go to maturin (`--profile dev` is quick after `cargo test`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

glibc=2.28
options=()
if [ "$(uname)" = Linux ]; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement crates/python/requirements-wheel.txt
    options=(--zig --compatibility "manylinux_${glibc/./_}")
    export HEARITH_GLIBC=$glibc PATH=$PWD/.venv/bin:$PATH
fi
[ ! -f crates/duckdb/package.py ] || .venv/bin/python crates/duckdb/package.py
rm -f dist/hearith-*.whl
.venv/bin/maturin build --manifest-path crates/python/Cargo.toml --out dist "${options[@]}" "$@"

wheel=$(ls "$PWD"/dist/hearith-*.whl)
# maturin has checked the release of every linked symbol; pip relies on the name.
if [ "$(uname)" = Linux ] && [[ $wheel != *-"manylinux_${glibc/./_}_$(uname -m)".whl ]]; then
    echo "wheel: $(basename "$wheel") is not a wheel for glibc $glibc" >&2
    exit 1
fi
scripts/sbom.py --wheel "$wheel"
scripts/try_package.sh "$wheel"
ls -l "$wheel"
