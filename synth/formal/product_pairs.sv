// SPDX-License-Identifier: MIT OR Apache-2.0
// A product_pairs outputs every pair of blocks of every term whose place in the result is wanted,
// once, and no other. The order is by column, by term, and by block of x. A column without a pair
// gets one of zeros. Then it ends. The step may change when there is no pair. For all lengths of up
// to two blocks of two words (three of x), results of up to five blocks, and two terms.
module formal (
    input logic clk_i
);
    localparam int unsigned Block = 2;

    (* anyseq *) logic start, ready;
    (* anyconst *) dghv_pkg::step_t step;
    (* anyseq *) dghv_pkg::step_t noise;
    (* anyconst *) logic [2:0] x_words, y_words;
    (* anyconst *) logic [3:0] z_words;
    (* anyconst *) logic [1:0] terms;
    logic valid, empty, fresh, first, last;
    dghv_pkg::address_t x_at, y_at;
    dghv_pkg::index_t index;
    dghv_pkg::length_t x_word, y_word;
    logic started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    always_comb begin
        assume (x_words != 3'd0 && x_words <= 3'd6 && y_words != 3'd0 && y_words <= 3'd4 && z_words != 4'd0 && z_words <= 4'd10 && terms != 2'd0 && terms != 2'd3);
        assume (step.x.words == 24'(x_words) && step.y.words == 24'(y_words) && step.z.words == 24'(z_words) && step.terms == 24'(terms));
        // Addresses are as small as the numbers.
        assume (step.x.at[31:8] == '0 && step.y.at[31:8] == '0 && step.x.stride[23:4] == '0 && step.y.stride[23:4] == '0 && step.first[31:4] == '0);
        // A step is stable until its last pair.
        assume (!start || (started && !valid));
    end

    product_pairs #(
        .Block(Block)
    ) u_block (
        .clk_i,
        .rst_ni  (started),
        .start_i (start),
        .step_i  (start || valid ? step : noise),
        .valid_o (valid),
        .ready_i (ready),
        .x_at_o  (x_at),
        .y_at_o  (y_at),
        .index_o (index),
        .x_word_o(x_word),
        .y_word_o(y_word),
        .empty_o (empty),
        .fresh_o (fresh),
        .first_o (first),
        .last_o  (last)
    );
    stream_monitor #(
        .Width(147)
    ) u_monitor (
        .clk_i,
        .rst_ni (started),
        .valid_i(valid),
        .ready_i(ready),
        .data_i ({x_at, y_at, index, x_word, y_word, empty, fresh, first}),
        .last_i (last)
    );

    // Blocks of the factors and of the result; the blocks of x in the column, from the first one to
    // one behind the last.
    logic [3:0] i, j, columns, from, to;
    assign i       = (4'(x_words) + 4'd1) >> 1;
    assign j       = (4'(y_words) + 4'd1) >> 1;
    assign columns = 4'((5'(z_words) + 5'd1) >> 1);
    assign from    = column_q >= j ? column_q - j + 4'd1 : 4'd0;
    assign to   = column_q < i ? column_q + 4'd1 : i;

    // The column, the pairs that it has had, and the term and block of x of the last one. A pair
    // follows a start and every accepted pair but the last.
    logic [3:0] column_q = '0, pairs_q = '0, block_q = '0, x_block, y_block;
    logic [1:0] term_q = '0, term;
    logic more_q = 1'b0, whole;
    assign term    = 2'(index - step.first);
    assign x_block = 4'(x_word >> 1);
    assign y_block = 4'(y_word >> 1);
    assign whole   = last && column_q == columns - 4'd1;

    always_ff @(posedge clk_i) begin
        if (started) begin
            more_q <= start || (valid && !(ready && whole));
            assert (valid == more_q);
            if (start) {column_q, pairs_q} <= '0;
            if (valid) begin
                assert (column_q < columns);
                assert (fresh == (column_q == 4'd0) && first == (pairs_q == 4'd0) && empty == (from >= to));
                if (empty)
                    assert (last);
                    else begin
                        assert (term < terms && index == step.first + 32'(term));
                        assert (x_at == step.x.at + (term == 2'd1 ? 32'(step.x.stride) : 32'd0) && y_at == step.y.at + (term == 2'd1 ? 32'(step.y.stride) : 32'd0));
                        assert (!x_word[0] && x_word < 24'd8 && !y_word[0] && y_word < 24'd8);
                        assert (x_block >= from && x_block < to && x_block + y_block == column_q);
                        // Each pair is behind the one before, so none comes twice. So all have come
                        // when the count is reached.
                        if (!first) assert (term > term_q || (term == term_q && x_block > block_q));
                        assert (last == (pairs_q + 4'd1 == (terms == 2'd1 ? to - from : 4'((to - from) << 1))));
                    end
            end
            if (valid && ready) begin
                pairs_q  <= last ? '0 : pairs_q + 4'd1;
                column_q <= column_q + 4'(last);
                term_q   <= term;
                block_q  <= x_block;
            end
            cover (valid && ready && whole && empty && terms == 2'd2 && i == 4'd2 && j == 4'd2);
        end
    end
endmodule
