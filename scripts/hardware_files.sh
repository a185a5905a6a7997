#!/usr/bin/env bash
# Prints the hardware's source files, one per line: those of rtl/ and boards/, and the harnesses of
# proofs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files --cached --others --exclude-standard -- 'rtl/*.sv' 'rtl/*.svh' 'rtl/*.v' 'boards/*.sv' 'boards/*.v' 'synth/formal/*.sv' | sort -u
