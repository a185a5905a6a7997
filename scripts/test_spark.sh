#!/usr/bin/env bash
# Runs the tests on a Spark cluster of several executors on this machine, one of which is killed.
# This takes minutes, so it is part of `make test-full` only. Needs Java 17 or later, which it
# installs as root on Debian, and installs pyspark into .venv. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v java >/dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "test_spark: Java is missing; run:  sudo apt-get install --no-install-recommends openjdk-17-jre-headless" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement crates/python/requirements-full.txt
HEARITH_TEST_SPARK=1 scripts/test_python.sh -k test_spark "$@"
