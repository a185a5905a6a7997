#!/usr/bin/env bash
# Builds the Python package as cheaply as its tests allow (the profile of `cargo test`, in which the arithmetic is optimised), installs it
# into .venv as editable, and runs its tests and the examples in its docstrings. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export VIRTUAL_ENV=$PWD/.venv
target=${CARGO_TARGET_DIR:-$PWD/target}
[ ! -f crates/duckdb/package.py ] || HEARITH_PROFILE=dev .venv/bin/python crates/duckdb/package.py
.venv/bin/maturin develop --quiet --skip-install --manifest-path crates/python/Cargo.toml
# The command line, where `cargo test` has built it: each must read the other's files.
[ ! -x "$target/debug/hearith" ] || export HEARITH_COMMAND=$target/debug/hearith
cd crates/python
# Modules for packages that are not installed (Flower) have no examples to run.
PYTHONPATH=$PWD/python ../../.venv/bin/python -m pytest --doctest-modules --doctest-ignore-import-errors python/hearith tests "$@"
