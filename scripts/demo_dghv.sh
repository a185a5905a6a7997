#!/usr/bin/env bash
# FHE over the integers: adds two encrypted numbers with only the public key, decrypts the sum, and
# compares it with the plaintext sum. Ends with status 1 if they differ. SCHEME (cnt) and PARAMETERS
# (toy) choose the key; all of them are broken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-target}
folder=$target/demo-dghv
hearith=$target/release/hearith

cargo build --locked --release --package hearith --no-default-features --features dghv

# step WORDS...: prints a command as a user would type it, and runs it.
step() {
    printf '\n$ hearith dghv %s\n' "$*"
    "$hearith" dghv "$@"
}

# bits NUMBER: prints its eight bits, the least significant first, one per line.
bits() {
    local place
    for place in {0..7}; do echo $(($1 >> place & 1)); done
}

rm -rf "$folder"
mkdir -p "$folder"
a=$((RANDOM % 256)) b=$((RANDOM % 256))
bits $a >"$folder/a.txt"
bits $b >"$folder/b.txt"
printf 'A circuit of eight full adders adds %s and %s, which are encrypted bit by bit.\n' $a $b

ask=--insecure-historical-parameters
step keygen $ask --scheme "${SCHEME:-cnt}" --parameters "${PARAMETERS:-toy}" --out "$folder/key"
step encrypt $ask --key "$folder/key/public.dghv" "$folder/a.txt" --out "$folder/a.dghv"
step encrypt $ask --key "$folder/key/public.dghv" "$folder/b.txt" --out "$folder/b.dghv"
step evaluate $ask --key "$folder/key/public.dghv" --circuit crates/dghv/circuits/adder8.txt \
    "$folder/a.dghv" "$folder/b.dghv" --out "$folder/sum.dghv"
step inspect "$folder/sum.dghv"
step decrypt $ask --key "$folder/key/private.dghv" "$folder/sum.dghv" --out "$folder/sum.txt"

sum=0 place=0
while read -r bit; do
    sum=$((sum + (bit << place)))
    place=$((place + 1))
done <"$folder/sum.txt"
printf '\nThe decrypted sum is %s, the expected sum is %s.\n' $sum $((a + b))
[ $sum -eq $((a + b)) ]
