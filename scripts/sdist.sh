#!/usr/bin/env bash
# Builds the source distribution in dist/, and tries it: pip compiles and installs it with only Rust
# and a C compiler (takes minutes). The DuckDB extension, a separate library, is only in the wheel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -f dist/hearith-*.tar.gz
.venv/bin/maturin sdist --manifest-path crates/python/Cargo.toml --out dist
scripts/try_package.sh dist/hearith-*.tar.gz
ls -l dist/hearith-*.tar.gz
