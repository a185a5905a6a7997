// SPDX-License-Identifier: MIT OR Apache-2.0
// For any requests to a memory_isolate, any drains, and every memory that only answers what it was
// asked:
//
// - Requests go out unchanged and in order, and stay until they are accepted.
// - Words go out behind their requests, as many as these said: words of the inside in order, and
//   zeros for what is owed during a drain.
// - During a drain, nothing is accepted from the inside, and nothing gets in.
// - It is idle exactly when all that was requested has come and all that was promised is in memory,
//   or when it is told that the memory is dead.
module formal (
    input logic clk_i
);
    (* anyseq *) logic drain, dead;
    (* anyseq *) logic rd_req_valid, rd_req_ready, rd_valid, rd_take, wr_req_valid, wr_req_ready, wr_valid, wr_ready, wr_done;
    (* anyseq *) logic seed_req_valid, seed_req_ready, seed_valid, seed_take;
    (* anyseq *) logic [1:0] rd_addr, rd_count, wr_addr, wr_count, wr_data, seed_count;
    (* anyseq *) dghv_pkg::index_t seed_index;
    (* anyseq *) dghv_pkg::length_t seed_row;
    (* anyconst *) logic [4:0] target;
    logic idle;
    // The signals of the inside (i_) and of the memory (m_).
    logic i_rd_req_ready, i_rd_valid, i_wr_req_ready, i_wr_ready, i_seed_req_ready, i_seed_valid;
    logic m_rd_req_valid, m_rd_ready, m_wr_req_valid, m_wr_valid, m_seed_req_valid, m_seed_ready;
    logic [1:0] m_rd_addr, m_rd_count, m_wr_addr, m_wr_count, m_wr_data, m_seed_count;
    dghv_pkg::index_t m_seed_index;
    dghv_pkg::length_t m_seed_row;
    logic started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    memory_isolate #(
        .Width(2),
        .AddrWidth(2),
        .CountWidth(2)
    ) u_block (
        .clk_i,
        .rst_ni          (started),
        .drain_i         (drain),
        .dead_i          (dead),
        .idle_o          (idle),
        .rd_req_valid_i  (rd_req_valid),
        .rd_req_ready_o  (i_rd_req_ready),
        .rd_req_addr_i   (rd_addr),
        .rd_req_count_i  (rd_count),
        .rd_valid_o      (i_rd_valid),
        .rd_ready_i      (rd_take),
        .wr_req_valid_i  (wr_req_valid),
        .wr_req_ready_o  (i_wr_req_ready),
        .wr_req_addr_i   (wr_addr),
        .wr_req_count_i  (wr_count),
        .wr_valid_i      (wr_valid),
        .wr_ready_o      (i_wr_ready),
        .wr_data_i       (wr_data),
        .seed_req_valid_i(seed_req_valid),
        .seed_req_ready_o(i_seed_req_ready),
        .seed_req_index_i(seed_index),
        .seed_req_row_i  (seed_row),
        .seed_req_count_i(seed_count),
        .seed_valid_o    (i_seed_valid),
        .seed_ready_i    (seed_take),
        .rd_req_valid_o  (m_rd_req_valid),
        .rd_req_ready_i  (rd_req_ready),
        .rd_req_addr_o   (m_rd_addr),
        .rd_req_count_o  (m_rd_count),
        .rd_valid_i      (rd_valid),
        .rd_ready_o      (m_rd_ready),
        .wr_req_valid_o  (m_wr_req_valid),
        .wr_req_ready_i  (wr_req_ready),
        .wr_req_addr_o   (m_wr_addr),
        .wr_req_count_o  (m_wr_count),
        .wr_valid_o      (m_wr_valid),
        .wr_ready_i      (wr_ready),
        .wr_data_o       (m_wr_data),
        .wr_done_i       (wr_done),
        .seed_req_valid_o(m_seed_req_valid),
        .seed_req_ready_i(seed_req_ready),
        .seed_req_index_o(m_seed_index),
        .seed_req_row_o  (m_seed_row),
        .seed_req_count_o(m_seed_count),
        .seed_valid_i    (seed_valid),
        .seed_ready_o    (m_seed_ready)
    );
    // No empty requests.
    always_comb assume (rd_count != '0 && wr_count != '0 && seed_count != '0);

    // ---- Requests: in order, and none is lost. ----

    follow #(
        .Width(4),
        .Hold(2),
        .Latency(0),
        .Ready(15)
    ) u_reads (
        .clk_i,
        .rst_ni     (started),
        .in_valid_i (rd_req_valid),
        .in_ready_i (i_rd_req_ready),
        .in_i       ({rd_addr, rd_count}),
        .out_valid_i(m_rd_req_valid),
        .out_ready_i(rd_req_ready),
        .out_i      ({m_rd_addr, m_rd_count})
    );
    follow #(
        .Width(4),
        .Hold(2),
        .Latency(0),
        .Ready(15)
    ) u_writes (
        .clk_i,
        .rst_ni     (started),
        .in_valid_i (wr_req_valid),
        .in_ready_i (i_wr_req_ready),
        .in_i       ({wr_addr, wr_count}),
        .out_valid_i(m_wr_req_valid),
        .out_ready_i(wr_req_ready),
        .out_i      ({m_wr_addr, m_wr_count})
    );
    follow #(
        .Width(58),
        .Hold(2),
        .Latency(0),
        .Ready(15)
    ) u_seeds (
        .clk_i,
        .rst_ni     (started),
        .in_valid_i (seed_req_valid),
        .in_ready_i (i_seed_req_ready),
        .in_i       ({seed_index, seed_row, seed_count}),
        .out_valid_i(m_seed_req_valid),
        .out_ready_i(seed_req_ready),
        .out_i      ({m_seed_index, m_seed_row, m_seed_count})
    );
    stream_monitor #(
        .Width(4)
    ) u_read_stays (
        .clk_i,
        .rst_ni (started),
        .valid_i(m_rd_req_valid),
        .ready_i(rd_req_ready),
        .data_i ({m_rd_addr, m_rd_count}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(4)
    ) u_write_stays (
        .clk_i,
        .rst_ni (started),
        .valid_i(m_wr_req_valid),
        .ready_i(wr_req_ready),
        .data_i ({m_wr_addr, m_wr_count}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(2)
    ) u_word_stays (
        .clk_i,
        .rst_ni (started),
        .valid_i(m_wr_valid),
        .ready_i(wr_ready),
        .data_i (m_wr_data),
        .last_i (1'b0)
    );

    // ---- Accesses in progress, counted from both sides: words requested inside, words that the
    // memory knows of, and requests in between. ----

    logic [7:0] read_q = '0, asked_q = '0, seed_q = '0, grown_q = '0;
    logic [7:0] promised_q = '0, told_q = '0, in_q = '0;
    logic [4:0] writes_q = '0, taken_q = '0, whole_q = '0, done_q = '0;
    logic [1:0] counts_q[32];
    logic [1:0] of_whole_q = '0;
    logic ask, accept, got, tell, note, put, sent, grow, sow, grown, complete;
    assign ask      = rd_req_valid && i_rd_req_ready;
    assign accept   = m_rd_req_valid && rd_req_ready;
    assign got      = rd_valid && m_rd_ready;
    assign tell     = wr_req_valid && i_wr_req_ready;
    assign note     = m_wr_req_valid && wr_req_ready;
    assign put      = wr_valid && i_wr_ready;
    assign sent     = m_wr_valid && wr_ready;
    assign grow     = seed_req_valid && i_seed_req_ready;
    assign sow      = m_seed_req_valid && seed_req_ready;
    assign grown    = seed_valid && m_seed_ready;
    assign complete = sent && of_whole_q + 2'd1 == counts_q[whole_q];
    // The inside's words in order, and the zeros written instead.
    logic [4:0] came_q = '0, went_q = '0, zeros_q = '0;
    logic [1:0] word_q;

    always_comb begin
        // The memory gives only what it was asked for, and reports requests as done only when all
        // their words have come.
        assume (!rd_valid || asked_q != '0);
        assume (!seed_valid || grown_q != '0);
        assume (!wr_done || done_q != whole_q);
        if (!started) assume (!drain && !dead);
    end

    logic drain_q = 1'b0, dead_q = 1'b0;
    always_ff @(posedge clk_i) begin
        drain_q <= drain;
        dead_q  <= dead || dead_q;
        if (started) begin
            // A drain ends only when nothing is in progress, and never after a death.
            if (drain_q && !drain) assume (idle && !dead_q && !dead);
            read_q  <= read_q + (ask ? 8'(rd_count) : 8'd0) - 8'(got);
            asked_q <= asked_q + (accept ? 8'(m_rd_count) : 8'd0) - 8'(got);
            seed_q  <= seed_q + (grow ? 8'({seed_count, 3'd0}) : 8'd0) - 8'(grown);
            grown_q <= grown_q + (sow ? 8'({m_seed_count, 3'd0}) : 8'd0) - 8'(grown);
            // Words that are owed, those that the memory knows of, and those of the inside that are
            // on their way.
            promised_q <= promised_q + (tell ? 8'(wr_count) : 8'd0) - 8'(sent);
            told_q     <= told_q + (note ? 8'(m_wr_count) : 8'd0) - 8'(sent);
            writes_q   <= writes_q + 5'(tell);
            done_q     <= done_q + 5'(wr_done);
            if (note) begin
                counts_q[taken_q] <= m_wr_count;
                taken_q <= taken_q + 5'd1;
            end
            if (sent) of_whole_q <= complete ? '0 : of_whole_q + 2'd1;
            if (complete) whole_q <= whole_q + 5'd1;
            if (put) came_q <= came_q + 5'd1;
            if (put && came_q == target) word_q <= wr_data;
            if (sent && in_q != '0) went_q <= went_q + 5'd1;
            if (sent && in_q == '0) zeros_q <= zeros_q + 5'd1;
            in_q <= in_q + 8'(put) - 8'(sent && in_q != '0);

            assert (!m_wr_valid || told_q != '0);
            assert (!sent || promised_q != '0);
            if (m_wr_valid && in_q != '0 && went_q == target) assert (m_wr_data == word_q);
            if (drain) begin
                assert (!i_rd_req_ready && !i_wr_req_ready && !i_seed_req_ready && !i_wr_ready && !i_rd_valid && !i_seed_valid);
                assert (m_rd_ready && m_seed_ready);
                // Words that are not from the inside are zero.
                if (m_wr_valid && in_q == '0) assert (m_wr_data == '0);
            end else begin
                assert (i_rd_valid == rd_valid && m_rd_ready == rd_take && i_seed_valid == seed_valid && m_seed_ready == seed_take);
                if (m_wr_valid) assert (in_q != '0);
            end
            // No more words are accepted from the inside than it has promised.
            assert (in_q <= promised_q);
            if (!dead)
                assert (idle == (read_q == '0 && promised_q == '0 && seed_q == '0 && writes_q == done_q));
                else assert (idle);
            cover (drain && idle && !dead && done_q == 5'd2 && zeros_q == 5'd1 && went_q == 5'd2);
        end
    end
endmodule
