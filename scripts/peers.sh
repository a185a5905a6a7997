# Makes the environment that HEU is measured in, and names it in HEARITH_PEERS_PYTHON. Read by scripts that measure beside it.
work=${CARGO_TARGET_DIR:-target}/peers
[ -x "$work/bin/python" ] || .venv/bin/python -m venv "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/peers.txt
export HEARITH_PEERS_PYTHON=${HEARITH_PEERS_PYTHON:-$PWD/$work/bin/python}
