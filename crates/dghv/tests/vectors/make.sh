#!/usr/bin/env bash
# Regenerates the test vectors with new secrets. Usage: make.sh HEARITH, the path of the program.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
hearith() {
    "$program" dghv --insecure-historical-parameters "$@" 2>/dev/null
}
printf '1\n0\n1\n1\n0\n' >"$folder/bits.txt"
echo "{'lam':12,'rho':8,'eta':988,'gam':2400,'alpha':30,'tau':6}" >"$folder/cnt"
echo "{'lam':12,'rho':6,'eta':320,'gam':1200,'alpha':20,'tau':5}" >"$folder/ladder"
hearith keygen --force --scheme cmnt --parameters toy --without-recryption --out cmnt
hearith keygen --force --scheme cnt --parameters "$folder/cnt" --out cnt
hearith keygen --force --scheme cnt --parameters "$folder/ladder" --without-recryption --ladder 1 --out ladder
for name in cmnt cnt ladder; do
    hearith encrypt --key "$name/public.dghv" "$folder/bits.txt" --out "$name/bits.dghv"
    chmod 644 "$name"/*.dghv
done
hearith switch --key ladder/public.dghv --level 1 ladder/bits.dghv --out ladder/bits1.dghv
