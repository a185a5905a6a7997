// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts through rows of blocks of words, from start_i on: word by word, block by block, row by
// row, one word per step_i.
module row_words #(
    parameter int unsigned Words     = 8,  // words of a block, a power of two, at least 2
    parameter int unsigned CountBits = 8,  // bits of the row and block counts
    localparam int unsigned WordBits = $clog2(Words)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 start_i,
    // at least 1, stable from start_i to the last step; also the blocks of a row
    input  logic [CountBits-1:0] rows_i,
    input  logic [CountBits-1:0] blocks_i,
    input  logic                 step_i,
    output logic                 active_o,    // there is a word
    output logic [CountBits-1:0] row_o,
    output logic [CountBits-1:0] block_o,     // in its row
    output logic [WordBits-1:0]  word_o,      // in its block
    output logic                 row_end_o,   // the last word of its row
    output logic                 end_o        // the last word of all
);
    if (Words < 2 || (Words & (Words - 1)) != 0 || CountBits < 1) $error("row_words: Words is a power of two, at least 2, CountBits at least 1");

    logic block_end;
    assign block_end = &word_o;
    assign row_end_o = block_end && block_o == blocks_i - CountBits'(1);
    assign end_o     = row_end_o && row_o == rows_i - CountBits'(1);

    always_ff @(posedge clk_i) begin
        if (!rst_ni || start_i) begin
            active_o <= rst_ni;
            row_o    <= '0;
            block_o  <= '0;
            word_o   <= '0;
        end else if (step_i && active_o) begin
            active_o <= !end_o;
            word_o   <= word_o + WordBits'(1);
            if (block_end) block_o <= row_end_o ? '0 : block_o + CountBits'(1);
            if (row_end_o) row_o <= row_o + CountBits'(1);
        end
    end
endmodule
