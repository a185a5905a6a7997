// SPDX-License-Identifier: MIT OR Apache-2.0
// variable_shift: every residue modulo 241 times a power of two that comes with it, whenever the
// pipeline advances.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [7:0] x;
    (* anyseq *) logic [4:0] shift;
    logic [7:0] x_before, y;
    logic [4:0] shift_before;
    logic full;

    variable_shift #(
        .B(4)
    ) u_block (
        .clk_i,
        .en_i   (en),
        .x_i    (x),
        .shift_i(shift),
        .y_o    (y)
    );
    in_step #(
        .Width  (13),
        .Latency(4)
    ) u_step (
        .clk_i,
        .en_i  (en),
        .x_i   ({x, shift}),
        .x_o   ({x_before, shift_before}),
        .full_o(full)
    );

    // 2^12 = -1: half the powers, and their negatives.
    logic negative;
    logic [7:0] rest;
    assign negative = shift_before >= 5'd12;
    assign rest = 8'((20'(x_before) << (negative ? shift_before - 5'd12 : shift_before)) % 20'd241);

    always_comb assume (x < 8'd241 && shift < 5'd24);
    always_ff @(posedge clk_i) begin
        if (full) assert (y == (negative && rest != '0 ? 8'd241 - rest : rest));
        cover (full && y == 8'd240 && shift_before == 5'd23);
    end
endmodule
