#!/usr/bin/env bash
# Fuzzes every parser with libFuzzer, guided by coverage. Usage: scripts/fuzz.sh SECONDS [TARGET...]
#
# Works with the stable toolchain and without cargo-fuzz: the flags below are what `cargo fuzz --sanitizer none` passes.
# With a nightly toolchain and cargo-fuzz, `cargo +nightly fuzz run TARGET fuzz/corpus/TARGET fuzz/seeds/TARGET` adds the
# address sanitizer. FUZZ_SEED makes the choice of inputs the same in every run. Inputs that were found stay in fuzz/corpus; one that fails goes to fuzz/artifacts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../fuzz"

seconds=$1
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

flags=(
    --cfg fuzzing
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Ccodegen-units=1
)
host=$(rustc -vV | sed -n 's/^host: //p')
# Naming the target keeps the flags away from build scripts.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}/fuzz"
# Without the simulated hardware, which parses nothing: its models would be compiled once more.
VERILATOR=none RUSTFLAGS="${flags[*]}" cargo build --quiet --release --target "$host" --bins

for target in "${targets[@]}"; do
    corpus=corpus/$target
    seeds=seeds/$target
    artifacts=artifacts/$target
    mkdir -p "$corpus" "$seeds" "$artifacts"
    log=$artifacts/log
    # Long keys take long to check and teach nothing that short ones do not.
    length=4096
    case $target in
        private_key | public_key) length=700 ;;
        parquet_table) length=16384 ;;
    esac
    if ! "$CARGO_TARGET_DIR/$host/release/$target" "$corpus" "$seeds" -max_total_time="$seconds" -max_len="$length" \
        -seed="${FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: $target FAILED; the input is in fuzz/$artifacts" >&2
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf 'fuzz: %-14s %9s runs, %6s edges covered, nothing found\n' "$target" "$runs" "$covered"
done
