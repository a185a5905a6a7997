#!/usr/bin/env bash
# A survey from the form to the totals: PostgreSQL with the extension in a scratch folder, a server
# without a private key, simulated people, some of them in Chromium, and an analyst who decrypts
# totals of five answers or more. PEOPLE (1000) sets their number; SERVE=1 leaves the page up;
# HEARITH_SURVEY_SHOTS names a folder for pictures of the page. Fails if the totals are wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
people=${PEOPLE:-1000}
target=${CARGO_TARGET_DIR:-$PWD/target}

echo "1. Build: the program, the extension, the JavaScript package"
cargo build --quiet --profile demo --package hearith --no-default-features
hearith=$target/demo/hearith
scripts/js.sh build
installed=$(scripts/postgres.sh scratch)
python=$target/postgres/venv/bin/python

work=$(mktemp -d)
chmod 755 "$work"
shots=${HEARITH_SURVEY_SHOTS:-$work}
as_user=()
if [ "$(id -u)" -eq 0 ]; then
    as_user=(runuser -u postgres --)
fi
end() {
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
    "${as_user[@]}" "$installed/bin/pg_ctl" -D "$work/data/db" stop --mode=fast --silent >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap end EXIT

echo "2. A key pair: the analyst keeps private.json, and everybody else gets public.json"
"$hearith" keygen --bits 2048 --out "$work/key" --quiet

echo "3. PostgreSQL $("$installed/bin/postgres" --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1), the table, and the rights of each role"
mkdir "$work/data"
[ "$(id -u)" -ne 0 ] || chown postgres "$work/data"
"${as_user[@]}" "$installed/bin/initdb" -D "$work/data/db" --no-sync --auth=trust --username=owner --encoding=UTF8 >/dev/null
"${as_user[@]}" "$installed/bin/pg_ctl" -D "$work/data/db" start --wait --silent --log="$work/data/log" \
    --options="-c listen_addresses= -c unix_socket_directories=$work/data -c fsync=off" >/dev/null
sql() {
    "$installed/bin/psql" --host="$work/data" --dbname=postgres --quiet --no-psqlrc --set=ON_ERROR_STOP=1 "$@"
}
sql --username=owner --file=survey/schema.sql
sql --username=owner --command="SELECT he_load_key(pg_catalog.convert_from('\\x$(od -An -vtx1 "$work/key/public.json" | tr -d ' \n')', 'UTF8'))" >/dev/null

echo "4. $people invitations, and each person's salary, which only that person knows"
"$python" - "$people" "$work" <<'PYTHON'
import decimal, json, random, secrets, sys

count, folder = int(sys.argv[1]), sys.argv[2]
# The last department is too small to be published.
depts = random.choices(["lab", "office", "sales"], k=count - 3) + ["workshop"] * 3
people = [
    {"code": secrets.token_urlsafe(16), "dept": dept, "salary": f"{random.randrange(200000, 900000) / 100:.2f}"}
    for dept in random.sample(depts, count)
]
json.dump(people, open(f"{folder}/people.json", "w"))
totals = {}
for person in people:
    number, total = totals.get(person["dept"], (0, decimal.Decimal(0)))
    totals[person["dept"]] = (number + 1, total + decimal.Decimal(person["salary"]))
with open(f"{folder}/truth.csv", "w") as truth:
    truth.write("dept,answers,salary\n")
    for dept, (number, total) in sorted(totals.items()):
        truth.write(f"{dept},{number},{total if number >= 5 else ''}\n")
with open(f"{folder}/invitations.sql", "w") as sql:
    for person in people:
        sql.write(f"INSERT INTO invitations VALUES (sha256('{person['code']}'));\n")
PYTHON
(echo BEGIN\; && cat "$work/invitations.sql" && echo COMMIT\;) | sql --username=owner

"$python" survey/server.py --database "host=$work/data dbname=postgres user=collector" --key "$work/key/public.json" \
    --library packages/js/dist >"$work/url" &
server=$!
for _ in $(seq 100); do
    [ -s "$work/url" ] && break
    sleep 0.1
done
url=$(cat "$work/url")

echo "5. They answer on $url (the form's code encrypts each salary before it is sent)"
# So that Node resolves the package and the browser's driver like installed packages.
mkdir -p survey/node_modules
ln -sfn ../../packages/js survey/node_modules/hearith
ln -sfn ../../web/node_modules/playwright-core survey/node_modules/playwright-core
PATH=$PWD/.venv/bin:$PATH node survey/respondents.mjs "$url" "$work/people.json" "$shots"

echo "6. What the server stores"
sql --username=owner --command="SELECT dept, left(salary::text, 70) || '...' AS salary FROM answers LIMIT 3"

echo "7. The analyst may not read answers"
if sql --username=analyst --command="SELECT salary FROM answers" 2>"$work/refused"; then
    echo "demo: the analyst can read answers" >&2
    exit 1
fi
cat "$work/refused"

echo "8. The fixed query, and the totals decrypted with the private key"
sql --username=analyst --csv --command="SELECT * FROM totals" >"$work/totals.csv"
"$hearith" import --values --key "$work/key/public.json" --column salary "$work/totals.csv" --out "$work/totals.parquet" --quiet
"$hearith" decrypt --key "$work/key/private.json" "$work/totals.parquet" --out "$work/found.csv" --quiet
cat "$work/found.csv"
if ! diff "$work/truth.csv" "$work/found.csv" >"$work/difference"; then
    echo "demo: the totals differ from the expected ones:" >&2
    cat "$work/difference" >&2
    exit 1
fi
echo "   These are the sums of $people salaries. The workshop has three people, so it has no total."

if [ -n "${SERVE:-}" ]; then
    code=$("$python" -c 'import secrets; print(secrets.token_urlsafe(16))')
    sql --username=owner --command="INSERT INTO invitations VALUES (sha256('$code'))"
    echo "9. Answer yourself: $url#$code (Ctrl-C ends the demo)"
    wait "$server"
fi
