#!/usr/bin/env bash
# Signs a release's checksums with a throw-away key and verifies them, then changes one byte and makes sure that verification fails.
# Usage: try_signature.sh FOLDER
set -euo pipefail
release=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

minisign -G -W -f -p "$folder/key.pub" -s "$folder/key" >/dev/null
mkdir "$folder/release"
# Unchanged files as links, changed ones as copies.
find "$release" -maxdepth 1 -type f ! -name 'SHA256SUMS*' -exec ln -s -t "$folder/release" {} +
cp "$release/SHA256SUMS" "$folder/release"
minisign -S -s "$folder/key" -m "$folder/release/SHA256SUMS" -t "a trial" >/dev/null
"$here/verify.py" "$folder/release" --key "$folder/key.pub"

# Changing a signed comment must fail, too.
cp "$folder/release/SHA256SUMS.minisig" "$folder/good.minisig"
sed 's/^trusted comment: .*/trusted comment: another/' "$folder/good.minisig" >"$folder/release/SHA256SUMS.minisig"
if "$here/verify.py" "$folder/release" --key "$folder/key.pub" >/dev/null 2>&1; then
    echo "try_signature: a changed comment was accepted" >&2
    exit 1
fi
mv "$folder/good.minisig" "$folder/release/SHA256SUMS.minisig"
minisign -G -W -f -p "$folder/stranger.pub" -s "$folder/stranger" >/dev/null
if "$here/verify.py" "$folder/release" --key "$folder/stranger.pub" >/dev/null 2>&1; then
    echo "try_signature: another key was accepted" >&2
    exit 1
fi
# One digit of one digest, so that the list itself is wrong.
sed '1s/^\(.\{7\}\)[0-8]/\19/; t; 1s/^\(.\{7\}\)./\10/' "$folder/release/SHA256SUMS" >"$folder/sums"
cmp -s "$folder/sums" "$folder/release/SHA256SUMS" && echo "try_signature: nothing was changed" >&2 && exit 1
mv "$folder/sums" "$folder/release/SHA256SUMS"
found=$("$here/verify.py" "$folder/release" --key "$folder/key.pub" 2>&1) && { echo "try_signature: changed checksums were accepted" >&2 && exit 1; }
grep -q "SHA256SUMS.minisig: the signature is invalid" <<<"$found" || { echo "try_signature: $found" >&2 && exit 1; }
echo "a signature by a temporary key is valid; those by another key, with another comment or over changed checksums are not"
