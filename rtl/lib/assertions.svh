// SPDX-License-Identifier: MIT OR Apache-2.0
// Assertions checked at every clock edge, in simulations and proofs; synthesis ignores them.
//
// They are immediate assertions in clocked blocks, because Verilator and Yosys support little of
// SystemVerilog's assertion language. In a simulation (Verilator with --assert) a failing assertion
// stops the run with a message that has its name and place. With FORMAL defined (Yosys's
// read_verilog -formal) it is a proof obligation. Every macro declares a block called Name, so use
// it as a module item. Clock defaults to clk_i and Reset to !rst_ni.
//
//   `ASSERT(Name, Holds)              Holds is true at every edge out of reset.
//   `ASSERT_NEXT(Name, When, Holds)   after an edge with When, Holds is true at the next one.
//   `ASSERT_KEEPS(Name, When, Value)  after an edge with When, Value is the same at the next one.
//   `ASSERT_KNOWN(Name, Value)        no bit of Value is x or z; for four-state simulators (Verilator is not).
//   `COVER(Name, What)                What is true at some edge out of reset.
//
// "The next one" counts only if there is no reset at either edge.
`ifndef HEARITH_ASSERTIONS_SVH
`define HEARITH_ASSERTIONS_SVH

`ifdef SYNTHESIS
`define ASSERT(Name, Holds, Clock = clk_i, Reset = !rst_ni)
`define ASSERT_NEXT(Name, When, Holds, Clock = clk_i, Reset = !rst_ni)
`define ASSERT_KEEPS(Name, When, Value, Clock = clk_i, Reset = !rst_ni)
`define ASSERT_KNOWN(Name, Value, Clock = clk_i, Reset = !rst_ni)
`define COVER(Name, What, Clock = clk_i, Reset = !rst_ni)
`else

`ifdef FORMAL
`define ASSERTED(Name, Holds) assert (Holds);
`else
`define ASSERTED(Name, Holds) assert (Holds) else $error(`"Name`");
`endif  // FORMAL

`define ASSERT(Name, Holds, Clock = clk_i, Reset = !rst_ni) \
    if (1) begin : Name \
        always_ff @(posedge Clock) if (!(Reset)) `ASSERTED(Name, Holds) \
    end

`define ASSERT_NEXT(Name, When, Holds, Clock = clk_i, Reset = !rst_ni) \
    if (1) begin : Name \
        logic when_q = 1'b0; \
        always_ff @(posedge Clock) begin \
            when_q <= !(Reset) && (When); \
            if (!(Reset) && when_q) `ASSERTED(Name, Holds) \
        end \
    end

`define ASSERT_KEEPS(Name, When, Value, Clock = clk_i, Reset = !rst_ni) \
    if (1) begin : Name \
        logic when_q = 1'b0; \
        logic [$bits(Value)-1:0] value_q; \
        always_ff @(posedge Clock) begin \
            when_q  <= !(Reset) && (When); \
            value_q <= Value; \
            if (!(Reset) && when_q) `ASSERTED(Name, (Value) == value_q) \
        end \
    end

`ifdef FORMAL
`define ASSERT_KNOWN(Name, Value, Clock = clk_i, Reset = !rst_ni)
`else
`define ASSERT_KNOWN(Name, Value, Clock = clk_i, Reset = !rst_ni) `ASSERT(Name, !$isunknown(Value), Clock, Reset)
`endif  // FORMAL

`define COVER(Name, What, Clock = clk_i, Reset = !rst_ni) \
    if (1) begin : Name \
        always_ff @(posedge Clock) if (!(Reset)) cover (What); \
    end
`endif  // SYNTHESIS
`endif  // HEARITH_ASSERTIONS_SVH
