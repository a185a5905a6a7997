"""Maps cores of rtl/ to standard cells with Yosys, and finds their longest paths with OpenSTA.

The cell libraries are not in the repository. HEARITH_LIBERTY names a folder with the files of
LIBRARIES, as in `examples/` and `test/asap7/` of OpenSTA's repository (compressed or not).
"""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

import tools


class Library(NamedTuple):
    """A cell library: its files with their SHA-256, a description, a buffer that drives inputs, and
    OpenSTA's command that sets the units of the others.
    """

    files: dict
    description: str
    driver: str
    units: str = ""


LIBRARIES = {
    "Nangate45": Library({"nangate45_typ.lib": "2efd0b32eb580e4e60e72fc0575bb3bc69aac907c91d908442e4ae6d7fe55895"}, "45 nm, typical, 1.1 V, 25 C", "BUF_X1"),
    "sky130hd": Library(
        {"sky130hd_tt.lib": "70a45bf9b5ea8f6a701dc34744b5c767b38e1af31b1d1f97309a97ec64603ecf"}, "130 nm, typical, 1.8 V, 25 C", "sky130_fd_sc_hd__buf_1"
    ),
    # The slow corner: of the typical one OpenSTA's repository does not hold all cells.
    "ASAP7": Library(
        {
            "asap7sc7p5t_AO_RVT_SS_nldm_211120.lib": "55584f8ac4910eefdbaf0183b021681cd87b3b9d62a62d6f802a601e79002df9",
            "asap7sc7p5t_INVBUF_RVT_SS_nldm_220122.lib": "971247fdbb98c969300444c440ce5a5f3bc64a17c402e2025cf09c87908e97c0",
            "asap7sc7p5t_OA_RVT_SS_nldm_211120.lib": "bf962aaa931b8bfeb8133719db6f6da0dde86fb373dd03629bf492f33f75c649",
            "asap7sc7p5t_SEQ_RVT_SS_nldm_220123.lib": "c6a6d9ad22bfb1bc9cf1c4ac66d09ce575ca18648ce4e50597d92174bc290d78",
            "asap7sc7p5t_SIMPLE_RVT_SS_nldm_211120.lib": "29f2d9c5153299a3907df523633bb84fda8f291d90b3b0058d22ed5d67e719ee",
        },
        "7 nm, predictive, slow, 0.63 V, 100 C",
        "BUFx2_ASAP7_75t_R",
        "set_cmd_units -time ns",
    ),
}
#: ABC's target in ps, which no design reaches, and the clock period for the power, in ns.
AIM, PERIOD = 500, 10
#: Transitions of an input per cycle, for the power; OpenSTA derives registers and gates from it.
ACTIVITY = 0.1


def liberty(name):
    """Returns the files of a library.

    Raises:
        tools.Failed: HEARITH_LIBERTY does not contain them, or contains another version.
    """
    return [liberty_file(name, *one) for one in LIBRARIES[name].files.items()]


def liberty_file(name, file, digest):
    """Returns one file of a library, decompressed."""
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

    described = LIBRARIES[library]

    def work(name):
        name = f"{name}-{library}"
        cells = liberty(library)
        constraints, report, netlist = (tools.WORK / f"{name}.{end}" for end in ("constr", "stat", "v"))
        constraints.write_text(f"set_driving_cell {described.driver}\nset_load 10.0\n")
        steps = STEPS.format(top=top, library=repeated("-liberty", cells), aim=AIM, constraints=constraints, report=report, netlist=netlist)
        tools.yosys(f"{tools.read(top, parameters)}; {steps}", tools.WORK / f"{name}.log")
        questions = tools.WORK / f"{name}.tcl"
        reads = repeated("\nread_liberty", cells) + ("\n" + described.units).rstrip()
        questions.write_text(QUESTIONS.format(library=reads, netlist=netlist, top=top, period=PERIOD, activity=ACTIVITY))
        if not shutil.which("sta"):
            raise tools.Failed("OpenSTA is not installed (Debian package opensta)")
        said = tools.run(["sta", "-exit", str(questions)], tools.WORK / f"{name}.sta")
        if re.search(r"^Error", said, re.MULTILINE):
            raise tools.Failed(f"{name}: {re.search(r'^Error.*', said, re.MULTILINE)[0]}")
        found = answers(said, report.read_text())
        netlist.unlink()
        return found

    options = [library, *described.files.values(), STEPS, QUESTIONS, AIM, PERIOD, ACTIVITY]
    return tools.kept(f"asic-{library}", top, parameters, work, options)


def repeated(word, paths):
    """Returns the rest of a command that takes files, after its first occurrence of the word."""
    return f" {word} ".join(map(str, paths))


def answers(said, report):
    """Parses the output of OpenSTA and Yosys: MHz, square micrometres and microwatts per MHz."""
    path, power = said.split("== path")[1].split("== power")
    slack = float(re.search(r"(-?[\d.]+)\s+slack", path)[1])
    watts = float(re.search(r"^Total\s.*?([\d.e+-]+)\s+100", power, re.MULTILINE)[1])
    gates = re.findall(r"^\s*(?:[\d.]+\s+)*[\d.]+ [v^] \S+/(?:Z|ZN|Y|X|Q|QN|COUT|SUM|CO|S|CON|SN) \((\w+)\)", path, re.MULTILINE)
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


def sta_version():
    """Returns the version of OpenSTA that the page was made with."""
    if not shutil.which("sta"):
        return "(not here)"
    done = subprocess.run(["sta", "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.split("\n")[0].strip()
