#!/usr/bin/env bash
# Prints which items of HEARITH_REQUIRE (see crates/testing) this machine has, separated by commas:
# engines that its CPU can run, rights of processes, and everything that scripts/setup.sh installs.
# Continuous integration sets the variable to this list, so that no test is skipped silently.
set -euo pipefail
list=(serial verilator cocotb valgrind phe phe-suite duckdb command chromium postgres)
flags=" $(sed -n 's/^flags[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1 || true) "
if [[ $flags == *" avx2 "* ]]; then
    list+=(avx2)
fi
if [[ $flags == *" adx "* && $flags == *" bmi2 "* ]]; then
    list+=(adx)
fi
if [[ $flags == *" avx512f "* && $flags == *" avx512dq "* && $flags == *" avx512ifma "* ]]; then
    list+=(ifma)
fi
# Containers mount their files, which an enclosing container may forbid.
if [ "$(id -u)" -eq 0 ] && command -v buildah >/dev/null && unshare --mount true 2>/dev/null; then
    list+=(buildah)
fi
# Process namespaces, which containers may forbid, either with the caller's rights or in a user
# namespace.
if unshare --pid true 2>/dev/null || unshare --user --pid true 2>/dev/null; then
    list+=(namespaces)
fi
# The right to choose the next process's id; writing the current value changes nothing important.
last=/proc/sys/kernel/ns_last_pid
if { cat "$last" >"$last"; } 2>/dev/null; then
    list+=(last-pid)
fi
(IFS=,; echo "${list[*]}")
