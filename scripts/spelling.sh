#!/usr/bin/env bash
# Checks the spelling of every tracked page and source, by codespell and .codespellrc. Inputs of
# other programs are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files -z -- '*.md' '*.rs' '*.sv' '*.py' '*.sh' '*.ts' '*.tsx' '*.rdl' '*.yml' '*.toml' Makefile ':!fuzz/seeds' ':!data' |
    xargs -0 codespell
echo "spelling: no misspelt words"
