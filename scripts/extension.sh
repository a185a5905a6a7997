#!/usr/bin/env bash
# Builds the Rust halves of the Python package (the module `hearith._native` and the DuckDB extension) and the command line, all in one build,
# and puts the first two beside the package's sources, where Python finds them. Usage: scripts/extension.sh [PROFILE]   (dev)
# HEARITH_SELECTION (see scripts/test.sh) makes it link what `cargo test` has compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=${1:-dev}
selection=${HEARITH_SELECTION:---package hearith --package hearith-python --package hearith-duckdb}
built=${CARGO_TARGET_DIR:-$PWD/target}/${profile/#dev/debug}

# The example says nothing here: with it among the targets, cargo turns on the features that tests turn on in dependencies, as for them.
targets=(--lib --bin hearith --example kernel)
# The tests are there already. Without them, cargo compiles what only build scripts use then, and all that depends on it, once more.
[ -z "${HEARITH_SELECTION:-}" ] || targets+=(--tests)
# shellcheck disable=SC2086  # several arguments
cargo build --quiet --profile "$profile" $selection "${targets[@]}"

case $(uname) in
    Darwin) suffix=dylib ;;
    *) suffix=so ;;
esac
# In one step, so that a process that has the old one loaded keeps it.
module=crates/python/python/hearith/_native.abi3.so
cp "$built/lib_native.$suffix" "$module.tmp"
mv "$module.tmp" "$module"
.venv/bin/python crates/duckdb/package.py --library "$built/libhearith_duckdb.$suffix" >/dev/null
