#!/usr/bin/env bash
# Fuzzes parsers with libFuzzer, guided by coverage. Usage: scripts/fuzz.sh SECONDS [TARGET...]
#
# FUZZ_SCOPE=all (the default) instruments every crate, including dependencies, and compiles them
# for that. Targets that need no tables are built without Arrow and Parquet. FUZZ_SCOPE=own
# instruments only this workspace's crates and links the dependencies that `cargo test` has
# compiled. That is cheap after a test run with the packages and features of HEARITH_SELECTION (see
# scripts/test.sh). FUZZ_SEED makes the choice of inputs the same in every run. New inputs are kept
# in fuzz/corpus; a failing one goes to fuzz/artifacts.
#
# Works with the stable toolchain and without cargo-fuzz. With a nightly toolchain and cargo-fuzz,
# `cargo +nightly fuzz run TARGET fuzz/corpus/TARGET fuzz/seeds/TARGET` adds the address sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/fuzz_flags.sh
source scripts/fuzz_flags.sh

export seconds=$1
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# features: prints the features of hearith-fuzz that the chosen targets need, by what they use.
features() {
    local files=("${targets[@]/#/fuzz/fuzz_targets/}")
    files=("${files[@]/%/.rs}")
    ! grep -qsE "hearith_(columns|cli)" "${files[@]}" || echo tables
    ! grep -qs "hearith_cli" "${files[@]}" || echo commands
    ! grep -qs "rug::" "${files[@]}" || echo oracles
    ! grep -qs "hearith_service" "${files[@]}" || echo services
}

export CARGO_INCREMENTAL=0
# Without the hardware models, which parse nothing: otherwise they would be recompiled.
export VERILATOR=none
target_directory=${CARGO_TARGET_DIR:-$PWD/target}
case ${FUZZ_SCOPE:-all} in
    own)
        mkdir -p "$target_directory"
        export HEARITH_FUZZ_STUBS=$target_directory/fuzz_stubs.o
        cc -c -o "$HEARITH_FUZZ_STUBS" scripts/fuzz_stubs.c
        # Runs the seeds first, each once.
        # shellcheck disable=SC2086  # several arguments
        RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/fuzz_rustc.sh \
            cargo test --quiet ${HEARITH_SELECTION:---package hearith-fuzz} --test seeds
        export binaries=$target_directory/debug
        ;;
    all)
        host=$(rustc -vV | sed -n 's/^host: //p')
        # An explicit target keeps the flags away from build scripts.
        RUSTFLAGS="${fuzz_flags[*]}" cargo build --quiet --profile fuzz --target "$host" --target-dir "$target_directory/fuzz" \
            --package hearith-fuzz --no-default-features --features "$(features | paste -sd,)" "${targets[@]/#/--bin=}"
        export binaries=$target_directory/fuzz/$host/fuzz
        ;;
    *)
        echo "fuzz: FUZZ_SCOPE must be all or own" >&2
        exit 2
        ;;
esac

# fuzz TARGET: fuzzes one target, and prints a one-line summary.
fuzz() {
    local target=$1 length=4096 runs covered
    local corpus=corpus/$target seeds=seeds/$target artifacts=artifacts/$target
    mkdir -p "$corpus" "$seeds" "$artifacts"
    local log=$artifacts/log
    # Long keys take long to check and reveal nothing that short ones do not.
    case $target in
        private_key | public_key) length=700 ;;
        parquet_table) length=16384 ;;
        chunk) length=53248 ;; # a ciphertext by the public key
    esac
    if ! "$binaries/$target" "$corpus" "$seeds" -max_total_time="$seconds" -max_len="$length" \
        -seed="${FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: $target FAILED; the input is in fuzz/$artifacts" >&2
        return 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    # A target without counters is unguided.
    if [ "${covered:-0}" -eq 0 ]; then
        echo "fuzz: $target does not count coverage" >&2
        return 1
    fi
    printf 'fuzz: %-15s %9s runs, %6s edges covered, nothing found\n' "$target" "$runs" "$covered"
}
export -f fuzz

cd fuzz
# One target per core.
printf '%s\n' "${targets[@]}" | xargs --max-procs="$(nproc)" --max-args=1 bash -c 'set -euo pipefail; fuzz "$1"' fuzz
