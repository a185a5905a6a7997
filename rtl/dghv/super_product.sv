// SPDX-License-Identifier: MIT OR Apache-2.0
// Products of numbers of any length in memory, and sums of products. Schoolbook multiplication over
// blocks, column by column: every word of the result is written once, and none is read again.
//
//   z = sum over i < terms of x_i y_i, its lowest z.words words (step_t)
//
// Seeded: y_i is element first + i of a public key, generated from its seed, and each of its
// segments has a sum. Sums of even segments s are written from z + s y.words on, sums of odd
// segments from odd + s y.words on, z.words words each. So if z.words is 2 y.words, segments that
// overlap are in different places. Factors are read block by block, twice as many words as by rows
// of blocks; the N cycles per block leave time for that.
//
// Cycles from start_i to done_o, for a memory that answers at once: P N + 2 Latency', where P is
// the number of products of blocks (product_pairs; reference model super_product). The second term
// is the pipeline's latency, which the tests state and count. Source: [CMOOH13], section 3.1 and
// equation 12.
module super_product #(
    // B to ATile: see folded_multiplier
    parameter int unsigned B          = 32,
    parameter int unsigned High       = 4,
    parameter int unsigned Low        = 3,
    parameter logic [65:0] Root       = 66'd18446741870424883713,
    parameter int unsigned Halves     = 1,
    parameter int unsigned Base       = 28,
    parameter int unsigned ATile      = 24,
    parameter int unsigned Width      = 64,                        // bits of a word
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    output logic                  ready_o,           // all is wiped; high before start_i
    input  logic                  start_i,
    // stable from start_i to done_o; no length is zero
    input  dghv_pkg::step_t       step_i,
    output logic                  done_o,
    output logic                  multiplied_o,      // a product of blocks begins
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    output logic                  seed_req_valid_o,
    input  logic                  seed_req_ready_i,
    output dghv_pkg::index_t      seed_req_index_o,
    output dghv_pkg::length_t     seed_req_row_o,
    output logic [CountWidth-1:0] seed_req_count_o,
    input  logic                  seed_valid_i,
    output logic                  seed_ready_o,
    input  logic [Width-1:0]      seed_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o
);
    localparam int unsigned Block = (Base << (High + Low - 1)) / Width;
    // Products in progress in the multiplier, and one more.
    localparam int unsigned Under = (2 * ntt_pkg::folded_latency(B, High, Low) + 64 >> High + Low) + 4;

    logic [2:0] ready;
    assign ready_o = &ready;

    logic pair_valid, pair_ready, empty, fresh, first, last;
    dghv_pkg::address_t x_at, y_at;
    dghv_pkg::index_t index;
    dghv_pkg::length_t x_word, y_word;

    product_pairs #(
        .Block(Block)
    ) u_pairs (
        .clk_i,
        .rst_ni,
        .start_i,
        .step_i,
        .valid_o (pair_valid),
        .ready_i (pair_ready),
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

    typedef struct packed {
        logic fresh, first, last;
        dghv_pkg::lane_t lane;
    } tag_t;
    tag_t given, tag;
    logic given_valid, given_ready, tag_valid, tag_ready;
    logic block_valid, block_ready, word_valid, word_ready, sum_valid, sum_ready, out_valid, out_ready;
    logic [Width-1:0] x, y, word, sum, out;

    block_operands #(
        .Width     (Width),
        .Block     (Block),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_operands (
        .clk_i,
        .rst_ni,
        .ready_o     (ready[0]),
        .step_i,
        .pair_valid_i(pair_valid),
        .pair_ready_o(pair_ready),
        .x_at_i      (x_at),
        .y_at_i      (y_at),
        .index_i     (index),
        .x_word_i    (x_word),
        .y_word_i    (y_word),
        .empty_i     (empty),
        .fresh_i     (fresh),
        .first_i     (first),
        .last_i      (last),
        .rd_req_valid_o,
        .rd_req_ready_i,
        .rd_req_addr_o,
        .rd_req_count_o,
        .rd_valid_i,
        .rd_ready_o,
        .rd_data_i,
        .seed_req_valid_o,
        .seed_req_ready_i,
        .seed_req_index_o,
        .seed_req_row_o,
        .seed_req_count_o,
        .seed_valid_i,
        .seed_ready_o,
        .seed_data_i,
        .tag_valid_o (given_valid),
        .tag_ready_i (given_ready),
        .tag_fresh_o (given.fresh),
        .tag_first_o (given.first),
        .tag_last_o  (given.last),
        .tag_lane_o  (given.lane),
        .out_valid_o (block_valid),
        .out_ready_i (block_ready),
        .x_o         (x),
        .y_o         (y)
    );

    assign multiplied_o = given_valid && given_ready;

    stream_fifo #(
        .Width(3 + $clog2(dghv_pkg::Lanes)),
        .Depth(Under)
    ) u_tags (
        .clk_i,
        .rst_ni,
        .in_valid_i (given_valid),
        .in_ready_o (given_ready),
        .in_data_i  (given),
        .out_valid_o(tag_valid),
        .out_ready_i(tag_ready),
        .out_data_o (tag)
    );

    block_product #(
        .B     (B),
        .High  (High),
        .Low   (Low),
        .Root  (Root),
        .Halves(Halves),
        .Base  (Base),
        .ATile (ATile),
        .Width (Width)
    ) u_product (
        .clk_i,
        .rst_ni,
        .ready_o    (ready[1]),
        .in_valid_i (block_valid),
        .in_ready_o (block_ready),
        .x_i        (x),
        .y_i        (y),
        .out_valid_o(word_valid),
        .out_ready_i(word_ready),
        .out_o      (word)
    );

    column_sum #(
        .Width(Width),
        .Block(Block)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .ready_o    (ready[2]),
        .tag_valid_i(tag_valid),
        .tag_ready_o(tag_ready),
        .tag_fresh_i(tag.fresh),
        .tag_first_i(tag.first),
        .tag_last_i (tag.last),
        .tag_lane_i (tag.lane),
        .in_valid_i (word_valid),
        .in_ready_o (word_ready),
        .in_data_i  (word),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .out_data_o (sum)
    );

    // Buffers words while the writer's next request is pending.
    stream_fifo #(
        .Width(Width),
        .Depth(4)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i (sum_valid),
        .in_ready_o (sum_ready),
        .in_data_i  (sum),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out)
    );

    column_writer #(
        .Width     (Width),
        .Block     (Block),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_writer (
        .clk_i,
        .rst_ni,
        .start_i,
        .step_i,
        .done_o,
        .in_valid_i(out_valid),
        .in_ready_o(out_ready),
        .in_data_i (out),
        .wr_req_valid_o,
        .wr_req_ready_i,
        .wr_req_addr_o,
        .wr_req_count_o,
        .wr_valid_o,
        .wr_ready_i,
        .wr_data_o
    );
endmodule
