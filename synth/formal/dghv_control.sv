// SPDX-License-Identifier: MIT OR Apache-2.0
// A dghv_control answers every command once: it writes its eight words, in their order, or gives eight that were read, or hands its fields to the encryptor and says how that ended. It asks the memory for
// nothing while the encryptor has it; after a fault it asks for nothing more and shows no word.
module formal (
    input logic clk_i
);
    (* anyseq *) logic item_valid, answer_ready, command_ready, status_valid, rd_req_ready, rd_valid, rd_last, wr_req_ready, wr_ready, wr_done, again;
    (* anyseq *) logic [639:0] item;
    (* anyseq *) logic [63:0] rd_data;
    (* anyseq *) logic [3:0] error;
    (* anyseq *) logic [2:0] status;
    logic item_ready, answer_valid, seed_load, command_valid, status_ready, owns, rd_req_valid, rd_ready, wr_req_valid, wr_valid, rst_n;
    logic [575:0] answer;
    logic [8:0] rd_req_addr, wr_req_addr;
    logic [3:0] rd_req_count, wr_req_count;
    logic [63:0] wr_data;
    dghv_pkg::command_t command;
    logic started = 1'b0;

    assign rst_n = started && !again;

    dghv_control #(
        .AddrWidth (9),
        .CountWidth(4)
    ) u_block (
        .clk_i,
        .rst_ni         (rst_n),
        .item_valid_i   (item_valid),
        .item_ready_o   (item_ready),
        .item_i         (item),
        .answer_valid_o (answer_valid),
        .answer_ready_i (answer_ready),
        .answer_o       (answer),
        .seed_load_o    (seed_load),
        .command_valid_o(command_valid),
        .command_ready_i(command_ready),
        .command_o      (command),
        .status_valid_i (status_valid),
        .status_ready_o (status_ready),
        .status_i       (dghv_pkg::ending_e'(status)),
        .owns_o         (owns),
        .error_i        (error),
        .rd_req_valid_o (rd_req_valid),
        .rd_req_ready_i (rd_req_ready),
        .rd_req_addr_o  (rd_req_addr),
        .rd_req_count_o (rd_req_count),
        .rd_valid_i     (rd_valid),
        .rd_ready_o     (rd_ready),
        .rd_data_i      (rd_data),
        .rd_last_i      (rd_last),
        .wr_req_valid_o (wr_req_valid),
        .wr_req_ready_i (wr_req_ready),
        .wr_req_addr_o  (wr_req_addr),
        .wr_req_count_o (wr_req_count),
        .wr_valid_o     (wr_valid),
        .wr_ready_i     (wr_ready),
        .wr_data_o      (wr_data),
        .wr_done_i      (wr_done)
    );

    // What is under way; the word that is looked at; how much of it the memory has been asked for, has given and has taken.
    (* anyconst *) logic [2:0] place;
    logic busy_q = 1'b0, read_q = 1'b0, written_q = 1'b0, begun_q = 1'b0, ended_q = 1'b0, failed_q = 1'b0, ready_q = 1'b0;
    logic [3:0] got_q = '0, put_q = '0, fault_q = '0;
    logic [2:0] status_q;
    logic [639:0] item_q;
    logic [63:0] seen_q, word;
    logic [575:0] answer_q;
    assign word = item_q[64*place+128+:64];

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        // A memory gives the words that it was asked for, marks the last, and says that all are in it when they are; an encryptor ends what it has begun. Faults stay.
        if (rd_valid) assume (read_q && got_q != 4'd8 && rd_last == (got_q == 4'd7));
        if (wr_done) assume (written_q && put_q == 4'd8);
        if (status_valid) assume (begun_q && !ended_q);
        if (failed_q) assume (error == fault_q);

        if (!rst_n) begin
            {busy_q, read_q, written_q, begun_q, ended_q, failed_q, ready_q} <= '0;
            {got_q, put_q} <= '0;
        end else begin
            failed_q <= error != '0;
            if (error != '0 && !failed_q) fault_q <= error;
            if (item_valid && item_ready) begin
                busy_q <= 1'b1;
                item_q <= item;
                {read_q, written_q, begun_q, ended_q} <= '0;
                {got_q, put_q} <= '0;
            end
            if (rd_req_valid && rd_req_ready) read_q <= 1'b1;
            if (wr_req_valid && wr_req_ready) written_q <= 1'b1;
            if (command_valid && command_ready) begun_q <= 1'b1;
            if (status_valid && status_ready) {ended_q, status_q} <= {1'b1, status};
            if (rd_valid && rd_ready) begin
                got_q <= got_q + 4'd1;
                if (got_q == {1'b0, place}) seen_q <= rd_data;
            end
            if (wr_valid && wr_ready) put_q <= put_q + 4'd1;
            if (answer_valid && answer_ready) busy_q <= 1'b0;

            // One at a time, and nothing without a command.
            assert (item_ready == !busy_q);
            if (!busy_q) assert (!answer_valid && !rd_req_valid && !wr_req_valid && !wr_valid && !command_valid && !seed_load);
            // The memory is asked once, where the command says, for eight words, and only while it is not the encryptor's.
            if (rd_req_valid) assert (owns && !read_q && item_q[3:0] == 4'd0 && rd_req_addr == item_q[72:64] && rd_req_count == 4'd8);
            if (wr_req_valid) assert (owns && !written_q && item_q[3:0] == 4'd1 && wr_req_addr == item_q[72:64] && wr_req_count == 4'd8);
            if (wr_valid) assert (owns && item_q[3:0] == 4'd1 && put_q != 4'd8);
            if (wr_valid && put_q == {1'b0, place}) assert (wr_data == word);
            // The encryptor gets what the command says, after the seed.
            if (command_valid) begin
                assert (!owns && !begun_q && item_q[3:0] == 4'd2);
                assert (command.operation == item_q[10:8]);
                assert ({command.x.words, command.x.at} == item_q[183:128] && {command.y.words, command.y.at} == item_q[247:192]);
                assert ({command.modulus, command.z, command.bits, command.reciprocal} == {item_q[319:256], item_q[383:320]});
                assert ({command.elements, command.excess} == item_q[439:384]);
                assert ({command.noise.words, command.noise.at} == item_q[503:448] && {command.scratch.words, command.scratch.at} == item_q[567:512]);
                assert ({command.x.stride, command.y.stride, command.noise.stride, command.scratch.stride} == '0);
            end
            // What is answered: a fault, and no word; or that there is no such operation, how a computation ended, the words that were read, or that the words are in the memory.
            if (answer_valid) begin
                assert (answer[63:11] == '0 && answer[7:5] == '0);
                if (answer[3:0] != '0) begin
                    assert (failed_q && answer[3:0] == fault_q && answer[575:4] == '0);
                end else if (item_q[3:0] == 4'd0) begin
                    assert (got_q == 4'd8 && answer[64*place+64+:64] == seen_q && answer[10:4] == '0);
                end else if (item_q[3:0] == 4'd1) begin
                    assert (put_q == 4'd8 && answer == '0);
                end else if (item_q[3:0] == 4'd2) begin
                    assert (ended_q && answer[10:8] == status_q && answer[575:64] == '0 && !answer[4]);
                end else begin
                    assert (answer[4] && answer[10:8] == '0 && answer[575:64] == '0);
                end
            end
            // It stays until it is taken.
            ready_q  <= answer_valid && !answer_ready;
            answer_q <= answer;
            if (ready_q) assert (answer_valid && answer == answer_q);
            cover (answer_valid && item_q[3:0] == 4'd0 && answer[3:0] == '0);
            cover (answer_valid && item_q[3:0] == 4'd1 && answer[3:0] == '0);
            cover (answer_valid && item_q[3:0] == 4'd2 && answer[10:8] == 3'd3);
            cover (answer_valid && answer[3:0] == 4'd9 && put_q == 4'd3);
        end
    end
endmodule
