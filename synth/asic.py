"""Maps cores of rtl/ to standard cells with Yosys and writes their longest paths by OpenSTA to
`bench/results/frequency.md`.

The cell libraries are not in the repository. HEARITH_LIBERTY names a folder that contains
`nangate45_typ.lib` and `sky130hd_tt.lib`, as in `examples/` of OpenSTA's repository (compressed or
not). Without it the page uses the results that the repository keeps. A result is kept in
target/synth until one of its sources changes, so jobs can run in any order and in parts: `--list`
lists them, `--only WORD` runs those whose name contains a word, `--jobs 2` runs two at a time.
"""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import mesa
import pages
import tools
from tables import table

#: The libraries: file, SHA-256, description, and a buffer that drives inputs.
LIBRARIES = {
    "Nangate45": (
        "nangate45_typ.lib",
        "2efd0b32eb580e4e60e72fc0575bb3bc69aac907c91d908442e4ae6d7fe55895",
        "45 nm, typical, 1.1 V, 25 C",
        "BUF_X1",
    ),
    "sky130hd": (
        "sky130hd_tt.lib",
        "70a45bf9b5ea8f6a701dc34744b5c767b38e1af31b1d1f97309a97ec64603ecf",
        "130 nm, typical, 1.8 V, 25 C",
        "sky130_fd_sc_hd__buf_1",
    ),
}
#: ABC's target in ps, which no design reaches, and the clock period for the power, in ns.
AIM, PERIOD = 500, 10
#: Transitions of an input per cycle, for the power; OpenSTA derives registers and gates from it.
ACTIVITY = 0.1

Q = 1073692673
UNIT = {"Q": Q, "Words": 12, "Stages": 4}
SOLINAS, FERMAT = {"A": 64, "B": 32}, {"A": 64, "B": 0}


def mesa_cores(n, *names):
    """Returns cores of MESA with their parameters in MESA at n bits."""
    found = mesa.cores(n)
    return {f"{name}, {n} bits": (name, found[name]) for name in names}


#: The cores of each paper, and its rebuilt rivals: name, module, parameters.
DESIGNS = {
    "Multipliers and ladders": {
        **mesa_cores(256, "mont_mul_cios", "mont_mul_radix2", "mod_exp_ladder", "dual_lanes"),
        "mont_mul_digit, 256 bits": ("mont_mul_digit", {"N": 256, "Digit": 64, "Width": 32, "Tile": 16}),
        "mod_exp_pair, 256 bits": ("mod_exp_pair", {"N": 256, "Digit": 64, "Width": 32, "Tile": 16}),
        **mesa_cores(1024, "mont_mul_cios", "mont_mul_radix2"),
    },
    "Dividers and adders": mesa_cores(1024, "div_exact", "div_restoring", "carry_resolve", "cond_sub", "mod_add", "wide_add"),
    "Residue units, 360 bits, four registers": {
        "ours": ("residue_unit", UNIT),
        "ours, compact": ("residue_unit", {**UNIT, "Compact": 1}),
        "Roy (rival)": ("residue_unit_roy", UNIT),
        "Tan (rival)": ("residue_unit_tan", UNIT),
    },
    "Transforms": {
        "reduce_solinas, 2^64 - 2^32 + 1": ("reduce_solinas", SOLINAS),
        "reduce_fermat, 2^64 + 1": ("reduce_fermat", {"A": 64}),
        "reduce_barrett": ("reduce_barrett", {}),
        "modular_product, 2^64 - 2^32 + 1": ("modular_product", SOLINAS),
        "butterfly, 2^64 - 2^32 + 1": ("butterfly", {**SOLINAS, "K": 64}),
        "butterfly, 2^64 + 1": ("butterfly", {**FERMAT, "K": 64}),
    },
    "Voting and encryption": {
        "sha256": ("sha256", {}),
        "digit_mac": ("digit_mac", {}),
        "aes_ctr, a round": ("aes_ctr", {"Rounds": 1}),
    },
}


def liberty(name):
    """Returns the file of a library.

    Raises:
        tools.Failed: HEARITH_LIBERTY does not contain it, or contains another version.
    """
    file, digest, _, _ = LIBRARIES[name]
    path = tools.WORK / file
    if not path.exists():
        folder = os.environ.get("HEARITH_LIBERTY")
        if not folder:
            raise tools.Failed(f"{name}: HEARITH_LIBERTY does not name a folder with {file}")
        found = [one for one in pathlib.Path(folder).rglob(f"{file}*") if one.name in (file, f"{file}.gz")]
        if not found:
            raise tools.Failed(f"{name}: there is no {file} in {folder}")
        content = found[0].read_bytes()
        path.write_bytes(gzip.decompress(content) if found[0].suffix == ".gz" else content)
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        path.unlink()
        raise tools.Failed(f"{name}: {file} is not the version that the page requires")
    return path


STEPS = (
    "synth -flatten -top {top}; dfflibmap -liberty {library}; opt; "
    "abc -liberty {library} -D {aim} -constr {constraints}; setundef -zero; splitnets -ports; opt_clean -purge; "
    "tee -q -o {report} stat -liberty {library}; write_verilog -noattr -noexpr -nohex -nodec {netlist}"
)
QUESTIONS = """read_liberty {library}
read_verilog {netlist}
link_design {top}
create_clock -name clk -period {period} [get_ports clk_i]
set_power_activity -global -activity {activity} -duty 0.5
puts "== path"
report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -fields {{fanout}} -digits 4
puts "== power"
report_power -digits 6
exit
"""


def mapped(library, top, parameters):
    """Maps a core to a library's cells. Returns MHz by its longest path between registers, area,
    cells, registers, and power.
    """

    def work(name):
        name = f"{name}-{library}"
        file, _, _, driver = LIBRARIES[library]
        cells = liberty(library)
        constraints, report, netlist = (tools.WORK / f"{name}.{end}" for end in ("constr", "stat", "v"))
        constraints.write_text(f"set_driving_cell {driver}\nset_load 10.0\n")
        steps = STEPS.format(top=top, library=cells, aim=AIM, constraints=constraints, report=report, netlist=netlist)
        tools.yosys(f"{tools.read(top, parameters)}; {steps}", tools.WORK / f"{name}.log")
        questions = tools.WORK / f"{name}.tcl"
        questions.write_text(QUESTIONS.format(library=cells, netlist=netlist, top=top, period=PERIOD, activity=ACTIVITY))
        if not shutil.which("sta"):
            raise tools.Failed("OpenSTA is not installed (Debian package opensta)")
        said = tools.run(["sta", "-exit", str(questions)], tools.WORK / f"{name}.sta")
        if re.search(r"^Error", said, re.MULTILINE):
            raise tools.Failed(f"{name}: {re.search(r'^Error.*', said, re.MULTILINE)[0]}")
        found = answers(said, report.read_text())
        netlist.unlink()
        return found

    options = [library, LIBRARIES[library][1], STEPS, QUESTIONS, AIM, PERIOD, ACTIVITY]
    return tools.kept(f"asic-{library}", top, parameters, work, options)


def answers(said, report):
    """Parses the output of OpenSTA and Yosys: MHz, square micrometres and microwatts per MHz."""
    path, power = said.split("== path")[1].split("== power")
    slack = float(re.search(r"(-?[\d.]+)\s+slack", path)[1])
    watts = float(re.search(r"^Total\s.*?([\d.e+-]+)\s+100", power, re.MULTILINE)[1])
    gates = re.findall(r"^\s*(?:[\d.]+\s+)*[\d.]+ [v^] \S+/(?:Z|ZN|Y|X|Q|QN|COUT|SUM|CO|S) \((\w+)\)", path, re.MULTILINE)
    area = re.findall(r"Chip area for (?:top )?module.*?:\s*([\d.]+)", report)[-1]
    # The last section covers the whole design.
    whole = re.split(r"^=== .* ===$", report, flags=re.MULTILINE)[-1]
    counts = re.findall(r"^\s+(\d+)\s+[\d.E+]+\s+(\w+)$", whole, re.MULTILINE)
    registers = sum(int(number) for number, cell in counts if re.search(r"^(S?DFF|sky130_fd_sc_hd__[es]?df)", cell))
    return {
        "MHz": round(1000 / (PERIOD - slack), 1),
        "area": round(float(area)),
        "registers": registers,
        "uW/MHz": round(watts * 1e6 / (1000 / PERIOD), 2),
        "gates": max(0, len(gates) - 1),
        "buffers": sum(1 for gate in gates if re.search(r"buf|BUF", gate)),
    }


def jobs():
    """Returns every mapping by its name."""
    return {
        f"{library}: {group}: {label}": lambda library=library, design=design: mapped(library, *design)
        for group, designs in DESIGNS.items()
        for label, design in designs.items()
        for library in LIBRARIES
    }


def tables():
    text = []
    for group, designs in DESIGNS.items():
        rows = []
        for label, design in designs.items():
            cells = [label]
            for library in LIBRARIES:
                found = mapped(library, *design)
                cells += [f"{found[kind]:,}".replace(",", " ") for kind in ("MHz", "area", "uW/MHz", "gates")] if found else ["not run"] * 4
            rows.append(cells)
        head = [f"{library}: {kind}" for library in LIBRARIES for kind in ("MHz, mapped", "area, um2", "uW/MHz", "gates of the longest path")]
        text.append(f"## {group}\n\n{table(('core', *head), rows)}\n")
    return "\n".join(text)


TEXT = """# Frequencies and areas in standard cells

Written by `make synth-asic` (synth/asic.py) with {tools}, and OpenSTA {sta}.

**Mapped**: the netlist without wires. There is no placement, no clock tree and no wire load, so a chip is slower. Designs are compared under equal conditions, and no figure is projected
from someone else's frequency. The libraries are {libraries}. They are not in the repository: HEARITH_LIBERTY names their folder.

The longest path is from register to register. Power is OpenSTA's with {activity} transitions per input and cycle, including leakage, at {period} MHz. Rivals are the papers' other
designs, rebuilt here. These cores contain no memories.

{tables}"""


def sta_version():
    """Returns the version of OpenSTA that the page was made with."""
    if not shutil.which("sta"):
        return "(not here)"
    done = subprocess.run(["sta", "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.split("\n")[0].strip()


def page():
    """Returns the page."""
    return TEXT.format(
        tools=pages.versions().split(",")[0],
        sta=sta_version(),
        libraries=" and ".join(f"{name} ({what})" for name, (_, _, what, _) in LIBRARIES.items()),
        activity=ACTIVITY,
        period=f"{1000 / PERIOD:g}",
        tables=tables(),
    )


def main():
    arguments = pages.options(__doc__).parse_args()
    pages.write("frequency", jobs(), arguments, page)


if __name__ == "__main__":
    main()
