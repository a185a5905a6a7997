// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads a tile of a matrix from memory into a tile's memory: rows of Columns items, one after
// another, from one matrix or from two.
//
// Row k is the words from base + first + k stride on. As residues, each word is an item. As digits,
// the words are those of a number with Base bits an item; words from limit_i on are not read and
// count as zeros. Items are written at places 0, 1, 2 ...; those of the second matrix follow the
// first's. Cycles from start_i to done_o, for a memory that answers at once: one per item plus the
// pipeline's latency. Requests are sent ahead of their words, one a cycle.
module tile_loader #(
    parameter int unsigned Width      = 64,
    parameter int unsigned Columns    = 16,  // a power of two, at least 4
    parameter int unsigned Base       = 20,  // bits of a digit
    parameter int unsigned PlaceBits  = 15,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  logic                  digits_i,        // this to limit_i: stable from start_i to done_o
    input  logic                  two_i,           // a second matrix follows the first
    input  dghv_pkg::address_t    base_i,
    input  dghv_pkg::address_t    second_i,
    input  dghv_pkg::length_t     first_i,
    input  dghv_pkg::length_t     stride_i,
    input  dghv_pkg::length_t     rows_i,          // at least 1
    input  dghv_pkg::length_t     limit_i,         // digits: words of the number
    output logic                  done_o,          // low while busy
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    output logic                  write_o,
    output logic [PlaceBits-1:0]  write_place_o,
    output logic [Width-1:0]      write_data_o
);
    localparam int unsigned DigitWords = Columns * Base / Width;
    localparam int unsigned WordBits = $clog2(Columns + 1);

    if (Columns < 4 || (Columns & (Columns - 1)) != 0) $error("tile_loader: Columns is a power of two, at least 4");
    if (Base < 1 || Base >= Width || Columns * Base % Width != 0) $error("tile_loader: Width must divide Columns Base, Base is below it");
    if (CountWidth < WordBits) $error("tile_loader: CountWidth is too small for a row");

    typedef logic [WordBits-1:0] words_t;
    words_t row_words;
    assign row_words = digits_i ? words_t'(DigitWords) : words_t'(Columns);

    // The words of a row that exist.
    function automatic words_t there(input logic cut, input words_t row, input dghv_pkg::length_t limit, input dghv_pkg::length_t from);
        there = cut ? words_t'(dghv_pkg::least(dghv_pkg::length_t'(row), dghv_pkg::less(limit, from))) : row;
    endfunction

    // ---- Requests. ----

    logic asking_q, ask_second_q, asked, ask_end;
    dghv_pkg::length_t ask_row_q, ask_from_q;
    words_t ask_words;
    assign ask_words      = there(digits_i, row_words, limit_i, ask_from_q);
    assign rd_req_valid_o = asking_q && ask_words != '0;
    assign rd_req_addr_o  = AddrWidth'((ask_second_q ? second_i : base_i) + dghv_pkg::address_t'(ask_from_q));
    assign rd_req_count_o = CountWidth'(ask_words);
    assign asked          = asking_q && (ask_words == '0 || rd_req_ready_i);
    assign ask_end        = ask_row_q + dghv_pkg::length_t'(1) == rows_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            asking_q     <= 1'b0;
            ask_second_q <= 1'b0;
            ask_row_q    <= '0;
            ask_from_q   <= '0;
        end else if (start_i) begin
            asking_q     <= 1'b1;
            ask_second_q <= 1'b0;
            ask_row_q    <= '0;
            ask_from_q   <= first_i;
        end else if (asked) begin
            ask_row_q  <= ask_end ? '0 : ask_row_q + dghv_pkg::length_t'(1);
            ask_from_q <= ask_end ? first_i : ask_from_q + stride_i;
            if (ask_end) begin
                ask_second_q <= 1'b1;
                asking_q     <= two_i && !ask_second_q;
            end
        end
    end

    // ---- Words, and zeros for those that do not exist. ----

    logic taking_q, second_q, real_word, word_valid, word_ready, take, row_end, rows_end;
    dghv_pkg::length_t row_q, from_q;
    words_t word_q;
    logic [Width-1:0] word;
    assign real_word  = word_q < there(digits_i, row_words, limit_i, from_q);
    assign word_valid = taking_q && (!real_word || rd_valid_i);
    assign word       = real_word ? rd_data_i : '0;
    assign rd_ready_o = taking_q && real_word && word_ready;
    assign take       = word_valid && word_ready;
    assign row_end    = word_q + words_t'(1) == row_words;
    assign rows_end   = row_end && row_q + dghv_pkg::length_t'(1) == rows_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            taking_q <= 1'b0;
            second_q <= 1'b0;
            row_q    <= '0;
            from_q   <= '0;
            word_q   <= '0;
        end else if (start_i) begin
            taking_q <= 1'b1;
            second_q <= 1'b0;
            row_q    <= '0;
            from_q   <= first_i;
            word_q   <= '0;
        end else if (take) begin
            word_q <= row_end ? '0 : word_q + words_t'(1);
            if (row_end) begin
                row_q  <= rows_end ? '0 : row_q + dghv_pkg::length_t'(1);
                from_q <= rows_end ? first_i : from_q + stride_i;
            end
            if (rows_end) begin
                second_q <= 1'b1;
                taking_q <= two_i && !second_q;
            end
        end
    end

    // ---- Items. ----

    logic digits_ready, digit_valid;
    logic [Base-1:0] digit;
    gearbox #(
        .From(Width),
        .To  (Base)
    ) u_digits (
        .clk_i,
        .rst_ni,
        .in_valid_i (word_valid && digits_i),
        .in_ready_o (digits_ready),
        .in_data_i  (word),
        .out_valid_o(digit_valid),
        .out_ready_i(1'b1),
        .out_data_o (digit)
    );

    logic [PlaceBits-1:0] place_q;
    assign word_ready    = digits_i ? digits_ready : 1'b1;
    assign write_o       = digit_valid || (word_valid && !digits_i);
    assign write_place_o = place_q;
    assign write_data_o  = digit_valid ? Width'(digit) : word;
    assign done_o        = !taking_q && !digit_valid;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || start_i) place_q <= '0;
        else if (write_o) place_q <= place_q + PlaceBits'(1);
    end
endmodule
