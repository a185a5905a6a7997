#!/usr/bin/env bash
# Takes the documentation's pictures of the election's pages (docs/how-to/election-pages): desk and
# phone, small PNGs, while the pages' tests hold an election in Chromium. Review them before
# committing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export HEARITH_PICTURES=$PWD/docs/how-to/election-pages
mkdir -p "$HEARITH_PICTURES"
rm -f "$HEARITH_PICTURES"/*.png
HEARITH_REQUIRE=${HEARITH_REQUIRE:-chromium} scripts/web.sh test:browser
ls -l "$HEARITH_PICTURES"
