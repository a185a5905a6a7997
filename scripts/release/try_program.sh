#!/usr/bin/env bash
# Tests a built program. It encrypts two columns of data/flights.csv under a small new key, sums
# them by carrier with the public key, decrypts the totals and compares them with sums of the
# plaintext table. It then decrypts a table that an earlier program wrote and compares it with known
# numbers. Usage: try_program.sh [RUNNER] PROGRAM, where RUNNER is an emulator such as qemu-aarch64.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# hearith ARGUMENT...: runs the program; shows its warnings about small keys only if it fails.
hearith() {
    "${program[@]}" "$@" >/dev/null 2>"$folder/messages" || {
        cat "$folder/messages" >&2
        echo "try_program: failed: hearith $*" >&2
        exit 1
    }
}

program=("$@")
[ $# -gt 0 ] || { echo "try_program: name a program" >&2 && exit 2; }
table=$root/data/flights.csv

# A small key, because this tests the program, not its security.
hearith keygen --bits 512 --insecure-key --variant djn --out "$folder"
hearith encrypt --insecure-key --key "$folder/public.json" --column dep_delay,distance --pack "$table" --out "$folder/rows.parquet"
hearith sum --insecure-key --key "$folder/public.json" --by carrier "$folder/rows.parquet" --out "$folder/totals.parquet"
hearith decrypt --insecure-key --key "$folder/private.json" "$folder/totals.parquet" --out "$folder/totals.csv"
python3 - "$table" "$folder/totals.csv" <<'PROGRAM'
import csv
import sys
from collections import Counter

plain, decrypted = (list(csv.DictReader(open(path, newline=""))) for path in sys.argv[1:])
columns = ("dep_delay", "distance")
expected = {column: Counter() for column in columns}
for row in plain:
    for column in columns:
        expected[column][row["carrier"]] += int(row[column] or 0)
carriers = {row["carrier"] for row in plain}
if {row["carrier"] for row in decrypted} != carriers or len(decrypted) != len(carriers):
    sys.exit("try_program: the totals are of other carriers than the table")
for row in decrypted:
    for column in columns:
        if int(row[column]) != expected[column][row["carrier"]]:
            sys.exit(f"try_program: {row['carrier']}, {column}: {row[column]} instead of {expected[column][row['carrier']]}")
print(f"{len(decrypted) * len(columns)} totals equal the sums of the plain table")
PROGRAM

# Written by the first version with this format, under the key that fuzzing uses.
hearith decrypt --insecure-key --key "$root/fuzz/key/private.json" "$root/fuzz/seeds/parquet_table/totals" --out "$folder/known.csv"
diff "$root/scripts/release/known_totals.csv" "$folder/known.csv" >&2 || {
    echo "try_program: a stored table did not decrypt to the known numbers" >&2
    exit 1
}
echo "a stored table decrypts to the known numbers"
