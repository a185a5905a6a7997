"""The synthesis scripts read the tools' output correctly."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import check
import roofline
import routing
import tools

TABLE = {
    "mesa N=64": {"LUT": 6191, "FF": 7334, "DSP": 96, "BRAM": 0.5, "AREG": 96, "BREG": 0, "MREG": 96, "PREG": 64},
    "wide_add N=64": {"LUT": 140, "FF": 199, "DSP": 0, "BRAM": 0.0, "AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0},
}


def test_equal_tables_pass():
    assert list(check.differences(TABLE, {name: dict(cells) for name, cells in TABLE.items()})) == []


@pytest.mark.parametrize("kind", check.KINDS)
@pytest.mark.parametrize("more", [1, -1])
def test_one_cell_is_a_difference(kind, more):
    before = TABLE["mesa N=64"].get(kind, 0)
    found = TABLE | {"mesa N=64": TABLE["mesa N=64"] | {kind: before + more}}
    (line,) = check.differences(TABLE, found)
    assert line.startswith("mesa N=64: ")
    assert f"{kind} {before + more:g}, in the table {before:g} ({more:+d})" in line


def test_missing_designs_are_differences():
    fewer = {"mesa N=64": TABLE["mesa N=64"]}
    assert list(check.differences(TABLE, fewer)) == ["wide_add N=64: in the table, but not synthesised"]
    assert list(check.differences(fewer, TABLE)) == ["wide_add N=64: not in the table"]


def rows(chosen):
    """Returns a table of some designs, computed from the current sources."""
    return {check.label(top, chosen[top]): {"LUT": 1, "state": check.state(top, chosen[top])} for top in chosen}


def test_what_has_not_changed_is_not_synthesised(monkeypatch):
    chosen = check.designs()
    before = rows(chosen)
    assert check.known(before, chosen).keys() == chosen.keys() - check.ANEW
    assert check.known({}, chosen) == {}
    # Another parameter, another version of the tool.
    assert "mesa" not in check.known(before, chosen | {"mesa": chosen["mesa"] | {"Stages": 3}})
    monkeypatch.setattr(check, "YOSYS", "0.1")
    assert check.known(before, chosen) == {}


@pytest.mark.parametrize("path", ["rtl/arith/mod_add.sv", "rtl/lib/assertions.svh"])
def test_other_sources_are_synthesised(path, monkeypatch):
    chosen = check.designs()
    before = rows(chosen)
    read = Path.read_text

    def changed(text):
        monkeypatch.setattr(Path, "read_text", lambda self: read(self) + (text if self == tools.ROOT / path else ""))
        return chosen.keys() - check.ANEW - check.known(before, chosen).keys()

    assert changed("// A comment.\n") == set()
    users = {top for top in chosen if tools.ROOT / path in tools.used_sources(top)} or chosen.keys()
    assert changed("module more; endmodule\n") == users - check.ANEW


def test_other_sources_with_the_same_cells_are_a_difference():
    before = {"wide_add N=64": TABLE["wide_add N=64"] | {"state": "a"}}
    after = {"wide_add N=64": TABLE["wide_add N=64"] | {"state": "b"}}
    assert list(check.differences(before, after)) == [
        "wide_add N=64: the sources differ from the table's, the cells do not"
    ]


def test_the_table_is_made_of_what_there_is(monkeypatch):
    written = json.loads(check.TABLE.read_text())
    table = written["designs"]
    monkeypatch.setattr(check, "YOSYS", written["yosys"])
    chosen = check.designs()
    assert table.keys() == {check.label(top, chosen[top]) for top in chosen}
    assert {top: table[check.label(top, chosen[top])]["state"] for top in chosen} == {
        top: check.state(top, chosen[top]) for top in chosen
    }


def test_every_module_is_in_a_design():
    modules = {path.stem for path in tools.SOURCES if "\nendmodule" in path.read_text()}
    reached = {path.stem for top in check.designs() for path in tools.used_sources(top)}
    assert modules
    assert modules <= reached


def cell(kind, directions, connections, **parameters):
    """Returns a cell as Yosys writes it: bits are numbers, constants are strings."""
    return {"type": kind, "port_directions": directions, "connections": connections, "parameters": parameters}


def lut(kind, ins, out):
    ports = {f"I{k}": [bit] for k, bit in enumerate(ins)}
    return cell(kind, {**dict.fromkeys(ports, "input"), "O": "output"}, {**ports, "O": [out]})


def flip_flop(d, q):
    return cell("FDRE", {"D": "input", "Q": "output"}, {"D": [d], "Q": [q]})


def block(a, b, p, **registers):
    directions = {"A": "input", "B": "input", "P": "output"}
    return cell(
        "DSP48E1",
        directions,
        {"A": [a], "B": [b], "P": [p]},
        **{name: f"{value:032b}" for name, value in registers.items()},
    )


def test_longest_paths():
    # 1 -> LUT -> LUT -> carry -> LUT -> flip-flop -> LUT.
    carry = cell("CARRY4", {"S": "input", "CO": "output"}, {"S": [4, "0"], "CO": [5]})
    cells = [
        lut("LUT2", [1, "1"], 2),
        lut("LUT6", [2, 1], 4),
        carry,
        lut("LUT1", [5], 6),
        flip_flop(6, 7),
        lut("LUT3", [7, 1], 8),
    ]
    module = {"cells": {f"c{k}": one for k, one in enumerate(cells)}}
    assert tools.critical_path(module) == {"LUT": 3, "multipliers": 0}
    module["cells"]["c6"] = lut("LUT2", [8, 2], 1)
    with pytest.raises(tools.Failed, match="loop"):
        tools.critical_path({"cells": module["cells"] | {"c7": lut("LUT2", [9, 10], 10)}})


@pytest.mark.parametrize(
    ("first", "second", "multipliers"),
    [
        ({"AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0}, {"AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0}, 2),
        ({"AREG": 0, "BREG": 0, "MREG": 1, "PREG": 0}, {"AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0}, 1),
        ({"AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0}, {"AREG": 1, "BREG": 0, "MREG": 0, "PREG": 0}, 1),
        ({"AREG": 1, "BREG": 1, "MREG": 1, "PREG": 1}, {"AREG": 1, "BREG": 1, "MREG": 0, "PREG": 1}, 0),
    ],
)
def test_multipliers_on_a_path(first, second, multipliers):
    module = {"cells": {"first": block(1, 2, 3, **first), "second": block(3, 4, 5, **second)}}
    assert tools.critical_path(module)["multipliers"] == multipliers


def test_cells_and_registers_are_counted():
    cells = [
        block(1, 2, 3, AREG=1, BREG=2, MREG=0, PREG=1),
        block(1, 2, 4, AREG=0, BREG=0, MREG=1, PREG=1),
        flip_flop(1, 2),
    ]
    assert tools.count(cells) == {"DSP48E1": 2, "FDRE": 1, "AREG": 1, "BREG": 1, "MREG": 1, "PREG": 2}
    # Inside two instances of another module.
    area = tools.Area({"top": {"inner": 2, "LUT6": 1}, "inner": tools.count(cells)}, "top")
    assert tools.resources(area.cells()) == {
        "LUT": 1,
        "FF": 2,
        "DSP": 4,
        "BRAM": 0,
        "AREG": 2,
        "BREG": 2,
        "MREG": 2,
        "PREG": 4,
    }


def step(kind, delay, into="Q", out="Q"):
    return {"type": kind, "delay": delay, "from": {"port": into}, "to": {"port": out}}


def test_a_path_is_told():
    logic = [
        step("logic", 3, "A6", "P30"),
        step("logic", 1, "A", "F"),
        step("logic", 1, "B", "FCO"),
        step("logic", 1, "FCI", "FCO"),
    ]
    path = [step("clk-to-q", 1), *logic, step("routing", 2, "F", "A"), step("logic", 1, "A", "FCO"), step("setup", 0)]
    assert routing.steps(path) == {"multipliers": 1, "LUT": 1, "carries": 2, "wires": pytest.approx(0.2)}
    text = routing.path_text([{"MHz": 90.0, "path": routing.steps(path)}, {"MHz": 100.0, "path": {"wires": 1}}])
    assert text == "1 multiplier, 1 LUT, 2 carry chains; 20 % wires"


def test_least_and_median():
    placements = [{"MHz": clock} for clock in (102.4, 82.6, 92.4, 99.0, 101.0)]
    assert routing.least_and_median(placements) == ("82.6", "99.0")
    assert routing.least_and_median(placements[:2]) == ("82.6 (2 of 5 seeds)", "92.5 (2 of 5 seeds)")
    assert routing.least_and_median(None) == (None, None)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Gives each test its own cache."""
    monkeypatch.setattr(tools, "CACHE", tmp_path / "cache")


def test_results_of_another_checkout_are_taken(tmp_path, monkeypatch, capsys):
    source = tmp_path / "one.sv"
    source.write_text("module one;\nendmodule\n")
    monkeypatch.setattr(tools, "SOURCES", [source])
    runs = []

    def kept(checkout, **more):
        monkeypatch.setattr(tools, "WORK", tmp_path / checkout)
        return tools.kept("kind", "one", {"N": 1}, lambda name: runs.append(name) or len(runs), **more)

    assert [kept("first"), kept("second")] == [1, 1]
    # A result that represents a file is computed where the file must be.
    (tmp_path / "third").mkdir()
    (tmp_path / "third/kind-one-N1.json").touch()
    assert kept("third", suffix=".json") == 2
    monkeypatch.setattr(tools, "FLOW", b"another way to make results")
    assert kept("fourth") == 3
    source.write_text("module one;\nlogic a;\nendmodule\n")
    assert kept("fifth") == 4
    monkeypatch.setattr(tools, "CACHE", "none")
    assert kept("sixth") == 5
    # An unwritable folder is not an error.
    monkeypatch.setattr(tools, "CACHE", source / "below a file")
    assert kept("seventh") == 6
    assert "in this checkout alone" in capsys.readouterr().err


def test_results_are_kept_until_something_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "WORK", tmp_path / "work")
    monkeypatch.setattr(tools, "SOURCES", [tmp_path / "one.sv"])
    (tmp_path / "one.sv").write_text("module one;\nendmodule\n")
    runs = []

    def work(name):
        runs.append(name)
        return len(runs)

    assert [tools.kept("kind", "one", {"N": 1}, work) for _ in range(2)] == [1, 1]
    assert tools.kept("kind", "one", {"N": 2}, work) == 2
    assert tools.kept("kind", "one", {"N": 1}, work, ["option"]) == 3
    # Changes that tools do not see have no effect.
    (tmp_path / "one.sv").write_text("// One.\nmodule one;\n\nendmodule\n")
    assert tools.kept("kind", "one", {"N": 1}, work, ["option"]) == 3
    (tmp_path / "one.sv").write_text("module one;\nlogic a;\nendmodule\n")
    assert tools.kept("kind", "one", {"N": 2}, work) == 4
    monkeypatch.setattr(tools, "ONLY_KEPT", True)
    assert tools.kept("kind", "one", {"N": 2}, work) == 4
    assert tools.kept("kind", "one", {"N": 3}, work) is None


def test_jobs_are_chosen_and_failures_counted(capsys):
    ran = []

    def fail():
        raise tools.Failed("no room")

    jobs = {"area a": lambda: ran.append("a"), "clock a": lambda: ran.append("b"), "clock c": fail}
    assert tools.run_jobs(jobs, ["area"]) == 0
    assert ran == ["a"]
    assert tools.run_jobs(jobs, ["clock"], at_once=2) == 1
    assert ran == ["a", "b"]
    assert "clock c: no room" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="there are"):
        tools.run_jobs(jobs, ["nothing"])


def test_results_in_the_repository_count_until_something_changes(tmp_path, monkeypatch):
    source = tmp_path / "one.sv"
    for name, value in {
        "SOURCES": [source],
        "COMMITTED": tmp_path / "results",
        "RESULTS": tmp_path,
        "committed": {},
        "given": {},
    }.items():
        monkeypatch.setattr(tools, name, value)
    source.write_text("module one;\nendmodule\n")
    monkeypatch.setattr(tools, "WORK", tmp_path / "first")
    tools.kept("kind", "one", {"N": 1}, lambda name: {"LUT": 7})
    tools.kept("kind", "one", {"N": 2}, lambda name: {"LUT": 8})
    monkeypatch.setattr(tools, "ONLY_KEPT", True)
    assert tools.kept("kind", "one", {"N": 1}, None) == {"LUT": 7}
    tools.publish("page", "text\n")
    assert (tmp_path / "page.md").read_text() == "text\n"
    # Another checkout has only the results that the page was made of.
    monkeypatch.setattr(tools, "WORK", tmp_path / "second")
    assert tools.kept("kind", "one", {"N": 1}, None) is None
    tools.take_up("page")
    assert tools.kept("kind", "one", {"N": 1}, None) == {"LUT": 7}
    assert tools.kept("kind", "one", {"N": 2}, None) is None
    # A result that represents a file does not count without the file.
    assert tools.kept("kind", "one", {"N": 1}, None, suffix=".json") is None
    source.write_text("module one;\nlogic a;\nendmodule\n")
    assert tools.kept("kind", "one", {"N": 1}, None) is None
    tools.take_up("no page")


def test_a_roof_is_the_lower_one():
    # 100 fit by DSP blocks, each a product of 1000 by 1000 bits in 100 cycles, at 100 MHz.
    used = {"LUT": 1000, "FF": 1000, "DSP": 36}
    assert roofline.copies(used) == (100, "DSP")
    computed, brought, taken = roofline.roofs(1000, 100, 100, 100, 2)
    assert computed == pytest.approx(1e6)
    assert taken == pytest.approx(250)
    assert brought == pytest.approx(1e6 * roofline.BANDWIDTH / 1e8 / 250)
    text = roofline.rows(
        [
            ("fits", 1000, 100, 100, used),
            ("too large", 1000, 100, 100, {**used, "LUT": 10**6}),
            ("missing", 1000, 100, 100, None),
        ]
    )
    fits, large, missing = text.splitlines()[2:]
    assert fits.startswith("| fits | 1000 | 100 | DSP | 1000000 |")
    assert "cells" in fits
    assert large == "| too large | 1000 | 0 | LUT | - | - | - | - | - |"
    assert missing == "| missing | 1000 |" + " not run |" * 7
    # Half the bytes for the same product, if one factor is generated from its seed.
    assert roofline.roofs(1000, 100, 100, 100, 1)[2] == pytest.approx(taken / 2)


def test_parts_are_counted_wherever_they_are():
    inner = {"LUT2": 5, "crc32": 1}
    modules = {
        "top": {"$paramod$ab\\link": 2, "linker": 1, "LUT6": 3},
        "$paramod$ab\\link": inner,
        "linker": {"$paramod$cd\\link": 1},
        "$paramod$cd\\link": {**inner, "LUT2": 7},
        "crc32": {"LUT1": 1},
    }
    found = tools.parts(tools.Area(modules, "top"), ["link", "crc32", "top"], tools.resources)
    # Two forms of a link, of which the larger is reported; a module with only a similar name is
    # not.
    assert {name: (times, cells["LUT"]) for name, (times, cells) in found.items()} == {
        "link": (3, 8),
        "crc32": (3, 1),
        "top": (1, 23),
    }
    with pytest.raises(tools.Failed, match="other is not in top"):
        tools.parts(tools.Area(modules, "top"), ["other"], tools.resources)


def test_parts_synthesised_apart_are_added_up():
    modules = {"top": {"half": 2, "aes": 1, "LUT6": 3}, "half": {"aes": 2, "LUT2": 5}}
    found = tools.parts(
        tools.Area(modules, "top"), ["aes", "half", "top"], tools.resources, {"aes": {"LUT": 100, "DSP": 1}}
    )
    assert {name: (times, cells["LUT"], cells["DSP"]) for name, (times, cells) in found.items()} == {
        "aes": (5, 100, 1),
        "half": (2, 205, 2),
        "top": (1, 513, 5),
    }
