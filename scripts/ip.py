#!/usr/bin/env python3
"""Writes the files by which vendors' tools integrate a top module.

These are a wrapper in plain Verilog with the port names that the tools recognise
(rtl/ip/hearith_TOP.v), and its description in IP-XACT (IEEE 1685-2009, as Vivado reads it:
rtl/ip/TOP/component.xml).

Parameters and ports come from the source of the top, registers from rtl/registers. With --check it
writes nothing and fails if a file is out of date.

Usage: ip.py [--check] [ROOT]
"""

import argparse
import difflib
import re
import sys
import xml.sax.saxutils
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
VERSION = "0.2"
GENERATED = "Written by scripts/ip.py"
#: Bits of a byte address: the lower half holds the registers, the upper half the key.
ADDRESS_BITS = 17


class Top(NamedTuple):
    """Facts that a top's source does not contain."""

    directory: str
    title: str
    #: Bits per item of input packets, in terms of the top's parameters.
    item: str
    goes_in: str
    comes_out: str
    #: Whether it has a memory port.
    memory: bool = False


TOPS = {
    "mesa": Top("mesa", "MESA, a pipelined decryptor for Paillier ciphertexts", "2 * N", "ciphertexts", "plaintexts"),
    "mesa_dual": Top(
        "mesa", "MESA in dual numbers, a decryptor for Paillier ciphertexts", "2 * N", "ciphertexts", "plaintexts"
    ),
    "residue_bank": Top(
        "rns",
        "Residue bank: converts long integers to residues modulo many primes",
        "Words * V",
        "coefficients",
        "residues",
    ),
    "coproc": Top(
        "coproc",
        "Paillier co-processor: encryption, arithmetic on ciphertexts, decryption",
        "4 * N + 64",
        "commands",
        "answers",
    ),
    "dghv": Top(
        "dghv",
        "Encryption over the integers (CMNT and CNT, broken parameters) with its own memory",
        "640",
        "commands",
        "answers",
        memory=True,
    ),
}


class Parameter(NamedTuple):
    """A parameter of a top; `bits` is the width of a parameter that is not an integer."""

    name: str
    bits: str
    default: str
    says: str


def parameters(source):
    """Returns the parameters in a module's header, with the comment behind or else above each."""
    head = source[source.index("module ") : source.index(") (\n")]
    found = []
    above: list[str] = []
    for line in head.splitlines():
        if comment := re.fullmatch(r"\s*//\s*(.*)", line):
            above.append(comment[1])
            continue
        if match := re.fullmatch(
            r"\s*parameter (int unsigned|logic \[(.*?)-1:0\])\s+(\w+)\s*=\s*(.*?),?\s*(?://\s*(.*))?", line
        ):
            kind, bits, name, default, says = match.groups()
            found.append(Parameter(name, "" if kind == "int unsigned" else bits, default, says or " ".join(above)))
        elif re.search(r"\bparameter\b", line):
            raise SystemExit(f"ip: not a parameter: {line.strip()}")
        above = []
    return found


class Port(NamedTuple):
    """A port of a wrapper: its bus and role in it, its width ("" for one bit), and its connection
    to the top.
    """

    name: str
    way: str
    width: str
    bus: str
    logical: str
    inner: str


#: A memory port: AXI4, with words of 64 bits and an address width set by a parameter.
MEMORY = [
    *((f"ar{name}", "output", width) for name, width in (("id", ""), ("addr", "AddrWidth + 3"), ("len", "8"))),
    *((f"ar{name}", "output", width) for name, width in (("size", "3"), ("burst", "2"), ("valid", ""))),
    ("arready", "input", ""),
    *((f"r{name}", "input", width) for name, width in (("id", ""), ("data", "64"), ("resp", "2"), ("last", ""))),
    ("rvalid", "input", ""),
    ("rready", "output", ""),
    *((f"aw{name}", "output", width) for name, width in (("id", ""), ("addr", "AddrWidth + 3"), ("len", "8"))),
    *((f"aw{name}", "output", width) for name, width in (("size", "3"), ("burst", "2"), ("valid", ""))),
    ("awready", "input", ""),
    *((f"w{name}", "output", width) for name, width in (("data", "64"), ("strb", "8"), ("last", ""), ("valid", ""))),
    ("wready", "input", ""),
    *((f"b{name}", "input", width) for name, width in (("id", ""), ("resp", "2"), ("valid", ""))),
    ("bready", "output", ""),
]


def ports(top):
    """Returns the wrapper's ports, which are the same for all tops except for the memory port."""
    found = [
        Port("aclk", "input", "", "aclk", "CLK", "clk_i"),
        Port("aresetn", "input", "", "aresetn", "RST", "rst_ni"),
    ]
    axi = [
        ("awaddr", "input", f"{ADDRESS_BITS}"),
        ("awprot", "input", "3"),
        ("awvalid", "input", ""),
        ("awready", "output", ""),
        ("wdata", "input", "32"),
        ("wstrb", "input", "4"),
        ("wvalid", "input", ""),
        ("wready", "output", ""),
        ("bresp", "output", "2"),
        ("bvalid", "output", ""),
        ("bready", "input", ""),
        ("araddr", "input", f"{ADDRESS_BITS}"),
        ("arprot", "input", "3"),
        ("arvalid", "input", ""),
        ("arready", "output", ""),
        ("rdata", "output", "32"),
        ("rresp", "output", "2"),
        ("rvalid", "output", ""),
        ("rready", "input", ""),
    ]
    for name, way, width in axi:
        inner = "" if name.endswith("prot") else f"axil_{name}_{way[0]}"
        found.append(Port(f"s_axi_{name}", way, width, "s_axi", name.upper(), inner))
    for bus, far in (("s_axis", "input"), ("m_axis", "output")):
        for name, width in (
            ("tdata", "StreamBits"),
            ("tkeep", "StreamBits / 8"),
            ("tlast", ""),
            ("tvalid", ""),
            ("tready", ""),
        ):
            way = far if name != "tready" else {"input": "output", "output": "input"}[far]
            inner = "" if name == "tkeep" else f"{bus}_{name}_{way[0]}"
            found.append(Port(f"{bus}_{name}", way, width, bus, name.upper(), inner))
    for name, way, width in MEMORY if top.memory else ():
        found.append(Port(f"m_axi_{name}", way, width, "m_axi", name.upper(), f"m_axi_{name}_{way[0]}"))
    found.append(Port("interrupt", "output", "", "interrupt", "INTERRUPT", "irq_o"))
    return found


#: For each bus: AMD's name for it, its version and contents, and what the block design must know.
BUSES = {
    "aclk": ("signal", "clock", "clock_rtl", "ASSOCIATED_BUSIF s_axi:s_axis:m_axis, ASSOCIATED_RESET aresetn"),
    "aresetn": ("signal", "reset", "reset_rtl", "POLARITY ACTIVE_LOW"),
    "s_axi": ("interface", "aximm", "aximm_rtl", "PROTOCOL AXI4LITE"),
    "s_axis": ("interface", "axis", "axis_rtl", ""),
    "m_axis": ("interface", "axis", "axis_rtl", ""),
    "m_axi": ("interface", "aximm", "aximm_rtl", "PROTOCOL AXI4"),
    "interrupt": ("signal", "interrupt", "interrupt_rtl", "SENSITIVITY LEVEL_HIGH"),
}


def buses(top):
    """Returns the buses of a top, with a clock to which all are declared synchronous."""
    kept = {bus: parts for bus, parts in BUSES.items() if top.memory or bus != "m_axi"}
    if top.memory:
        kept["aclk"] = (*BUSES["aclk"][:3], BUSES["aclk"][3].replace(":m_axis", ":m_axis:m_axi"))
    return kept


def wire(port):
    """Returns a port's declaration."""
    width = f" [{f'{int(port.width) - 1}' if port.width.isdigit() else f'{port.width} - 1'}:0]" if port.width else ""
    return f"{port.way:<6} wire{width} {port.name}"


def wrapper(name, top, source):
    """Returns the wrapper's text."""
    settings = parameters(source)
    inner = set(re.findall(r"^\s+(?:input|output)\s+logic\s*(?:\[.*?\])?\s*(\w+)", source, re.MULTILINE))
    expected = {port.inner for port in ports(top) if port.inner}
    if inner != expected:
        raise SystemExit(f"ip: {name} and its wrapper differ in the ports {', '.join(sorted(inner ^ expected))}")
    lines = [
        "// SPDX-License-Identifier: MIT OR Apache-2.0",
        f"// {GENERATED} from rtl/{top.directory}/{name}.sv: edit that file, then run the script.",
        f"// {name} with port names that vendors' tools recognise: {top.goes_in} in, {top.comes_out} out.",
        "// docs/how-to/boards.md explains its use.",
        "// All ports are synchronous to aclk. A beat with an incomplete tkeep breaks its packet, as a wrong length does.",
        "// It has never run on a board.",
        "// verilog_lint: waive-start port-name-suffix  // names of the bus standards",
        "// verilog_lint: waive-start explicit-parameter-storage-type  // plain Verilog has no types for vectors",
        "`default_nettype none",
        f"module hearith_{name} #(",
    ]
    for at, setting in enumerate(settings):
        kind = f"parameter [{setting.bits}-1:0]" if setting.bits else "parameter integer"
        comma = "," if at + 1 < len(settings) else ""
        says = f"  // {setting.says}" if setting.says else ""
        lines.append(f"    {kind} {setting.name} = {setting.default}{comma}{says}")
    lines.append(") (")
    declared = ports(top)
    seen = set()
    for at, port in enumerate(declared):
        group, bus, _, knows = buses(top)[port.bus]
        lines.append(f'    (* X_INTERFACE_INFO = "xilinx.com:{group}:{bus}:1.0 {port.bus} {port.logical}" *)')
        if port.bus not in seen and knows:
            lines.append(f'    (* X_INTERFACE_PARAMETER = "{knows}" *)')
        seen.add(port.bus)
        declaration = f"    {wire(port)}{',' if at + 1 < len(declared) else ''}"
        # A reserved word of SystemC, whose models rename it; hardware is not affected.
        aside = ["    /* verilator lint_off SYMRSVDWORD */", declaration, "    /* verilator lint_on SYMRSVDWORD */"]
        lines += aside if port.bus == "interrupt" else [declaration]
    lines += [
        ");",
        "    wire reset_n, packet_valid, packet_ready, packet_last;",
        "    wire [StreamBits - 1:0] packet_data;",
        "",
        "    reset_sync u_reset_sync (",
        "        .clk_i (aclk),",
        "        .rst_ni(aresetn),",
        "        .rst_no(reset_n)",
        "    );",
        "",
        "    packet_tkeep_filter #(",
        "        .StreamBits(StreamBits),",
        f"        .Beats     (({top.item} + StreamBits - 1) / StreamBits)",
        "    ) u_keep (",
        "        .clk_i    (aclk),",
        "        .rst_ni   (reset_n),",
        "        .s_valid_i(s_axis_tvalid),",
        "        .s_ready_o(s_axis_tready),",
        "        .s_data_i (s_axis_tdata),",
        "        .s_keep_i (s_axis_tkeep),",
        "        .s_last_i (s_axis_tlast),",
        "        .m_valid_o(packet_valid),",
        "        .m_ready_i(packet_ready),",
        "        .m_data_o (packet_data),",
        "        .m_last_o (packet_last)",
        "    );",
        "",
        "    // Whole beats only.",
        "    assign m_axis_tkeep = {(StreamBits / 8) {1'b1}};",
        "",
        f"    {name} #(",
    ]
    longest = max(len(setting.name) for setting in settings)
    lines += [
        f"        .{setting.name:<{longest}}({setting.name}){',' if at + 1 < len(settings) else ''}"
        for at, setting in enumerate(settings)
    ]
    lines.append(f"    ) u_{name} (")
    joined = {
        "s_axis_tdata_i": "packet_data",
        "s_axis_tlast_i": "packet_last",
        "s_axis_tvalid_i": "packet_valid",
        "s_axis_tready_o": "packet_ready",
    }
    connected = [(port.inner, joined.get(port.inner, port.name)) for port in declared if port.inner]
    longest = max(len(one) for one, _ in connected)
    lines += [
        f"        .{one:<{longest}}({other}){',' if at + 1 < len(connected) else ''}"
        for at, (one, other) in enumerate(connected)
    ]
    lines += [
        "    );",
        "",
        "    // The protection bits are ignored.",
        "    wire unused;",
        "    assign unused = &{1'b0, s_axi_awprot, s_axi_arprot};",
        "endmodule",
        "`default_nettype wire",
        "",
    ]
    return "\n".join(lines)


def source_dirs():
    """Returns the folders of rtl/ that contain the sources of the tops."""
    return ("lib", "arith", "ntt", *sorted({top.directory for top in TOPS.values()}))


def sources(root, name):
    """Returns the files of a top and its wrapper, relative to the component's folder, packages
    first.
    """
    by_name = {path.stem: path for folder in source_dirs() for path in sorted((root / "rtl" / folder).glob("*.sv"))}
    found, todo = {}, [name, "packet_tkeep_filter", "reset_sync"]
    while todo:
        module = todo.pop()
        if module not in found and module in by_name:
            found[module] = by_name[module]
            text = by_name[module].read_text()
            todo += re.findall(r"^\s*(\w+)\s+(?:#\(|u_)", text, re.MULTILINE) + re.findall(r"\b\w+_pkg(?=::)", text)
    order = sorted(found, key=lambda module: (not module.endswith("_pkg"), module))
    return [f"../../{found[module].parent.name}/{module}.sv" for module in order]


class Element:
    """An XML element, in the namespace of IP-XACT unless it names another."""

    def __init__(self, name, /, *content, **attributes):
        """Makes an element that contains other elements or text."""
        self.name = name if ":" in name else f"spirit:{name}"
        self.content = [part for part in content if part is not None]
        self.attributes = {key if ":" in key else f"spirit:{key}": value for key, value in attributes.items()}

    def lines(self, depth=0):
        """Yields the element's text line by line."""
        edge = "  " * depth
        told = "".join(f" {key}={xml.sax.saxutils.quoteattr(value)}" for key, value in self.attributes.items())
        if any(isinstance(part, Element) for part in self.content):
            yield f"{edge}<{self.name}{told}>"
            for part in self.content:
                yield from part.lines(depth + 1)
            yield f"{edge}</{self.name}>"
        else:
            text = "".join(xml.sax.saxutils.escape(str(part)) for part in self.content)
            yield f"{edge}<{self.name}{told}>{text}</{self.name}>"


def reference(kind, vendor, library, name, version):
    """Returns a four-part reference."""
    return Element(kind, **{"vendor": vendor, "library": library, "name": name, "version": version})


def bus_interface(top, bus):
    """Returns a bus interface with its port map."""
    group, kind, abstraction, knows = buses(top)[bus]
    mode = {
        "s_axi": Element("slave", Element("memoryMapRef", memoryMapRef="s_axi")),
        "m_axis": Element("master"),
        "m_axi": Element("master", Element("addressSpaceRef", addressSpaceRef="m_axi")),
        "interrupt": Element("master"),
    }
    maps = [
        Element(
            "portMap",
            Element("logicalPort", Element("name", port.logical)),
            Element("physicalPort", Element("name", port.name)),
        )
        for port in ports(top)
        if port.bus == bus
    ]
    settings = [word.strip().split(" ") for word in knows.split(",")] if knows else []
    known = [
        Element("parameter", Element("name", key), Element("value", value, id=f"BUSIFPARAM_VALUE.{bus.upper()}.{key}"))
        for key, value in settings
    ]
    return Element(
        "busInterface",
        Element("name", bus),
        reference("busType", "xilinx.com", group, kind, "1.0"),
        reference("abstractionType", "xilinx.com", group, abstraction, "1.0"),
        mode.get(bus, Element("slave")),
        Element("portMaps", *maps),
        Element("parameters", *known) if known else None,
    )


def xpath(expression, settings):
    """Converts an expression of parameters to IP-XACT's syntax."""
    named = {setting.name for setting in settings}
    text = re.sub(
        r"[A-Za-z]\w*",
        lambda match: f"spirit:decode(id('MODELPARAM_VALUE.{match[0]}'))" if match[0] in named else match[0],
        expression,
    )
    return text.replace(" / ", " div ")


def width(port, settings):
    """Returns a port's range: its value at the defaults and, if it depends on parameters, the
    formula.
    """
    if not port.width:
        return None
    if port.width.isdigit():
        left = Element("left", int(port.width) - 1, format="long")
    else:
        values = {setting.name: setting.default for setting in settings if setting.default.isdigit()}
        number = int(eval(re.sub(r"[A-Za-z]\w*", lambda match: values[match[0]], port.width).replace("/", "//")))
        left = Element(
            "left", number - 1, format="long", resolve="dependent", dependency=f"({xpath(port.width, settings)} - 1)"
        )
    return Element("vector", left, Element("right", 0, format="long"))


def wire_port(port, settings):
    """Returns the element of a port."""
    view = [Element("viewNameRef", f"xilinx_anylanguage{use}") for use in ("synthesis", "behavioralsimulation")]
    kind = Element("wireTypeDefs", Element("wireTypeDef", Element("typeName", "wire"), *view))
    # The value of an unconnected input: all bytes of a beat are valid.
    driver = (
        Element("driver", Element("defaultValue", (1 << 64) - 1 if port.logical == "TKEEP" else 0))
        if port.way == "input" and (port.logical in ("TKEEP", "AWPROT", "ARPROT"))
        else None
    )
    parts = [Element("direction", {"input": "in", "output": "out"}[port.way]), width(port, settings), kind, driver]
    return Element("port", Element("name", port.name), Element("wire", *parts))


def literal(text):
    """Converts a parameter's default: digits, or a concatenation of sized numbers."""
    if text.isdigit():
        return text
    pieces = [re.fullmatch(r"(\d+)'d(\d+)", piece.strip()) for piece in text.strip("{}").split(",")]
    if not all(pieces):
        raise SystemExit(f"ip: unknown form of a default: {text}")
    return "0x" + "".join(f"{int(piece[2]):0{int(piece[1]) // 4}x}" for piece in pieces)


def field(node):
    """Returns a field of a register."""
    access = {"rw": "read-write", "r": "read-only", "w": "write-only"}[node.get_property("sw").name]
    clears = Element("modifiedWriteValue", "oneToClear") if node.get_property("onwrite", default=None) else None
    return Element(
        "field",
        Element("name", node.inst_name.upper()),
        Element("description", node.get_property("desc")) if node.get_property("desc", default=None) else None,
        Element("bitOffset", node.low),
        Element("bitWidth", node.width),
        Element("access", access),
        clears,
    )


def half():
    """Returns the only field of half a 64-bit register."""
    bits = (Element("bitOffset", 0), Element("bitWidth", 32), Element("access", "read-only"))
    return Element("field", Element("name", "VALUE"), *bits)


def register(node, base=0, prefix=""):
    """Returns a register; 64 bits are two words."""
    size = node.get_property("regwidth")
    words = (
        [(f"{prefix}{node.inst_name}", 0)]
        if size == 32
        else [(f"{prefix}{node.inst_name}_LOW", 0), (f"{prefix}{node.inst_name}_HIGH", 4)]
    )
    for name, offset in words:
        # Each half of a counter gets a field, because tools omit registers without fields.
        fields = [field(one) for one in node.fields()] if size == 32 else [half()]
        yield Element(
            "register",
            Element("name", name),
            Element("description", node.get_property("desc")),
            Element("addressOffset", f"0x{node.absolute_address - base + offset:x}"),
            Element("size", 32),
            *fields,
        )


def memory_map(root, name):
    """Returns the memory map: registers and regions of the key, or one block where rtl/registers is
    missing.
    """
    space = 1 << ADDRESS_BITS
    if not (root / "rtl" / "registers").is_dir():
        blocks = [address_block("registers", 0, space, [])]
    else:
        import registers

        description = registers.Description(root)
        system = description.systems[name]
        known = [one for node in description.registers for one in register(node)]
        known += [one for node in system.parameters for one in register(node, prefix="PARAMETER_")]
        blocks = [address_block("registers", 0, space // 2, known)]
        blocks += [
            address_block(region.name, region.address, registers.REGION_BYTES, [], region.says)
            for region in system.regions
        ]
    return Element("memoryMaps", Element("memoryMap", Element("name", "s_axi"), *blocks))


def address_spaces(settings):
    """Returns the memory that a top reaches: as many bytes as its addresses can name."""
    bits = next(int(setting.default) for setting in settings if setting.name == "AddrWidth") + 3
    depends = "spirit:pow(2, (spirit:decode(id('MODELPARAM_VALUE.AddrWidth')) + 3))"
    size = Element("range", 1 << bits, format="long", resolve="dependent", dependency=depends)
    space = Element("addressSpace", Element("name", "m_axi"), size, Element("width", 64, format="long"))
    return Element("addressSpaces", space)


def address_block(name, base, size, registers, says=None):
    """Returns a part of the address space: registers, or write-only words."""
    return Element(
        "addressBlock",
        Element("name", name),
        Element("description", says.replace("`", "")) if says else None,
        Element("baseAddress", f"0x{base:x}", format="long"),
        Element("range", size, format="long"),
        Element("width", 32, format="long"),
        Element("usage", "register" if registers else "memory"),
        Element("access", "write-only") if says else None,
        *registers,
    )


#: AMD's families that have the memories and DSP blocks that the design infers.
FAMILIES = ["artix7", "kintex7", "virtex7", "zynq", "kintexu", "virtexu", "kintexuplus", "virtexuplus", "zynquplus"]
NAMESPACES = {
    "xmlns:xilinx": "http://www.xilinx.com",
    "xmlns:spirit": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
}


def component(root, name, top, source):
    """Returns the component's text."""
    settings = parameters(source)
    files = sources(root, name)
    wrapper_file = f"../hearith_{name}.v"
    views = [
        Element(
            "view",
            Element("name", f"xilinx_anylanguage{use}"),
            Element("envIdentifier", f":vivado.xilinx.com:{short}"),
            Element("language", "Verilog"),
            Element("modelName", f"hearith_{name}"),
            Element("fileSetRef", Element("localName", "sources")),
        )
        for use, short in (("synthesis", "synthesis"), ("behavioralsimulation", "simulation"))
    ]

    def value(kind, setting):
        form = (
            {"format": "bitString", "bitStringLength": str(4 * (len(literal(setting.default)) - 2))}
            if setting.bits
            else {"format": "long"}
        )
        if kind == "PARAM_VALUE":
            return Element("value", literal(setting.default), resolve="user", id=f"PARAM_VALUE.{setting.name}", **form)
        return Element(
            "value", literal(setting.default), resolve="generated", id=f"MODELPARAM_VALUE.{setting.name}", **form
        )

    model = [
        Element(
            "modelParameter",
            Element("name", setting.name),
            Element("description", setting.says) if setting.says else None,
            value("MODELPARAM_VALUE", setting),
            **({} if setting.bits else {"dataType": "integer"}),
        )
        for setting in settings
    ]
    user = [
        Element(
            "parameter",
            Element("name", setting.name),
            Element("description", setting.says) if setting.says else None,
            value("PARAM_VALUE", setting),
        )
        for setting in settings
    ]
    file_set = Element(
        "fileSet",
        Element("name", "sources"),
        *(Element("file", Element("name", file), Element("fileType", "systemVerilogSource")) for file in files),
        Element("file", Element("name", wrapper_file), Element("fileType", "verilogSource")),
    )
    extensions = Element(
        "xilinx:coreExtensions",
        Element(
            "xilinx:supportedFamilies",
            *(Element("xilinx:family", family, **{"xilinx:lifeCycle": "Pre-Production"}) for family in FAMILIES),
        ),
        Element("xilinx:taxonomies", Element("xilinx:taxonomy", "/Hearith")),
        Element("xilinx:displayName", f"Hearith {name}"),
        Element("xilinx:coreRevision", "1"),
    )
    document = Element(
        "component",
        Element("vendor", "hearith"),
        Element("library", "accelerator"),
        Element("name", name),
        Element("version", VERSION),
        Element("busInterfaces", *(bus_interface(top, bus) for bus in buses(top))),
        address_spaces(settings) if top.memory else None,
        memory_map(root, name),
        Element(
            "model",
            Element("views", *views),
            Element("ports", *(wire_port(port, settings) for port in ports(top))),
            Element("modelParameters", *model),
        ),
        Element("fileSets", file_set),
        Element("description", f"{top.title}. Never run on a board."),
        Element("parameters", *user),
        Element("vendorExtensions", extensions),
        **NAMESPACES,
    )
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<!-- {GENERATED} from rtl/{top.directory}/{name}.sv and rtl/registers: edit these files, then run the script. -->",
    ]
    return "\n".join([*head, *document.lines(), ""])


def written(root):
    """Yields every generated file with its text."""
    for name, top in TOPS.items():
        source = (root / "rtl" / top.directory / f"{name}.sv").read_text()
        yield root / "rtl" / "ip" / f"hearith_{name}.v", wrapper(name, top, source)
        yield root / "rtl" / "ip" / name / "component.xml", component(root, name, top, source)


def main():
    """Writes or compares the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is out of date")
    parser.add_argument("root", nargs="?", type=Path, default=HERE)
    arguments = parser.parse_args()
    differ = False
    for path, text in written(arguments.root):
        name = str(path.relative_to(arguments.root))
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            before = path.read_text() if path.exists() else ""
            changes = difflib.unified_diff(
                before.splitlines(), text.splitlines(), name, "as it should be", lineterm="", n=1
            )
            print("\n".join(list(changes)[:20]), file=sys.stderr)
            differ = True
    if differ:
        sys.exit("ip: files are out of date: run scripts/ip.py")


if __name__ == "__main__":
    main()
