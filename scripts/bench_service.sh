#!/usr/bin/env bash
# Compares the service under load with the command line alone; writes bench/results/service.md.
# Arguments go to the program (--memory --seconds 3600 only watches its memory for an hour).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --quiet --package hearith --package hearith-service --bin hearith --example service_load \
    --example service_fairness
.venv/bin/python bench/python/service_load.py "$@"
