#!/usr/bin/env bash
# Tests the JavaScript package, against the crate's vectors, the command line and in Chromium, and the election's pages: the protocol against
# the crate's vectors, the same page from two builds, and the pages in Chromium, over the election's server (HEARITH_COMMAND names a command line that is built already).
# HEARITH_SELECTION (see scripts/test.sh) makes it link what `cargo test` has compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/js.sh test
scripts/web.sh test
scripts/web.sh build
sums=$(cat web/dist/SHA256SUMS)
scripts/web.sh build >/dev/null
if [ "$sums" != "$(cat web/dist/SHA256SUMS)" ]; then
    echo "test: two builds of the pages differ" >&2
    exit 1
fi
(cd web/dist && sha256sum --check --quiet SHA256SUMS)

if [ -z "${HEARITH_COMMAND:-}" ]; then
    targets=(--bin hearith)
    # As scripts/extension.sh builds it, so that nothing is compiled twice.
    [ -z "${HEARITH_SELECTION:-}" ] || targets=(--lib --bin hearith --example kernel --tests)
    # shellcheck disable=SC2086  # several arguments
    cargo build --quiet ${HEARITH_SELECTION:---package hearith} "${targets[@]}"
    export HEARITH_COMMAND=${CARGO_TARGET_DIR:-$PWD/target}/debug/hearith
fi
scripts/js.sh test:peers
scripts/web.sh test:browser
