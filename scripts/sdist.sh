#!/usr/bin/env bash
# Builds the source distribution in dist/, and tries it: pip alone compiles and installs it where there are Rust and a C compiler (it takes
# minutes). The DuckDB extension, a library of its own, is in the wheel alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -f dist/hearith-*.tar.gz
.venv/bin/maturin sdist --manifest-path crates/python/Cargo.toml --out dist
scripts/try_package.sh dist/hearith-*.tar.gz
ls -l dist/hearith-*.tar.gz
