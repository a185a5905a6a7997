// SPDX-License-Identifier: MIT OR Apache-2.0
// folded_butterfly: combines items modulo 5 that are four apart, whenever the pipeline advances.
// Sums come in the first half's places, differences in the second's.
module formal (
    input logic clk_i
);
    (* anyseq *) logic en;
    (* anyseq *) logic [2:0] x;
    logic [2:0] y, early, late, earlier;
    logic [2:0] place_q;
    logic started, once, twice;
    initial started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    folded_butterfly #(
        .A    (2),
        .B    (0),
        .Span (4),
        .Start(0)
    ) u_block (
        .clk_i,
        .rst_ni(started),
        .en_i  (en),
        .x_i   (x),
        .y_o   (y)
    );
    // The inputs two cycles ago, four before that, and four before that.
    in_step #(
        .Width  (3),
        .Latency(2)
    ) u_late (
        .clk_i,
        .en_i  (en && started),
        .x_i   (x),
        .x_o   (late),
        .full_o()
    );
    in_step #(
        .Width  (3),
        .Latency(6)
    ) u_early (
        .clk_i,
        .en_i  (en && started),
        .x_i   (x),
        .x_o   (early),
        .full_o(once)
    );
    in_step #(
        .Width  (3),
        .Latency(10)
    ) u_earlier (
        .clk_i,
        .en_i  (en && started),
        .x_i   (x),
        .x_o   (earlier),
        .full_o(twice)
    );
    // The place of the output, six cycles behind.
    always_ff @(posedge clk_i) begin
        if (!started) place_q <= 3'd2;
        else if (en) place_q <= place_q + 3'd1;
    end

    always_comb assume (x < 3'd5);
    always_ff @(posedge clk_i) begin
        if (started && once && !place_q[2]) assert (y == (4'(early) + 4'(late)) % 4'd5);
        if (started && twice && place_q[2]) assert (y == (4'(earlier) + 4'd5 - 4'(early)) % 4'd5);
        cover (twice && place_q[2] && y == 3'd4);
    end
endmodule
