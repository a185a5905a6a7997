#!/usr/bin/env python3
"""Generates all files that describe the accelerators' registers from rtl/registers (SystemRDL).

They are the package of the hardware (rtl/lib/accelerator_pkg.sv), the constants of the driver
(crates/device/src/registers.rs), and the page (docs/reference/registers.md).

With --check it writes nothing, and fails if one of them is out of date. ROOT is the folder to use
instead of this repository.

Usage: registers.py [--check] [ROOT]
"""

import ast
import difflib
import sys
import textwrap
from pathlib import Path

from systemrdl import RDLCompiler
from systemrdl.node import MemNode

SOURCES = "rtl/registers"
COMMON = "accelerator.rdl"
SYSTEMS = ["mesa", "mesa_dual", "residue_bank", "coproc", "dghv"]
#: The maximum line length of the page.
COLUMNS = 100
#: The parameters that formulas may name.
NAMES = "NWD"
#: Bytes of address between two regions, and the address of the first.
REGION_BYTES, REGIONS = 0x800, 0x10000


class RdlError(Exception):
    """The description is invalid."""


def camel(name):
    """Converts `KEY_CHECK` to `KeyCheck`."""
    return "".join(word.capitalize() for word in name.split("_"))


class Formula:
    """A number of bits as a formula of a system's parameters."""

    def __init__(self, text):
        """Parses the text in the description."""
        self.tree = ast.parse(text, mode="eval").body
        #: The parameters that it contains.
        self.names = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} - {"up"}
        if not self.names <= set(NAMES):
            raise RdlError(f"{text}: a formula may only name {', '.join(NAMES)}")
        self.text = text

    def write(self, language, node=None):
        """Returns the formula in "sv", "rust" or "text"."""
        node = self.tree if node is None else node
        match node:
            case ast.Constant(int(value)):
                return str(value)
            case ast.Name(name):
                return name.lower() if language == "rust" else name
            case ast.BinOp(left, operator, right):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(operator))
                if sign is None:
                    raise RdlError(f"{self.text}: unknown operator {ast.dump(operator)}")
                left, right = self.write(language, left), self.write(language, right)
                right = f"({right})" if " " in right else right
                left = f"({left})" if " " in left and sign in "*/" else left
                return f"{left} {right}" if language == "text" and sign == "*" else f"{left} {sign} {right}"
            case ast.Call(ast.Name("up"), [number, unit], []):
                number, unit = self.write(language, number), self.write(language, unit)
                if language == "rust":
                    return (
                        f"({number}).next_multiple_of({unit})"
                        if " " in number
                        else f"{number}.next_multiple_of({unit})"
                    )
                if language == "sv":
                    return f"({number} + {unit} - 1) / {unit} * {unit}"
                over = f"({number})" if " " in number else number
                return f"ceil({over} / {unit}) {unit}"
        raise RdlError(f"{self.text}: unknown expression {ast.dump(node)}")


class Description:
    """The common registers and the systems."""

    def __init__(self, root):
        """Compiles the files of a repository."""
        compiler = RDLCompiler()
        for name in [COMMON, *(f"{system}.rdl" for system in SYSTEMS)]:
            compiler.compile_file(str(root / SOURCES / name))
        tops = {system: compiler.elaborate(system).top for system in SYSTEMS}
        self.registers = list(tops[SYSTEMS[0]].get_child_by_name("common").registers())
        self.systems = {name: System(name, top) for name, top in tops.items()}
        parameters = {system.parameters[0].absolute_address for system in self.systems.values()}
        if len(parameters) != 1:
            raise RdlError("the parameters of all systems must begin at the same address")
        self.parameters = parameters.pop()


class System:
    """A system: its identity, parameters and regions."""

    def __init__(self, name, top):
        """Reads the top of its address map."""
        self.name, self.identity = name, top.get_property("identity")
        if len(self.identity.encode()) != 4:
            raise RdlError(f"{name}: an identity must have four letters")
        self.parameters = list(top.get_child_by_name("parameters").registers())
        if len(self.parameters) != 8:
            raise RdlError(f"{name}: a system must have eight parameters")
        self.regions = [Region(node) for node in top.children() if isinstance(node, MemNode)]


class Region:
    """A memory region for one constant of a key."""

    def __init__(self, node):
        """Reads its memory in the address map."""
        self.name, self.address = node.inst_name, node.absolute_address
        self.says, self.bits = node.get_property("desc"), Formula(node.get_property("bits"))
        self.optional = bool(node.get_property("optional", default=False))
        self.number, beyond = divmod(self.address - REGIONS, REGION_BYTES)
        if beyond or not 0 <= self.number < 32 or node.size != REGION_BYTES:
            raise RdlError(f"{self.name}: regions must be {REGION_BYTES:#x} bytes apart, from {REGIONS:#x} on")


def version(description):
    """Returns the version of the register map: the value of VERSION."""
    register = next(register for register in description.registers if register.inst_name == "VERSION")
    return register.fields()[0].get_property("reset")


def fields(register):
    """Returns the fields of a register that have a description."""
    return [field for field in register.fields() if field.get_property("desc", default=None)]


GENERATED = "Written by scripts/registers.py from rtl/registers: edit these files, then run the script."


def enum(kind, name, values, digits=None):
    """Returns an enumeration: the only kind of constant that a design may use in part without a
    Verilator warning.
    """
    items = [f"        {key} = {value if digits is None else f'{digits}{value:02x}'}" for key, value in values.items()]
    if len(items) == 1:
        return [f"    typedef enum {kind} {{{items[0].strip()}}} {name}_e;"]
    return [f"    typedef enum {kind} {{", *[f"{item}," for item in items[:-1]], items[-1], f"    }} {name}_e;"]


def package(description):
    """Returns the SystemVerilog package."""
    lines = [
        "// SPDX-License-Identifier: MIT OR Apache-2.0",
        f"// {GENERATED}",
        "// The registers common to all accelerators, and the parameters and regions of each system.",
    ]
    lines += ["package accelerator_pkg;"]
    causes = {
        register.inst_name: max(field.high for field in fields(register)) + 1
        for register in description.registers
        if fields(register)
    }
    lines += [
        "    // The version of the register map.",
        # A separate enumeration, because values within one must differ.
        *enum("int unsigned", "version", {"Version": version(description)}),
        "    // Bits of a byte address, whose upper half is the regions; bits of a word's number in its region;",
        "    // bits of ERROR and INTERRUPT.",
    ]
    sizes = {
        "AddressBits": (2 * REGIONS).bit_length() - 1,
        "RegionBits": (REGION_BYTES // 4).bit_length() - 1,
        "ErrorBits": causes["ERROR"],
        "InterruptBits": causes["INTERRUPT"],
    }
    lines += enum("int unsigned", "size", sizes)
    lines += ["", "    // Byte addresses in the lower half; the low word of a 64-bit register comes first."]
    addresses = {f"{camel(register.inst_name)}Address": register.absolute_address for register in description.registers}
    lines += enum("logic [15:0]", "address", addresses | {"ParameterAddress": description.parameters}, "16'h")
    lines += ["", "    // The lowest bit of each field."]
    for register in description.registers:
        if fields(register):
            name = camel(register.inst_name)
            lines += enum(
                "int unsigned",
                register.inst_name.lower(),
                {f"{name}{camel(field.inst_name)}": field.low for field in fields(register)},
            )
    lines += ["", "    // The systems."]
    systems = {
        f"{camel(system.name)}Identity": int.from_bytes(system.identity.encode(), "big")
        for system in description.systems.values()
    }
    lines += enum("logic [31:0]", "identity", systems, "32'h")
    for system in description.systems.values():
        name = camel(system.name)
        lines += ["", f"    // {system.name}: its parameters by number, its regions by number."]
        lines += enum(
            "int unsigned",
            f"{system.name}_parameter",
            {f"{name}Parameter{camel(parameter.inst_name)}": at for at, parameter in enumerate(system.parameters)},
        )
        if system.regions:
            lines += enum(
                "int unsigned",
                f"{system.name}_region",
                {f"{name}{camel(region.name)}": region.number for region in system.regions},
            )
            used = [name for name in NAMES if any(name in region.bits.names for region in system.regions)]
            lines += ["", "    // Words of each region, 10 bits each, region 0 in the lowest bits; 0 if missing."]
            inputs = ", ".join(f"input int unsigned {name}" for name in used)
            lines.append(f"    function automatic logic [319:0] {system.name}_region_words({inputs});")
            lines.append(f"        {system.name}_region_words = '0;")
            for region in system.regions:
                bits = region.bits.write("sv")
                bits = f"({bits})" if " " in bits else bits
                lines.append(f"        {system.name}_region_words[10*{region.number}+:10] = 10'(({bits} + 31) / 32);")
            lines.append("    endfunction")
            optional = sum(1 << region.number for region in system.regions if region.optional)
            if optional:
                lines += ["    // Regions that a key may omit, a bit each."]
                lines += enum("logic [31:0]", f"{system.name}_optional", {f"{name}Optional": optional}, "32'h")
    return "\n".join([*lines, "endpackage", ""])


RUST_HEAD = f"""//! The registers of all accelerators, and each system's parameters and regions.
//!
//! {GENERATED}

/// The version of the register map.
"""

RUST_REGION = """
/// A region, which holds a constant of a key.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The number of the region; [`Region::address`] returns its address.
    pub number: u32,
    /// Bits of the constant, from the system's `N`, `W` and `D`.
    pub bits: fn(n: u32, w: u32, d: u32) -> u32,
}

impl Region {
    /// Returns the byte address of word 0 of the region with this number.
    pub const fn address(number: u32) -> u32 {
        REGIONS + number * REGION_BYTES
    }
}
"""


def sentence(text):
    """Returns the text with an initial capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def rust(description):
    """Returns the driver's constants."""
    lines = [f"{RUST_HEAD}pub const KNOWN_VERSION: u32 = {version(description)};"]
    for register in description.registers:
        lines += [
            "",
            f"/// {sentence(register.get_property('desc'))}",
            f"pub const {register.inst_name}: u32 = {register.absolute_address:#04x};",
        ]
        if fields(register):
            lines += [
                "",
                f"/// The fields of [`{register.inst_name}`].",
                f"pub mod {register.inst_name.lower()} {{",
            ]
            for field in fields(register):
                mask = ((1 << field.width) - 1) << field.low
                lines += [
                    f"    /// {sentence(field.get_property('desc'))}",
                    f"    pub const {field.inst_name.upper()}: u32 = {grouped(mask)};",
                ]
            lines.append("}")
        if register.inst_name == "ERROR":
            causes = [f'    ({grouped(1 << field.low)}, "{field.get_property("desc")}"),' for field in fields(register)]
            lines += [
                "",
                "/// The bits of [`ERROR`] and their meanings.",
                f"pub const CAUSES: [(u32, &str); {len(causes)}] = [",
                *causes,
                "];",
            ]
    lines += [
        "",
        "/// The system's eight parameters, a word each.",
        f"pub const PARAMETERS: u32 = {description.parameters:#04x};",
    ]
    lines += ["", "/// The first region.", f"pub const REGIONS: u32 = {grouped(REGIONS)};"]
    lines += [
        "",
        "/// Bytes of address between two regions.",
        f"pub const REGION_BYTES: u32 = {REGION_BYTES:#x};",
        RUST_REGION.rstrip(),
    ]
    for system in description.systems.values():
        number = grouped(int.from_bytes(system.identity.encode(), "big"))
        lines += ["", f"/// The parameters and regions of the system `{system.name}`.", f"pub mod {system.name} {{"]
        if system.regions:
            lines += ["    use super::Region;", ""]
        lines += [
            "    /// The letters in IDENTITY.",
            f'    pub const IDENTITY: [u8; 4] = *b"{system.identity}"; // {number}',
        ]
        for index, parameter in enumerate(system.parameters):
            if not parameter.inst_name.startswith("RESERVED"):
                lines += [
                    f"    /// Parameter: {parameter.get_property('desc')}.",
                    f"    pub const PARAMETER_{parameter.inst_name}: usize = {index};",
                ]
        for region in system.regions:
            names = [name.lower() if name in region.bits.names else f"_{name.lower()}" for name in NAMES]
            closure = f"|{', '.join(names)}| {region.bits.write('rust')}"
            lines += [
                f"    /// {region.says}{' (optional)' if region.optional else ''}.",
                f"    pub const {region.name}: Region = Region {{ number: {region.number}, bits: {closure} }};",
            ]
        lines.append("}")
    return "\n".join([*lines, ""])


def grouped(number):
    """Returns a number in hexadecimal, with a separator every four digits if there are more."""
    digits = f"{number:x}"
    if len(digits) <= 4:
        return f"{number:#x}"
    head = len(digits) % 4 or 4
    return "0x" + "_".join([digits[:head], *(digits[at : at + 4] for at in range(head, len(digits), 4))])


PAGE_HEAD = """# The registers of all accelerators

<!-- {generated} -->

Every device has the same registers behind AXI4-Lite, with 17 address bits and words of 32 bits.
Addresses count bytes. The lower half of the addresses holds the registers. The upper half holds the
*regions*, which are write-only and hold the constants of a key.

- A device rejects an invalid access with SLVERR and records its cause in ERROR. A rejected write
  has no other effect.
- Counters have 64 bits, the low word first. Reading the low word latches the high word for the next
  address.
- A region is complete when each of its words has been written since the constants were last
  cleared. A key requires every region of its system that is not marked as optional.
- The first constant written while STATUS.ready is set begins another key: the device first wipes
  itself, as by CONTROL.wipe, and EPOCH changes. No answer depends on a constant of an earlier key,
  or on a value computed with one. Constants that were never put into use have no such end: write
  CONTROL.wipe before those of another key, or words of both form a key.
- A device accepts a constant that is written while it clears its memories once they are clear.
- KEY_CHECK is the CRC-32 of IEEE 802.3 (polynomial 0x04c11db7, reflected 0xedb88320; begun with all
  ones, inverted at the end) over the words that were written since word 0 of a region, each as four
  bytes, the least significant byte and bit first. zlib's `crc32` returns it for these bytes. It is
  0 when nothing has been written since a reset, a wipe or CONTROL.ready.
- `irq_o` is high while a bit is set in both INTERRUPT and INTERRUPT_ENABLE.

`scripts/registers.py` generates these tables, the package of the hardware
(`rtl/lib/accelerator_pkg.sv`) and the driver's constants from `rtl/registers` (SystemRDL).

## Registers

"""

PAGE_STREAMS = """
## Streams

Items arrive in packets over AXI4-Stream, `StreamBits` bits per beat (a multiple of 32). The device
answers packets in order. A packet begins with a header of 64 bits, the lowest bits first, padded to
whole beats:

| bits | name | content |
|---|---|---|
| 15:0 | MARK | 0x4548 |
| 31:16 | EPOCH | the value of the register EPOCH |
| 47:32 | SEQUENCE | any number, chosen by the host |
| 63:48 | COUNT | items in this packet |

COUNT items follow, each with a fixed number of beats (the least significant beat first, padded with
zeros), and `tlast` marks the last beat of the packet. The answer has the same header and COUNT
answers. A packet with COUNT = 0 is a *mark*: the device only returns its header.

- The device discards up to its `tlast` any packet without the MARK or with another EPOCH, any that
  ends within its header, and any with COUNT = 0 that does not end with it. DISCARDED counts them,
  and ERROR names the cause.
- If `tlast` does not come with the last beat of the item COUNT, the packet is broken. The device
  drops the item in which that shows and the rest of the packet. A closing beat of zeros with
  `tlast` ends the answer, or two if one would give it its full length. So an answer to a broken
  packet never has the right length.
- A flush drops everything in flight and begins a new epoch. The beat on offer stays until it is
  accepted, as AXI requires, and closing beats end an answer that had begun. The device discards the
  rest of a packet that was arriving. `tready` is low during the flush and in reset.
- No output depends on an input of the same clock cycle.

The driver synchronises when it opens a device and after every failure: it writes CONTROL.flush,
reads EPOCH, sends two marks with different SEQUENCEs (the first may only end an open packet), and
drops everything up to the second one's echo. Afterwards the device answers nothing that was sent
before.

## Systems

"""


def table(head, rows):
    """Returns a Markdown table."""
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]
    )


def access(register):
    """Describes how software accesses a register."""
    field = register.fields()[0]
    if field.get_property("onwrite"):
        return "read, write 1 to clear"
    words = [word for word, able in [("read", field.is_sw_readable), ("write", field.is_sw_writable)] if able]
    return ", ".join(words)


def bits(field):
    """Returns the bit position of a field."""
    return f"{field.high}:{field.low}" if field.width > 1 else str(field.low)


def page(description):
    """Returns the page."""
    rows = []
    for register in description.registers:
        says = register.get_property("desc")
        width = " (64 bits)" if register.get_property("regwidth") == 64 else ""
        rows.append((f"0x{register.absolute_address:05x}", access(register), register.inst_name, f"{says}{width}"))
    rows.append((f"0x{description.parameters:05x} + 4i", "read", "PARAMETER i", "the system's parameter i, 0 to 7"))
    rows.append(
        (
            f"0x{REGIONS:05x} + 0x{REGION_BYTES:x} i",
            "write",
            "REGION i",
            "a constant: words, the least significant first, written in any order",
        )
    )
    parts = [PAGE_HEAD.format(generated=GENERATED) + table(["address", "access", "name", "content"], rows)]
    for register in description.registers:
        if fields(register):
            rows = [(bits(field), field.inst_name, field.get_property("desc")) for field in fields(register)]
            parts.append(f"### {register.inst_name}\n\n" + table(["bits", "name", "meaning"], rows))
    parts.append(PAGE_STREAMS.strip("\n"))
    for system in description.systems.values():
        rows = []
        for number, parameter in enumerate(system.parameters):
            says = [parameter.get_property("desc")]
            says += [f"{bits(field)} {field.inst_name}: {field.get_property('desc')}" for field in fields(parameter)]
            if not parameter.inst_name.startswith("RESERVED"):
                rows.append((str(number), parameter.inst_name, "; ".join(says)))
        text = f"### {system.name}\n\nIDENTITY is `{system.identity}`.\n\n" + table(
            ["parameter", "name", "content"], rows
        )
        if system.regions:
            rows = [
                (
                    str(region.number),
                    f"0x{region.address:05x}",
                    region.name,
                    f"{region.says}{' (optional)' if region.optional else ''}",
                    f"`{region.bits.write('text')}`",
                )
                for region in system.regions
            ]
            text += "\n\n" + table(["region", "address", "name", "constant", "bits"], rows)
        parts.append(text)
    return "\n\n".join(parts) + "\n"


OUTPUTS = {
    "rtl/lib/accelerator_pkg.sv": package,
    "crates/device/src/registers.rs": rust,
    "docs/reference/registers.md": page,
}


def main(arguments):
    """Writes or checks the files and returns the exit status."""
    check = "--check" in arguments
    places = [argument for argument in arguments if argument != "--check"]
    root = Path(places[0]) if places else Path(__file__).resolve().parents[1]
    description = Description(root)
    status = 0
    for name, write in OUTPUTS.items():
        path, text = root / name, write(description)
        if not check:
            path.write_text(text)
            continue
        present = path.read_text() if path.exists() else ""
        if present != text:
            status = 1
            print(f"registers: {name} does not match rtl/registers; run scripts/registers.py", file=sys.stderr)
            difference = difflib.unified_diff(
                present.splitlines(), text.splitlines(), name, "rtl/registers", lineterm="", n=0
            )
            print(textwrap.indent("\n".join(list(difference)[:20]), "    "), file=sys.stderr)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RdlError as error:
        sys.exit(f"registers: {error}")
