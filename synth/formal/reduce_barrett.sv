// SPDX-License-Identifier: MIT OR Apache-2.0
// reduce_barrett: every number of 10 bits modulo 17, whenever the pipeline advances. 17 is as far
// below the next power of two as a modulus can be.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [9:0] x;
    logic [9:0] x_before;
    logic [4:0] y;
    logic full;

    reduce_barrett #(
        .M(5),
        .P(66'd17)
    ) u_block (
        .clk_i,
        .en_i(en),
        .x_i (x),
        .y_o (y)
    );
    in_step #(
        .Width  (10),
        .Latency(4)
    ) u_step (
        .clk_i,
        .en_i  (en),
        .x_i   (x),
        .x_o   (x_before),
        .full_o(full)
    );

    always_ff @(posedge clk_i) begin
        if (full) assert (y == x_before % 10'd17);
        cover (full && y == 5'd16);
    end
endmodule
