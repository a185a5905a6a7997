#!/usr/bin/env bash
# Runs the notebooks of the Python package from beginning to end. This takes minutes, so it is part
# of `make test-full` only. Installs Jupyter's kernel and Spark into .venv; needs Java, which
# scripts/test_spark.sh installs. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v java >/dev/null || { echo "test_notebooks: Java, which the Spark notebook needs, is missing: scripts/test_spark.sh installs it" >&2; exit 1; }
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement crates/python/requirements-notebooks.txt --requirement crates/python/requirements-full.txt
HEARITH_TEST_NOTEBOOKS=1 scripts/test_python.sh -k test_notebooks "$@"
