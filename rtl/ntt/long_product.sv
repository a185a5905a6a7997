// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies numbers of any length in memory by schoolbook multiplication over blocks. For each
// row, block_multiplier adds x_i y to the sum of the rows before.
//
// x has rows_i and y blocks_i blocks of Half = K / (2 Group) words of Width bits. Both counts are
// at least 1 and their sum is below 2^CountBits. Words are stored from address 0 on, lowest first.
// A read sends an address (read_) and gets its word back (data_), in the same order, after any
// time. x is read once, y once per row. The product is written from address 0 on (write_), each row
// over the one before, and its last word is marked. The next row reads its words back (z), but
// requests them only after they have been written. The memory must return what was written before
// the request. Cycles from the first word written to the last, inclusive: rows_i (blocks_i + 1)
// Half, if words come back within about blocks_i Half - 4 cycles. One product at a time. Source:
// [CMOOH13], section 3.1.
module long_product #(
    parameter int unsigned A         = 32,     // A to ATile: see block_multiplier
    parameter int unsigned B         = 0,
    parameter int unsigned K         = 64,
    parameter logic [65:0] Root      = 66'd0,
    parameter int unsigned Barrett   = 0,
    parameter int unsigned Base      = 12,
    parameter int unsigned Group     = 4,
    parameter int unsigned ATile     = 24,
    parameter int unsigned CountBits = 8,      // bits of the block counts
    localparam int unsigned Width    = Group * Base,
    localparam int unsigned Half     = K / Group / 2,
    localparam int unsigned WordBits = $clog2(Half),
    localparam int unsigned Bits     = CountBits + WordBits
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [CountBits-1:0] rows_i,
    input  logic [CountBits-1:0] blocks_i,
    output logic                 x_read_valid_o,
    input  logic                 x_read_ready_i,
    output logic [Bits-1:0]      x_read_o,
    input  logic                 x_data_valid_i,
    output logic                 x_data_ready_o,
    input  logic [Width-1:0]     x_data_i,
    output logic                 y_read_valid_o,
    input  logic                 y_read_ready_i,
    output logic [Bits-1:0]      y_read_o,
    input  logic                 y_data_valid_i,
    output logic                 y_data_ready_o,
    input  logic [Width-1:0]     y_data_i,
    output logic                 z_read_valid_o,
    input  logic                 z_read_ready_i,
    output logic [Bits-1:0]      z_read_o,
    input  logic                 z_data_valid_i,
    output logic                 z_data_ready_o,
    input  logic [Width-1:0]     z_data_i,
    output logic                 write_valid_o,
    input  logic                 write_ready_i,
    output logic                 write_last_o,
    output logic [Bits-1:0]      write_address_o,
    output logic [Width-1:0]     write_o
);
    // ---- One product at a time. ----

    logic start, busy_q;
    logic [CountBits-1:0] rows_q, blocks_q, words_q;  // words_q: blocks of a row's result
    assign in_ready_o = !busy_q;
    assign start      = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) busy_q <= 1'b0;
        else if (start) busy_q <= 1'b1;
        else if (write_valid_o && write_ready_i && write_last_o) busy_q <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            rows_q   <= '0;
            blocks_q <= '0;
            words_q  <= '0;
        end else if (start) begin
            rows_q   <= rows_i;
            blocks_q <= blocks_i;
            words_q  <= blocks_i + CountBits'(1);
        end
    end

    // ---- Reading the factors: x block by block, y row by row. ----

    logic [CountBits-1:0] x_row, y_block;
    logic [WordBits-1:0] x_word, y_word;
    logic [CountBits-1:0] unused_x_block, unused_y_row;
    logic [3:0] unused_ends;

    row_words #(
        .Words    (Half),
        .CountBits(CountBits)
    ) u_x_read (
        .clk_i,
        .rst_ni,
        .start_i  (start),
        .rows_i   (rows_q),
        .blocks_i (CountBits'(1)),
        .step_i   (x_read_ready_i),
        .active_o (x_read_valid_o),
        .row_o    (x_row),
        .block_o  (unused_x_block),
        .word_o   (x_word),
        .row_end_o(unused_ends[0]),
        .end_o    (unused_ends[1])
    );
    assign x_read_o = {x_row, x_word};

    row_words #(
        .Words    (Half),
        .CountBits(CountBits)
    ) u_y_read (
        .clk_i,
        .rst_ni,
        .start_i  (start),
        .rows_i   (rows_q),
        .blocks_i (blocks_q),
        .step_i   (y_read_ready_i),
        .active_o (y_read_valid_o),
        .row_o    (unused_y_row),
        .block_o  (y_block),
        .word_o   (y_word),
        .row_end_o(unused_ends[2]),
        .end_o    (unused_ends[3])
    );
    assign y_read_o = {y_block, y_word};

    // ---- Assembling blocks from their words. ----

    logic [WordBits-1:0] x_place_q, y_place_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            x_place_q <= '0;
            y_place_q <= '0;
        end else begin
            if (x_data_valid_i && x_data_ready_o) x_place_q <= x_place_q + WordBits'(1);
            if (y_data_valid_i && y_data_ready_o) y_place_q <= y_place_q + WordBits'(1);
        end
    end

    logic x_valid, x_ready, y_valid, y_ready;
    logic [1:0] unused_bad;
    logic [K*Base/2-1:0] x, y;

    stream_widen #(
        .Width  (Width),
        .Beats  (Half),
        .Gapless(1)
    ) u_x (
        .clk_i,
        .rst_ni,
        .in_valid_i  (x_data_valid_i),
        .in_ready_o  (x_data_ready_o),
        .in_data_i   (x_data_i),
        .in_last_i   (&x_place_q),
        .out_valid_o (x_valid),
        .out_ready_i (x_ready),
        .out_data_o  (x),
        .bad_packet_o(unused_bad[0])
    );

    stream_widen #(
        .Width  (Width),
        .Beats  (Half),
        .Gapless(1)
    ) u_y (
        .clk_i,
        .rst_ni,
        .in_valid_i  (y_data_valid_i),
        .in_ready_o  (y_data_ready_o),
        .in_data_i   (y_data_i),
        .in_last_i   (&y_place_q),
        .out_valid_o (y_valid),
        .out_ready_i (y_ready),
        .out_data_o  (y),
        .bad_packet_o(unused_bad[1])
    );

    // A block of x is kept for a whole row.
    logic block_valid, block_ready, first, last;
    logic [CountBits-1:0] fed_q;
    assign block_valid = x_valid && y_valid;
    assign first       = fed_q == '0;
    assign last        = fed_q == blocks_q - CountBits'(1);
    assign y_ready     = block_valid && block_ready;
    assign x_ready     = y_ready && last;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || start) fed_q <= '0;
        else if (y_ready) fed_q <= last ? '0 : fed_q + CountBits'(1);
    end

    // ---- Reading back earlier rows; zeros in the first row and at the end of each. ----

    logic ask_active, ask, ask_zero, add_active, add_zero, add_valid, add_ready, write;
    logic [CountBits-1:0] ask_row, ask_block, add_row, add_block;
    logic [WordBits-1:0] ask_word, add_word;
    logic [2:0] unused_steps;
    logic unused_row_last, add_end;
    // Words requested that have not been written yet in their own row.
    logic [Bits:0] ahead_q;

    row_words #(
        .Words    (Half),
        .CountBits(CountBits)
    ) u_ask (
        .clk_i,
        .rst_ni,
        .start_i  (start),
        .rows_i   (rows_q),
        .blocks_i (words_q),
        .step_i   (ask),
        .active_o (ask_active),
        .row_o    (ask_row),
        .block_o  (ask_block),
        .word_o   (ask_word),
        .row_end_o(unused_steps[0]),
        .end_o    (unused_steps[1])
    );
    // A word of the previous row is written blocks_i blocks before the word that it is added to.
    assign ask_zero       = ask_row == '0 || ask_block == blocks_q;
    assign z_read_valid_o = ask_active && !ask_zero && ahead_q < {1'b0, blocks_q, WordBits'(0)};
    assign z_read_o       = {ask_row + ask_block, ask_word};
    assign ask            = ask_active && (ask_zero ? ahead_q < {1'b0, words_q, WordBits'(0)} : z_read_valid_o && z_read_ready_i);
    assign write          = write_valid_o && write_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || start) ahead_q <= '0;
        else ahead_q <= ahead_q + (Bits + 1)'(ask) - (Bits + 1)'(write);
    end

    row_words #(
        .Words    (Half),
        .CountBits(CountBits)
    ) u_add (
        .clk_i,
        .rst_ni,
        .start_i  (start),
        .rows_i   (rows_q),
        .blocks_i (words_q),
        .step_i   (add_valid && add_ready),
        .active_o (add_active),
        .row_o    (add_row),
        .block_o  (add_block),
        .word_o   (add_word),
        .row_end_o(unused_steps[2]),
        .end_o    (add_end)
    );
    // A zero is also counted as requested before it is added.
    assign add_zero       = add_row == '0 || add_block == blocks_q;
    assign add_valid      = add_active && (add_zero ? ahead_q != '0 : z_data_valid_i);
    assign z_data_ready_o = add_active && !add_zero && add_ready;

    block_multiplier #(
        .A      (A),
        .B      (B),
        .K      (K),
        .Root   (Root),
        .Barrett(Barrett),
        .Base   (Base),
        .Group  (Group),
        .ATile  (ATile)
    ) u_rows (
        .clk_i,
        .rst_ni,
        .in_valid_i (block_valid),
        .in_ready_o (block_ready),
        .first_i    (first),
        .last_i     (last),
        .x_i        (x),
        .y_i        (y),
        .add_valid_i(add_valid),
        .add_ready_o(add_ready),
        .add_i      (add_zero ? '0 : z_data_i),
        .out_valid_o(write_valid_o),
        .out_ready_i(write_ready_i),
        .out_last_o (unused_row_last),
        .out_o      (write_o)
    );

    // ---- A word of the product goes to the place of the word added to it. ----

    assign write_address_o = {add_row + add_block, add_word};
    assign write_last_o    = add_end;

    logic unused;
    assign unused = &{1'b0, unused_x_block, unused_y_row, unused_ends, unused_bad, unused_steps, unused_row_last};
endmodule
