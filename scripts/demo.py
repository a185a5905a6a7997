"""The main workflow in Python and SQL, on the flights table.

Run by `make demo-python`; each cell (`# %%`) also runs on its own in a notebook.

Encrypts two columns, sums them by airline in DuckDB with only the public key, and decrypts the
totals. Compares them with those of the command line on the same file and with plaintext sums. Ends
with status 1 if any differ.
"""

# %% A key pair: the aggregator gets the public key, the owner keeps the private key.
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq

import hearith as he
import hearith.duckdb

BITS = int(os.environ.get("BITS", he.DEFAULT_BITS))
ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "data/flights.csv"
COMMAND = os.environ.get("HEARITH_COMMAND", "hearith")

holder = tempfile.TemporaryDirectory(prefix="hearith-demo-")
folder = Path(holder.name)
public, private = he.generate_keypair(BITS, variant="djn")
(folder / "public.json").write_text(public.to_jwk())
with open(os.open(folder / "private.json", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
    file.write(private.to_jwk())
print(public)

# %% Encrypt: one ciphertext holds delay and distance of each flight; a separate column holds the
# distances again.
flights = pyarrow.csv.read_csv(TABLE)
columns = {"dep_delay": {}, "distance": {}}
packed = private.encrypt_columns(flights, columns, pack=True, progress=sys.stderr.isatty())
pq.write_table(packed, folder / "flights.parquet", row_group_size=4096)
some = private.encrypt_column(flights.slice(0, 2000), "distance")
pq.write_table(some, folder / "some.parquet")
print(f"{flights.num_rows} flights, {os.path.getsize(folder / 'flights.parquet') / 1e6:.1f} MB encrypted")

# %% Sum by airline in DuckDB, with the public key.
con = hearith.duckdb.connect()
encrypted = hearith.duckdb.sum_columns(con, public, folder / "flights.parquet", by="carrier")
print(encrypted.schema.to_string(show_field_metadata=False))

# %% Decrypt the totals.
totals = private.decrypt_columns(encrypted)

# %% The same with the command line.
steps = [
    [
        "sum",
        "--key",
        folder / "public.json",
        "--by",
        "carrier",
        folder / "flights.parquet",
        "--out",
        folder / "totals.parquet",
    ],
    ["decrypt", "--key", folder / "private.json", folder / "totals.parquet", "--out", folder / "totals.csv"],
]
for step in steps:
    subprocess.run([COMMAND, *step], check=True)
command_line = pyarrow.csv.read_csv(folder / "totals.csv")

# %% And from the plaintexts.
plain = con.sql(
    f"SELECT carrier, sum(dep_delay) AS dep_delay, sum(distance) AS distance FROM '{TABLE}' GROUP BY ALL ORDER BY ALL"
).to_arrow_table()

# %% Compare.
names = ["carrier", "dep_delay", "distance"]
by_duckdb, by_command, by_plain = (
    {row["carrier"]: (int(row["dep_delay"]), int(row["distance"])) for row in table.select(names).to_pylist()}
    for table in (totals, command_line, plain)
)
print(f"\n{'carrier':8} {'DuckDB':>20} {'command line':>20} {'plain sums':>20}")
for carrier, sums in sorted(by_plain.items()):
    cells = [f"{delay} / {distance}" for delay, distance in (by_duckdb[carrier], by_command[carrier], sums)]
    print(f"{carrier:8} {cells[0]:>20} {cells[1]:>20} {cells[2]:>20}")
same = by_duckdb == by_command == by_plain
print(f"All {2 * len(by_plain)} totals are equal." if same else "The totals DIFFER.")

# %% In plain SQL: sum, weight and decrypt one column where the private key is.
con.execute(f"SET hearith_private_key = '{folder / 'private.json'}'")
query = f"""
    SELECT carrier, he_decrypt(he_sum(distance)) AS miles, he_decrypt(he_multiply(he_sum(distance), 2)) AS both_ways
    FROM '{folder / "some.parquet"}' GROUP BY carrier ORDER BY miles DESC LIMIT 5
"""
print(query)
print(con.sql(query))
con.close()
holder.cleanup()
sys.exit(0 if same else 1)
