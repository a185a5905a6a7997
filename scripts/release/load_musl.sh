#!/usr/bin/env bash
# Loads the libraries of an unpacked musl wheel with musl's own loader, with every symbol resolved
# at once. Stand-ins replace Python's functions, none of which is called.
# Usage: load_musl.sh TRIPLE FOLDER
set -euo pipefail
triple=$1 unpacked=$2
cpu=${triple%%-*}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mapfile -t libraries < <(find "$unpacked" -name '*.so' -o -name '*.duckdb_extension' | sort)

{
    echo '#include <dlfcn.h>'
    echo '#include <stdio.h>'
    # Python's functions and objects: loading needs only addresses.
    readelf --wide --dyn-syms "${libraries[@]}" | awk '$7 == "UND" && $8 ~ /^_?Py[A-Z_]/ { print $8 }' | sort -u |
        sed 's/.*/void *& __attribute__((visibility("default")));/'
    cat <<'PROGRAM'
int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        if (!dlopen(names[i], RTLD_NOW | RTLD_LOCAL)) {
            fprintf(stderr, "load_musl: %s\n", dlerror());
            return 1;
        }
    }
    return 0;
}
PROGRAM
} >"$folder/load.c"
python-zig cc -target "$cpu-linux-musl" -O1 -fno-sanitize=all -dynamic -rdynamic -o "$folder/load" "$folder/load.c"
emulator=()
[ "$cpu" = "$(uname -m)" ] || emulator=("qemu-$cpu")
"${emulator[@]}" "/lib/ld-musl-$cpu.so.1" "$folder/load" "${libraries[@]}"
echo "musl's loader loads both libraries"
