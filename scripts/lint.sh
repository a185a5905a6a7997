#!/usr/bin/env bash
# Formatting, clippy with warnings denied, documentation without warnings, and the dependency tree against deny.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# component NAME COMMAND...: whether a Rust component runs, installing it where rustup can.
component() {
    local name=$1
    shift
    "$@" >/dev/null 2>&1 && return 0
    echo "lint: $name is missing; trying rustup component add $name"
    if command -v rustup >/dev/null && rustup component add "$name" && "$@" >/dev/null 2>&1; then
        return 0
    fi
    echo "lint: **** $name IS NOT INSTALLED AND CANNOT BE: ITS CHECKS ARE SKIPPED ****" >&2
    return 1
}

if component rustfmt cargo fmt --version; then
    cargo fmt --all --check
    cargo fmt --manifest-path fuzz/Cargo.toml --check
fi

if component clippy cargo clippy --version; then
    cargo clippy --quiet --workspace --all-targets -- --deny warnings
fi

python=$PWD/.venv/bin
(cd crates/python && "$python/ruff" check --quiet . && "$python/ruff" format --quiet --check . && "$python/mypy" --no-error-summary)

RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --workspace --no-deps

if command -v cargo-deny >/dev/null; then
    cargo deny --offline check licenses bans sources
fi
python3 scripts/check_dependencies.py
echo "lint: passed"
