#!/usr/bin/env bash
# Builds the Python package quickly (the profile of `cargo test`, in which the arithmetic is
# optimised), and runs its tests and the examples in its docstrings. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/extension.sh
# The command line and the package must read each other's files.
export HEARITH_COMMAND=${CARGO_TARGET_DIR:-$PWD/target}/debug/hearith

# The second verifier of elections, which must agree with the first one.
.venv/bin/python -m pytest -r s verifier/tests

# The tutorials and guides with Python programs.
PYTHONPATH=$PWD/crates/python/python .venv/bin/python scripts/run_tutorials.py --python "$(dirname "$HEARITH_COMMAND")"

cd crates/python
# Modules for packages that are not installed (Flower) have no examples to run. Each file stays in
# one process, because its tests share fixtures.
PYTHONPATH=$PWD/python ../../.venv/bin/python -m pytest -r s --numprocesses auto --dist loadfile --doctest-modules --doctest-ignore-import-errors python/hearith tests "$@"
