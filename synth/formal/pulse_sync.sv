// SPDX-License-Identifier: MIT OR Apache-2.0
// Every event that a pulse_sync accepts comes out once.
module formal (
    input logic src_clk_i,
    input logic dst_clk_i,
    input logic pulse_i
);
    logic ready, pulse, rst_n;
    logic src_started = 1'b0, dst_started = 1'b0;

    always_ff @(posedge src_clk_i) src_started <= 1'b1;
    always_ff @(posedge dst_clk_i) dst_started <= 1'b1;
    assign rst_n = src_started && dst_started;

    pulse_sync #(
        .Stages(2)
    ) u_block (
        .src_clk_i,
        .src_rst_ni(rst_n),
        .pulse_i,
        .ready_o   (ready),
        .dst_clk_i,
        .dst_rst_ni(rst_n),
        .pulse_o   (pulse)
    );

    logic [1:0] sent_q = '0, seen_q = '0;
    logic [3:0] waited_q = '0;
    always_ff @(posedge src_clk_i) if (rst_n && pulse_i && ready) sent_q <= sent_q + 2'd1;
    always_ff @(posedge dst_clk_i) begin
        if (rst_n) begin
            if (pulse) seen_q <= seen_q + 2'd1;
            if (pulse) assert (sent_q != seen_q);
            // The next event may be in progress while one shows.
            assert (sent_q - seen_q <= 2'd2);
            // It shows at the fifth edge at the latest, or three later while this side is still
            // coming out of reset.
            waited_q <= (sent_q == seen_q || pulse) ? '0 : waited_q + 4'd1;
            assert (waited_q <= 4'd7);
            cover (pulse && seen_q == 2'd1);
        end
    end
endmodule
