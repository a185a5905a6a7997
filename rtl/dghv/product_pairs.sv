// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects the blocks that are multiplied, and their order: sums of products column by column, so
// that every word of the result is final once its column is.
//
//   column c = sum over terms i and blocks j of (block j of x_i) (block c - j of y_i); columns up to the last word of z that is wanted
//
// A column without a pair gets one of zeros (empty_o), so that the carry of the columns before it
// comes out. Rate: a pair every cycle in which it is accepted, the first one in the cycle after
// start_i.
module product_pairs #(
    parameter int unsigned Block = 28  // words of a block
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              start_i,
    input  dghv_pkg::step_t   step_i,   // stable from start_i to the last pair; no length is zero
    output logic              valid_o,
    input  logic              ready_i,
    output dghv_pkg::address_t x_at_o,   // of the term's x
    output dghv_pkg::address_t y_at_o,
    output dghv_pkg::index_t  index_o,  // of the term's element
    output dghv_pkg::length_t x_word_o, // first word of the block in it
    output dghv_pkg::length_t y_word_o,
    output logic              empty_o,
    output logic              fresh_o,  // in the first column of all
    output logic              first_o,  // first pair of its column
    output logic              last_o    // last pair of its column
);
    if (Block < 2) $error("product_pairs: Block must be at least 2");

    localparam dghv_pkg::length_t Step = dghv_pkg::length_t'(Block);

    // The column's first pair; the term; the words of z that are left.
    dghv_pkg::length_t x_first_q, y_first_q, term_q, left_q;
    logic next_x, below_x, pair_end, term_end, column_end;

    assign empty_o    = x_first_q >= step_i.x.words;
    assign below_x    = step_i.x.words - x_word_o > Step;
    assign next_x     = !empty_o && below_x && y_word_o != '0;
    assign pair_end   = !next_x;
    assign term_end   = empty_o || term_q == step_i.terms - dghv_pkg::length_t'(1);
    assign column_end = pair_end && term_end;
    assign last_o     = column_end;

    logic unused;
    assign unused = &{1'b0, step_i};

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            valid_o   <= 1'b0;
            x_at_o    <= '0;
            y_at_o    <= '0;
            index_o   <= '0;
            x_word_o  <= '0;
            y_word_o  <= '0;
            fresh_o   <= 1'b0;
            first_o   <= 1'b0;
            x_first_q <= '0;
            y_first_q <= '0;
            term_q    <= '0;
            left_q    <= '0;
        end else if (start_i || (valid_o && ready_i)) begin
            first_o <= start_i || column_end;
            if (start_i || pair_end) begin
                // The next term's first pair.
                term_q  <= start_i || term_end ? '0 : term_q + dghv_pkg::length_t'(1);
                x_at_o  <= start_i || term_end ? step_i.x.at : x_at_o + dghv_pkg::address_t'(step_i.x.stride);
                y_at_o  <= start_i || term_end ? step_i.y.at : y_at_o + dghv_pkg::address_t'(step_i.y.stride);
                index_o <= start_i || term_end ? step_i.first : index_o + dghv_pkg::index_t'(1);
            end
            if (start_i) begin
                valid_o   <= 1'b1;
                fresh_o   <= 1'b1;
                x_word_o  <= '0;
                y_word_o  <= '0;
                x_first_q <= '0;
                y_first_q <= '0;
                left_q    <= step_i.z.words;
            end else if (next_x) begin
                x_word_o <= x_word_o + Step;
                y_word_o <= y_word_o - Step;
            end else if (!column_end) begin
                x_word_o <= x_first_q;
                y_word_o <= y_first_q;
            end else begin
                valid_o <= left_q > Step;
                fresh_o <= 1'b0;
                left_q  <= left_q - Step;
                // The next column: along y while blocks are left, then along x.
                if (step_i.y.words - y_first_q > Step) begin
                    y_first_q <= y_first_q + Step;
                    y_word_o  <= y_first_q + Step;
                    x_word_o  <= x_first_q;
                end else begin
                    x_first_q <= empty_o ? x_first_q : x_first_q + Step;
                    x_word_o  <= x_first_q + Step;
                    y_word_o  <= y_first_q;
                end
            end
        end
    end
endmodule
