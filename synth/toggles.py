"""Counts the transitions of every net of a mapped netlist while it works on random operands.

Icarus Verilog simulates the netlist with models of the cells that Yosys derives from the library.
There are no delays, so glitches do not count. The stimulus is the same for every core: valid,
ready and enable are 1, commands are 0, moduli and keys stay, and operands are random: new ones
once the old ones are taken, or in every cycle if the core has no `ready`.
"""

import re
import shutil
import subprocess
from typing import NamedTuple

import tools

#: Cycles of reset, of filling pipelines, and of counting.
RESET, FILL, COUNT = 4, 96, 256
#: The period in the simulator's time steps.
STEP = 10

#: Values of inputs, by name; the first match counts. All others are operands.
ONE = r"(valid|ready|en)_i"
ZERO = r"(wipe|next|first)_i"
#: Inputs that are stable while a core works: moduli, what derives from them, and keys.
STABLE = r"^(m|mt|modulus|inverse|d|unit|exponent|windows|steps|(shift|enter|one)(_low|_high)?|key)_i$"
#: What a result depends on, beside the netlist.
STIMULUS = [RESET, FILL, COUNT, ONE, ZERO, STABLE]


class Net(NamedTuple):
    """Transitions per cycle, and the share of time at 1."""

    activity: float
    duty: float


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
    stable = [one for one in bits if not one.is_output and re.search(STABLE, one.port)]
    if not operands:
        raise tools.Failed(f"{top}: no operand to drive")
    ready = [f"out[{place}]" for place, one in enumerate(outputs(bits)) if one.port == "in_ready_o"]
    ends = [f".{escaped(one.bit)}({driven(one, operands, stable)})" for one in bits if not one.is_output]
    ends += [f".{escaped(one.bit)}(out[{place}])" for place, one in enumerate(outputs(bits))]
    return f"""`timescale 1ns / 1ns
module bench;
  reg clk = 0, rst_n = 0, started = 0;
  reg [{len(operands) - 1}:0] operand = 0;
  reg [{max(len(stable), 1) - 1}:0] stable = 0;
  wire [{len(outputs(bits)) - 1}:0] out;
  integer i;
  {top} core ({", ".join(ends)});
  always #{STEP // 2} clk = !clk;
  initial begin
    for (i = 0; i < {len(stable)}; i = i + 1) stable[i] = $urandom;
    #{RESET * STEP} rst_n = 1;
    #{FILL * STEP} $dumpfile("toggles.vcd");
    $dumpvars(1, core);
    #{COUNT * STEP} $dumpflush;
    $finish;
  end
  always @(posedge clk) begin
    started <= rst_n;
    if ({" & ".join(["rst_n", *ready])}) for (i = 0; i < {len(operands)}; i = i + 1) operand[i] <= $urandom;
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


def counted(vcd):
    """Returns every net of a value change dump by name."""
    names, changes = {}, {}
    time = start = 0
    for line in vcd:
        kind = line[0]
        if kind in "01xz":
            mark = line[1:-1]
            known = changes.get(mark)
            # Transitions, time at 1, the value, and since when.
            if known is None:
                changes[mark] = [0, 0, kind, time]
                continue
            if kind != known[2]:
                known[0] += kind in "01" and known[2] in "01"
                known[1] += time - known[3] if known[2] == "1" else 0
                known[2:] = kind, time
        elif kind == "#":
            time = int(line[1:])
            start = start or time
        elif line.startswith("$var"):
            words = line.split()
            names.setdefault(words[3], []).append("".join(words[4:-1]).lstrip("\\"))
    length = time - start
    found = {}
    for mark, (transitions, high, value, since) in changes.items():
        net = Net(transitions * STEP / length, (high + (time - since if value == "1" else 0)) / length)
        found.update(dict.fromkeys(names[mark], net))
    return found


def drivers(netlist, pins):
    """Returns the pins (instance/pin) that drive nets; `pins` are the names of output pins."""
    found = {}
    for _, instance, ends in re.findall(r"^  (\w+) (\w+) \(\n(.*?)\n  \);", netlist, re.MULTILINE | re.DOTALL):
        for pin, net in re.findall(r"\.(\w+)\((?:\\(?=\S+ ))?(\S*?) ?\)", ends):
            if pin in pins and net:
                found[f"{instance}/{pin}"] = net
    return found


def output_pins(text):
    """Returns the names of output pins in models of cells."""
    return set(re.findall(r"^\s*output (\w+);", text, re.MULTILINE))


def activities(netlist, cells, top, folder):
    """Simulates a netlist in a new folder, which is removed; returns OpenSTA's commands that set
    what was counted.

    Raises:
        tools.Failed: it does not compile, or does not run.
    """
    if not shutil.which("iverilog"):
        raise tools.Failed("Icarus Verilog is not installed (Debian package iverilog)")
    text = netlist.read_text()
    folder.mkdir(exist_ok=True)
    (folder / "bench.v").write_text(bench(text, top))
    commands = (
        ["iverilog", "-g2005", "-s", "bench", "-o", "bench.vvp", "bench.v", str(netlist), str(cells)],
        ["vvp", "-n", "bench.vvp"],
    )
    for command in commands:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise tools.Failed(f"{command[0]}: {done.stdout[-2000:]}")
    with open(folder / "toggles.vcd") as dump:
        nets = counted(dump)
    shutil.rmtree(folder)
    # In OpenSTA 2.0.17, set_power_activity -pins calls a procedure that does not exist, so its own
    # command is called here.
    driving = drivers(text, output_pins(cells.read_text()))
    lines = []
    for pin, name in driving.items():
        if name not in nets:
            raise tools.Failed(f"{top}: the simulation has no net {name}")
        lines.append(f"sta::set_power_pin_activity [get_pins {{{pin}}}] {nets[name].activity:.5f} {nets[name].duty:.4f}")
    for one in ports(text, top):
        if not one.is_output and one.port != "clk_i":
            net = nets[one.bit]
            lines.append(f"set_power_activity -input_ports {{{one.bit}}} -activity {net.activity:.5f} -duty {net.duty:.4f}")
    return "\n".join(lines) + "\n"
