"""The scripts that compile and measure the GPU kernels work, without a compiler and a card."""

import subprocess
from pathlib import Path

import gpu_registers

ROOT = Path(__file__).resolve().parents[2]

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'wide_product_40' for 'sm_90'
ptxas info    : Function properties for wide_product_40
    160 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 244 registers, used 0 barriers, 160 bytes cumulative stack size
ptxas info    : Compiling entry function 'wide_comb_20' for 'sm_90'
ptxas info    : Function properties for wide_comb_20
    480 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 254 registers, used 0 barriers, 480 bytes cumulative stack size
"""


def test_registers_and_spills_are_read():
    assert gpu_registers.kernels(LOG) == [("wide_comb_20", 254, 480, 0), ("wide_product_40", 244, 160, 12)]


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def bench(*arguments: str) -> str:
    command = ["bash", str(ROOT / "bench/gpu.sh"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_figures_are_those_of_the_programs(tmp_path):
    # 1000 rows: seconds of kernels, and of everything. Narrow kernels take twice as long.
    rates = program(
        tmp_path / "rates",
        "[ $HEARITH_CUDA_KERNEL = wide ] && by=1 || by=2\n"
        'printf "decrypt standard-2048\\t1000\\t0.00$by\\t0.01$by\\n"\n'
        'printf "decrypt standard-2048 unchecked\\t1000\\t0.00$by\\t0.005\\n"\n'
        '[ -z "$3" ] || printf "batch decrypt standard-2048\\t64\\t0.004\\t0.002\\n"',
    )
    lines = ["power\\t2048\\t1024\\t4\\t600", "power\\t2048\\t1024\\t8\\t700", "product\\t4096\\t0\\t16\\t12345"]
    cgbn = program(tmp_path / "cgbn", "\n".join(f'printf "{line}\\n"' for line in lines))
    kernels = program(tmp_path / "kernels", 'printf "power, wide\\t20\\t1\\t252\\t480\\t83.1\\t54321\\tabc\\n"')
    programs = ["--rates", rates, "--cgbn-program", cgbn, "--kernels", kernels]
    table = bench(*programs, "--keys", str(tmp_path), "--out", str(tmp_path / "gpu.md"))
    assert "| decrypt, 2048 | 1000000 | 500000 | 90909 | 200000 | 350 (8 threads) |" in table
    assert "| decrypt, 3072 | not measured | not measured | not measured | not measured | not measured |" in table
    assert table.count("| decrypt standard-2048 | 64 | 4.00 | 2.00 | 0.50 |") == 1
    assert "| power, wide | 20 | 1 | 252 | 54321 |" in table
    assert "12345 (16 threads)" in table
    assert "Not measured" not in table


def test_a_table_without_figures_says_so(tmp_path):
    out = tmp_path / "gpu.md"
    bench("--blank", "--out", str(out))
    text = out.read_text()
    assert "**Not measured**: no card was available for long enough." in text
    measured = [line for line in text.splitlines() if line.startswith(("| decrypt", "| encrypt", "| sum"))]
    assert len(measured) == 7
    assert not any(cell.strip().isdigit() for line in measured for cell in line.split("|"))
