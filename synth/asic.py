"""Maps cores of rtl/ to standard cells with Yosys, and finds their longest paths and their power
with OpenSTA.

The cell libraries are not in the repository. HEARITH_LIBERTY names a folder with the files of
LIBRARIES, as in `examples/` and `test/asap7/` of OpenSTA's repository (compressed or not).
HEARITH_STA names OpenSTA of the version STA_VERSION, compiled from its repository. The earlier one
in Debian replaces recorded activities by its own estimates.
"""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import threading
from typing import NamedTuple

import toggles
import tools


class Library(NamedTuple):
    """A cell library: its files with their SHA-256, a description, a buffer that drives inputs,
    OpenSTA's command that sets the units of the others, and registers that mapping avoids.
    """

    files: dict
    description: str
    driver: str
    units: str = ""
    avoided: str = ""


LIBRARIES = {
    "Nangate45": Library({"nangate45_typ.lib": "2efd0b32eb580e4e60e72fc0575bb3bc69aac907c91d908442e4ae6d7fe55895"}, "45 nm, typical, 1.1 V, 25 C", "BUF_X1"),
    "sky130hd": Library(
        {"sky130hd_tt.lib": "70a45bf9b5ea8f6a701dc34744b5c767b38e1af31b1d1f97309a97ec64603ecf"},
        "130 nm, typical, 1.8 V, 25 C",
        "sky130_fd_sc_hd__buf_1",
        # ABC sees a net of enables as an output with one load, and adds no buffers.
        avoided="sky130_fd_sc_hd__edf*",
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
#: Parallel jobs write a library's models only once.
MODELS = threading.Lock()
#: ABC's target in ps, which no design reaches.
AIM = 100
STA, STA_VERSION = os.environ.get("HEARITH_STA", "sta"), "3.1.0"


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
    "synth -booth -flatten -top {top} -run begin:fine; tee -q -o {memories} dump t:$mem_v2; synth -noabc -top {top} -run fine:; dfflibmap{avoided} -liberty {library}; opt; "
    "abc -liberty {library} -script {script} -constr {constraints}; setundef -zero; splitnets -ports; opt_clean -purge; "
    "tee -q -o {report} stat -liberty {library}; write_verilog -noattr -noexpr -nohex -nodec {netlist}"
)
#: ABC's commands. The area recovery of Yosys' own script, and `abc` before the cells are known
#: (-noabc above), turn carry trees of adders into chains of gates: with both, a butterfly modulo
#: 2^64 + 1 reaches 435 MHz in Nangate45, and with neither 1 273. The second mapping takes up to 5 %
#: less area. Yosys' mapper also leaves nets with hundreds of gates to chains of buffers.
ABC = """strash
ifraig
dch -f
map -B 0.9
strash
dch -f
map -B 0.9
topo
buffer -c
topo
stime -p
upsize -D {aim}
dnsize -D {aim}
stime -p
"""
#: OpenSTA's commands: what every question begins with, and the questions.
LINK = """read_liberty {library}
read_verilog {netlist}
link_design {top}
create_clock -name clk -period {period} [get_ports clk_i]
"""
PATH = "report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -fields {fanout} -digits 4\n"
POWER = f"""read_vcd -scope {toggles.SCOPE} {{dump}}
report_activity_annotation
report_power -digits 6
"""
#: The kind of a netlist's kept result, which determines its file name.
NETLIST = "asic-netlist"


def netlist(library, top, parameters):
    """Maps a core to a library's cells; returns its area, its registers and the bits of its
    memories, which become registers. The netlist is a file of the same name.
    """
    described = LIBRARIES[library]

    def work(name):
        cells = liberty(library)
        constraints, script, memories, report = (tools.WORK / f"{name}.{end}" for end in ("constr", "abc", "memories", "stat"))
        script.write_text(ABC.format(aim=AIM))
        constraints.write_text(f"set_driving_cell {described.driver}\nset_load 10.0\n")
        files = {"script": script, "constraints": constraints, "memories": memories, "report": report, "netlist": tools.WORK / f"{name}.v"}
        avoided = f" -dont_use {described.avoided}" if described.avoided else ""
        steps = STEPS.format(top=top, library=repeated("-liberty", cells), avoided=avoided, **files)
        tools.yosys(f"{tools.read(top, parameters)}; {steps}", tools.WORK / f"{name}.log")
        return {**size(report.read_text()), "memory": memory_bits(memories.read_text())}

    return tools.kept(f"{NETLIST}-{library}", top, parameters, work, options(library), ".v")


def options(library, *questions):
    """Returns what a netlist depends on besides its sources, or an answer of OpenSTA's about it."""
    asked_with = (STA_VERSION, LINK, *questions) if questions else ()
    return [library, *LIBRARIES[library].files.values(), LIBRARIES[library].avoided, STEPS, ABC, AIM, *asked_with]


def netlist_file(library, top, parameters):
    """Returns the file of a core's netlist."""
    return tools.kept_file(f"{NETLIST}-{library}", top, parameters, ".v")


def asked(library, top, path, name, questions):
    """Returns what OpenSTA answers about a core's netlist; `name` is that of its script and log.

    Raises:
        tools.Failed: OpenSTA is missing, has another version, or reports an error.
    """
    described, script = LIBRARIES[library], tools.WORK / f"{name}.tcl"
    reads = repeated("\nread_liberty", liberty(library)) + ("\n" + described.units).rstrip()
    script.write_text(LINK.format(library=reads, netlist=path, top=top, period=toggles.PERIOD) + questions + "exit\n")
    if (version := sta_version()) != STA_VERSION:
        raise tools.Failed(f"HEARITH_STA must name OpenSTA {STA_VERSION}, here is {version}")
    said = tools.run([STA, "-exit", str(script)], script.with_suffix(".sta"))
    if found := re.search(r"^Error.*", said, re.MULTILINE):
        raise tools.Failed(f"{name}: {found[0]}")
    return said


def mapped(library, top, parameters):
    """Maps a core to a library's cells. Returns MHz by its longest path between registers, the
    gates of that path, area, registers and the bits of memories.
    """

    def work(name):
        return {**netlist(library, top, parameters), **longest(asked(library, top, netlist_file(library, top, parameters), name, PATH))}

    return tools.kept(f"asic-{library}", top, parameters, work, options(library, PATH, toggles.PERIOD))


def power(library, top, parameters):
    """Returns a mapped core's power in microwatts per MHz while it works on random operands."""

    def work(name):
        netlist(library, top, parameters)
        path, folder = netlist_file(library, top, parameters), tools.WORK / name
        dump = toggles.dumped(path, models(library), top, folder)
        said = asked(library, top, path, name, POWER.format(dump=dump))
        shutil.rmtree(folder)
        return microwatts(said)

    return tools.kept(f"asic-power-{library}", top, parameters, work, options(library, POWER, toggles.VERSION))


def models(library):
    """Returns the file with Verilog models of a library's cells."""
    path = tools.WORK / f"{library}-{toggles.VERSION[:8]}.cells.v"
    with MODELS:
        if not path.exists():
            toggles.models(liberty(library), path)
    return path


def repeated(word, paths):
    """Returns the rest of a command that takes files, after its first occurrence of the word."""
    return f" {word} ".join(map(str, paths))


def longest(said):
    """Parses OpenSTA's longest path: MHz, gates, and how many of them are buffers."""
    slack = float(re.search(r"(-?[\d.]+)\s+slack", said)[1])
    gates = re.findall(r"^\s*(?:[\d.]+\s+)*[\d.]+ [v^] \S+/(?:Z|ZN|Y|X|Q|QN|COUT|SUM|CO|S|CON|SN) \((\w+)\)", said, re.MULTILINE)
    return {
        "MHz": round(1000 / (toggles.PERIOD - slack), 1),
        "gates": max(0, len(gates) - 1),
        "buffers": sum(1 for gate in gates if re.search(r"buf|BUF", gate)),
    }


def microwatts(said):
    """Parses OpenSTA's power: microwatts per MHz.

    Raises:
        tools.Failed: the simulation has not recorded every pin.
    """
    if missing := int(re.search(r"^unannotated\s+(\d+)$", said, re.MULTILINE)[1]):
        raise tools.Failed(f"the simulation has not recorded {missing} pins")
    watts = float(re.search(r"^Total\s.*?([\d.e+-]+)\s+100", said, re.MULTILINE)[1])
    return round(watts * 1e6 / (1000 / toggles.PERIOD), 2)


def memory_bits(dump):
    """Parses Yosys' dump of memories: their bits, without those of tables, which nothing writes."""
    bits = 0
    for cell in dump.split("cell $mem_v2")[1:]:
        words, width, ports = (int(re.search(rf"parameter (?:signed )?\\{name} (\d+)", cell)[1]) for name in ("SIZE", "WIDTH", "WR_PORTS"))
        bits += words * width * bool(ports)
    return bits


def size(report):
    """Parses Yosys' statistics: square micrometres and registers."""
    area = re.findall(r"Chip area for (?:top )?module.*?:\s*([\d.]+)", report)[-1]
    # The last section covers the whole design.
    whole = re.split(r"^=== .* ===$", report, flags=re.MULTILINE)[-1]
    counts = re.findall(r"^\s+(\d+)\s+[\d.E+]+\s+(\w+)$", whole, re.MULTILINE)
    registers = sum(int(number) for number, cell in counts if re.search(r"^(S?DFF|sky130_fd_sc_hd__[es]?df)", cell))
    return {"area": round(float(area)), "registers": registers}


def sta_version():
    """Returns OpenSTA's version, or "none" if it is not installed."""
    if not shutil.which(STA):
        return "none"
    done = subprocess.run([STA, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.split()[0]
