#!/usr/bin/env bash
# Measures the election's pages in Chromium, and writes bench/results/web.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/web.sh bench
