// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream_widen outputs the good packets, whole and in order, and reports each bad one once.
module formal #(
    parameter int unsigned Gapless = 0
) (
    input logic clk_i
);
    (* anyseq *) logic in_valid, in_data, in_last, out_ready, again;
    (* anyconst *) logic [3:0] target;
    logic in_ready, out_valid, bad_packet, rst_n;
    logic [2:0] out_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    stream_widen #(
        .Width  (1),
        .Beats  (3),
        .Gapless(Gapless)
    ) u_block (
        .clk_i,
        .rst_ni      (rst_n),
        .in_valid_i  (in_valid),
        .in_ready_o  (in_ready),
        .in_data_i   (in_data),
        .in_last_i   (in_last),
        .out_valid_o (out_valid),
        .out_ready_i (out_ready),
        .out_data_o  (out_data),
        .bad_packet_o(bad_packet)
    );
    stream_monitor #(
        .Width(3)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i (out_data),
        .last_i (1'b0)
    );

    // The current packet's beats so far (4: too many), good packets in and out, and bad ones,
    // reported when they go wrong.
    logic [2:0] count_q = '0, part_q, item_q;
    logic [3:0] in_q = '0, out_q = '0;
    logic bad_q = 1'b0;
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            count_q <= '0;
            in_q    <= '0;
            out_q   <= '0;
            bad_q   <= 1'b0;
        end else begin
            bad_q <= 1'b0;
            if (in_valid && in_ready) begin
                count_q <= in_last ? '0 : (count_q == 3'd4) ? 3'd4 : (count_q == 3'd2) ? 3'd4 : count_q + 3'd1;
                part_q  <= {in_data, part_q[2:1]};
                bad_q   <= in_last ? count_q < 3'd2 : count_q == 3'd2;
                if (in_last && count_q == 3'd2) begin
                    in_q <= in_q + 4'd1;
                    if (in_q == target) item_q <= {in_data, part_q[2:1]};
                end
            end
            if (out_valid && out_ready) out_q <= out_q + 4'd1;
            assert (bad_packet == bad_q);
            assert (out_valid == (in_q != out_q) && in_q - out_q <= 4'd1);
            assert (out_valid || in_ready);
            if (out_valid && out_q == target) assert (out_data == item_q);
            cover (out_valid && out_q == 4'd2 && in_q == 4'd3);
            cover (bad_packet);
        end
    end
endmodule
