"""The translation of kernels to Coq works, and theorems and functions name each other."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(path):
    """Loads a script as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # For the modules next to it.
    sys.path.insert(0, str((ROOT / path).parent))
    spec.loader.exec_module(module)
    return module


translate = load("formal/coq/translate.py")
prove = load("scripts/prove_arithmetic.py")


def test_a_row_becomes_a_recursion():
    rust = "fn row(t: &mut [u64], y: u64) -> u64 { let mut c = 0; for x in t { (*x, c) = adc(*x, y, c); } c }"
    known = {"adc": ([(name, "u64", False) for name in "abc"], ("u64", "u64"))}
    text = translate.Translator("row", rust, known).text()
    assert "Fixpoint row_loop1 (y : Z) (xs : list Z) (c : Z)" in text
    assert "let '(x, c) := (adc x y c) in" in text
    assert text.rstrip().endswith("(c, t).")


def test_a_lane_keeps_its_operations_and_stores():
    body = "let t = w.times(W::load(y), m); W::load(x).add(t).store(x); W::load(x).sub(t).store(y);"
    lane = translate.translate_lanes.Lane("", body, {"times"}, translate)
    text = lane.text("step", "(w m x y : Z)")
    assert "let t := (times w y m) in" in text
    assert "let x_new := (add64 x t) in" in text
    assert text.rstrip().endswith("(x_new, y_new).")


def test_what_a_lane_does_not_know_is_rejected():
    with pytest.raises(translate.Unknown):
        translate.translate_lanes.Lane("", "x.shuffle(y)", set(), translate).text("step", "(x y : Z)")


def test_views_are_put_back():
    rust = "fn both(t: &mut [u64], k: usize) { let (low, high) = t.split_at_mut(k); low.fill(1); high.fill(2); }"
    text = translate.Translator("both", rust, {}).text()
    assert "splice t 0%nat low" in text
    assert "splice t (0%nat + k)%nat high" in text


@pytest.mark.parametrize(
    "body",
    ["a / b", "a as u128", "unknown(a)", "a.pow(2)", "c", "loop { break; }", "match a { 0 => 1, _ => b }", "a %"],
)
def test_unknown_rust_is_rejected(body):
    with pytest.raises(translate.Unknown):
        translate.Translator("f", f"fn f(a: u64, b: u64) -> u64 {{ {body} }}", {}).text()


def test_theorems_and_functions_name_each_other():
    assert prove.check_names() == []


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("/// Proved: `mac_row_correct` in formal/coq/natural.v.\n", "", "mac_row lacks the note"),
        ("fn mac_row(", "fn mac_line(", "names mac_row in arith/natural.rs, which is not there"),
        ("`mac_row_correct`", "`mac_row_right`", "has no theorem mac_row_right"),
    ],
)
def test_a_missing_end_is_found(tmp_path, monkeypatch, right, wrong, message):
    for crate in prove.NAMED:
        shutil.copytree(prove.CRATES / crate / "src", tmp_path / crate / "src")
    file = tmp_path / "arith/src/natural.rs"
    assert right in file.read_text()
    file.write_text(file.read_text().replace(right, wrong))
    monkeypatch.setattr(prove, "CRATES", tmp_path)
    assert any(message in line for line in prove.check_names())
