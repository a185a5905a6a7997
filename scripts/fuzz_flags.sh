# rustc's flags for libFuzzer: those of `cargo fuzz --sanitizer none`. Sourced by fuzz.sh and
# fuzz_rustc.sh.
# shellcheck shell=bash disable=SC2034
fuzz_flags=(
    --cfg fuzzing
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    # The counters require it.
    -Ccodegen-units=1
)
