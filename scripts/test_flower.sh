#!/usr/bin/env bash
# Runs the tests with Flower, in a separate environment: part of `make test-full` only. Arguments go
# to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

environment=.venv/flower
if ! cmp -s crates/python/requirements-flower.txt "$environment/requirements.txt"; then
    "${PYTHON:-python3}" -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement=crates/python/requirements-flower.txt
    cp crates/python/requirements-flower.txt "$environment/requirements.txt"
fi
scripts/extension.sh
# Flower's imports emit deprecation warnings about its dependencies.
PYTHONPATH=$PWD/crates/python/python HEARITH_REQUIRE=${HEARITH_REQUIRE:+$HEARITH_REQUIRE,}flower \
    "$environment/bin/python" -m pytest -W default::DeprecationWarning --rootdir crates/python --config-file crates/python/pyproject.toml crates/python/tests/test_flower.py "$@"
