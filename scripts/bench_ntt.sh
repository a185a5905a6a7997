#!/usr/bin/env bash
# Compares products and remainders of very long numbers with FLINT and GMP, and transforms alone
# with tfhe-ntt; writes bench/results/ntt.md and ntt.svg.
# The script builds FLINT from the sources in the crate flint3-sys, including the transforms
# (fft_small) that FLINT's packages omit. Arguments go to the program: --quick, --out FOLDER, and
# --bits 300000000,1000000000 for additional, longer factors (12 GB). --build only builds FLINT's
# side.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=3.6.0
header() { echo "#include <$1.h>" | cc -E - >/dev/null 2>&1; }
if ! header gmp || ! header mpfr || ! command -v autoreconf >/dev/null || ! command -v libtoolize >/dev/null; then
    command="apt-get install --no-install-recommends libgmp-dev libmpfr-dev autoconf automake libtool"
    if [ "$(id -u)" -ne 0 ]; then
        echo "bench: missing packages; run:  sudo $command" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $command -y -qq >/dev/null
fi

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/bench"
build=$(realpath "$target/bench")/flint-$version
if ! [ -e "$build/libflint.a" ]; then
    # A separate project, so that the crate is not a dependency of this one.
    fetch=$(realpath "$target/bench")/flint-fetch
    mkdir -p "$fetch/src"
    : >"$fetch/src/lib.rs"
    cat >"$fetch/Cargo.toml" <<END
[package]
name = "flint-fetch"
version = "0.0.0"
edition = "2024"
[dependencies]
flint3-sys = "=$version"
[workspace]
END
    sources=$(cargo metadata --quiet --format-version 1 --manifest-path "$fetch/Cargo.toml" |
        python3 -c 'import json, os, sys
print(*(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "flint3-sys"))')
    rm -rf "$build"
    cp -r "$sources/flint" "$build"
    chmod -R u+w "$build"
    # The parts that products and remainders depend on: the whole library takes many times as long.
    parts=(generic_files thread_pool thread_support ulong_extras long_extras mpn_extras nmod nmod_vec nmod_poly
        fmpz fmpz_vec fmpz_extras fft fft_small mag arf arb radix)
    (
        cd "$build"
        ./bootstrap.sh
        ./configure --enable-avx2 --disable-shared CFLAGS="-O2 -fomit-frame-pointer -march=native"
        objects=()
        for part in "${parts[@]}"; do
            for file in src/"$part"/*.c; do
                file=${file#src/}
                objects+=("build/${file%.c}.o")
            done
        done
        make -j"$(nproc)" "${objects[@]}"
        find build -name '*.o' -exec ar rcs libflint.a {} +
    ) >"$build.log" 2>&1 || {
        echo "bench: FLINT does not build, see $build.log" >&2
        exit 1
    }
fi
include="$target/bench/flint-include"
mkdir -p "$include"
ln -sfn "$build/src" "$include/flint"
export HEARITH_NTT_FLINT="$target/bench/ntt_flint"
# Printing functions, which are never called, would require the rest of the library.
cc -O2 -march=native -static -Wl,--unresolved-symbols=ignore-all -I"$include" -o "$HEARITH_NTT_FLINT" \
    bench/ntt/flint.c "$build/libflint.a" -lmpfr -lgmp -lm -lpthread
[ "${1:-}" != --build ] || exit 0
# tfhe-ntt is fetched the same way.
peer=$(realpath "$target/bench")/tfhe-ntt
tfhe_version=0.7.1
mkdir -p "$peer/src"
cp bench/ntt/tfhe.rs "$peer/src/main.rs"
cat >"$peer/Cargo.toml" <<END
[package]
name = "tfhe-peer"
version = "0.0.0"
edition = "2024"
[dependencies]
rustix = { version = "1.1", features = ["time"] }
tfhe-ntt = "=$tfhe_version"
[workspace]
END
TFHE_NTT_VERSION=$tfhe_version cargo build --release --quiet --manifest-path "$peer/Cargo.toml" --target-dir "$peer/target"
export HEARITH_NTT_TFHE="$peer/target/release/tfhe-peer"
cargo build --release --quiet --package hearith-bench --bin ntt
"$target/release/ntt" "$@"
