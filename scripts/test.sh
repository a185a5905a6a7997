#!/usr/bin/env bash
# Runs tests by parts, and prints the time of each at the end. Usage: scripts/test.sh [PART...]
#   (none)     what a change to software must pass: rust, python, web
#   rust       every crate, the examples in the documentation, and for each hardware system the tests of its smallest model
#   python     the second verifier of elections, the Python package and the DuckDB extension, including python-paillier's own test suite
#   web        the election's pages: the protocol with the crate's vectors, and the pages in Chromium
#   hardware   every test of the hardware, on all models
#   cocotb     each top of the hardware with third-party bus models, and oracles in Python
#   benches    each benchmark once, unmeasured
#   fuzz       each fuzz target over its seeds, then for FUZZ_SECONDS (5)
#   a system   only its crates and its hardware: see `systems` below
# INCLUDE_IGNORED=1 also runs the long Rust tests. HEARITH_REQUIRE lists what must not be missing:
# see crates/testing.
#
# Everything is built from one selection of packages and features, so that nothing is compiled
# twice: the Python module, the DuckDB extension and the fuzz targets link the artefacts of the Rust
# tests. A part that runs alone selects the packages that it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/beside.sh
source scripts/beside.sh

# The smallest model of each hardware system, and the tests that need no other.
small_models=(
    mesa_64 mesa_dual_64 coproc_64 residue_bank_60 dghv_tiny encryptor_board terminal
    cios_4 cios_7 div_exact_9
)
small_tests=(
    mesa::decrypts_64_bits
    mesa_dual::decrypts_64_bits
    coproc::an_exponent_of_any_length_comes_in_pieces
    residue_bank::primes_are_read_one_at_a_time_and_there_is_no_key
    residue_bank::numbers_that_do_not_fit_are_refused
    dghv::keys_follow_each_other
    ballot_machine::machines_that_fail_make_no_ballot
    montgomery::digit_serial_products_modulo_every_small_number
    division::every_small_exact_division
)

# The arguments of `cargo test` for each system, one call per line: first its crates, then only its
# hardware.
declare -A systems=(
    [arith]="--package hearith-arith --all-features"
    [bfv]="--package hearith-bfv --all-features"
    [paillier]="--package hearith-paillier --all-features"
    [proofs]="--package hearith-proofs --all-features"
    [threshold]="--package hearith-threshold --all-features"
    [election]="--package hearith-election --all-features"
    [columns]="--package hearith-columns --all-features"
    [cuda]="--package hearith-cuda --all-features"
    [cli]="--package hearith --all-features"
    [duckdb]="--package hearith-duckdb --all-features"
    [device]="--package hearith-device --package hearith-verilated --package hearith-testing --all-features
        --package hearith-rtl --no-default-features"
    [dghv]="--package hearith-dghv --package hearith-golden --all-features
        --package hearith-simulated --no-default-features --features dghv
        --package hearith-rtl --no-default-features --features dghv"
    [election-server]="--package hearith-election-server --package hearith-serving --all-features"
    [ntt]="--package hearith-ntt --package hearith-golden --all-features
        --package hearith-rtl --no-default-features --features ntt"
    [service]="--package hearith-service --package hearith-serving --all-features"
    [rns]="--package hearith-rns --package hearith-golden --all-features
        --package hearith-simulated --no-default-features --features rns
        --package hearith-rtl --no-default-features --features rns"
    [coproc]="--package hearith-device --all-features
        --package hearith-simulated --no-default-features --features coproc"
    [ballot-machine]="--package hearith-device --all-features
        --package hearith-simulated --no-default-features --features ballot-machine,program
        --package hearith-rtl --no-default-features --features election"
    [mesa]="--package hearith-device --all-features
        --package hearith-simulated --no-default-features --features mesa,mesa-dual
        --package hearith-rtl --no-default-features --features arith"
)

if [ "${1:-}" = --list ]; then
    printf '%s\n' rust python web hardware cocotb benches fuzz "${!systems[@]}" | sort
    exit
fi

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(rust python web)
# Whole parts share build artefacts; a system alone compiles its own.
for part in "${parts[@]}"; do
    if [[ $part =~ ^(rust|hardware|benches)$ ]]; then
        export HEARITH_SELECTION="--workspace --all-features"
    fi
done
after=()
if [ -n "${INCLUDE_IGNORED:-}" ]; then
    after=(--include-ignored)
else
    # Skips the widest models, which only the long tests simulate: see crates/verilated/README.md.
    export HEARITH_SHORT=1
fi
log=${CARGO_TARGET_DIR:-target}/tests.tsv

rust() {
    scripts/run_tests.py --not hearith-rtl --not hearith-simulated --log "$log" --doc -- "${after[@]}"
    scripts/run_tests.py --only hearith-rtl --only hearith-simulated --log "$log" -- --exact "${small_tests[@]}"
    # Both programs are already built, because integration tests run them.
    scripts/run_tutorials.py ${INCLUDE_IGNORED:+--slow} "${CARGO_TARGET_DIR:-target}/debug"
}

hardware() {
    scripts/run_tests.py --only hearith-rtl --only hearith-simulated --log "$log" -- "${after[@]}"
}

benches() {
    # shellcheck disable=SC2086  # several arguments
    cargo test --quiet $HEARITH_SELECTION --bench '*'
}

python() {
    scripts/test_python.sh
}

web() {
    scripts/test_web.sh
}

cocotb() {
    .venv/bin/python rtl/cocotb/run.py
}

fuzz() {
    FUZZ_SCOPE=own FUZZ_SEED=${FUZZ_SEED-1} scripts/fuzz.sh "${FUZZ_SECONDS:-5}"
}

# system NAME: runs the tests of one of the systems.
system() {
    local call
    while read -r call; do
        # shellcheck disable=SC2086
        cargo test $call ${after[@]:+-- "${after[@]}"}
    done <<<"${systems[$1]}"
}

# These parts use one processor: each runs in the background of the part after `=`, from that part's
# start.
declare -A beside=([cocotb]=hardware [web]=python)
times=()
asked_models=${HEARITH_MODELS:-}
for at in "${!parts[@]}"; do
    part=${parts[at]}
    SECONDS=0
    # The parts of `make test` link the same libraries, with only the small models.
    unset HEARITH_MODELS
    if [ -n "$asked_models" ]; then
        export HEARITH_MODELS=$asked_models
    elif [[ $part =~ ^(rust|python|web)$ ]]; then
        HEARITH_MODELS=$(IFS=,; echo "${small_models[*]}")
        export HEARITH_MODELS
    fi
    for other in "${parts[@]:at + 1}"; do
        [ "${beside[$other]:-}" != "$part" ] || start_aside "$other"
    done
    if [ -n "${aside[$part]:-}" ]; then
        end_aside "$part"
    elif [[ $part =~ ^(rust|python|web|hardware|cocotb|benches|fuzz)$ ]]; then
        "$part"
    elif [ -n "${systems[$part]:-}" ]; then
        system "$part"
    else
        echo "test: there is no part $part; the parts are: $(scripts/test.sh --list | paste -sd' ')" >&2
        exit 2
    fi
    times+=("$(printf '%-10s %2d min %02d s' "$part" $((SECONDS / 60)) $((SECONDS % 60)))")
done
printf 'test: %s\n' "${times[@]}"
