#!/usr/bin/env bash
# Installs a wheel or a source distribution of the Python package into a fresh virtual environment,
# with only pip, and runs the programs of its README there. Usage: scripts/try_package.sh FILE
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
package=$(realpath "$1")

clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
"${PYTHON:-python3}" -m venv "$clean/venv"
"$clean/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$package[arrow,pandas]"
cp "$root/crates/python/README.md" "$clean"
# Outside the sources, so that the installed package runs.
cd "$clean"
venv/bin/python - <<'PROGRAM'
import re
import subprocess
import sys

programs = re.findall(r"```python\n(.*?)```", open("README.md").read(), re.DOTALL)
for program in programs:
    subprocess.run([sys.executable, "-c", program], check=True)
print(f"{len(programs)} programs of the README run in a clean environment")
PROGRAM
