# shellcheck shell=bash
# shellcheck disable=SC2034  # scripts/release.sh uses what is set here
# Shared by all parts of a release: the version, one timestamp for every file, compilers and their
# flags. Sourced by `scripts/release.sh`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# The folder of intermediate results, with one folder per target triple, and the release's folder.
WORK=${CARGO_TARGET_DIR:-$ROOT/target}/release-work
OUT=${HEARITH_RELEASE_OUT:-$ROOT/dist/release}
# The oldest glibc that the Linux programs and wheels support.
GLIBC=2.28
MUSLLINUX=1_2
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$ROOT/Cargo.toml")
RUST_VERSION=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$ROOT/Cargo.toml")
# Debian's compiler, whose backported versions are new enough.
DEBIAN_RUSTC=${HEARITH_DEBIAN_RUSTC:-/usr/bin/rustc}
DEBIAN_CARGO=${HEARITH_DEBIAN_CARGO:-/usr/bin/cargo}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
# Owners and modes of files must not depend on the builder.
umask 022

say() {
    printf 'release: %s\n' "$*"
}

fail() {
    printf 'release: %s\n' "$*" >&2
    exit 1
}

# source_commit: prints the commit that is built, with a remark if the sources differ from it.
source_commit() {
    python3 "$ROOT/scripts/release/provenance.py" --commit
}

# libdir RUSTC TRIPLE: prints the actual or expected folder of this compiler's standard library for
# a target.
libdir() {
    "$1" --print target-libdir --target "$2" 2>/dev/null
}

# has_std RUSTC TRIPLE: whether a compiler has a standard library for a target.
has_std() {
    local folder
    folder=$(libdir "$1" "$2") && compgen -G "$folder/libstd-*.rlib" >/dev/null
}

# new_enough RUSTC: whether a compiler exists and is at least the workspace's rust-version.
new_enough() {
    local release
    release=$("$1" -vV 2>/dev/null | sed -n 's/^release: //p')
    [ -n "$release" ] && [ "$(printf '%s\n' "$RUST_VERSION" "${release%%-*}" | sort -V | head -n 1)" = "$RUST_VERSION" ]
}

# std_source RUSTC: prints the folder of this compiler's standard-library sources, if installed.
std_source() {
    local source
    source=$("$1" --print sysroot)/lib/rustlib/src/rust/library
    [ -e "$source/std/Cargo.toml" ] && (cd "$source" && pwd -P)
}

# toolchain TRIPLE: prints the source of a target's standard library in one word: `path` (the
# compiler on the PATH has it), `debian` (Debian's compiler has it) or `source` (compiled from
# Debian's sources). Status 1 if there is none. HEARITH_RELEASE_TOOLCHAIN forces one.
toolchain() {
    local triple=$1
    if [ -n "${HEARITH_RELEASE_TOOLCHAIN:-}" ]; then
        echo "$HEARITH_RELEASE_TOOLCHAIN"
    elif has_std rustc "$triple"; then
        echo path
    elif command -v rustup >/dev/null && rustup target add "$triple" >/dev/null 2>&1 && has_std rustc "$triple"; then
        echo path
    elif new_enough "$DEBIAN_RUSTC" && has_std "$DEBIAN_RUSTC" "$triple"; then
        echo debian
    elif new_enough "$DEBIAN_RUSTC" && std_source "$DEBIAN_RUSTC" >/dev/null; then
        echo source
    else
        return 1
    fi
}

# configure TRIPLE: exports what cargo needs for a target, and replaces this machine's paths in
# debug information and panic messages.
configure() {
    local triple=$1 kind source registry flags=("-Clink-arg=-Wl,--build-id=sha1") c_flags=()
    kind=$(toolchain "$triple") || fail "$triple: no standard library: rustup cannot add the target, and Debian's packages rustc-web, libstd-rust-web-dev and rust-web-src are not installed"
    unset RUSTC CARGO RUSTC_BOOTSTRAP CARGO_UNSTABLE_BUILD_STD
    if [ "$kind" != path ]; then
        export RUSTC=$DEBIAN_RUSTC CARGO=$DEBIAN_CARGO
    fi
    if [ "$kind" = source ]; then
        # build-std is unstable.
        export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
    fi
    export CARGO_TARGET_DIR=$WORK/$triple
    mkdir -p "$CARGO_TARGET_DIR"
    # If several prefixes match, the last one wins.
    flags+=("--remap-path-prefix=$ROOT=/hearith" "--remap-path-prefix=$CARGO_TARGET_DIR=/target")
    c_flags+=("-ffile-prefix-map=$ROOT=/hearith" "-ffile-prefix-map=$CARGO_TARGET_DIR=/target")
    # Zig compiles start files and the unwinder once into its cache; objects in the user's cache name
    # folders of other builds.
    export ZIG_GLOBAL_CACHE_DIR=$WORK/zig
    # The registry's folder exists only when something was downloaded.
    (cd "$ROOT" && "${CARGO:-cargo}" fetch --quiet --locked --target "$triple")
    for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        [ -d "$registry" ] || fail "cargo downloaded no crate to $registry"
        flags+=("--remap-path-prefix=${registry%/}=/crates")
        c_flags+=("-ffile-prefix-map=${registry%/}=/crates")
    done
    if source=$(std_source "${RUSTC:-rustc}"); then
        flags+=("--remap-path-prefix=${source%/library}=/rustc")
    fi
    case $triple in
    *-musl)
        # Libraries that Python loads share its libc. zig supplies musl's start files, which a
        # Debian compiler lacks.
        flags+=(-Ctarget-feature=-crt-static -Clink-self-contained=no)
        ;;
    *-linux-gnu) ;;
    *) unset 'flags[0]' ;;
    esac
    export RUSTFLAGS="${flags[*]}" CFLAGS="${c_flags[*]}" CXXFLAGS="${c_flags[*]}"
    export PATH=$ROOT/.venv/bin:$PATH
    say "$triple: $("${RUSTC:-rustc}" --version), standard library: $kind"
    printf '%s\t%s\t%s\n' "$triple" "$kind" "$("${RUSTC:-rustc}" --version)" >"$WORK/$triple.toolchain"
}

# zig_target TRIPLE: prints the target for cargo-zigbuild.
zig_target() {
    case $1 in
    *-linux-gnu) echo "$1.$GLIBC" ;;
    *) echo "$1" ;;
    esac
}

# A name of the current folder that is the same everywhere, for compilers: they trust PWD if it names
# the current folder. No flag reaches the start files and the unwinder that zig compiles to link.
HERE=/proc/self/cwd

# compile TRIPLE PACKAGE [--lib]: compiles a package for a target.
compile() {
    local triple=$1 package=$2
    shift 2
    (cd "$ROOT" && PWD=$HERE cargo-zigbuild build --locked --profile dist --target "$(zig_target "$triple")" --package "$package" "$@")
}

# zig_cargo TRIPLE: makes a cargo for maturin that compiles as `compile` does, and prints its path.
# maturin's own --zig names another linker, so that cargo would compile every crate again.
zig_cargo() {
    local triple=$1 cargo=$WORK/$1/zig-cargo
    cat >"$cargo" <<PROGRAM
#!/usr/bin/env bash
# Written by scripts/release/common.sh.
export CARGO=${CARGO:-cargo}
[ "\${1:-}" = rustc ] || exec "\$CARGO" "\$@"
PWD=$HERE exec cargo-zigbuild "\${@/%$triple/$(zig_target "$triple")}"
PROGRAM
    chmod 755 "$cargo"
    echo "$cargo"
}

# objcopy TRIPLE ARGUMENT...: runs binutils' objcopy for that target.
objcopy() {
    local triple=$1 program=objcopy
    shift
    case $triple in
    "$(uname -m)"-*) ;;
    aarch64-*-linux-*) program=aarch64-linux-gnu-objcopy ;;
    x86_64-*-linux-*) program=x86_64-linux-gnu-objcopy ;;
    esac
    command "$program" "$@"
}

# no_other_folder FILE: fails if debug information names a folder of this machine. Rust's project
# built the standard library in /rustc, /rust and /checkout.
no_other_folder() {
    local found
    found=$(readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null |
        sed -En 's/^.*DW_AT_(comp_dir|name) *: (\(indirect [^)]*\): )?(\/.*)$/\3/p' |
        { grep -Ev "^(/(hearith|target|crates|rustc|rust|checkout)(/|$)|$HERE$)" || true; } | sort -u | sed -n 1,3p | paste -sd ' ')
    [ -z "$found" ] || fail "$(basename "$1"): its debug information names $found"
}

# split TRIPLE FILE STRIPPED: writes FILE without symbols to STRIPPED, which links to its debug
# information in STRIPPED.debug.
split() {
    local triple=$1 file=$2 stripped=$3
    no_other_folder "$file"
    objcopy "$triple" --only-keep-debug --compress-debug-sections=zlib "$file" "$stripped.debug"
    objcopy "$triple" --strip-all "$file" "$stripped"
    # The link contains the debug file's checksum, and its name without a folder.
    (cd "$(dirname "$stripped")" && objcopy "$triple" --add-gnu-debuglink="$(basename "$stripped").debug" "$stripped")
    chmod 755 "$stripped"
    chmod 644 "$stripped.debug"
}

# pack ARCHIVE FOLDER NAME...: makes a .tar.gz whose bytes depend only on names, contents and modes.
pack() {
    local archive=$1 folder=$2
    shift 2
    tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --directory "$folder" "$@" |
        gzip --no-name --best >"$archive"
}

# triple_of CPU-SYSTEM: prints the target triple of a part's suffix.
triple_of() {
    case $1 in
    linux-x86_64 | amd64) echo x86_64-unknown-linux-gnu ;;
    linux-aarch64 | arm64) echo aarch64-unknown-linux-gnu ;;
    musl-x86_64) echo x86_64-unknown-linux-musl ;;
    musl-aarch64) echo aarch64-unknown-linux-musl ;;
    macos-x86_64) echo x86_64-apple-darwin ;;
    macos-aarch64) echo aarch64-apple-darwin ;;
    windows-x86_64) echo x86_64-pc-windows-gnu ;;
    *) return 1 ;;
    esac
}

# runner TRIPLE: prints the prefix that runs a program of that target here (empty for this machine's
# own). Status 1: nothing can.
runner() {
    case $1 in
    "$(uname -m)"-*-linux-gnu) ;;
    aarch64-*-linux-gnu)
        command -v qemu-aarch64 >/dev/null && [ -e /lib/ld-linux-aarch64.so.1 ] && echo qemu-aarch64
        ;;
    *) return 1 ;;
    esac
}
