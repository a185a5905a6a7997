#!/usr/bin/env bash
# An election with a known result: 538 simulated voters cast the votes of data/electors.csv, 450 of
# them after an earlier, different vote, and 12 ballots are challenged. That makes a thousand
# ballots. Five trustees, each a process, generate the key together and three of them decrypt. Two
# verifiers without common code check the record, and the result is compared with the true one. Ends
# with status 1 if it differs. All parties use HTTP and a server on SQLite. BITS (2048) chooses the
# key size; SERVE=1 leaves the server up, at the printed URL, until Ctrl-C. The record stays in
# target/demo-election/record.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bits=${BITS:-2048}
table=data/electors.csv
target=${CARGO_TARGET_DIR:-target}
folder=$target/demo-election
office=$folder/office
hearith=${HEARITH_COMMAND:-$target/release/hearith}
insecure=()
[ "$bits" -ge 2048 ] || insecure=(--insecure-key)

[ -n "${HEARITH_COMMAND:-}" ] || cargo build --locked --release --package hearith --no-default-features --features election
rm -rf "$folder"
mkdir -p "$folder"

# step WORDS...: prints a command as a user would type it, and runs it.
step() {
    printf '\n$ hearith election %s\n' "$*"
    "$hearith" "${insecure[@]}" election "$@"
}

# Five trustees generate the key over the loopback address.
generate() {
    local ports trustee peer parts=() peers
    read -ra ports < <(python3 scripts/demo_election.py ports 5)
    for trustee in {1..5}; do
        peers=()
        for ((peer = 1; peer < trustee; peer++)); do peers+=(--peer "$peer=127.0.0.1:${ports[peer - 1]}"); done
        line=(ceremony --distributed 3/5 --bits "$bits" --trustee "$trustee" --trustee-keys "$folder/trustees.txt"
            --trustee-key "$folder/signing/trustee-$trustee.json" --listen "127.0.0.1:${ports[trustee - 1]}"
            "${peers[@]}" --out "$folder/trustees-$trustee")
        if [ "$trustee" = 5 ]; then
            step "${line[@]}"
        else
            "$hearith" "${insecure[@]}" election "${line[@]}" >"$folder/trustee-$trustee.log" 2>&1 &
            parts+=($!)
        fi
    done
    for trustee in "${!parts[@]}"; do
        wait "${parts[trustee]}" || { cat "$folder/trustee-$((trustee + 1)).log" >&2; exit 1; }
    done
}

# Starts the server, which stops when this script ends.
serve() {
    "$hearith" "${insecure[@]}" election serve --store "sqlite:$folder/board.db" --board-key "$office/board.json" \
        --listen 127.0.0.1:0 --max-rate 0 "${pages[@]}" 2>"$folder/server.log" &
    server=$!
    trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
    for _ in {1..200}; do
        url=$(sed -nE 's/.*listening.* address=([0-9.:]+).*/http:\/\/\1/p' "$folder/server.log")
        [ -n "$url" ] && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$folder/server.log" >&2
    exit 1
}

# cast TABLE: casts its votes, eight at a time.
cast() {
    local parts=() part
    printf '\n$ hearith election vote %s --ballots ... (%s.csv, eight voters at a time)\n' "$url" "$1"
    for part in {0..7}; do
        awk -v part="$part" 'NR == 1 || NR % 8 == part' "$folder/$1.csv" >"$folder/$1-$part.csv"
        "$hearith" "${insecure[@]}" --quiet election "${vote[@]}" --ballots "$folder/$1-$part.csv" &
        parts+=($!)
    done
    for part in "${parts[@]}"; do wait "$part"; done
}

pages=()
[ ! -f web/dist/index.html ] || pages=(--web web/dist)
python3 scripts/demo_election.py votes "$table" "$folder"
step init --title "Electors of 2016" --contests "$folder/contests.json" --revoting --out "$office"
printf '\nFive trustees create signing keys and exchange the public halves:\n'
mkdir "$folder/signing"
for trustee in {1..5}; do
    step trustee-key --out "$folder/signing/trustee-$trustee.json" | tee "$folder/said.txt"
    tail -n 1 "$folder/said.txt" >>"$folder/trustees.txt"
done
printf '\nThey generate the key of the election together, each in a separate process (one is shown):\n'
generate
step ceremony "$office" --trustee-keys "$folder/trustees.txt" --statements "$folder"/trustees-?/statement-?.json
step restore --store "sqlite:$folder/board.db" "$office"
serve
printf '\ndemo: the server is %s\n' "$url"
step register "$office" "$folder/voters.csv" --out "$folder/credentials.jsonl" --open --server "$url"
vote=(vote "$url" --credential "$folder/credentials.jsonl")
cast first

printf '\nTwelve voters challenge a ballot before they vote (one is shown):\n'
for number in {1..12}; do
    voter=$(printf 'elector %03d' "$number")
    chosen=(--choose "President=Ron Paul" --choose "Vice President=Winona LaDuke")
    show=$([ "$number" = 1 ] && echo step || echo quiet)
    quiet() { "$hearith" "${insecure[@]}" election "$@" >"$folder/said.txt" 2>&1 || { cat "$folder/said.txt" >&2; exit 1; }; }
    "$show" "${vote[@]}" --voter "$voter" "${chosen[@]}" --prepare "$folder/prepared.json"
    "$show" challenge "$url" "$folder/prepared.json" --credential "$folder/credentials.jsonl"
    rm "$folder/prepared.json"
done

cast last
step tally "$office" --server "$url"
for trustee in 1 3 5; do
    step decrypt-share "$url" --share "$folder/trustees-$trustee/share-$trustee.json" \
        --trustee-key "$folder/signing/trustee-$trustee.json" --out "$folder/share-$trustee.json"
done
step finish "$office" "$folder/share-1.json" "$folder/share-3.json" "$folder/share-5.json" --server "$url"
step verify "$url"
step backup --store "sqlite:$folder/board.db" "$folder/record"

step verify "$folder/record"
printf '\n$ python3 verifier/hearith_verify.py %s\n' "$folder/record"
python3 verifier/hearith_verify.py "${insecure[@]}" "$folder/record"
"$hearith" "${insecure[@]}" --json election verify "$folder/record" >"$folder/verified.json"
python3 scripts/demo_election.py compare "$table" "$folder/verified.json"
printf 'demo: the published record is in %s\n' "$folder/record"
if [ "${SERVE:-0}" = 1 ]; then
    printf 'demo: the server at %s runs until Ctrl-C\n' "$url"
    wait "$server"
fi
