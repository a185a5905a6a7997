#!/usr/bin/env bash
# Tests the election's pages: the protocol against the crate's vectors, the same page from two builds, and the pages in Chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/web.sh test
scripts/web.sh build
sums=$(cat web/dist/SHA256SUMS)
scripts/web.sh build >/dev/null
if [ "$sums" != "$(cat web/dist/SHA256SUMS)" ]; then
    echo "test: two builds of the pages differ" >&2
    exit 1
fi
(cd web/dist && sha256sum --check --quiet SHA256SUMS)
scripts/web.sh test:browser
