"""Each executed test is listed under one name, whichever runner printed it, and none can vanish
unnoticed.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import executed_tests
from executed_tests import executed

# Excerpts of the runners' logs.
BEFORE = """\
   Compiling hearith-paillier v0.1.0 (/src/crates/paillier)
    Finished `test` profile [optimized + debuginfo] target(s) in 1m 02s
     Running unittests src/lib.rs (target/debug/deps/hearith_dghv-5d0ab3c1e57f2a94)

running 2 tests
test parameters::tests::lengths_grow ... ok
test parameters::tests::very_long ... ignored, takes a minute

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/heap_scan.rs (target/debug/deps/heap_scan-0c1d2e3f40516273)

running 1 test
test nothing_is_left has been running for over 60 seconds
test nothing_is_left ... ok

     Running unittests src/lib.rs (target/debug/deps/hearith_paillier-1f2e3d4c5b6a7988)

running 0 tests

     Running tests/heap_scan.rs (target/debug/deps/heap_scan-8899aabbccddeeff)

running 1 test
test nothing_is_left ... ok

     Running tests/slots.rs (target/debug/deps/slots-0123456789abcdef)

running 2 tests
test slots_add ... ok
test slots_end - should panic ... ok

   Doc-tests hearith_paillier

running 3 tests
test crates/paillier/src/lib.rs - encode (line 12) ... ok
test crates/paillier/src/lib.rs - encode (line 40) - compile ... ok
test crates/paillier/src/keys.rs - keys::load (line 3) ... ignored
"""
AFTER = BEFORE.replace("tests/slots.rs (target/debug/deps/slots-", "tests/all/main.rs (target/debug/deps/paillier-")
AFTER = AFTER.replace("test slots_", "test slots::slots_").replace("(line 12)", "(line 13)")
NEXTEST = """\
    Starting 5 tests across 4 binaries (1 test skipped)
        PASS [   0.003s] (1/5) hearith-paillier::paillier slots::slots_add
        PASS [   0.004s] (2/5) hearith-paillier::paillier slots::slots_end
        SLOW [> 60.000s] (---) hearith-paillier::heap_scan nothing_is_left
        PASS [  61.004s] (3/5) hearith-paillier::heap_scan nothing_is_left
        PASS [   0.004s] (4/5) hearith-dghv parameters::tests::lengths_grow
        PASS [   0.004s] (5/5) hearith-dghv::heap_scan nothing_is_left
"""
PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.2, pytest-9.0.2, pluggy-1.6.0
rootdir: /src/crates/python
collected 5 items

tests/test_array.py ..s                                                  [ 60%]
tests/test_keys.py .
.                                                                        [100%]

=========================== short test summary info ============================
SKIPPED [1] tests/test_array.py:12: no pandas
========================= 4 passed, 1 skipped in 0.05s =========================
"""
PYTEST_NAMED = """\
tests/test_array.py::test_add PASSED                                     [ 20%]
tests/test_array.py::test_sum[two words] PASSED                          [ 40%]
tests/test_array.py::test_frame SKIPPED (no pandas)                      [ 60%]
[gw1] [ 80%] PASSED tests/test_keys.py::test_one
[gw0] [100%] PASSED tests/test_keys.py::test_two
"""
PYTEST_NAMES = """\
tests/test_array.py::test_add
tests/test_array.py::test_sum[two words]
tests/test_array.py::test_frame
tests/test_keys.py::test_one
tests/test_keys.py::test_two

5 tests collected in 0.01s
"""
VITEST = """\
 RUN  v4.1.12 /src/web

 \x1b[32m✓\x1b[39m tests/qr.test.ts (3 tests | 1 skipped) 12ms
 ✓ tests/proofs.test.ts (1 test) 1312ms
     ✓ proofs of the crate hold  1301ms

 Test Files  2 passed (2)
      Tests  3 passed | 1 skipped (4)
"""
VITEST_NAMED = """\
 ✓ tests/qr.test.ts > codes > are square 3ms
 ✓ tests/qr.test.ts > codes > are read
 ↓ tests/qr.test.ts > codes > are small
 ✓ tests/proofs.test.ts > proofs of the crate hold 1.31s
"""
OTHERS = """\
Testing residues/60
Success
running 2 tests
..
test result: ok. 2 passed; 0 failed
cocotb: mesa: 2 of 2 tests passed
cocotb: coproc-dual: 1 of 1 tests passed
fuzz: chunk               1234 runs,    567 edges covered, nothing found
"""
PAILLIER_AFTER = {
    "rust hearith-dghv lib parameters::tests::lengths_grow": "",
    "rust hearith-dghv lib parameters::tests::very_long": "ignored",
    "rust hearith-dghv test heap_scan::nothing_is_left": "",
    "rust hearith-paillier test heap_scan::nothing_is_left": "",
    "rust hearith-paillier test slots::slots_add": "",
    "rust hearith-paillier test slots::slots_end": "",
    "rust hearith-paillier doc crates/paillier/src/lib.rs - encode": "",
    "rust hearith-paillier doc crates/paillier/src/lib.rs - encode (2)": "",
    "rust hearith-paillier doc crates/paillier/src/keys.rs - keys::load": "ignored",
}


@pytest.fixture
def root(tmp_path):
    """Makes a small workspace in which every test file is a program."""
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*", "fuzz"]',
        "crates/dghv/Cargo.toml": '[package]\nname = "hearith-dghv"',
        "crates/dghv/tests/heap_scan.rs": "",
        "crates/paillier/Cargo.toml": '[package]\nname = "hearith-paillier"',
        "crates/paillier/tests/heap_scan.rs": "",
        "crates/paillier/tests/slots.rs": "",
        "crates/paillier/tests/common/mod.rs": "",
        "crates/python/tests/test_array.py": "",
        "crates/python/tests/test_keys.py": "",
        "fuzz/Cargo.toml": '[package]\nname = "hearith-fuzz"\n[lib]\ntest = false',
        "fuzz/tests/seeds.rs": "",
        "fuzz/seeds/chunk/short": "",
        "web/tests/qr.test.ts": "",
        "web/tests/proofs.test.ts": "",
    }
    for name, text in files.items():
        write(tmp_path / name, text)
    return tmp_path


@pytest.fixture
def merged(root):
    """Returns the same workspace with the tests of one crate merged."""
    (root / "crates/paillier/tests/slots.rs").unlink()
    write(root / "crates/paillier/tests/all/main.rs", "mod slots;")
    sections = '[[test]]\nname = "paillier"\npath = "tests/all/main.rs"\n[[test]]\nname = "heap_scan"'
    write(
        root / "crates/paillier/Cargo.toml",
        f'[package]\nname = "hearith-paillier"\nautotests = false\n{sections}',
    )
    return root


def write(path, text):
    """Writes a file and creates its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(root, text, *names):
    """Returns the tests that a log names."""
    return executed([write(root / "log", text)], root, names)[0]


def command(*arguments):
    """Runs the program."""
    path = ROOT / "scripts" / "executed_tests.py"
    return subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True, check=False)


def test_cargo_names_the_package_of_each_test(root):
    assert read(root, BEFORE) == PAILLIER_AFTER


def test_a_merged_test_keeps_its_name(merged):
    assert read(merged, AFTER) == PAILLIER_AFTER


def test_nextest_gives_the_names_that_cargo_gives(merged):
    expected = {name for name, state in PAILLIER_AFTER.items() if not state and " doc " not in name}
    assert set(read(merged, NEXTEST)) == expected


def test_a_runner_may_name_the_package(root):
    text = """\
     Running src/lib.rs (hearith-duckdb: hearith_duckdb-4d495620f566efe2)
test sum::tests::totals ... ok
     Running tests/all/main.rs (hearith-columns: columns-7def6271a3369667)
test csv::quotes ... ok
"""
    assert set(read(root, text)) == {
        "rust hearith-duckdb lib sum::tests::totals",
        "rust hearith-columns test csv::quotes",
    }


def test_an_executable_of_no_known_package_is_refused(merged):
    with pytest.raises(ValueError, match=r"tests/slots\.rs.*do not say of which package"):
        read(merged, BEFORE)
    with pytest.raises(ValueError, match="which executable"):
        read(merged, "test lost ... ok")
    with pytest.raises(ValueError, match="hearith-paillier has no such test target"):
        read(merged, "        PASS [   0.003s] hearith-paillier::slots slots_add")


def test_a_package_without_unit_tests_is_found_by_its_files(root):
    text = BEFORE + "     Running tests/seeds.rs (target/debug/deps/seeds-0123456789abcdef)\n"
    tests = read(root, text + "test every_seed_passes_its_target ... ok\n")
    assert "rust hearith-fuzz test seeds::every_seed_passes_its_target" in tests
    assert tests["fuzz chunk seed short"] == ""


def test_counts_of_pytest_get_the_collected_names(root):
    named = read(root, PYTEST_NAMED)
    assert named == {
        "pytest crates/python/tests/test_array.py::test_add": "",
        "pytest crates/python/tests/test_array.py::test_sum[two words]": "",
        "pytest crates/python/tests/test_array.py::test_frame": "ignored",
        "pytest crates/python/tests/test_keys.py::test_one": "",
        "pytest crates/python/tests/test_keys.py::test_two": "",
    }
    names = write(root / "names", PYTEST_NAMES)
    assert read(root, PYTEST, names) == named
    quiet = "..s..                                    [100%]\n4 passed, 1 skipped in 0.05s\n"
    assert read(root, quiet, names) == named
    assert len(read(root, quiet)) == 5
    with pytest.raises(ValueError, match=r"test_array\.py: 1 tests have names and 3 were counted"):
        read(root, PYTEST, write(root / "names", "tests/test_array.py::test_add"))


def test_counts_of_vitest_get_the_listed_names(root):
    numbered = read(root, VITEST)
    assert numbered == {
        "vitest web/tests/qr.test.ts #1": "",
        "vitest web/tests/qr.test.ts #2": "",
        "vitest web/tests/qr.test.ts #3": "ignored",
        "vitest web/tests/proofs.test.ts #1": "",
    }
    named = read(root, VITEST_NAMED)
    assert named["vitest web/tests/qr.test.ts > codes > are small"] == "ignored"
    assert "vitest web/tests/proofs.test.ts > proofs of the crate hold" in named
    listed = "\n".join(name.removeprefix("vitest web/") for name in named)
    assert read(root, VITEST, write(root / "names", listed)) == named


def test_other_runners_are_read(root):
    tests, unnamed = executed([write(root / "log", OTHERS)], root)
    assert set(tests) == {
        "bench residues/60",
        "cocotb mesa #1",
        "cocotb mesa #2",
        "cocotb coproc-dual #1",
        "fuzz chunk",
    }
    assert unnamed == 2
    cases = "".join(f'<testcase classname="tops" name="{name}"/>' for name in ("test_a", "test_b"))
    write(root / "cocotb/mesa/results.xml", f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert {"cocotb mesa tops.test_a", "cocotb mesa tops.test_b"} < set(read(root, OTHERS, root / "cocotb"))


def test_what_was_executed_once_is_executed(root):
    tests = read(root, BEFORE.replace("slots_add ... ok", "slots_add ... ignored") + BEFORE)
    assert tests == PAILLIER_AFTER


def compared(root, before, after):
    """Returns the program's output for two lists."""
    result = command("compare", write(root / "before", before), write(root / "after", after))
    return result.returncode, result.stdout


def test_a_test_that_vanished_fails_the_comparison(root):
    before = "# Of a run.\nrust a\nrust b\nrust c\tignored\n"
    summary = "tests: 2 executed before, 2 after: 0 vanished, 0 became ignored, 0 new\n"
    assert compared(root, before, before) == (0, summary)
    status, said = compared(root, before, "rust b\nrust c\nrust d\n")
    assert status == 1
    assert said.splitlines()[:3] == ["vanished: rust a", "new: rust c", "new: rust d"]
    status, said = compared(root, before, "rust a\nrust b\tignored\n")
    assert status == 1
    assert said.splitlines()[0] == "became ignored: rust b"
    # Ignored tests may vanish.
    assert compared(root, before, "rust a\nrust b\n")[0] == 0
    assert compared(root, "", "rust a\n")[0] == 1


def test_numbered_tests_are_compared_by_their_count(root):
    numbered = "pytest tests/test_a.py #1\npytest tests/test_a.py #2\ncocotb mesa #1\n"
    named = "pytest tests/test_a.py::test_x\npytest tests/test_a.py::test_y\ncocotb mesa tops.test_a\n"
    for before, after in ((numbered, named), (named, numbered)):
        assert compared(root, before, after)[0] == 0
        shorter = "\n".join(after.splitlines()[1:])
        assert compared(root, before, shorter)[0] == 1
    assert "vanished: pytest tests/test_a.py: 2 tests, now 1" in compared(root, numbered, numbered.split("\n", 1)[1])[1]


def test_the_program_lists_what_it_reads(root):
    log = write(root / "log", BEFORE)
    listed = command("list", "--root", root, log)
    assert listed.returncode == 0
    assert executed_tests.read_list(write(root / "list", listed.stdout)) == PAILLIER_AFTER
    assert "7 executed (0 failed), 2 ignored" in listed.stderr
    assert "name no test" in command("list", "--root", root, write(root / "empty", "")).stderr
    assert command("list", "--root", root, root / "nothing").returncode == 1
