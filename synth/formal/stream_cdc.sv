// SPDX-License-Identifier: MIT OR Apache-2.0
// Items cross a stream_cdc in order, with any phases of the two clocks and with synchronisers that
// may see changes late.
module formal (
    input logic in_clk_i,
    input logic out_clk_i,
    input logic in_valid_i,
    input logic in_data_i,
    input logic out_ready_i
);
    (* anyconst *) logic [2:0] target;
    logic in_ready, out_valid, out_data;
    logic in_started = 1'b0, out_started = 1'b0;
    logic rst_n;

    // Both sides are reset until each clock has risen once.
    always_ff @(posedge in_clk_i) in_started <= 1'b1;
    always_ff @(posedge out_clk_i) out_started <= 1'b1;
    assign rst_n = in_started && out_started;

    stream_cdc #(
        .Width (1),
        .Depth (4),
        .Stages(2)
    ) u_block (
        .in_clk_i,
        .in_rst_ni  (rst_n),
        .in_valid_i,
        .in_ready_o (in_ready),
        .in_data_i,
        .out_clk_i,
        .out_rst_ni (rst_n),
        .out_valid_o(out_valid),
        .out_ready_i,
        .out_data_o (out_data)
    );

    logic [2:0] in_q = '0, out_q = '0;
    logic item_q, waiting_q = 1'b0, data_q;
    always_ff @(posedge in_clk_i) begin
        if (rst_n && in_valid_i && in_ready) begin
            in_q <= in_q + 3'd1;
            if (in_q == target) item_q <= in_data_i;
        end
    end
    always_ff @(posedge out_clk_i) begin
        waiting_q <= rst_n && out_valid && !out_ready_i;
        data_q    <= out_data;
        if (rst_n) begin
            if (out_valid && out_ready_i) out_q <= out_q + 3'd1;
            if (out_valid) assert (out_q != in_q);
            if (out_valid && out_q == target) assert (out_data == item_q);
            if (waiting_q) assert (out_valid && out_data == data_q);
            // Four places, and the one at the output.
            assert (in_q - out_q <= 3'd5);
            cover (out_valid && out_q == 3'd5);
        end
    end
endmodule
