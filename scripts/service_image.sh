#!/usr/bin/env bash
# Builds a container image with only `hearith serve`: no shell, no package manager. Usage:
#   service_image.sh build NAME [PROGRAM]    with podman, buildah or docker (HEARITH_CONTAINER_ENGINE names one)
#   service_image.sh root FOLDER [PROGRAM]   what the image holds, as a folder
# PROGRAM is a `hearith` for Linux that this machine can run; by default it is built here, in the
# release profile.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "service_image: $*" >&2
    exit 1
}

# built: compiles the program and prints its path.
built() {
    (cd "$repository" && cargo build --quiet --locked --profile dist --package hearith --bin hearith) >&2
    echo "${CARGO_TARGET_DIR:-$repository/target}/dist/hearith"
}

# libraries PROGRAM: prints what the dynamic linker loads for it, and that linker; nothing for a
# static program.
libraries() {
    ldd "$1" 2>/dev/null | sed -nE 's/^.* => (\/[^ ]+) .*$/\1/p; s/^\s+(\/[^ ]+) .*$/\1/p'
}

# root FOLDER PROGRAM: fills a new folder, which everybody may read and nobody in the container may
# write.
root() {
    local folder=$1 program=$2 library
    [ ! -e "$folder" ] || fail "$folder already exists"
    umask 022
    install -D -m 755 "$program" "$folder/usr/bin/hearith"
    ! command -v strip >/dev/null || strip --strip-all "$folder/usr/bin/hearith"
    for library in $(libraries "$program"); do
        install -D -m 755 "$library" "$folder$library"
    done
    mkdir -p "$folder/etc/hearith"
    printf 'hearith:x:65532:65532::/:/none\n' >"$folder/etc/passwd"
}

engine() {
    local name
    for name in ${HEARITH_CONTAINER_ENGINE:-podman buildah docker}; do
        command -v "$name" && return
    done
    fail "no podman, buildah or docker is installed"
}

build() {
    local name=$1 program=$2 engine
    engine=$(engine)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    root "$folder/root" "$program"
    cp "$repository/Containerfile.service" "$folder/Containerfile"
    "$engine" build --file "$folder/Containerfile" --tag "$name" "$folder"
}

[ $# -eq 2 ] || [ $# -eq 3 ] || fail "usage: build NAME [PROGRAM], or root FOLDER [PROGRAM]"
program=${3:-}
[ -n "$program" ] || program=$(built)
[ -x "$program" ] || fail "$program is not an executable program"
case $1 in
build) build "$2" "$program" ;;
root) root "$2" "$program" ;;
*) fail "unknown command $1: build or root" ;;
esac
