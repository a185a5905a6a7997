// SPDX-License-Identifier: MIT OR Apache-2.0
// A packet_tkeep_filter passes packets on unchanged. A packet with a beat that lacks bytes leaves
// with another length than its header says.
module formal (
    input logic clk_i
);
    localparam int unsigned Beats = 2;
    (* anyseq *) logic s_valid, s_last, m_ready, again;
    (* anyseq *) logic [31:0] s_data;
    (* anyseq *) logic [3:0] s_keep;
    logic s_ready, m_valid, m_last, rst_n;
    logic [31:0] m_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    packet_tkeep_filter #(
        .StreamBits(32),
        .Beats(Beats)
    ) u_block (
        .clk_i,
        .rst_ni   (rst_n),
        .s_valid_i(s_valid),
        .s_ready_o(s_ready),
        .s_data_i (s_data),
        .s_keep_i (s_keep),
        .s_last_i (s_last),
        .m_valid_o(m_valid),
        .m_ready_i(m_ready),
        .m_data_o (m_data),
        .m_last_o (m_last)
    );
    // What is offered during a reset goes through.
    stream_monitor #(
        .Width(32),
        .QuietValid(0)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(m_valid),
        .ready_i(m_ready),
        .data_i (m_data),
        .last_i (m_last)
    );

    offer #(
        .Width(37)
    ) u_source (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(s_valid),
        .ready_i(s_ready),
        .data_i ({s_last, s_keep, s_data})
    );

    // Beats of the packet that have gone in and come out, the count in its header, whether bytes
    // were missing; whether a beat is owed.
    logic [4:0] in_q = '0, out_q = '0;
    logic [15:0] count_q;
    logic partial_q = 1'b0, owes_q = 1'b0;
    logic owes, partial;
    logic [15:0] count;
    assign partial = partial_q || s_keep != 4'hf;
    assign count   = in_q == 5'd1 ? s_data[31:16] : count_q;
    assign owes    = s_last && partial && in_q != 5'd0 && 20'(in_q) + 20'd1 == 20'd2 + 20'(Beats) * 20'(count);
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            {in_q, out_q, partial_q, owes_q} <= '0;
        end else begin
            if (s_valid && s_ready) begin
                in_q      <= s_last ? '0 : in_q + 5'd1;
                partial_q <= !s_last && partial;
                count_q   <= count;
                owes_q    <= owes;
            end else if (m_ready) begin
                owes_q <= 1'b0;
            end
            if (m_valid && m_ready) out_q <= m_last ? '0 : out_q + 5'd1;

            assert (m_valid == (owes_q || s_valid));
            assert (s_ready == (m_ready && !owes_q));
            if (owes_q) begin
                assert (m_last && m_data == '0);
            end else if (s_valid) begin
                assert (m_data == s_data && m_last == (s_last && !owes) && out_q == in_q);
            end
            cover (owes_q && m_ready && out_q == 5'd4);
            cover (m_valid && m_ready && m_last && partial && !owes_q && in_q == 5'd3);
        end
    end
endmodule
