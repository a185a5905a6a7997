// SPDX-License-Identifier: MIT OR Apache-2.0
// reduce_solinas: every number of 10 bits modulo 2^5 - 2^2 + 1 = 29, whenever the pipeline
// advances.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [9:0] x;
    logic [9:0] x_before;
    logic [4:0] y;
    logic full;

    reduce_solinas #(
        .A(5),
        .B(2)
    ) u_block (
        .clk_i,
        .en_i(en),
        .x_i (x),
        .y_o (y)
    );
    in_step #(
        .Width  (10),
        .Latency(3)
    ) u_step (
        .clk_i,
        .en_i  (en),
        .x_i   (x),
        .x_o   (x_before),
        .full_o(full)
    );

    always_ff @(posedge clk_i) begin
        if (full) assert (y == x_before % 10'd29);
        cover (full && y == 5'd28);
    end
endmodule
