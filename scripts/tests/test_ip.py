"""Wrappers, IP-XACT, FuseSoC cores and constraints agree with the hardware's own sources."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import ip
import registers

SOURCE_DIRS = ip.source_dirs()
SPIRIT = {"s": ip.NAMESPACES["xmlns:spirit"]}
#: Small configurations, which elaborate quickly.
SMALL = {
    "mesa": {"N": 64, "Stages": 1, "StreamBits": 32},
    "mesa_dual": {"N": 64, "Lanes": 1, "W": 16, "V": 16, "StreamBits": 32},
    "residue_bank": {"Words": 2, "StreamBits": 32},
    "coproc": {"N": 64, "StreamBits": 32},
    "dghv": {"Rounds": 1, "StreamBits": 32},
}


def run(*command, cwd=ROOT):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)


def component(name):
    return ElementTree.parse(ROOT / "rtl" / "ip" / name / "component.xml").getroot()


def test_comments_of_parameters_are_behind_or_above_them():
    source = """module top #(
    // one line,
    // and another
    parameter int unsigned N = 1,
    parameter int unsigned M = 2,  // behind
    parameter int unsigned L = 3
) (
"""
    assert [one.says for one in ip.parameters(source)] == ["one line, and another", "behind", ""]


def texts(element, path):
    return [one.text for one in element.findall(path, SPIRIT)]


def module_ports(text):
    """Returns the ports of a module's header: direction and width (in source form) by name."""
    text = re.sub(r"\(\*.*?\*\)|//.*|/\*.*?\*/", "", text)
    found = re.findall(r"^\s*(input|output)\s+(?:wire|logic)\s*(?:\[(.*?):0\])?\s*(\w+)", text, re.MULTILINE)
    return {name: (way, width.replace(" ", "") or "0") for way, width, name in found}


@pytest.mark.parametrize("name", ip.TOPS)
def test_the_wrapper_has_the_tops_ports(name):
    wrapper = module_ports((ROOT / "rtl" / "ip" / f"hearith_{name}.v").read_text())
    top = module_ports((ROOT / "rtl" / ip.TOPS[name].directory / f"{name}.sv").read_text())
    renamed = {"clk_i": "aclk", "rst_ni": "aresetn", "irq_o": "interrupt"}
    for port, shape in top.items():
        outer = renamed.get(port, re.sub("^axil_", "s_axi_", port).rsplit("_", 1)[0])
        assert wrapper.pop(outer) == shape, port
    assert set(wrapper) == {"s_axi_awprot", "s_axi_arprot", "s_axis_tkeep", "m_axis_tkeep"}


@pytest.mark.parametrize("name", ip.TOPS)
def test_the_component_has_the_wrappers_ports(name):
    wrapper = module_ports((ROOT / "rtl" / "ip" / f"hearith_{name}.v").read_text())
    root = component(name)
    declared = {}
    for port in root.findall("s:model/s:ports/s:port", SPIRIT):
        left = port.find("s:wire/s:vector/s:left", SPIRIT)
        direction = port.findtext("s:wire/s:direction", namespaces=SPIRIT)
        declared[port.findtext("s:name", namespaces=SPIRIT)] = ({"in": "input", "out": "output"}[direction], left)
    assert declared.keys() == wrapper.keys()
    for port, (way, left) in declared.items():
        assert way == wrapper[port][0]
        width = wrapper[port][1]
        if width.isdigit():
            assert (left.text if left is not None else "0") == width
        else:
            # For 64 bits per beat and 32 bits per word address.
            assert int(left.text) == {"StreamBits-1": 63, "StreamBits/8-1": 7, "AddrWidth+3-1": 34}[width]
            setting = re.match(r"\w+", width)[0]
            assert f"MODELPARAM_VALUE.{setting}" in left.attrib[f"{{{SPIRIT['s']}}}dependency"]
    # Every port is in one bus, under the bus's own names.
    mapped = texts(root, ".//s:portMap/s:physicalPort/s:name")
    assert sorted(mapped) == sorted(wrapper)


@pytest.mark.parametrize("name", ip.TOPS)
def test_the_component_names_its_files_and_registers(name):
    root = component(name)
    folder = ROOT / "rtl" / "ip" / name
    files = texts(root, "s:fileSets/s:fileSet/s:file/s:name")
    assert all((folder / file).is_file() for file in files), files
    assert any(file.endswith(f"/{name}.sv") for file in files)
    packages = [file.endswith("_pkg.sv") for file in files]
    assert packages == sorted(packages, reverse=True)
    addresses = dict(
        zip(
            texts(root, ".//s:register/s:name"),
            (int(text, 16) for text in texts(root, ".//s:register/s:addressOffset")),
            strict=True,
        )
    )
    description = registers.Description(ROOT)
    for register in description.registers:
        wide = register.get_property("regwidth") == 64
        assert addresses[f"{register.inst_name}_LOW" if wide else register.inst_name] == register.absolute_address
    regions = {region.name: region.address for region in description.systems[name].regions}
    blocks = dict(
        zip(
            texts(root, ".//s:addressBlock/s:name"),
            (int(text, 16) for text in texts(root, ".//s:addressBlock/s:baseAddress")),
            strict=True,
        )
    )
    assert blocks == {"registers": 0, **regions}
    assert len(addresses.values()) == len(set(addresses.values()))


@pytest.mark.parametrize("name", ip.TOPS)
def test_another_reader_finds_the_same_map(name):
    import peakrdl_ipxact
    import systemrdl
    from systemrdl.node import MemNode, RegNode

    compiler = systemrdl.RDLCompiler()
    peakrdl_ipxact.IPXACTImporter(compiler).import_file(str(ROOT / "rtl" / "ip" / name / "component.xml"))
    nodes = list(compiler.elaborate().top.descendants())
    access = {"rw": "rw", "r": "r", "w": "w", "rw1": "rw"}

    def fields(node):
        return {
            (one.inst_name.upper(), one.low, one.width, access[one.get_property("sw").name]) for one in node.fields()
        }

    found = {node.inst_name: (node.absolute_address, fields(node)) for node in nodes if isinstance(node, RegNode)}
    description = registers.Description(ROOT)
    system = description.systems[name]
    expected = {}
    for prefix, known in [("", description.registers), ("PARAMETER_", system.parameters)]:
        for node in known:
            register = f"{prefix}{node.inst_name}"
            if node.get_property("regwidth") == 32:
                expected[register] = (node.absolute_address, fields(node))
            else:
                for half, offset in [("LOW", 0), ("HIGH", 4)]:
                    expected[f"{register}_{half}"] = (node.absolute_address + offset, {("VALUE", 0, 32, "r")})
    assert found == expected
    regions = {node.inst_name: (node.absolute_address, node.size) for node in nodes if isinstance(node, MemNode)}
    assert regions == {region.name: (region.address, registers.REGION_BYTES) for region in system.regions}


def verilator(top, parameters, *files):
    libraries = [word for folder in (*SOURCE_DIRS, "ip") for word in ("-y", ROOT / "rtl" / folder)]
    packages = sorted((ROOT / "rtl").glob("*/*_pkg.sv"))
    settings = [f"-G{key}={value}" for key, value in parameters.items()]
    command = ["verilator", "--lint-only", "-Wall", *libraries, "-y", ROOT / "boards" / "self_test", *settings]
    return run(*command, "--top-module", top, *packages, *files)


@pytest.mark.parametrize("name", ip.TOPS)
def test_the_wrapper_elaborates(name):
    result = verilator(f"hearith_{name}", SMALL[name], ROOT / "rtl" / "ip" / f"hearith_{name}.v")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("board", "suffix"), [("ulx3s", "lpf"), ("arty_a7", "xdc")])
def test_boards_elaborate_and_every_port_has_a_pin(board, suffix):
    top = ROOT / "boards" / board / f"{board}_top.sv"
    result = verilator(f"{board}_top", {}, top)
    assert result.returncode == 0, result.stderr
    constraints = (ROOT / "boards" / board / f"{board}.{suffix}").read_text()
    pattern = (
        r'LOCATE COMP "(.*?)" SITE "(.*?)"'
        if suffix == "lpf"
        else r"PACKAGE_PIN (\w+).*\[get_ports \{?([\w\[\]]+?)\}?\]$"
    )
    pairs = re.findall(pattern, constraints, re.MULTILINE)
    places = dict(pairs) if suffix == "lpf" else {port: pin for pin, port in pairs}
    bits = set()
    for port, (_, width) in module_ports(top.read_text()).items():
        bits |= {port} if width == "0" else {f"{port}[{bit}]" for bit in range(int(width) + 1)}
    assert places.keys() == bits
    assert len(set(places.values())) == len(places)


def test_cores_have_every_source_once():
    named = [
        line.strip(" -")
        for core in sorted((ROOT / "rtl").glob("*.core"))
        for line in core.read_text().splitlines()
        # Benches share the host models.
        if re.fullmatch(r"\s+- (?!sim/)[\w/]+\.(sv|v)", line)
    ]
    sources = [
        f"{path.parent.name}/{path.name}"
        for folder in (*SOURCE_DIRS, "blocks", "election", "links", "ip")
        for path in (ROOT / "rtl" / folder).glob("*.*v")
    ]
    assert len(named) == len(set(named))
    assert set(named) <= set(sources)
    # Monitors are only for simulations; those of one top are found there by their name.
    assert {source for source in sources if "_monitor" not in source} <= set(named)
    # A package precedes its users.
    for core in (ROOT / "rtl").glob("*.core"):
        lines = re.findall(r"- ([\w/]+)\.sv", core.read_text())
        packages = [index for index, name in enumerate(lines) if name.endswith("_pkg")]
        assert packages == list(range(len(packages))) or all(lines[index].startswith("rns/") for index in packages)


@pytest.mark.parametrize("script", ["ip.py", "self_test.py"])
def test_what_is_written_is_checked(script, tmp_path):
    tree = tmp_path / "tree"
    for name in ("rtl", "boards"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("target", "*.rs"))
    check = [sys.executable, ROOT / "scripts" / script, "--check", tree]
    result = run(*check)
    assert result.returncode == 0, result.stderr
    changed = "rtl/ip/hearith_mesa.v" if script == "ip.py" else "boards/self_test/self_test_program.sv"
    (tree / changed).write_text((tree / changed).read_text().replace("1", "2", 1))
    assert run(*check).returncode != 0
    assert run(sys.executable, ROOT / "scripts" / script, tree).returncode == 0
    assert run(*check).returncode == 0


def test_a_new_port_is_refused(tmp_path):
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl", ignore=shutil.ignore_patterns("*.rs"))
    source = tmp_path / "rtl" / "mesa" / "mesa.sv"
    source.write_text(
        source.read_text().replace(
            "    output logic                  irq_o,\n", "    output logic irq_o,\n    input logic extra_i,\n"
        )
    )
    result = run(sys.executable, ROOT / "scripts" / "ip.py", tmp_path)
    assert result.returncode != 0
    assert "extra_i" in result.stderr
