// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory_gate lets words out behind their requests only, as many as were promised, those from inside in their order; and when it is idle and its memory lives, nothing is under way: not a request, not a word.
module formal (
    input logic clk_i
);
    (* anyseq *) logic drain, rd_req_valid, wr_req_valid, wr_valid, seed_req_valid, rd_take, seed_take, again;
    (* anyseq *) logic rd_req_ready, wr_req_ready, wr_ready, seed_req_ready, rd_given, seed_given, wr_done;
    (* anyseq *) logic [1:0] rd_addr, rd_count, wr_addr, wr_count, seed_count;
    (* anyseq *) logic [2:0] wr_data;
    logic idle, rd_req_taken, wr_req_taken, wr_taken, seed_req_taken, rd_there, seed_there;
    logic rd_asked, rd_ready, wr_asked, wr_out, seed_asked, seed_ready, rst_n;
    logic [1:0] rd_out_addr, rd_out_count, wr_out_addr, wr_out_count, seed_out_count;
    logic [2:0] wr_out_data;
    dghv_pkg::index_t seed_index;
    dghv_pkg::length_t seed_row;
    logic started = 1'b0;

    assign rst_n = started && !again;

    memory_gate #(
        .Width     (3),
        .AddrWidth (2),
        .CountWidth(2)
    ) u_block (
        .clk_i,
        .rst_ni          (rst_n),
        .drain_i         (drain),
        .dead_i          (1'b0),
        .idle_o          (idle),
        .rd_req_valid_i  (rd_req_valid),
        .rd_req_ready_o  (rd_req_taken),
        .rd_req_addr_i   (rd_addr),
        .rd_req_count_i  (rd_count),
        .rd_valid_o      (rd_there),
        .rd_ready_i      (rd_take),
        .wr_req_valid_i  (wr_req_valid),
        .wr_req_ready_o  (wr_req_taken),
        .wr_req_addr_i   (wr_addr),
        .wr_req_count_i  (wr_count),
        .wr_valid_i      (wr_valid),
        .wr_ready_o      (wr_taken),
        .wr_data_i       (wr_data),
        .seed_req_valid_i(seed_req_valid),
        .seed_req_ready_o(seed_req_taken),
        .seed_req_index_i('0),
        .seed_req_row_i  ('0),
        .seed_req_count_i(seed_count),
        .seed_valid_o    (seed_there),
        .seed_ready_i    (seed_take),
        .rd_req_valid_o  (rd_asked),
        .rd_req_ready_i  (rd_req_ready),
        .rd_req_addr_o   (rd_out_addr),
        .rd_req_count_o  (rd_out_count),
        .rd_valid_i      (rd_given),
        .rd_ready_o      (rd_ready),
        .wr_req_valid_o  (wr_asked),
        .wr_req_ready_i  (wr_req_ready),
        .wr_req_addr_o   (wr_out_addr),
        .wr_req_count_o  (wr_out_count),
        .wr_valid_o      (wr_out),
        .wr_ready_i      (wr_ready),
        .wr_data_o       (wr_out_data),
        .wr_done_i       (wr_done),
        .seed_req_valid_o(seed_asked),
        .seed_req_ready_i(seed_req_ready),
        .seed_req_index_o(seed_index),
        .seed_req_row_o  (seed_row),
        .seed_req_count_o(seed_out_count),
        .seed_valid_i    (seed_given),
        .seed_ready_o    (seed_ready)
    );

    // Words that the memory still owes, that it has been promised, requests whose words it has not confirmed.
    logic [7:0] reads_q = '0, seeds_q = '0, promised_q = '0, open_q = '0;
    // The word from inside that is looked at, by its number among all that go out.
    (* anyconst *) logic [2:0] target;
    logic [3:0] put_q = '0, out_q = '0;
    logic [2:0] word_q = '0;
    logic seen_q = 1'b0, drained_q = 1'b0;

    always_ff @(posedge clk_i) begin
        started   <= 1'b1;
        drained_q <= rst_n && (drained_q || drain);
        // Requests are not empty; the memory gives what it was asked for, and confirms what it has got.
        if (rd_req_valid) assume (rd_count != '0);
        if (wr_req_valid) assume (wr_count != '0);
        if (seed_req_valid) assume (seed_count != '0);
        if (rd_given) assume (reads_q != '0);
        if (seed_given) assume (seeds_q != '0);
        if (wr_done) assume (open_q != '0 && (open_q > 8'd1 || promised_q == '0));

        if (!rst_n) begin
            {reads_q, seeds_q, promised_q, open_q} <= '0;
            {put_q, out_q, seen_q} <= '0;
        end else begin
            reads_q    <= reads_q + (rd_asked && rd_req_ready ? 8'(rd_out_count) : '0) - 8'(rd_given && rd_ready);
            seeds_q    <= seeds_q + (seed_asked && seed_req_ready ? 8'({seed_out_count, 3'd0}) : '0) - 8'(seed_given && seed_ready);
            promised_q <= promised_q + (wr_asked && wr_req_ready ? 8'(wr_out_count) : '0) - 8'(wr_out && wr_ready);
            open_q     <= open_q + 8'(wr_asked && wr_req_ready) - 8'(wr_done);
            if (wr_valid && wr_taken) begin
                put_q <= put_q + 4'd1;
                if (put_q == {1'b0, target}) {seen_q, word_q} <= {1'b1, wr_data};
            end
            if (wr_out && wr_ready) out_q <= out_q + 4'd1;

            // Nothing goes out that was not promised; nothing comes in while it drains.
            if (wr_out) assert (promised_q != '0);
            if (drain) assert (!rd_req_taken && !wr_req_taken && !wr_taken && !seed_req_taken && !rd_there && !seed_there);
            // Words that come out while none has been drained are those that went in.
            if (wr_out && out_q == {1'b0, target} && !drained_q) assert (seen_q && wr_out_data == word_q);
            if (idle) assert ({reads_q, seeds_q, promised_q, open_q} == '0 && !rd_asked && !wr_asked && !seed_asked && !wr_out);
            // What is given while it drains is taken.
            if (drain) assert (rd_ready && seed_ready);
            cover (idle && drained_q && out_q == 4'd3 && put_q == 4'd1);
            cover (wr_out && out_q == 4'd2 && !drained_q);
        end
    end
endmodule
