#!/usr/bin/env bash
# Writes each requirements*.txt from the requirements*.in next to it: every package that pip
# installs, with version and hashes. Needs uv (https://docs.astral.sh/uv/). Arguments go to `uv pip
# compile`: `--upgrade` uses the newest versions that the .in files allow.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# lock NAME [CONSTRAINT...]: locks NAME.in, constrained by files installed in the same environment.
lock() {
    local name=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
        --custom-compile-command scripts/lock_requirements.sh "${@/#/--constraint=}" "${upgrade[@]}" "$name.in" --output-file "$name.txt"
}

upgrade=("$@")
lock bench/requirements
lock crates/python/requirements bench/requirements.txt
lock scripts/requirements bench/requirements.txt crates/python/requirements.txt
lock rtl/cocotb/requirements bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt
lock crates/python/requirements-full bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt
lock crates/python/requirements-notebooks bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt
lock crates/python/requirements-wheel bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt
lock synth/requirements bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt
# In an environment of its own.
lock bench/peers
lock bench/tno
lock docs/site/requirements
lock crates/python/requirements-flower
lock crates/postgres/requirements
