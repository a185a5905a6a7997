"""Resources of modules of rtl/ on UltraScale+, as mapped by Yosys."""

import json
import re

import tools
from tools import WORK, kept, read, yosys

# The fast variant of ABC's script.
FAST = "scratchpad -copy abc9.script.default.fast abc9.script; "
KINDS = ("LUT", "FF", "DSP", "BRAM36")


def resources(cells):
    """Counts LUT, FF, DSP and BRAM36 in UltraScale+ cells; LUTs used as memory count as LUTs."""
    memory = {"RAM32M16": 8, "RAM64M8": 8, "RAM32M": 4, "RAM64M": 4, "RAM64X1D": 2, "RAM32X1D": 2}

    def count(pattern):
        return sum(number for kind, number in cells.items() if re.fullmatch(pattern, kind))

    return {
        "LUT": count(r"LUT[1-6]|SRL.*") + sum(memory.get(kind, 0) * number for kind, number in cells.items()),
        "FF": count(r"FD[RCSP]E.*"),
        "DSP": count("DSP48E2"),
        "BRAM36": count("RAMB36E2") + count("RAMB18E2") / 2,
    }


def synthesise(top, parameters, name, apart=()):
    """Returns the cells by module, hierarchy kept; a separately synthesised module counts as one
    cell.
    """
    report = WORK / f"{name}.json"
    yosys(
        f"{read(top, parameters, apart)}; {FAST}{tools.mapping('xcup', top, apart)}; tee -q -o {report} stat -json",
        WORK / f"{name}.log",
    )
    modules = json.loads(report.read_text())["modules"]
    return tools.Area({module.lstrip("\\"): content["num_cells_by_type"] for module, content in modules.items()}, top)


def area(top, parameters):
    """Returns the resources of a core."""
    return kept("xcup-cells", top, parameters, lambda name: resources(synthesise(top, parameters, name).cells()))


def inside(top, parameters, modules, apart=None):
    """Returns the resources of modules in a design with what is below them, like `tools.inside`:
    number of instances, and the cells of one.
    """
    boxes = apart or {}
    if None in boxes.values():
        return None

    def work(name):
        return tools.parts(synthesise(top, parameters, name, tuple(boxes)), modules, resources, boxes)

    return kept("xcup-inside", top, parameters, work, [modules, boxes] if boxes else modules)
