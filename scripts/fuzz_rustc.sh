#!/usr/bin/env bash
# The compiler as cargo's RUSTC_WORKSPACE_WRAPPER calls it while scripts/fuzz.sh builds targets over the dependencies of `cargo test`: counts
# coverage in this workspace's crates, and in no other. Usage: scripts/fuzz_rustc.sh RUSTC ARGUMENT...
# Build scripts and the test `seeds` are no fuzzers: what counts calls nothing there (HEARITH_FUZZ_STUBS, see fuzz_stubs.c).
set -euo pipefail
case " $* " in
    # Questions about the compiler.
    *" --crate-name ___ "* | *" -vV "*) exec "$@" ;;
esac
# shellcheck source=scripts/fuzz_flags.sh
source "$(dirname "${BASH_SOURCE[0]}")/fuzz_flags.sh"
case " $* " in
    *" --crate-name build_script_"* | *" --crate-name seeds "*) fuzz_flags+=("-Clink-arg=$HEARITH_FUZZ_STUBS") ;;
esac
exec "$@" "${fuzz_flags[@]}"
