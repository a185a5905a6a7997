// SPDX-License-Identifier: MIT OR Apache-2.0
// Replaces super_product by transforms, for one product of two long factors: four_step behind the
// interface of a unit that executes steps.
//
//   z = x y, its lowest z.words words (step_t), where both factors have at least LongWords words
//
// takes_o says whether a step is such a product. It is the only criterion for choosing the unit, so
// lengths decide and nothing else. The transforms have the fewest points that hold both factors, or
// z, in a matrix as square as possible. Two intermediate matrices of a word per point begin at the
// first multiple of Columns words in the scratch, so that a row of a tile is a burst. If they would
// reach beyond the scratch's end, nothing begins, and short_o is high in the cycle after start_i.
// Memory is as four_step leaves it: the owner has to wipe the matrices. Cycles from start_i to
// done_o, for a memory that answers at once: one, and four_step's.
module transform_product #(
    parameter int unsigned High       = 6,                        // High to Base: see four_step
    parameter int unsigned Low        = 5,
    parameter logic [65:0] Root       = 66'd7915626813612114351,
    parameter int unsigned ATile      = 24,
    parameter int unsigned Columns    = 16,
    parameter int unsigned Base       = 20,
    // from this length on, both products of a reduction take fewer cycles than by blocks
    parameter int unsigned LongWords  = 1288,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    output logic                  ready_o,           // all is wiped; high before start_i
    // this to scratch_end_i: stable from start_i to done_o; no length is zero
    input  dghv_pkg::step_t       step_i,
    input  dghv_pkg::address_t    scratch_i,
    input  dghv_pkg::address_t    scratch_end_i,
    output logic                  takes_o,
    input  logic                  start_i,           // while takes_o is high
    output logic                  short_o,
    // no memory access is pending
    input  logic                  settled_i,
    output logic                  done_o,            // all words have been handed over
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [63:0]           rd_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [63:0]           wr_data_o
);
    // Logarithms of the fewest and of the most points, and words whose digits fill a row of a tile.
    localparam int unsigned Shortest = 2 * (Low + 1);
    localparam int unsigned Longest = 2 * (High + Low);
    localparam int unsigned ColumnBits = $clog2(Columns);
    localparam int unsigned DigitWords = Columns * Base / 64;

    if (LongWords < 1 || 64'(LongWords) >= 64'd1 << dghv_pkg::LengthBits) $error("transform_product: LongWords is a length");
    if (Low + 1 < ColumnBits) $error("transform_product: a row must have a tile's columns");

    typedef logic [dghv_pkg::LengthBits:0] words_t;
    typedef logic [dghv_pkg::AddressBits:0] reach_t;
    typedef logic [4:0] log_t;

    words_t both, needed;
    assign both    = words_t'(step_i.x.words) + words_t'(step_i.y.words);
    assign needed  = both > words_t'(step_i.z.words) ? both : words_t'(step_i.z.words);
    assign takes_o = step_i.kind == dghv_pkg::Product && step_i.terms == dghv_pkg::length_t'(1) && step_i.x.words >= dghv_pkg::length_t'(LongWords) &&
                     step_i.y.words >= dghv_pkg::length_t'(LongWords) && needed <= words_t'(DigitWords << (Longest - ColumnBits));

    log_t log;
    always_comb begin
        log = log_t'(Longest);
        for (int unsigned least = Longest; least >= Shortest; least--) begin
            if (needed <= words_t'(DigitWords << (least - ColumnBits))) log = log_t'(least);
        end
    end

    // The shape is registered; the matrices are compared with the scratch from there.
    log_t log_q;
    reach_t at;
    logic started_q, fits, good, product_ready;
    assign at      = (reach_t'(scratch_i) + reach_t'(Columns - 1)) & ~reach_t'(Columns - 1);
    assign fits    = at + (reach_t'(2) << log_q) <= reach_t'(scratch_end_i);
    assign short_o = started_q && !fits;
    assign ready_o = product_ready && !started_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            started_q <= 1'b0;
            log_q     <= '0;
        end else begin
            started_q <= start_i;
            if (start_i) log_q <= log;
        end
    end

    four_step_pkg::product_t product;
    always_comb begin
        product.wipe    = 1'b0;
        product.x       = {step_i.x.at, step_i.x.words};
        product.y       = {step_i.y.at, step_i.y.words};
        product.z       = {step_i.z.at, step_i.z.words};
        product.scratch = dghv_pkg::address_t'(at);
        product.rows    = 4'(log_q >> 1);
        product.columns = 4'((log_q + log_t'(1)) >> 1);
    end

    four_step #(
        .High      (High),
        .Low       (Low),
        .Root      (Root),
        .ATile     (ATile),
        .Columns   (Columns),
        .Base      (Base),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_product (
        .clk_i,
        .rst_ni,
        .ready_o(product_ready),
        .start_i(started_q && fits),
        .step_i (product),
        .good_o (good),
        .settled_i,
        .done_o,
        .rd_req_valid_o,
        .rd_req_ready_i,
        .rd_req_addr_o,
        .rd_req_count_o,
        .rd_valid_i,
        .rd_ready_o,
        .rd_data_i,
        .wr_req_valid_o,
        .wr_req_ready_i,
        .wr_req_addr_o,
        .wr_req_count_o,
        .wr_valid_o,
        .wr_ready_i,
        .wr_data_o
    );

    // The chosen shapes are always good.
    logic unused;
    assign unused = &{1'b0, good, step_i};
endmodule
