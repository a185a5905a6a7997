// SPDX-License-Identifier: MIT OR Apache-2.0
// The input of a pipeline Latency cycles with en_i ago, and whether there have been so many.
module in_step #(
    parameter int unsigned Width   = 8,
    parameter int unsigned Latency = 2
) (
    input  logic             clk_i,
    input  logic             en_i,
    input  logic [Width-1:0] x_i,
    output logic [Width-1:0] x_o,
    output logic             full_o
);
    logic [Latency*Width-1:0] x_q;
    logic [Latency-1:0] full_q;
    initial full_q = '0;

    assign x_o = x_q[Latency*Width-1-:Width];
    assign full_o = full_q[Latency-1];

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            x_q    <= {x_q, x_i};
            full_q <= {full_q, 1'b1};
        end
    end
endmodule
