// SPDX-License-Identifier: MIT OR Apache-2.0
// The place of an item in its block. Counts cycles with en_i, and is 0 when their number since
// reset is Start plus a multiple of Count.
module place_counter #(
    parameter int unsigned Count = 64,  // a power of two, at least 2
    parameter int unsigned Start = 0,
    localparam int unsigned Bits = $clog2(Count)
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            en_i,
    output logic [Bits-1:0] place_o
);
    if (Count < 2 || (Count & (Count - 1)) != 0) $error("place_counter: Count is a power of two, at least 2");

    always_ff @(posedge clk_i) begin
        if (!rst_ni) place_o <= Bits'(Count - Start % Count);
        else if (en_i) place_o <= place_o + Bits'(1);
    end
endmodule
