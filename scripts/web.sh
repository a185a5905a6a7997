#!/usr/bin/env bash
# Runs one of the scripts of web/package.json: build, lint, test, test:browser, bench.
# Usage: scripts/web.sh SCRIPT
# Uses Node from .venv, or else the machine's own; installs missing packages according to
# package-lock.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../web"
PATH=$PWD/../.venv/bin:$PATH

if ! cmp -s package-lock.json node_modules/installed-lock.json; then
    echo "web: packages of package-lock.json, verified by their hashes"
    # Not `npm ci`: it rejects a lock without the tools' binaries for other systems, which npm omits
    # from the lock here. The folder itself stays: in a development container it is a volume.
    [ ! -d node_modules ] || find node_modules -mindepth 1 -delete
    npm install --no-save --silent
    cp package-lock.json node_modules/installed-lock.json
fi
[ "$1" = install ] || npm run --silent "$1"
