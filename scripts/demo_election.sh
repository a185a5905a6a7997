#!/usr/bin/env bash
# An election whose result is known: 538 simulated voters cast what data/electors.csv says, 450 of them after they had voted otherwise before, and
# 12 ballots are challenged: a thousand ballots. Three of five trustees decrypt, two verifiers that share no code check the record, and the result is
# held against the truth. Ends with status 1 if it differs. BITS (2048) chooses the key size. The record stays in target/demo-election/record.
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

[ -n "${HEARITH_COMMAND:-}" ] || cargo build --release --package hearith
rm -rf "$folder"
mkdir -p "$folder"

# step WORDS...: shows a command as one would type it, and runs it.
step() {
    printf '\n$ hearith election %s\n' "$*"
    "$hearith" "${insecure[@]}" election "$@"
}

python3 scripts/demo_election.py votes "$table" "$folder"
step init --title "Electors of 2016" --contests "$folder/contests.json" --revoting --out "$office"
step ceremony "$office" --bits "$bits" --shares 3/5 --out "$folder/trustees"
step register "$office" "$folder/voters.csv" --out "$folder/credentials.jsonl" --open
vote=(vote "$office" --credential "$folder/credentials.jsonl")
step "${vote[@]}" --ballots "$folder/first.csv"

printf '\nTwelve voters challenge a ballot before they vote, one of them shown:\n'
for number in {1..12}; do
    voter=$(printf 'elector %03d' "$number")
    chosen=(--choose "President=Ron Paul" --choose "Vice President=Winona LaDuke")
    show=$([ "$number" = 1 ] && echo step || echo quiet)
    quiet() { "$hearith" "${insecure[@]}" election "$@" >"$folder/said.txt" 2>&1 || { cat "$folder/said.txt" >&2; exit 1; }; }
    "$show" "${vote[@]}" --voter "$voter" "${chosen[@]}" --prepare "$folder/prepared.json"
    "$show" challenge "$office" "$folder/prepared.json" --credential "$folder/credentials.jsonl"
    rm "$folder/prepared.json"
done

step "${vote[@]}" --ballots "$folder/last.csv"
step tally "$office"
for trustee in 1 3 5; do
    step decrypt-share "$office/record" --share "$folder/trustees/share-$trustee.json" --out "$folder/share-$trustee.json"
done
step finish "$office" "$folder/share-1.json" "$folder/share-3.json" "$folder/share-5.json"
cp -r "$office/record" "$folder/record"

step verify "$folder/record"
printf '\n$ python3 verifier/hearith_verify.py %s\n' "$folder/record"
python3 verifier/hearith_verify.py "${insecure[@]}" "$folder/record"
"$hearith" "${insecure[@]}" --json election verify "$folder/record" >"$folder/verified.json"
python3 scripts/demo_election.py compare "$table" "$folder/verified.json"
printf 'demo: the published record is %s\n' "$folder/record"
