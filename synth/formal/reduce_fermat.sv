// SPDX-License-Identifier: MIT OR Apache-2.0
// reduce_fermat: every product of residues modulo 17, whenever the pipeline advances.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [8:0] x;
    logic [8:0] x_before;
    logic [4:0] y;
    logic full;

    reduce_fermat #(
        .A(4)
    ) u_block (
        .clk_i,
        .en_i(en),
        .x_i (x),
        .y_o (y)
    );
    in_step #(
        .Width  (9),
        .Latency(2)
    ) u_step (
        .clk_i,
        .en_i  (en),
        .x_i   (x),
        .x_o   (x_before),
        .full_o(full)
    );

    always_comb assume (x <= 9'd256);
    always_ff @(posedge clk_i) begin
        if (full) assert (y == x_before % 9'd17);
        cover (full && y == 5'd16);
    end
endmodule
