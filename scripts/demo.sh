#!/usr/bin/env bash
# The main workflow on a real table: encrypts two columns of data/flights.csv, sums them by carrier
# without the private key, decrypts the totals, and compares them with plaintext sums computed by
# awk. Ends with status 1 if any differ. BITS (3072) chooses the key size; HEARITH_ENGINE forces an
# engine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bits=${BITS:-3072}
table=data/flights.csv
target=${CARGO_TARGET_DIR:-target}
folder=$target/demo-columns
hearith=$target/demo/hearith

# The command line without its optional parts (servers, elections, FHE over the integers), which the
# demo does not use.
cargo build --locked --profile demo --package hearith --no-default-features

# step WORDS...: prints a command as a user would type it, and runs it.
step() {
    printf '\n$ hearith %s\n' "$*"
    "$hearith" "$@"
}

rm -rf "$folder"
mkdir -p "$folder"

printf '\n%s has %s flights. Each flight becomes one ciphertext of its delay and distance. The sums per\n' "$table" $(($(wc -l <"$table") - 1))
echo "airline are computed from the ciphertexts with only the public key, and only the totals are decrypted."

step keygen --bits "$bits" --variant djn --out "$folder"
step encrypt --key "$folder/public.json" --column dep_delay,distance --pack "$table" --out "$folder/flights.parquet"
step sum --key "$folder/public.json" --by carrier "$folder/flights.parquet" --out "$folder/totals.parquet"
step decrypt --key "$folder/private.json" "$folder/totals.parquet" --out "$folder/totals.csv"

echo
awk -F, '
    # Column numbers by name, from the header of each file.
    FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; next }
    {
        carrier = $column[FILENAME, "carrier"]
        delay = $column[FILENAME, "dep_delay"]
        distance = $column[FILENAME, "distance"]
    }
    # The plaintext sums.
    FILENAME == plain {
        delays[carrier] += delay
        distances[carrier] += distance
        next
    }
    # The decrypted totals, compared with them.
    FNR == 2 {
        format = "%-8s %12s %12s %14s %14s  %s\n"
        printf format, "", "dep_delay", "dep_delay", "distance", "distance", ""
        printf format, "carrier", "decrypted", "expected", "decrypted", "expected", ""
    }
    {
        # Compared as text: every digit must match.
        same = (delay "" == sprintf("%d", delays[carrier])) && (distance "" == sprintf("%d", distances[carrier]))
        printf format, carrier, delay, delays[carrier], distance, distances[carrier], same ? "equal" : "DIFFERENT"
        carriers++
        different += !same
        seen[carrier] = 1
    }
    END {
        for (carrier in delays) different += !(carrier in seen)
        print ""
        if (carriers == 0 || different > 0) {
            print "The totals DIFFER from the plain sums."
            exit 1
        }
        printf "All %d totals equal the expected sums.\n", 2 * carriers
    }
' plain="$table" "$table" "$folder/totals.csv"
