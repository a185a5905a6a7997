"""The coverage page counts what was reached, out of how much, and misses nothing."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import coverage


def point(page, source, line, comment, count):
    """Returns a line of Verilator's file."""
    fields = {"f": source, "l": str(line), "n": "5", "page": page, "o": comment, "h": "TOP"}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in fields.items()) + f"' {count}\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Makes a run over two small modules, one of them with a state machine, and a test design."""
    monkeypatch.setattr(coverage, "ROOT", tmp_path)
    coverage.module_file.cache_clear()
    coverage.constant_lines.cache_clear()
    coverage.texts.cache_clear()
    for name in ("rtl/arith/div.sv", "rtl/lib/fork.sv", "rtl/tests/cover/div_cover.sv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("module x;\n" + "    Idle: if (ready_i) state_q <= Busy;\n" * 39 + "endmodule\n")
    directory = tmp_path / "run"
    directory.mkdir()
    first = [
        *(point("v_line/div", "rtl/arith/div.sv", line, "block", 1) for line in range(1, 40)),
        point("v_line/div", "rtl/arith/div.sv", 40, "block", 0),
        point("v_toggle/div", "arith/div.sv", 3, "x[0]", 1),
        point("v_user/div_cover", "../../rtl/tests/cover/div_cover.sv", 7, "Idle", 1),
        point("v_user/div_cover", "../../rtl/tests/cover/div_cover.sv", 8, "Done", 0),
        point("v_toggle/div_cover", "../../rtl/tests/cover/div_cover.sv", 3, "idle_i", 0),
        point("v_line/copy", "tests/designs/copy.sv", 3, "block", 0),
    ]
    (directory / "a-1-0.dat").write_text("# SystemC::Coverage-3\n" + "".join(first))
    # Another model reaches points that the first did not.
    (directory / "b-1-1.dat").write_text(point("v_user/div_cover", "tests/cover/div_cover.sv", 8, "Done", 5))
    (directory / "a-1-2.streams").write_text("div in_valid_i 10 3 0 4\nfork out_valid_o 0 0 0 0\ncopy start 1 0 0 0\n")
    (directory / "b-1-3.streams").write_text("div in_valid_i 10 0 2 0\n")
    return directory


def test_points_are_joined_over_runs_and_shares_say_of_how_many(run):
    covered = coverage.collect(run)
    assert list(coverage.complaints(covered)) == []
    assert "| arith/div.sv | 97.5 % of 40 | 100.0 % of 1 | 100.0 % of 5 |" in coverage.table(covered).splitlines()
    assert "copy" not in coverage.table(covered)


def test_a_point_that_nothing_reaches_is_named(run):
    (run / "b-1-1.dat").unlink()
    (run / "b-1-3.streams").unlink()
    assert list(coverage.complaints(coverage.collect(run))) == [
        "never reached in arith/div.sv: Done",
        "never reached in arith/div.sv: in_valid_i: ready waits for valid",
    ]


def test_reasons_excuse_points(run, monkeypatch):
    (run / "b-1-1.dat").unlink()
    monkeypatch.setattr(coverage, "UNREACHABLE", {("arith/*", "Do*"): "It never ends."})
    covered = coverage.collect(run)
    assert list(coverage.complaints(covered)) == []
    assert "100.0 % of 4 |" in coverage.table(covered).splitlines()[2]


def test_reasons_excuse_lines_by_their_branch_and_text(run, monkeypatch):
    (run / "a-1-1.dat").write_text(point("v_branch/div", "rtl/arith/div.sv", 40, "else", 0))
    assert "| arith/div.sv | 95.1 % of 41 |" in coverage.table(coverage.collect(run))
    monkeypatch.setattr(coverage, "UNREACHABLE", {("arith/*", "else: Idle: if (ready_i) *"): "It is ready."})
    assert "| arith/div.sv | 97.5 % of 40 |" in coverage.table(coverage.collect(run))


def test_too_few_lines_fail(run):
    lines = [point("v_line/fork", "lib/fork.sv", line, "block", 0) for line in range(1, 3)]
    (run / "c-1-0.dat").write_text("".join(lines))
    assert list(coverage.complaints(coverage.collect(run))) == ["92.9 % of the 42 lines, less than 95.0 %"]
