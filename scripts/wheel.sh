#!/usr/bin/env bash
# Builds the wheel in dist/ with the list of what it is made of, installs it into a fresh virtual environment and runs the programs of its README there.
# Arguments go to maturin in place of --release (`--profile dev` is quick where `cargo test` has run).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ ! -f crates/duckdb/package.py ] || .venv/bin/python crates/duckdb/package.py
rm -rf dist
.venv/bin/maturin build --manifest-path crates/python/Cargo.toml --out dist "${@:---release}"

clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
wheel=$(ls "$PWD"/dist/hearith-*.whl)
scripts/sbom.py --wheel "$wheel"
"${PYTHON:-python3}" -m venv "$clean/venv"
"$clean/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[arrow]"
cp crates/python/README.md "$clean"
# Away from the sources, so that the installed package is what runs.
(cd "$clean" && venv/bin/python - <<'PROGRAM'
import re
import subprocess
import sys

programs = re.findall(r"```python\n(.*?)```", open("README.md").read(), re.DOTALL)
for program in programs:
    subprocess.run([sys.executable, "-c", program], check=True)
print(f"{len(programs)} programs of the README run in a clean environment")
PROGRAM
)
ls -l "$wheel"
