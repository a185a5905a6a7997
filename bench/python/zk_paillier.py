"""Compares proofs that a ciphertext holds 0 or 1 with zk-paillier's, on one thread each.

Writes bench/results/zk-paillier.md.

Needs the release-built programs `proofs` of hearith-bench and `zk-paillier-peer` of
bench/zk-paillier (scripts/bench_zk_paillier.sh builds them). Leave the machine idle otherwise.
"""

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
RESULT = ROOT / "bench" / "results" / "zk-paillier.md"
BITS = 2048
#: Our lines in `proofs --quick`, and zk-paillier's equivalent, which handles proofs one by one.
LINES = {"verify, one": "verify", "verify, a batch of 64": "verify", "prove, a batch of 64": "prove"}


def theirs(program: Path, rows: int) -> dict[str, float]:
    """Returns zk-paillier's microseconds per proof."""
    found = subprocess.run([program, str(BITS), str(rows)], check=True, capture_output=True, text=True)
    return {name: 1e6 * seconds for name, seconds in json.loads(found.stdout)["member"].items()}


def ours(program: Path) -> dict[str, float]:
    """Returns our microseconds per proof, by openings, from the first table that the program
    writes.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "--quick", "--bits", str(BITS), "--out", folder], check=True, capture_output=True)
        page = (Path(folder) / "proofs.md").read_text()
    table = page.split("## By openings")[1].split("##")[0]
    return {name: float(us) for name, us in re.findall(r"^\| (\w.*?) +\| +([\d.]+) \|", table, re.MULTILINE)}


def main() -> None:
    """Measures alternately, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20, help="zk-paillier's proofs per round")
    parser.add_argument("--ours", type=Path, default=BUILT / "proofs")
    parser.add_argument("--theirs", type=Path, default=BUILT / "zk-paillier-peer")
    asked = parser.parse_args()
    rounds = [(ours(asked.ours), theirs(asked.theirs, asked.rows)) for _ in range(asked.rounds)]
    lines = []
    for name, act in LINES.items():
        pairs = [(mine[name], peer[act]) for mine, peer in rounds]
        ratios = sorted(peer / mine for mine, peer in pairs)
        mine, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
        middle = statistics.median(ratios)
        lines.append(f"| {name} | {mine:.0f} | {peer:.0f} | {middle:.2f} | {ratios[0]:.2f} | {ratios[-1]:.2f} |")
    table = "\n".join(lines)
    page = f"""# Proofs compared with zk-paillier

Made by `scripts/bench_zk_paillier.sh`.

- Machine: {machine.processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}
- Date: {datetime.date.today().isoformat()}
- Versions: zk-paillier 0.4.4 over kzen-paillier 0.4.3 and curv-kzen 0.10.0, with GMP
- Method: proofs that a ciphertext holds 0 or 1, by openings, a key of {BITS} bits, one thread; {asked.rounds} rounds in alternation. Times are medians, ratios medians
  of paired rounds. zk-paillier proves and verifies one by one, {asked.rows} of each per round, and has no batches.

|  | us per proof | zk-paillier, us | x zk-paillier | least | most |
| --- | ---: | ---: | ---: | ---: | ---: |
{table}

The two do not prove the same statement. zk-paillier hashes only the commitments, so its proof can be forged ([docs/explanation/proofs.md](../../docs/explanation/proofs.md)). Its
verification neither hashes the statement nor checks for factors in common with the key. Its figures show the cost of the equations alone.
"""
    RESULT.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
