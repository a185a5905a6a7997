// SPDX-License-Identifier: MIT OR Apache-2.0
// An array of multipliers that multiplies a digit of Digit bits by a word of Width bits every cycle
// and accumulates consecutive products word by word. With digits d_j, words w_j and addends x_j and
// y_j, j counting from 0 (first_i), the output is
//
//   r_j = floor((sum over i <= j of (d_i w_i + x_i + y_i) 2^(Width i)) / 2^(Width j)) mod 2^Width,
//
// If all d_i are the same d, these are the words of d w + x + y, lowest first. Append words that
// are 0 to get all of its words.
//
// Factors are cut into pieces of Tile bits for an array of (Digit / Tile) (Width / Tile)
// multipliers. Products of the same weight, with the pieces of x and y, form one column, summed by
// a tree. The sum is kept in columns. A column accumulates over at most Digit / Width + 1 cycles
// and is then output: it is below 2^ColumnBits. Each of a word's columns has three pieces of Tile
// bits (the third is the rest), and the pieces of all columns are concatenated. One cycle adds the
// first two numbers, the next one adds the third and the carry from the word below (below 2^(2
// Tile), where the third pieces begin).
//
// Timing: word_i, digit_i and first_i in cycle c, x_i and y_i in c + 2, word_o in c + Latency, with
// Latency = 6 + Levels, Levels of adder_tree. Longest paths: an addition of three pieces of
// ColumnBits bits (adder_tree), one of Width + ColumnBits - Tile + 1 bits.
module digit_mac #(
    parameter int unsigned Digit = 256,  // bits of a digit, a multiple of Width
    parameter int unsigned Width = 128,  // bits of a word, a multiple of Tile
    parameter int unsigned Tile  = 16    // bits of the multipliers' factors
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             first_i,
    input  logic [Digit-1:0] digit_i,
    input  logic [Width-1:0] word_i,
    input  logic [Width-1:0] x_i,
    input  logic [Width-1:0] y_i,
    output logic [Width-1:0] word_o
);
    localparam int unsigned PerDigit = Digit / Tile;
    localparam int unsigned PerWord = Width / Tile;
    // products of a column, and an addend; words are never longer than digits
    localparam int unsigned Most = PerWord + 1;
    localparam int unsigned Levels = Most <= 3 ? 1 : Most <= 9 ? 2 : Most <= 27 ? 3 : 4;
    localparam int unsigned Columns = PerDigit + PerWord - 1;
    localparam int unsigned TreeBits = 2 * Tile + $clog2(Most);
    localparam int unsigned ColumnBits = 2 * Tile + $clog2((Digit / Width + 1) * Most);

    if (Tile < 1 || Width % Tile != 0 || Digit % Width != 0 || Most > 81) begin : gen_bad_widths
        $error("digit_mac: Tile must divide Width, Width must divide Digit, and a word has at most 80 tiles");
    end
    if (ColumnBits > 3 * Tile - 1) begin : gen_bad_tile
        $error("digit_mac: Tile is too small for so many columns");
    end

    // ---- Products, and the pieces of x + y alongside. ----

    logic [PerDigit-1:0][PerWord-1:0][2*Tile-1:0] products;
    for (genvar i = 0; i < PerDigit; i++) begin : gen_row
        for (genvar j = 0; j < PerWord; j++) begin : gen_tile
            digit_tile #(
                .Bits(Tile)
            ) u_tile (
                .clk_i,
                .rst_ni,
                .a_i(digit_i[i*Tile+:Tile]),
                .b_i(word_i[j*Tile+:Tile]),
                .p_o(products[i][j])
            );
        end
    end

    logic [PerWord-1:0][Tile:0] addends_q;
    for (genvar c = 0; c < PerWord; c++) begin : gen_addend
        always_ff @(posedge clk_i) begin
            if (!rst_ni) addends_q[c] <= '0;
            else addends_q[c] <= (Tile + 1)'(x_i[c*Tile+:Tile]) + (Tile + 1)'(y_i[c*Tile+:Tile]);
        end
    end

    // first_i, delayed for the columns' sums, and two more cycles for the sum of the words.
    localparam int unsigned ToSum = 3 + Levels;
    logic [ToSum+1:0] first_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) first_q <= '0;
        else first_q <= {first_q[ToSum:0], first_i};
    end

    // ---- Columns: the rest of the sum so far moves down by a word. ----

    logic [Columns*Most-1:0][2*Tile-1:0] terms;
    logic [Columns-1:0][ColumnBits-1:0] sum_q;
    for (genvar c = 0; c < Columns; c++) begin : gen_column
        for (genvar j = 0; j < PerWord; j++) begin : gen_term
            if (c >= j && c - j < PerDigit) begin : gen_product
                assign terms[c*Most+j] = products[c-j][j];
            end else begin : gen_none
                assign terms[c*Most+j] = '0;
            end
        end
        if (c < PerWord) begin : gen_low
            assign terms[c*Most+PerWord] = (2 * Tile)'(addends_q[c]);
        end else begin : gen_high
            assign terms[c*Most+PerWord] = '0;
        end

        logic [TreeBits-1:0] tree;
        adder_tree #(
            .Count(Most),
            .Bits (2 * Tile)
        ) u_tree (
            .clk_i,
            .rst_ni,
            .x_i  (terms[c*Most+:Most]),
            .sum_o(tree)
        );

        logic [ColumnBits-1:0] rest;
        if (c + PerWord < Columns) begin : gen_rest
            assign rest = first_q[ToSum-1] ? '0 : sum_q[c+PerWord];
        end else begin : gen_top
            assign rest = '0;
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) sum_q[c] <= '0;
            else sum_q[c] <= ColumnBits'(tree) + rest;
        end
    end

    // ---- The lowest columns as a word. ----

    localparam int unsigned OverBits = ColumnBits - Tile + 1;
    localparam int unsigned SumBits = Width + OverBits;
    logic [SumBits-1:0] low, middle, high, low_q, high_q, sum;
    logic [OverBits-1:0] over_q;
    always_comb begin
        low    = '0;
        middle = '0;
        high   = '0;
        for (int unsigned c = 0; c < PerWord; c++) begin
            low |= SumBits'(sum_q[c][Tile-1:0]) << (c * Tile);
            middle |= SumBits'(sum_q[c][2*Tile-1:Tile]) << ((c + 1) * Tile);
            high |= SumBits'(sum_q[c][ColumnBits-1:2*Tile]) << ((c + 2) * Tile);
        end
    end
    assign sum = low_q + (high_q | (first_q[ToSum+1] ? '0 : SumBits'(over_q)));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            low_q  <= '0;
            high_q <= '0;
            over_q <= '0;
            word_o <= '0;
        end else begin
            low_q  <= low + middle;
            high_q <= high;
            over_q <= sum[SumBits-1:Width];
            word_o <= sum[Width-1:0];
        end
    end
endmodule
