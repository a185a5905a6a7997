#!/usr/bin/env bash
# Builds the documentation site into target/site: the pages with their links checked, and the Python
# and Rust references. `--charts` first redraws docs/charts from the tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=target/site-tools
[ -x "$venv/bin/python" ] || .venv/bin/python -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement docs/site/requirements.txt
if [ "${1-}" = --charts ]; then
    "$venv/bin/python" docs/site/charts.py
fi

"$venv/bin/python" docs/site/stage.py target/site-pages
# The variable suppresses the theme's advertisement on every run.
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --quiet --config-file docs/site/mkdocs.yml

# The package's dependencies come from its own environment; `make test-full` installs Spark and, in
# a separate environment, Flower.
scripts/extension.sh
packages() { "$1" -c 'import site; print(site.getsitepackages()[0])'; }
spark=$(.venv/bin/python -c 'import pyspark' 2> /dev/null && echo hearith.spark || true)
path=crates/python/python:$(packages .venv/bin/python) flower=
if [ -x .venv/flower/bin/python ]; then
    path=$path:$(packages .venv/flower/bin/python) flower=hearith.flower
fi
PYTHONPATH=$path \
    "$venv/bin/python" -m pdoc --docformat google --output-directory target/site/python \
    hearith hearith.{arrow,columns,dghv,duckdb,encoding,federated,keys,pandas,polars,postgres,remote,sharing} hearith.phe $spark $flower
cargo doc --quiet --workspace --no-deps --target-dir target/site-rust
rm -rf target/site/rust
cp -r target/site-rust/doc target/site/rust
echo '<meta http-equiv="refresh" content="0; url=hearith_columns/index.html">' > target/site/rust/index.html
echo "target/site/index.html"
