#!/usr/bin/env bash
# Tests the JavaScript package and the election's pages. The package is tested against the crate's
# vectors, against the command line and in Chromium. The pages' protocol is tested against the
# crate's vectors. Two builds must give the same page, and the pages run in Chromium over the
# election's server (HEARITH_COMMAND names an existing command line).
# With HEARITH_SELECTION (see scripts/test.sh) it links the artefacts of `cargo test`.
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
    # Same targets as scripts/extension.sh, so that nothing is compiled twice.
    [ -z "${HEARITH_SELECTION:-}" ] || targets=(--lib --bin hearith --example kernel --tests)
    # shellcheck disable=SC2086  # several arguments
    cargo build --quiet ${HEARITH_SELECTION:---package hearith} "${targets[@]}"
    export HEARITH_COMMAND=${CARGO_TARGET_DIR:-$PWD/target}/debug/hearith
fi
scripts/js.sh test:peers
scripts/web.sh test:browser
