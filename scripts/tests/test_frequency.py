"""synth/asic.py and synth/gowin.py read and write the tools' files correctly."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import asic
import frequency
import gowin
import tools

SAID = """OpenSTA 3.1.0
vcd          1234
unannotated     0

Startpoint: a (rising edge-triggered flip-flop clocked by clk)
   0.0000    0.0000 ^ a/CK (DFF_X1)
   0.0846    0.0846 v a/Q (DFF_X1)
   0.0216    0.1062 ^ u_x/_1_/ZN (AOI21_X2)
   0.0400    0.1462 ^ u_x.u_y/_2_/Z (BUF_X4)
   0.0000    0.1462 ^ b/D (DFF_X1)
             0.1462   data arrival time
  -0.0338    9.9662   library setup time
             9.8200   slack (MET)

Total                8.440037e-04 2.046902e-04 2.242987e-03 3.291681e-03 100.0%
                            25.6%         6.2%        68.1%
"""
REPORT = """=== part ===
        5     22.5 DFF_X1
   Chip area for module 'part': 22.500000

=== design hierarchy ===
        + cells
       10    45.2 DFF_X1
        7    28.1 SDFF_X2
      378  201.096 INV_X1
        2 4.5E+01 part
   Chip area for top module 'top': 274.400000
"""


def test_answers_are_read():
    assert asic.longest(SAID) == {"MHz": 5555.6, "gates": 2, "buffers": 1}
    assert asic.microwatts(SAID) == 32.92
    assert asic.size(REPORT) == {"area": 274, "registers": 17}


def test_memories_that_something_writes_are_counted():
    cell = """  cell $mem_v2 \\row
    parameter signed \\SIZE {words}
    parameter \\WIDTH 11
    parameter signed \\WR_PORTS {ports}
"""
    assert asic.memory_bits("") == 0
    memories = [cell.format(words=words, ports=ports) for words, ports in ((32, 1), (256, 0), (2, 2))]
    assert asic.memory_bits("".join(memories)) == 34 * 11


def test_power_of_pins_that_were_not_recorded_is_refused():
    with pytest.raises(tools.Failed, match="has not recorded 17 pins"):
        asic.microwatts(SAID.replace("unannotated     0", "unannotated    17"))


def test_output_pins_of_all_libraries_are_gates_of_the_path():
    for pin in ("Y", "CON", "SN", "QN", "COUT"):
        assert asic.longest(SAID.replace("_1_/ZN", f"_1_/{pin}"))["gates"] == 2


def test_a_design_that_misses_the_clock_has_a_frequency_too():
    assert asic.longest(SAID.replace(" 9.8200   slack", "-15.0000   slack"))["MHz"] == 40.0


def test_a_library_is_the_one_that_the_page_is_made_with(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "WORK", tmp_path / "work")
    (tmp_path / "work").mkdir()
    monkeypatch.delenv("HEARITH_LIBERTY", raising=False)
    with pytest.raises(tools.Failed, match="does not name a folder"):
        asic.liberty("Nangate45")
    monkeypatch.setenv("HEARITH_LIBERTY", str(tmp_path))
    with pytest.raises(tools.Failed, match=r"there is no nangate45_typ\.lib"):
        asic.liberty("Nangate45")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "nangate45_typ.lib").write_text("another library\n")
    with pytest.raises(tools.Failed, match="is not the version that the page requires"):
        asic.liberty("Nangate45")
    # The wrong version is not kept, so the next call searches again.
    assert not (tmp_path / "work" / "nangate45_typ.lib").exists()


def test_every_design_is_a_module_with_these_parameters():
    for designs in frequency.DESIGNS.values():
        for top, parameters in designs.values():
            text = next(path for path in tools.SOURCES if path.stem == top).read_text()
            head = text[text.index("module ") : text.index("\n);")]
            assert all(f" {name} " in head for name in parameters), (top, parameters)


def test_every_file_of_a_library_is_read():
    paths = [Path("a.lib"), Path("b.lib")]
    assert f"abc -liberty {asic.repeated('-liberty', paths)} -D 1" == "abc -liberty a.lib -liberty b.lib -D 1"
    commands = f"read_liberty {asic.repeated(chr(10) + 'read_liberty', paths)}"
    assert [line.split() for line in commands.splitlines()] == [["read_liberty", "a.lib"], ["read_liberty", "b.lib"]]


def test_every_bit_of_a_port_has_a_pad_of_its_own():
    lines = gowin.constraints({"clk_i": 1, "in_i": 3, "out_o": 2}).splitlines()
    names = [line.split('"')[1] for line in lines]
    assert names == ["clk_i", "in_i[0]", "in_i[1]", "in_i[2]", "out_o[0]", "out_o[1]"]
    assert len({line.split()[-1] for line in lines}) == len(lines)
    with pytest.raises(tools.Failed, match="60 bits of ports, but 48 pads"):
        gowin.constraints({"in_i": 60})


def test_routed_cores_are_among_the_designs():
    assert list(frequency.routed()) == list(frequency.ROUTED)
    assert frequency.FAMILIES.keys() == frequency.KINDS.keys()
