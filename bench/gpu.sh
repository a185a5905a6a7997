#!/usr/bin/env bash
# Measures Paillier on a machine's first graphics card, and NVIDIA's CGBN in the same run; writes
# bench/results/gpu.md. The machine needs only a driver. Takes less than eight minutes. Usage:
#   bench/gpu.sh --rates PROGRAM --keys FOLDER [--cgbn SOURCE --nvcc FOLDER | --cgbn-program PROGRAM]
#                [--kernels PROGRAM] [--out FILE]
#   bench/gpu.sh --blank          writes the table without figures: "not measured"
# PROGRAM of --rates is the example `card_rates` of crates/cuda, built on a machine with Rust:
#   cargo build --release --package hearith-cuda --example card_rates
# FOLDER of --keys holds the private keys that it names: `bench/gpu.sh --make-keys FOLDER HEARITH`
# makes them with the command line. PROGRAM of --kernels is bench/gpu/kernels.cu, compiled as it
# says. SOURCE is a clone of CGBN, and FOLDER of --nvcc that of the compiler (bin/nvcc), which
# compiles bench/gpu/cgbn.cu.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# A card processes chunks of 65536 rows: from the second on, copies and checks overlap with work.
rows=262144
seconds=460
out=$here/results/gpu.md
rates='' keys='' cgbn='' nvcc='' program='' kernels='' blank=''

while [ $# -gt 0 ]; do
    case $1 in
        --rates) rates=$2 && shift ;;
        --keys) keys=$2 && shift ;;
        --cgbn) cgbn=$2 && shift ;;
        --cgbn-program) program=$2 && shift ;;
        --nvcc) nvcc=$2 && shift ;;
        --kernels) kernels=$2 && shift ;;
        --out) out=$2 && shift ;;
        --blank) blank=1 ;;
        --make-keys)
            mkdir -p "$2"
            for key in standard-2048 standard-3072 subgroup-2048 djn-2048; do
                "$3" keygen --bits "${key#*-}" --variant "${key%-*}" --out "$2/$key"
                cp "$2/$key/private.json" "$2/$key.json"
            done
            exit
            ;;
        *)
            sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
            exit 2
            ;;
    esac
    shift
done
if [ -z "$blank" ] && { [ -z "$rates" ] || [ -z "$keys" ]; }; then
    echo "gpu.sh: --rates and --keys, or --blank" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/wide" && : >"$work/narrow" && : >"$work/cgbn" && : >"$work/kernels"
card='none' driver='-' clocks='-'
if [ -z "$blank" ]; then
    until=$((SECONDS + seconds))
    left() { echo $((until - SECONDS > 1 ? until - SECONDS : 1)); }
    query() { nvidia-smi --id=0 --query-gpu="$1" --format=csv,noheader 2>/dev/null || echo '-'; }
    card=$(query name) driver=$(query driver_version)
    HEARITH_CUDA_KERNEL=wide timeout "$(left)" "$rates" "$keys" "$rows" batches >"$work/wide"
    clocks="$(query clocks.sm) of $(query clocks.max.sm), memory $(query clocks.mem)"
    HEARITH_CUDA_KERNEL=narrow timeout "$(left)" "$rates" "$keys" "$rows" >"$work/narrow"
    if [ -n "$cgbn" ] && [ -z "$program" ]; then
        program=$work/cgbn_program
        PATH=$nvcc/bin:$nvcc/nvvm/bin:$PATH timeout "$(left)" "$nvcc/bin/nvcc" -std=c++17 -O3 -arch=native -cudart static \
            -I "$cgbn/include" -L "$nvcc/lib" "$here/gpu/cgbn.cu" -o "$program"
    fi
    if [ -n "$program" ]; then
        timeout "$(left)" "$program" >"$work/cgbn"
    fi
    if [ -n "$kernels" ]; then
        timeout "$(left)" "$kernels" >"$work/kernels"
    fi
fi

# ours FILE NAME COLUMN: rows per second, by the seconds in a column (3: kernels alone, 4: with
# copies and checks).
ours() {
    awk -F'\t' -v name="$2" -v column="$3" '$1 == name { printf "%.0f", $2 / $column; found = 1 }
        END { if (!found) printf "not measured" }' "$work/$1"
}

# peer KIND BITS EXPONENT DIVISOR: CGBN's best rate over its numbers of threads, divided by DIVISOR
# operations per result.
peer() {
    awk -F'\t' -v kind="$1" -v bits="$2" -v exponent="$3" -v divisor="$4" \
        '$1 == kind && $2 == bits && $3 == exponent && $5 > best { best = $5; threads = $4 }
        END { if (best) printf "%.0f (%d threads)", best / divisor, threads; else printf "not measured" }' "$work/cgbn"
}

cpu() {
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1
}

row() {
    printf '| %s | %s | %s | %s | %s | %s |\n' "$@"
}

{
    printf '# Paillier on a graphics card\n\n'
    # shellcheck disable=SC2016  # Markdown
    printf 'Written by `bench/gpu.sh`. '
    if [ -n "$blank" ]; then
        printf '**Not measured**: no card was available for long enough. The figures of the first table are\n'
        printf 'missing for that reason.\n\n'
    else
        printf 'Ours and CGBN ran one after the other on the same card.\n\n'
    fi
    printf -- '- Card: %s\n- Driver: %s\n- Clock of the multiprocessors under load: %s\n\n' "$card" "$driver" "$clocks"
    printf 'Operations a second. "Kernels" counts the time on the card alone. "Whole" includes copies from and to main\n'
    printf 'memory and, but for "unchecked", the checks on all %s threads of the CPU (%s). CGBN computes modulo the\n' "$(nproc)" "$(cpu)"
    printf 'full-width square with the best of its numbers of threads, and its decryption is two powers.\n\n'
    printf '| operation | wide, kernels | narrow, kernels | whole | whole, unchecked | CGBN, kernels |\n'
    printf '| --- | ---: | ---: | ---: | ---: | ---: |\n'
    best() {
        local wide narrow
        wide=$(ours wide "$1" 4) narrow=$(ours narrow "$1" 4)
        printf '%s\n%s\n' "$wide" "$narrow" | grep -v not | sort -n | tail -1 | grep . || echo 'not measured'
    }
    line() {
        row "$1" "$(ours wide "$2" 3)" "$(ours narrow "$2" 3)" "$(best "$2")" "$(best "$2 unchecked")" "$3"
    }
    line 'decrypt, 2048' 'decrypt standard-2048' "$(peer power 2048 1024 2)"
    line 'decrypt, 3072' 'decrypt standard-3072' "$(peer power 3072 1536 2)"
    line 'decrypt, 2048, subgroup key' 'decrypt subgroup-2048' "$(peer power 2048 257 2)"
    line 'encrypt, 2048, DJN' 'encrypt djn-2048' '-'
    line 'encrypt, 2048, subgroup key' 'encrypt subgroup-2048' '-'
    # shellcheck disable=SC2016  # Markdown
    line 'encrypt, 2048, `r^n`' 'encrypt standard-2048' '-'
    line 'sum in 960 groups, 2048, each computed twice: rows' 'sum djn-2048' "$(peer product 4096 0 1)"
    if grep -q '^batch' "$work/wide"; then
        printf '\n## Batches of few rows\n\n'
        printf 'Milliseconds of a whole batch, copies and checks included, on the card (wide kernels)\n'
        printf 'and on all %s threads of the CPU beside it (%s).\n\n' "$(nproc)" "$(cpu)"
        printf '| operation | rows | card | CPU | card is faster by |\n| --- | ---: | ---: | ---: | ---: |\n'
        awk -F'\t' '/^batch/ { printf "| %s | %d | %.2f | %.2f | %.2f |\n", substr($1, 7), $2, 1e3 * $3, 1e3 * $4, $4 / $3 }' "$work/wide"
    fi
    if [ -s "$work/kernels" ]; then
        printf '\n## Kernels alone\n\n'
        # shellcheck disable=SC2016  # Markdown
        printf 'Single kernels on random operands, without copies and checks (`bench/gpu/kernels.cu`), with the number of\n'
        printf 'threads that the engine takes, and with another where that was near. A decryption takes two powers.\n\n'
        printf '| kernel | limbs | threads a number | registers | results a second |\n| --- | ---: | ---: | ---: | ---: |\n'
        awk -F'\t' '{ printf "| %s | %d | %d | %d | %s |\n", $1, $2, $3, $4, $7 }' "$work/kernels"
    fi
} >"$out"
cat "$out"
