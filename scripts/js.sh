#!/usr/bin/env bash
# Runs one of the scripts of packages/js/package.json: build, lint, test, test:peers, bench.
# Usage: scripts/js.sh SCRIPT
# The JavaScript package has no dependencies; its tools are those of the election's pages, in
# web/node_modules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/web.sh install
PATH=$PWD/.venv/bin:$PATH
cd packages/js
ln -sfn ../../web/node_modules node_modules
npm run --silent "$1"
