// SPDX-License-Identifier: MIT OR Apache-2.0
// Distributes numbers in the order in which they arrive: the first one to receiver 0, the next one
// to receiver 1, and so on. After the last receiver's, none is accepted until a reset.
//
// Latency 0. Receivers read data and last from the source.
module block_distribute #(
    parameter int unsigned Takers = 2  // at least 2
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              in_valid_i,
    output logic              in_ready_o,
    input  logic              in_last_i,
    output logic [Takers-1:0] out_valid_o,
    input  logic [Takers-1:0] out_ready_i
);
    if (Takers < 2) $error("block_distribute: Takers must be at least 2");

    // The receiver whose turn it is; none when all have their number.
    logic [Takers-1:0] turn_q;
    assign out_valid_o = turn_q & {Takers{in_valid_i}};
    assign in_ready_o  = |(turn_q & out_ready_i);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) turn_q <= Takers'(1);
        else if (in_valid_i && in_ready_o && in_last_i) turn_q <= turn_q << 1;
    end
endmodule
