#!/usr/bin/env bash
# Builds the Rust halves of the Python package (the module `hearith._native` and the DuckDB
# extension) and the command line in one build, and installs the first two next to the package's
# sources, where Python finds them. Usage: scripts/extension.sh [PROFILE]   (dev)
# With HEARITH_SELECTION (see scripts/test.sh) it links the artefacts of `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=${1:-dev}
selection=${HEARITH_SELECTION:---package hearith --package hearith-python --package hearith-duckdb}
built=${CARGO_TARGET_DIR:-$PWD/target}/${profile/#dev/debug}

# The example is not used here: as a target it makes cargo enable the features that tests enable in
# dependencies, like `cargo test`.
targets=(--lib --bin hearith --example kernel)
# The tests are built already. Without them, cargo would recompile everything that only build
# scripts would then use, and all its dependents.
[ -z "${HEARITH_SELECTION:-}" ] || targets+=(--tests)
# shellcheck disable=SC2086  # several arguments
cargo build --quiet --profile "$profile" $selection "${targets[@]}"

case $(uname) in
    Darwin) suffix=dylib ;;
    *) suffix=so ;;
esac
# Atomically, so that a process that has loaded the old file keeps it.
module=crates/python/python/hearith/_native.abi3.so
cp "$built/lib_native.$suffix" "$module.tmp"
mv "$module.tmp" "$module"
.venv/bin/python crates/duckdb/package.py --library "$built/libhearith_duckdb.$suffix" >/dev/null
