// SPDX-License-Identifier: MIT OR Apache-2.0
// ram_delay: an input comes out three cycles with en later, whenever these are, and no word is read
// while it is written.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [1:0] x;
    logic [1:0] x_before, y;
    logic started, full;
    initial started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    ram_delay #(
        .Width (2),
        .Cycles(3)
    ) u_block (
        .clk_i,
        .rst_ni(started),
        .en_i  (en && started),
        .x_i   (x),
        .y_o   (y)
    );
    in_step #(
        .Width  (2),
        .Latency(3)
    ) u_step (
        .clk_i,
        .en_i  (en && started),
        .x_i   (x),
        .x_o   (x_before),
        .full_o(full)
    );

    always_ff @(posedge clk_i) begin
        if (full) assert (y == x_before);
        cover (full && y == 2'd3);
    end
endmodule
