"""Tests each top, serial lines and peripheral interfaces with cocotb and the third-party models
cocotbext-axi, -uart and -spi.

Usage: run.py [--seed N] [TOP...]

Verilator compiles the tops, at their smallest sizes, into target/cocotb. For a passing run only the
name and the counts are printed.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import warnings
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PRIMES = (59, 47, 37)
# The parameters of each top, tested through its wrapper with the port names of vendors' tools
# (rtl/ip). A suffix after a hyphen names a variant of one top.
TOPS = {
    "mesa": {"N": 64, "Stages": 1, "StreamBits": 32},
    "mesa_dual": {"N": 64, "Lanes": 1, "W": 16, "StreamBits": 32},
    "residue_bank": {
        "Count": len(PRIMES),
        "Primes": f"{64 * len(PRIMES)}'h{sum(prime << 64 * at for at, prime in enumerate(PRIMES)):x}",
        "V": 6,
        "Words": 10,
        "StreamBits": 32,
    },
    "coproc": {"N": 64, "Contexts": 2, "Groups": 4, "StreamBits": 32},
    "coproc-digit": {
        "N": 64,
        "Core": 1,
        "Digit": 32,
        "Width": 16,
        "Tile": 8,
        "Contexts": 2,
        "Groups": 4,
        "StreamBits": 64,
    },
    "coproc-dual": {"N": 64, "Core": 2, "W": 18, "Contexts": 2, "Groups": 4, "StreamBits": 64},
    "dghv": {"Rounds": 2, "MemoryWords": 4096, "Timeout": 500, "StreamBits": 32},
}

# Additional tests of single tops.
OWN = {"coproc": ["commands"], "dghv": ["encryptions"]}

# Designs of rtl/links that are not tops, with their own tests only.
PARTS = {"line_echo": {"BaudDivisor": 20}, "spi_ends": {"SckHalfPeriod": 5}}
PART_TESTS = {"line_echo": "wires", "spi_ends": "interfaces"}


# Source folders of the tops; parts also use rtl/links.
ROOMS = ("lib", "arith", "mesa", "ntt", "rns", "coproc", "dghv")


def missing():
    """Returns the name of a missing dependency and the reason, or None."""
    try:
        import cocotbext.axi
        import cocotbext.spi
        import cocotbext.uart  # noqa: F401
        from find_libpython import find_libpython
    except ImportError as error:
        return "cocotb", str(error)
    if find_libpython() is None:
        return "cocotb", "this Python is no shared library"
    if not shutil.which("verilator"):
        return "verilator", "it is not on the PATH"
    return None


def sources(name):
    """Returns the wrapper, the packages and the monitors bound to the top. Verilator finds other
    modules by name.
    """
    rtl = ROOT / "rtl"
    if name in PARTS:
        return [rtl / "tests" / "designs" / f"{name}.sv"]
    packages = [package for room in ROOMS for package in sorted((rtl / room).glob("*_pkg.sv"))]
    return [*packages, *rtl.glob(f"*/{name}_monitors.sv"), rtl / "ip" / f"hearith_{name}.v"]


def results(path):
    """Returns the tests of a run, and whether each passed."""
    cases = xml.parse(path).getroot().iter("testcase") if path.exists() else ()
    return {case.get("name"): not list(case.iter("failure")) + list(case.iter("error")) for case in cases}


def run(name, seed):
    """Builds and tests one top. Returns the passed and the failed tests."""
    with warnings.catch_warnings():
        # "Python runners and associated APIs are an experimental feature": its version is pinned.
        warnings.simplefilter("ignore")
        from cocotb import runner

    module = name.split("-")[0]
    top = module if module in PARTS else f"hearith_{module}"
    tests = [PART_TESTS[module]] if module in PARTS else ["tops", *OWN.get(module, ())]
    build = ROOT / "target" / "cocotb" / name
    build.mkdir(parents=True, exist_ok=True)
    rooms = [str(ROOT / "rtl" / room) for room in (*ROOMS, "links")]
    libraries = [word for room in rooms for word in ("-y", room, f"+incdir+{room}")]
    simulator = runner.get_runner("verilator")
    common = {"hdl_toplevel": top, "build_dir": build}
    log = build / "log"
    with log.open("w") as out:
        saved = [os.dup(descriptor) for descriptor in (1, 2)]
        try:
            for descriptor in (1, 2):
                os.dup2(out.fileno(), descriptor)
            simulator.build(
                verilog_sources=sources(module),
                parameters=(TOPS | PARTS)[name],
                build_args=[*libraries, "+libext+.sv", "-Wall", "--assert"],
                **common,
            )
            path = simulator.test(test_module=tests, seed=seed, test_dir=build, **common)
        except (SystemExit, subprocess.CalledProcessError):
            path = pathlib.Path("/nonexistent")
        finally:
            for descriptor, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, descriptor)
                os.close(copy)
    found = results(path)
    passed = [test for test, good in found.items() if good]
    failed = [test for test, good in found.items() if not good]
    if failed or not passed:
        print(log.read_text()[-8000:])
    return passed, failed


def main():
    """Tests the tops given on the command line, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("tops", nargs="*", metavar="TOP", help=", ".join(TOPS | PARTS))
    arguments = parser.parse_args()
    if unknown := set(arguments.tops) - set(TOPS | PARTS):
        parser.error(f"there is no top {', '.join(unknown)}; there are {', '.join(TOPS | PARTS)}")
    if lacking := missing():
        name, reason = lacking
        if name in (entry.strip() for entry in os.environ.get("HEARITH_REQUIRE", "").split(",")):
            sys.exit(f"cocotb: HEARITH_REQUIRE lists {name}: {reason}")
        print(f"cocotb: without {name} the tops are not tested with it: {reason}")
        return
    bad = False
    for name in arguments.tops or TOPS | PARTS:
        passed, failed = run(name, arguments.seed)
        bad |= bool(failed) or not passed
        print(
            f"cocotb: {name}: {len(passed)} of {len(passed) + len(failed)} tests passed"
            + "".join(f"\n  failed: {test}" for test in failed)
        )
    sys.exit(bad)


if __name__ == "__main__":
    main()
