#!/usr/bin/env bash
# Makes the seeds that need a program to make them: keys, encrypted bits, encrypted tables and python-paillier's JSON under the key in
# fuzz/key. Usage: fuzz/make_seeds.sh HEARITH, the path of the built program. The other seeds are written by hand.
set -euo pipefail
hearith=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"

key=(--insecure-key --key key/public.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# key KIND BITS...: a fresh key of each size among the seeds of both key targets.
keys() {
    local variant=$1 bits
    shift
    for bits in "$@"; do
        "$hearith" --quiet keygen --bits "$bits" --variant "$variant" --insecure-key --out "$work/key" --force
        cp "$work/key/public.json" "seeds/public_key/$variant-$bits"
        cp "$work/key/private.json" "seeds/private_key/$variant-$bits"
    done
}

mkdir -p key seeds/{dghv_file,public_key,private_key,encrypted_key,phe_json,parquet_table}
[ -f key/private.json ] || "$hearith" --quiet keygen --bits 256 --variant djn --insecure-key --out key
keys standard 64 256
keys djn 66 512
../.venv/bin/python make_encrypted_seeds.py
../.venv/bin/python make_service_seeds.py
../.venv/bin/python make_proof_seeds.py
../.venv/bin/python make_share_seeds.py
../.venv/bin/python make_election_seeds.py
../.venv/bin/python make_described_seeds.py

printf 'dept,salary,bonus\nlab,1500,2.50\nshop,,-7.25\nlab,-20,0\n' >"$work/table.csv"
encrypt() {
    "$hearith" --quiet encrypt "${key[@]}" "${@:2}" "$work/table.csv" --out "seeds/parquet_table/$1"
}
encrypt integer --column salary
encrypt fixed --column bonus --scale 2
encrypt slots --column salary,bonus --scale bonus=2 --pack
"$hearith" --quiet sum "${key[@]}" --by dept seeds/parquet_table/slots --out seeds/parquet_table/totals
"$hearith" --quiet export "${key[@]}" --column salary seeds/parquet_table/integer --out seeds/phe_json/lines

# Chunks and totals of the lattice scheme.
lattice() {
    "$hearith" --quiet encrypt --column salary --range 1000000 --max-additions 1000 "$work/table.csv" "$@"
}
if [ ! -f key/lattice.json ]; then
    "$hearith" --quiet keygen --scheme bfv --set bfv-4096 --out "$work/lattice"
    cp "$work/lattice/private.json" key/lattice.json
fi
"$hearith" --quiet key public key/lattice.json --out "$work/lattice.json"
lattice --key "$work/lattice.json" --out "$work/public"
lattice --key key/lattice.json --out "$work/private"
"$hearith" --quiet sum --key "$work/lattice.json" "$work/private" --out "$work/total"
../.venv/bin/python make_chunk_seeds.py public="$work/public" private="$work/private" total="$work/total"

# Keys and bits of FHE over the integers, without the checksum, which the target puts right.
dghv=(--quiet --insecure-historical-parameters)
printf "{'lam':8,'rho':3,'eta':64,'gam':600,'alpha':10,'tau':3}" >"$work/tiny.txt"
"$hearith" dghv keygen "${dghv[@]}" --scheme cnt --parameters "$work/tiny.txt" --out "$work/dghv" 2>/dev/null
printf '1\n0\n' | "$hearith" dghv encrypt "${dghv[@]}" --key "$work/dghv/public.dghv" - --out "$work/dghv/bits.dghv" 2>/dev/null
for file in public private bits; do
    head -c -32 "$work/dghv/$file.dghv" >"seeds/dghv_file/$file"
done
