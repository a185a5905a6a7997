#!/usr/bin/env bash
# The compiler that cargo calls as RUSTC_WORKSPACE_WRAPPER while scripts/fuzz.sh builds targets over
# the dependencies of `cargo test`: instruments only this workspace's crates.
# Usage: scripts/fuzz_rustc.sh RUSTC ARGUMENT...
# Build scripts and the test `seeds` are not fuzzers: there, stubs replace the coverage callbacks
# (HEARITH_FUZZ_STUBS, see fuzz_stubs.c).
set -euo pipefail
case " $* " in
    # Queries of the compiler.
    *" --crate-name ___ "* | *" -vV "*) exec "$@" ;;
esac
# shellcheck source=scripts/fuzz_flags.sh
source "$(dirname "${BASH_SOURCE[0]}")/fuzz_flags.sh"
case " $* " in
    *" --crate-name build_script_"* | *" --crate-name seeds "*) fuzz_flags+=("-Clink-arg=$HEARITH_FUZZ_STUBS") ;;
esac
exec "$@" "${fuzz_flags[@]}"
