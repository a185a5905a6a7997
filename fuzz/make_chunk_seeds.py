"""Makes the seeds of chunks out of encrypted tables: make_chunk_seeds.py NAME=FILE..."""

import pathlib
import sys

import pyarrow.parquet

seeds = pathlib.Path(__file__).parent / "seeds" / "chunk"
seeds.mkdir(parents=True, exist_ok=True)
for argument in sys.argv[1:]:
    name, file = argument.split("=")
    cells = [cell for cell in pyarrow.parquet.read_table(file)["salary"].to_pylist() if cell]
    # A total has no header of a chunk, in whose place anything does.
    header = b"" if cells[0].startswith(b"HBK2") else bytes(60)
    (seeds / name).write_bytes(header + cells[0])
