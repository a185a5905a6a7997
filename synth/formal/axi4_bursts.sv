// SPDX-License-Identifier: MIT OR Apache-2.0
// The bursts of a request follow each other without a gap and have its length in total. None leaves
// its block of Beats words.
module formal (
    input logic clk_i
);
    (* anyseq *) logic req_valid, burst_ready, again;
    (* anyseq *) logic [9:0] req_addr;
    (* anyseq *) logic [3:0] req_count;
    logic req_ready, burst_valid, burst_last, rst_n;
    logic [9:0] burst_addr;
    logic [8:0] burst_beats;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    axi4_bursts #(
        .Width(16),
        .AddrWidth(10),
        .CountWidth(4),
        .Beats(4)
    ) u_block (
        .clk_i,
        .rst_ni       (rst_n),
        .req_valid_i  (req_valid),
        .req_ready_o  (req_ready),
        .req_addr_i   (req_addr),
        .req_count_i  (req_count),
        .burst_valid_o(burst_valid),
        .burst_ready_i(burst_ready),
        .burst_addr_o (burst_addr),
        .burst_beats_o(burst_beats),
        .burst_last_o (burst_last)
    );
    stream_monitor #(
        .Width(19)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(burst_valid),
        .ready_i(burst_ready),
        .data_i ({burst_beats, burst_addr}),
        .last_i (burst_last)
    );
    always_comb assume (req_count != '0);

    // The start of the next burst, and the words of the request that are left.
    logic [9:0] next_q;
    logic [3:0] left_q = '0;
    always_ff @(posedge clk_i) begin
        if (!rst_n) begin
            left_q <= '0;
        end else if (req_valid && req_ready) begin
            assert (left_q == '0);
            next_q <= req_addr;
            left_q <= req_count;
        end else if (burst_valid && burst_ready) begin
            assert (burst_addr == next_q);
            assert (burst_beats != '0 && burst_beats <= 9'(left_q));
            assert (burst_last == (burst_beats == 9'(left_q)));
            assert (9'(burst_addr[1:0]) + burst_beats <= 9'd4);
            next_q <= next_q + 10'(burst_beats);
            left_q <= left_q - 4'(burst_beats);
        end
        if (rst_n) cover (burst_valid && burst_ready && burst_last && burst_addr[1:0] == '0 && burst_beats == 9'd4);
    end
endmodule
