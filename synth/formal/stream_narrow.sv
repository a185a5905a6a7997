// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream_narrow cuts item k into packet k.
module formal #(
    parameter int unsigned Gapless = 0
) (
    input logic clk_i
);
    (* anyseq *) logic in_valid, out_ready, again;
    (* anyseq *) logic [2:0] in_data;
    (* anyconst *) logic [3:0] target;
    logic in_ready, out_valid, out_data, out_last, rst_n;
    logic started = 1'b0;

    assign rst_n = started && !again;

    stream_narrow #(
        .Width  (1),
        .Beats  (3),
        .Gapless(Gapless)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data),
        .out_last_o (out_last)
    );
    stream_monitor #(
        .Width(1)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i (out_data),
        .last_i (out_last)
    );

    // Items in, packets out, beats of the current packet.
    logic [3:0] in_q = '0, out_q = '0;
    logic [1:0] beat_q = '0;
    logic [2:0] item_q;
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            in_q   <= '0;
            out_q  <= '0;
            beat_q <= '0;
        end else begin
            if (in_valid && in_ready) begin
                in_q <= in_q + 4'd1;
                if (in_q == target) item_q <= in_data;
            end
            if (out_valid && out_ready) begin
                beat_q <= out_last ? '0 : beat_q + 2'd1;
                out_q  <= out_q + 4'(out_last);
            end
            // An item inside is offered, and nothing else.
            assert (out_valid == (in_q != out_q));
            assert (in_q - out_q <= 4'(Gapless + 1));
            assert (out_valid || in_ready);
            if (out_valid) assert (out_last == (beat_q == 2'd2));
            if (out_valid && out_q == target) assert (out_data == item_q[beat_q]);
            cover (out_valid && out_last && out_q == 4'd2);
        end
    end
endmodule
