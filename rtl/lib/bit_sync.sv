// SPDX-License-Identifier: MIT OR Apache-2.0
// Synchronises a bit from another clock domain, or from none, through a chain of flip-flops.
//
// bit_o follows bit_i after Stages edges, or one more when it changes at a clock edge. bit_i must
// come from a flip-flop, and must keep a value for longer than a period of clk_i for it to be seen.
// Bits that belong together must not cross separately (see stream_cdc).
module bit_sync #(
    parameter int unsigned Stages = 2,  // flip-flops, at least 2
    parameter int unsigned Value  = 0   // in reset, 0 or 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic bit_i,
    output logic bit_o
);
    if (Stages < 2) $error("bit_sync: Stages must be at least 2");
    if (Value > 1) $error("bit_sync: Value is 0 or 1");

    // Placed close together, and not as a shift register in a LUT.
    (* ASYNC_REG = "TRUE", shreg_extract = "no" *) logic [Stages-1:0] sync_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) sync_q <= {Stages{1'(Value)}};
        else sync_q <= {sync_q[Stages-2:0], bit_i};
    end

    assign bit_o = sync_q[Stages-1];
endmodule
