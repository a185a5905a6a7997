#!/usr/bin/env bash
# Runs tests by parts, and says at the end how long each took. Usage: scripts/test.sh [PART...]
#   (none)     everything: rust, python, fuzz
#   rust       every crate, the hardware and the examples in the documentation; each benchmark once, unmeasured
#   python     the Python package and the DuckDB extension, python-paillier's own suite among them
#   fuzz       each fuzz target over its seeds, then for FUZZ_SECONDS (5)
#   a system   what stands on its crate alone: see `systems` below
# INCLUDE_IGNORED=1 runs the long tests of Rust too. HEARITH_REQUIRE lists what must not be missing: see crates/testing.
#
# Everything is built from one selection of packages and features, so that nothing is compiled twice: the Python module, the DuckDB extension and
# the fuzz targets link what the tests of Rust have compiled. A part that is run alone selects the packages that it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The packages of each system, and the tests of its hardware in `rtl`.
declare -A systems=(
    [arith]="hearith-arith" [paillier]="hearith-paillier" [columns]="hearith-columns" [cli]="hearith" [duckdb]="hearith-duckdb"
    [device]="hearith-device hearith-verilated"
)
declare -A hardware=()

if [ "${1:-}" = --list ]; then
    printf '%s\n' rust python fuzz "${!systems[@]}" "${!hardware[@]}" | sort -u
    exit
fi

parts=("$@")
if [ ${#parts[@]} -eq 0 ]; then
    parts=(rust python fuzz)
    export HEARITH_SELECTION="--workspace --all-features"
fi
after=()
[ -z "${INCLUDE_IGNORED:-}" ] || after=(-- --include-ignored)

rust() {
    local selection=${HEARITH_SELECTION:---workspace --all-features}
    # shellcheck disable=SC2086  # several arguments
    cargo test $selection "${after[@]}"
    # shellcheck disable=SC2086
    cargo test --quiet $selection --bench '*'
}

python() {
    scripts/test_python.sh
}

fuzz() {
    FUZZ_SCOPE=own FUZZ_SEED=${FUZZ_SEED-1} scripts/fuzz.sh "${FUZZ_SECONDS:-5}"
}

# system NAME: the crates, then the hardware.
system() {
    if [ -n "${systems[$1]:-}" ]; then
        # shellcheck disable=SC2046,SC2086
        cargo test --all-features $(printf -- '--package %s ' ${systems[$1]}) "${after[@]}"
    fi
    if [ -n "${hardware[$1]:-}" ]; then
        # shellcheck disable=SC2046,SC2086
        cargo test --package hearith-rtl $(printf -- '--test %s ' ${hardware[$1]}) "${after[@]}"
    fi
}

times=()
for part in "${parts[@]}"; do
    SECONDS=0
    if [[ $part =~ ^(rust|python|fuzz)$ ]]; then
        "$part"
    elif [ -n "${systems[$part]:-}${hardware[$part]:-}" ]; then
        system "$part"
    else
        echo "test: there is no part $part; there are: $(scripts/test.sh --list | paste -sd' ')" >&2
        exit 2
    fi
    times+=("$(printf '%-10s %2d min %02d s' "$part" $((SECONDS / 60)) $((SECONDS % 60)))")
done
printf 'test: %s\n' "${times[@]}"
