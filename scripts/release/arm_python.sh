#!/usr/bin/env bash
# Makes a Python for aarch64 with NumPy, which qemu-user runs, and prints its path.
# Usage: arm_python.sh FOLDER
# Only on Debian: the interpreter is extracted from its package, because only one can be installed;
# the libraries that it needs are installed for arm64 (scripts/setup.sh release). NumPy is the
# release that tests use, in FOLDER/packages.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)

version=$(apt-cache depends python3-minimal:arm64 | sed -En 's/^ *(Pre)?Depends: python(3\.[0-9]+)-minimal.*/\2/p' | head -n 1)
[ -n "$version" ] || { echo "arm_python: apt does not know python3-minimal:arm64; run scripts/setup.sh release" >&2 && exit 1; }
python=$folder/root/usr/bin/python$version
if ! [ -x "$python" ]; then
    (cd "$folder" && apt-get download --quiet "python$version-minimal:arm64" >&2)
    dpkg-deb --extract "$folder"/python"$version"-minimal_*_arm64.deb "$folder/root"
fi
if ! [ -d "$folder/packages/numpy" ]; then
    # The lines of NumPy in the locked requirements, including its hashes.
    sed -n '/^numpy==/,/[^\\]$/p' "$root/crates/python/requirements.txt" >"$folder/requirements.txt"
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --target "$folder/packages" --no-deps --require-hashes \
        --only-binary=:all: --python-version "$version" --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
        --requirement "$folder/requirements.txt" >&2
fi
echo "$python"
