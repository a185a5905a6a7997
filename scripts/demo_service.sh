#!/usr/bin/env bash
# The demo's workflow through a service: starts `hearith serve` on the loopback address, and two
# clients with different keys use it concurrently to encrypt, sum and decrypt data/flights.csv.
# Compares their totals with those of the command line alone, which `make demo` compares with
# plaintext sums. Ends with status 1 if a byte differs. BITS (2048) chooses the key size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bits=${BITS:-2048}
table=data/flights.csv
target=${CARGO_TARGET_DIR:-target}
folder=$target/demo-service
hearith=$target/release/hearith

cargo build --locked --release --package hearith --no-default-features --features service
rm -rf "$folder"
mkdir -p "$folder"

# step WORDS...: prints a command as a user would type it, and runs it.
step() {
    printf '$ hearith %s\n' "$*"
    "$hearith" "$@"
}

# job NAME [OPTIONS...]: the whole workflow with the key NAME, with options for every command.
job() {
    local name=$1 key=$folder/$1 out=$folder/$1${2:+-remote}
    shift
    step encrypt --key "$key/public.json" --column dep_delay,distance --pack "$@" "$table" --out "$out.parquet"
    step sum --key "$key/public.json" --by carrier "$@" "$out.parquet" --out "$out-totals.parquet"
    # The service has the private key: its client uses only the public one.
    local owner=private
    [ $# -eq 0 ] || owner=public
    step decrypt --key "$key/$owner.json" "$@" "$out-totals.parquet" --out "$out.csv"
    printf '%s\n' "$name: done"
}

step keygen --bits "$bits" --variant djn --out "$folder/first"
step keygen --bits "$bits" --variant djn --out "$folder/second"
job first

printf '\n$ hearith serve\n'
"$hearith" --json serve --listen 127.0.0.1:0 --key "$folder/first/private.json" --key "$folder/second/private.json" 2>"$folder/log" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    address=$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$folder/log")
    [ -z "$address" ] || break
    sleep 0.1
done
echo "It listens on $address. Two clients with different keys send requests at the same time:"

job first --remote "http://$address" &
first=$!
job second --remote "http://$address" &
second=$!
wait "$first"
wait "$second"
kill -TERM "$server"
wait "$server"
trap - EXIT

echo
for client in first second; do
    if ! cmp "$folder/first.csv" "$folder/$client-remote.csv"; then
        echo "The totals of client '$client' DIFFER."
        exit 1
    fi
done
echo "Both clients' totals equal those of the command line alone:"
cat "$folder/first-remote.csv"
