# Makes the environment in which HEU is measured, and exports its path as HEARITH_PEERS_PYTHON.
# Sourced by scripts that compare with HEU.
work=${CARGO_TARGET_DIR:-target}/peers
[ -x "$work/bin/python" ] || .venv/bin/python -m venv "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/peers.txt
export HEARITH_PEERS_PYTHON=${HEARITH_PEERS_PYTHON:-$PWD/$work/bin/python}
