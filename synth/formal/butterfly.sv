// SPDX-License-Identifier: MIT OR Apache-2.0
// butterfly: every pair of residues modulo 17, times 2^(7/2) = 11 2^3 = 3 and halved four times,
// which is a division by -1, whenever the pipeline advances.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [4:0] up, down;
    logic [4:0] up_before, down_before, sum, difference;
    logic full;

    butterfly #(
        .A       (4),
        .B       (0),
        .K       (16),
        .Exponent(7),
        .Halvings(4)
    ) u_block (
        .clk_i,
        .en_i        (en),
        .up_i        (up),
        .down_i      (down),
        .sum_o       (sum),
        .difference_o(difference)
    );
    in_step #(
        .Width  (10),
        .Latency(6)
    ) u_step (
        .clk_i,
        .en_i  (en),
        .x_i   ({up, down}),
        .x_o   ({up_before, down_before}),
        .full_o(full)
    );

    // The square root of two is 2 - 2^3 = -6 = 11 modulo 17; 11^7 = 3.
    logic [9:0] plus, minus;
    assign plus = 10'(up_before) + 10'd3 * 10'(down_before);
    assign minus = 10'(up_before) + 10'd14 * 10'(down_before);

    always_comb assume (up < 5'd17 && down < 5'd17);
    always_ff @(posedge clk_i) begin
        if (full) assert (sum < 5'd17 && (10'(sum) + plus) % 10'd17 == '0);
        if (full) assert (difference < 5'd17 && (10'(difference) + minus) % 10'd17 == '0);
        cover (full && sum == 5'd16 && difference == 5'd16);
    end
endmodule
