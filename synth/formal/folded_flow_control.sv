// SPDX-License-Identifier: MIT OR Apache-2.0
// folded_flow_control, for any valid and ready: a place comes out the right number of steps after
// it went in, is valid if its block has items, and is given once. Items are accepted when they go
// in.
module formal (
    input logic clk_i
);
    (* anyseq *) logic in_valid, out_ready;
    logic in_ready, take, en, out_valid;
    logic [1:0] out_place, place_q, out_expected;
    logic started, live_q, live, full, expected_live, given_q;
    initial started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    folded_flow_control #(
        .Log    (2),
        .Latency(6)
    ) u_block (
        .clk_i,
        .rst_ni     (started),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .take_o     (take),
        .en_o       (en),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_place_o(out_place)
    );
    // The place that goes in, and whether its block has items.
    assign live = place_q == 2'd0 ? in_valid : live_q;
    in_step #(
        .Width  (3),
        .Latency(6)
    ) u_step (
        .clk_i,
        .en_i  (en && started),
        .x_i   ({place_q, live}),
        .x_o   ({out_expected, expected_live}),
        .full_o(full)
    );

    always_ff @(posedge clk_i) begin
        if (!started) begin
            place_q <= 2'd0;
            live_q  <= 1'b0;
            given_q <= 1'b0;
        end else begin
            if (en) place_q <= place_q + 2'd1;
            if (en) live_q <= live;
            given_q <= !en && (given_q || (out_valid && out_ready));
            assert (!out_valid || full);
            if (full) assert (out_place == out_expected && out_valid == (expected_live && !given_q));
            // An item goes in exactly when it is accepted. This is in the lower half of a block
            // that began with an item, and together with a step.
            assert ((in_valid && in_ready) == (take && en));
            assert (!take || !place_q[1]);
            if (en && live && !place_q[1]) assert (take);
            if (en && full && expected_live) assert (given_q || out_ready);
            cover (full && out_valid && out_place == 2'd3 && given_q == 1'b0 && !live);
        end
    end
endmodule
