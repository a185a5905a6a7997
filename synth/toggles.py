"""Records the transitions of every pin of a mapped netlist while it works on random operands.

Icarus Verilog simulates the netlist with models of the cells that Yosys derives from the library,
and dumps the values for OpenSTA. There are no delays, so glitches do not count. The stimulus is the
same for every core: valid, ready and enable are 1, commands and marks of a last part are 0, moduli
and keys stay, and operands are random, even where a core expects less than the width allows: new
ones once the old ones are taken, or in every cycle if the core has no `ready`. An exponent's bits
are new in every cycle.
"""

import ast
import hashlib
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

import tools

#: Cycles of reset, of filling pipelines, and of recording.
RESET, FILL, COUNT = 4, 96, 128
#: The clock period in ns.
PERIOD = 10
#: The instance of the core in the dump.
SCOPE = "bench/core"

#: Values of inputs, by name; the first match counts. All others are operands.
ONE = r"(valid|ready|en)_i"
ZERO = r"(wipe|next|first|last)_i"
#: Inputs that are stable while a core works: moduli, what derives from them, and keys.
STABLE = r"^(m|mt|modulus|inverse|d|unit|exponent|windows|steps|(shift|enter|one)(_low|_high)?|key)_i$"
#: Operands that are new in every cycle.
STREAM = r"^bit_i$"


def code(text):
    """Returns a Python file without its comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


#: What a result depends on, beside the netlist.
VERSION = hashlib.sha256(code(pathlib.Path(__file__).read_text()).encode()).hexdigest()


class Port(NamedTuple):
    """A bit of a port: its name in the netlist, the name of its port, whether it is an output."""

    bit: str
    port: str
    is_output: bool


def models(files, path):
    """Writes Verilog models of a library's cells; registers begin with 0."""
    reads = "; ".join(f"read_liberty -ignore_miss_func {file}" for file in files)
    tools.yosys(f"{reads}; write_verilog -noattr {path}", path.with_suffix(".log"))
    text = re.sub(r"^(\s*reg \S+);", r"\1 = 0;", path.read_text(), flags=re.MULTILINE)
    path.write_text(text)


def ports(netlist, top):
    """Returns the bits of a module's ports."""
    head = netlist[netlist.index(f"module {top}(") :]
    found = re.findall(r"^  (input|output) (?:wire )?(\\(\S+) |\w+) ?;", head, re.MULTILINE)
    return [Port(bare or name, (bare or name).split("[")[0], way == "output") for way, name, bare in found]


def escaped(name):
    """Returns a name as an identifier of Verilog."""
    return f"\\{name} "


def bench(netlist, top):
    """Returns the bench that drives a netlist.

    Raises:
        tools.Failed: the module has no operand.
    """
    bits = ports(netlist, top)
    operands = [one for one in bits if not one.is_output and not held(one.port)]
    # First the operands that are new in every cycle.
    operands.sort(key=lambda one: not re.search(STREAM, one.port))
    drawn = len(operands) | 1
    streams = sum(1 for one in operands if re.search(STREAM, one.port))
    stable = [one for one in bits if not one.is_output and re.search(STABLE, one.port)]
    if not operands:
        raise tools.Failed(f"{top}: no operand to drive")
    ready = [f"out[{place}]" for place, one in enumerate(outputs(bits)) if one.port == "in_ready_o"] or ["1'b1"]
    ends = [f".{escaped(one.bit)}({driven(one, operands, stable)})" for one in bits if not one.is_output]
    ends += [f".{escaped(one.bit)}(out[{place}])" for place, one in enumerate(outputs(bits))]
    return f"""`timescale 1ns / 1ns
module bench;
  reg clk = 0, rst_n = 0, started = 0;
  reg [{drawn - 1}:0] operand = 0;
  reg [{max(len(stable), 1) - 1}:0] stable = 0;
  wire [{len(outputs(bits)) - 1}:0] out;
  integer i;
  {top} core ({", ".join(ends)});
  always #{PERIOD // 2} clk = !clk;
  // The highest bits of an odd number of random numbers: lower bits, and the same bits of numbers at
  // a distance with a factor of 2, depend on each other.
  initial begin
    for (i = 0; i < {len(stable)}; i = i + 1) stable[i] = $urandom >> 31;
    #{RESET * PERIOD} rst_n = 1;
    #{FILL * PERIOD} $dumpfile("toggles.vcd");
    $dumpvars(0, core);
    #{COUNT * PERIOD} $dumpflush;
    $finish;
  end
  always @(posedge clk) begin
    started <= rst_n;
    for (i = 0; i < ({" | ".join(["!rst_n", *ready])} ? {drawn} : {streams}); i = i + 1) operand[i] <= $urandom >> 31;
  end
endmodule
"""


def outputs(bits):
    """Returns the bits of outputs."""
    return [one for one in bits if one.is_output]


def held(port):
    """Returns whether an input is not an operand."""
    return port in ("clk_i", "rst_ni", "load_i") or any(re.search(names, port) for names in (rf"(^|_){ONE}$", rf"(^|_){ZERO}$", STABLE))


def driven(one, operands, stable):
    """Returns what drives a bit of an input."""
    if one.port == "clk_i":
        return "clk"
    if one.port == "rst_ni":
        return "rst_n"
    # Moduli, divisors and subgroup keys are odd.
    if one in stable:
        return "1'b1" if one.bit.endswith("_i[0]") else f"stable[{stable.index(one)}]"
    # A key is loaded once.
    if one.port == "load_i":
        return "rst_n & !started"
    if one in operands:
        return f"operand[{operands.index(one)}]"
    return int(bool(re.search(ONE, one.port)))


def dumped(netlist, cells, top, folder):
    """Simulates a netlist in a new folder; returns the value change dump there, of every net and
    every pin of a cell.

    Raises:
        tools.Failed: it does not compile, or does not run.
    """
    if not shutil.which("iverilog"):
        raise tools.Failed("Icarus Verilog is not installed (Debian package iverilog)")
    folder.mkdir(exist_ok=True)
    (folder / "bench.v").write_text(bench(netlist.read_text(), top))
    commands = (
        ["iverilog", "-g2005", "-s", "bench", "-o", "bench.vvp", "bench.v", str(netlist), str(cells)],
        ["vvp", "-n", "bench.vvp"],
    )
    for command in commands:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise tools.Failed(f"{command[0]}: {done.stdout[-2000:]}")
    return folder / "toggles.vcd"
