#!/usr/bin/env bash
# Runs the notebooks of the Python package from beginning to end: a minute, so part of `make test-full` only. Installs Jupyter's kernel into .venv.
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement crates/python/requirements-notebooks.txt
HEARITH_TEST_NOTEBOOKS=1 scripts/test_python.sh -k test_notebooks "$@"
