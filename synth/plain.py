"""Writes the designs as plain Verilog (IEEE 1364-2005), and simulates it with four states.

    plain.py write FOLDER [NAME...]   a file for each design and set of parameters
    plain.py simulate [NAME...]       the benches of rtl/sim on them, and resets, in Icarus Verilog

Yosys reads the SystemVerilog through its frontend `read_slang`, not the one used for synthesis.
Parameters are fixed in a file: its module accepts them but rejects other values.

A bench also fails if an output is unknown: from the end of the reset, each output must be known,
and data whenever its `valid` is set.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import tools

RTL = tools.ROOT / "rtl"
WORK = tools.ROOT / "target" / "plain"
PRIMES = f"128'h{1_073_479_681 << 64 | 1_073_692_673:032x}"

#: Designs in releases: the papers' sizes, and small ones to try. Module and parameters by name.
DESIGNS = {
    "mesa_64": ("mesa", {"N": 64, "Stages": 2, "StreamBits": 32}),
    "mesa_1024": ("mesa", {"N": 1024, "Stages": 6, "StreamBits": 64}),
    "mesa_dual_64": ("mesa_dual", {"N": 64, "Lanes": 1, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual_2048": ("mesa_dual", {"N": 2048, "Lanes": 1, "StreamBits": 64}),
    "coproc_64": ("coproc", {"N": 64, "Groups": 4, "StreamBits": 32}),
    "coproc_digit_64": ("coproc", {"N": 64, "Core": 1, "Digit": 16, "Width": 16, "Tile": 16, "Groups": 4, "StreamBits": 32}),
    "coproc_dual_64": ("coproc", {"N": 64, "Core": 2, "W": 16, "V": 16, "Groups": 4, "StreamBits": 32}),
    "coproc_512": ("coproc", {"N": 512, "Groups": 16, "StreamBits": 64}),
    "coproc_dual_512": ("coproc", {"N": 512, "Core": 2, "Groups": 16, "StreamBits": 64}),
    "residue_bank": ("residue_bank", {"Count": 2, "Primes": PRIMES, "StreamBits": 32}),
    "dghv_small": ("dghv", {"Rounds": 1, "MemoryWords": 1024, "StreamBits": 32}),
    "encryptor_board_64": ("encryptor_board", {"N": 64, "ABits": 64, "Voters": 10, "Slots": 64}),
    "tally_board_64": ("tally_board", {"N": 64, "EBits": 64, "Slots": 64}),
    "dual_encryptor_64": ("dual_encryptor", {"N": 64, "Teeth": 3, "Exponent": 16}),
    "block_encryptor_8": ("block_encryptor", {"Blocks": 8, "Lanes": 2}),
    "mont_mul_radix2_64": ("mont_mul_radix2", {"N": 64, "XBits": 66, "Word": 16}),
    "mont_mul_cios_64": ("mont_mul_cios", {"N": 64, "W": 16, "V": 16}),
    "mont_mul_digit_64": ("mont_mul_digit", {"N": 64, "Digit": 16, "Width": 16, "Tile": 16}),
    "mod_exp_ladder_64": ("mod_exp_ladder", {"N": 64, "W": 16, "V": 16, "Bits": 8}),
    "mod_exp_pair_64": ("mod_exp_pair", {"N": 64, "Digit": 16, "Width": 16, "Tile": 16}),
    "dual_lanes_64": ("dual_lanes", {"N": 64, "Lanes": 1, "W": 16, "V": 16}),
    "dual_mul_64": ("dual_mul", {"H": 64, "W": 16, "V": 16}),
    "residue_array": ("residue_array", {"Count": 2, "Primes": PRIMES}),
    "ntt_parallel_8": ("ntt_parallel", {"A": 16, "K": 8}),
    "convolution_parallel_8": ("convolution_parallel", {"A": 16, "K": 8, "Base": 6, "ATile": 8}),
    "uart_link": ("uart_link", {"BaudDivisor": 8, "Words": 64, "Timeout": 4000}),
    "spi_controller_link": ("spi_controller_link", {"Words": 64, "Timeout": 4000}),
    "spi_peripheral_link": ("spi_peripheral_link", {"Words": 64, "Timeout": 4000}),
}
#: Further designs under test in the benches of rtl/sim.
PARTS = {
    "mont_mul_radix2_16": ("mont_mul_radix2", {"N": 16, "XBits": 18, "Word": 4}),
    "mod_add_16": ("mod_add", {"N": 16, "Limb": 5}),
    "block_add_8": ("block_add", {"Bits": 8}),
    "stream_fifo_3": ("stream_fifo", {"Width": 16, "Depth": 3}),
    "crc32": ("crc32", {}),
    "uart_link_8": ("uart_link", {"BaudDivisor": 8, "Words": 8, "Timeout": 4000}),
    "sha256": ("sha256", {}),
    "modular_product": ("modular_product", {}),
}
#: The designs of each bench of rtl/sim.
BENCHES = {
    "arith": ["mont_mul_radix2_16", "mod_add_16"],
    "blocks": ["block_add_8"],
    "coproc": ["coproc_64"],
    "dghv": ["dghv_small"],
    "election": ["sha256"],
    "lib": ["stream_fifo_3", "crc32"],
    "links": ["uart_link_8"],
    "mesa": ["mesa_64"],
    "mesa_dual": ["mesa_dual_64"],
    "ntt": ["modular_product"],
    "rns": ["residue_bank"],
}
#: Cycles of the runs that only reset a design.
CYCLES = 400


def convert(name):
    """Returns the text of a design in plain Verilog.

    Raises:
        tools.Failed: Yosys cannot read it.
    """
    top, parameters = (DESIGNS | PARTS)[name]

    steps = f"hierarchy -check -top {top}; proc; bwmuxmap; opt_clean; write_verilog -noattr"

    def work(_):
        WORK.mkdir(parents=True, exist_ok=True)
        path, log = WORK / f"{name}.raw.v", WORK / f"{name}.log"
        rooms = " ".join(f"-y {RTL / room} -I{RTL / room}" for room in tools.ROOMS)
        packages = " ".join(str(path) for path in tools.SOURCES if path.stem.endswith("_pkg"))
        settings = " ".join(f"-G {key}={value}" for key, value in parameters.items())
        # The WebAssembly build has only one thread.
        tools.yosys(
            f"read_slang --threads 1 --top {top} {settings} {rooms} -Y .sv {packages} {RTL / room_of(top) / top}.sv; "
            f"{steps} {path}",
            log,
        )
        return path.read_text()

    text = tools.kept("plain", top, parameters, work, [steps])
    return with_parameters(text, name, top, parameters)


def room_of(module):
    """Returns the folder of a module."""
    return next(path.parent.name for path in tools.SOURCES if path.stem == module)


def with_parameters(text, name, top, parameters):
    """Returns the text with a top that accepts only the parameters that it was made with. The other
    modules get unique names, so that two files can be read together.
    """
    modules = re.findall(r"^module (\\\S+ |\w+)\s*\(", text, re.MULTILINE)
    names = {module: f"{top}__{re.sub(r'[^A-Za-z0-9]+', '_', module.strip(' ' + chr(92)))}" for module in modules}
    names[top] = top
    if len({*names.values()}) != len(names):
        raise tools.Failed(f"{name}: two modules would have the same name")
    for module, new in names.items():
        if module != new:
            # The definition, and the start of each instance.
            text = re.sub(rf"^(module |  ){re.escape(module.rstrip())}(?=\s)", rf"\g<1>{new}", text, flags=re.MULTILINE)
    lines = [
        f"  parameter {key} = {value};\n"
        f"  generate if ({key} != {value}) {top}_has_{key}_of_another_value fixed_{key} (); endgenerate\n"
        for key, value in parameters.items()
    ]
    said = " ".join(f"{key}={value}" for key, value in parameters.items()) or "its defaults"
    title = f"// SPDX-License-Identifier: MIT OR Apache-2.0\n// {top} with {said}: written by synth/plain.py from rtl/{room_of(top)}/{top}.sv.\n"
    return title + behind_head(text, top, "".join(lines))


def behind_head(text, top, lines):
    """Inserts lines after the head of a module."""
    head = re.search(rf"^module {top}\s*\(.*?\);\n", text, re.MULTILINE | re.DOTALL)
    return text[: head.end()] + lines + text[head.end() :]


def ports(text, top):
    """Returns the ports of a module in plain Verilog: name, whether it is an output, its range."""
    head = re.search(rf"^module {top}\s*\(.*?^endmodule", text, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^  (input|output) (?:reg |wire )?(\[[^\]]+\] )?(\w+)\s*;", head[0], re.MULTILINE)
    return [(name, way == "output", span.strip()) for way, span, name in found]


def said_by(name, outputs):
    """Returns the output that says whether this one has data, or None."""
    if name.endswith(("valid_o", "ready_o")):
        return None
    starts = {valid.removesuffix("valid_o"): valid for valid in outputs if valid.endswith("valid_o")}
    # A stream's tvalid covers its tdata and tlast.
    nearest = max((start for start in starts if name.startswith(start)), key=len, default=None)
    return starts.get(nearest)


def guarded(text, top):
    """Adds a check to the top: an unknown output after a reset ends the simulation.

    Designs without a clock or reset get no check, because nothing defines when their outputs become
    known.
    """
    found = ports(text, top)
    if not {"clk_i", "rst_ni"} <= {name for name, _, _ in found}:
        return text
    outputs = [name for name, is_output, _ in found if is_output]
    checks = []
    for output in outputs:
        valid = said_by(output, outputs)
        when = f"{valid} === 1'b1 && " if valid else ""
        unknown = f'$display("unknown: {top}.{output} at %0t", $time)'
        checks.append(f"    if ({when}^{output} === 1'bx) begin {unknown}; $finish_and_return(1); end\n")
    # From the first edge after the reset.
    lines = (
        "  reg [1:0] edges = 0;\n"
        "  always @(posedge clk_i) edges <= !rst_ni ? 1 : edges == 1 ? 2 : edges;\n"
        f"  always @(negedge clk_i) if (rst_ni && edges == 2) begin\n{''.join(checks)}  end\n"
    )
    return behind_head(text, top, lines)


#: Constructs in the benches that Icarus Verilog 11 cannot read, and their replacements. A wrong
#: latency would fail.
OLDER = {
    r"\b(parameter|localparam) (int unsigned|logic)\b": r"\1",
    r"ntt_pkg::product_latency\(64, 32, 0\)": "7",
    r"128'\(ntt_pkg::modulus\(64, 32\)\)": f"128'd{2**64 - 2**32 + 1}",
}


def older(text):
    """Rewrites a bench for a simulator of an older SystemVerilog."""
    for new, old in OLDER.items():
        text = re.sub(new, old, text)
    return text


CLOCK = """module clock;
  reg clk = 0;
  always #1 clk = !clk;
  bench bench (.clk_i(clk));
  initial begin #4000000; $display("bench: no end"); $finish_and_return(1); end
endmodule
"""


def idle(text, top):
    """Returns a bench that only resets a design."""
    found = ports(text, top)
    wires = "".join(f"  wire {span} {name};\n" for name, is_output, span in found if is_output)
    ends = [f".{name}({name if is_output else 'clk_i' if name == 'clk_i' else 'rst' if name == 'rst_ni' else 0})" for name, is_output, _ in found]
    return (
        f"module bench (input clk_i);\n  reg [15:0] cycle = 0;\n  wire rst = cycle > 8;\n{wires}"
        f"  {top} device ({', '.join(ends)});\n"
        f"  always @(posedge clk_i) begin cycle <= cycle + 1; if (cycle == {CYCLES}) begin $display(\"bench: nothing unknown\"); $finish; end end\n"
        "endmodule\n"
    )


def icarus(folder, files):
    """Compiles and runs a bench and returns its output.

    Raises:
        tools.Failed: it does not compile, or does not pass.
    """
    program = folder / "bench.vvp"
    commands = (
        ["iverilog", "-g2012", "-s", "clock", "-o", str(program), *map(str, files)],
        ["vvp", "-n", str(program)],
    )
    for command in commands:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise tools.Failed(f"{command[0]}: {done.stdout[-2000:]}")
    said = [line for line in done.stdout.splitlines() if line.startswith("bench: ")]
    if not said or "no end" in said[-1]:
        raise tools.Failed(done.stdout[-2000:] or "the bench printed nothing")
    return said[-1]


def simulate(name):
    """Runs a bench of rtl/sim, or resets a design, and returns the output."""
    folder = WORK / f"run-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if name in BENCHES:
        designs = BENCHES[name]
        source = RTL / "sim" / name
        bench = (source / "bench.sv").read_text()
        parts = [path for path in (RTL / "sim").glob("*.sv") if re.search(rf"\b{path.stem} (#\(|u_)", bench)]
        files = [folder / path.name for path in (source / "bench.sv", *parts)]
        for path, file in zip((source / "bench.sv", *parts), files, strict=True):
            file.write_text(older(path.read_text()))
        if (source / "vectors.hex").exists():
            shutil.copy(source / "vectors.hex", folder)
    else:
        designs = [name]
        (folder / "idle.v").write_text(idle(convert(name), DESIGNS[name][0]))
        files = [folder / "idle.v"]
    for design in designs:
        (folder / f"{design}.v").write_text(guarded(convert(design), (DESIGNS | PARTS)[design][0]))
        files.append(folder / f"{design}.v")
    (folder / "clock.v").write_text(CLOCK)
    return icarus(folder, [*files, folder / "clock.v"])


def small():
    """Returns the designs to reset; those of more than a few hundred bits take minutes each."""
    return [name for name in DESIGNS if not re.search(r"_(512|1024|2048)$", name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "simulate"))
    parser.add_argument("names", nargs="*", help="write: the folder, then designs; simulate: benches and designs")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.what == "write":
        if not options.names:
            parser.error("write takes a folder")
        folder = pathlib.Path(options.names[0])
        folder.mkdir(parents=True, exist_ok=True)
        jobs = {name: lambda name=name: (folder / f"{name}.v").write_text(convert(name)) for name in options.names[1:] or DESIGNS}
    else:
        jobs = {name: lambda name=name: simulate(name) for name in options.names or [*BENCHES, *small()]}
    reporting = {name: lambda name=name, job=job: print(f"plain: {name}: {job()}", flush=True) for name, job in jobs.items()}
    failures = tools.run_jobs(reporting, at_once=options.jobs)
    if failures:
        sys.exit(f"plain: {failures} of {len(jobs)} failed")


if __name__ == "__main__":
    main()
