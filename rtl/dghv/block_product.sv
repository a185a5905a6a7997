// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies blocks with folded_multiplier, in words. Block words of each factor come in, 2 Block
// words of the product go out, lowest first.
//
// After reset, blocks of zeros pass through until nothing from before is left. ready_o rises again
// after about Wipe N cycles and ntt_pkg's latencies; until then, nothing is accepted. Latency: that
// of folded_multiplier plus gearbox at both ends. Rate: a block every N cycles, if its words come
// in time.
module block_product #(
    parameter int unsigned B      = 32,                        // B to ATile: see folded_multiplier
    parameter int unsigned High   = 4,
    parameter int unsigned Low    = 3,
    parameter logic [65:0] Root   = 66'd18446741870424883713,
    parameter int unsigned Halves = 1,
    parameter int unsigned Base   = 28,
    parameter int unsigned ATile  = 24,
    parameter int unsigned Width  = 64                         // bits of a word, at least 2 Base
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    output logic             ready_o,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] x_i,
    input  logic [Width-1:0] y_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_o
);
    localparam int unsigned Log = High + Low;
    localparam int unsigned Latency = 2 * ntt_pkg::folded_latency(B, High, Low) + ntt_pkg::product_latency(2 * B, B, 0) + 3;
    // Blocks needed to push out everything inside.
    localparam int unsigned Wipe = (Latency >> Log) + 2;
    localparam int unsigned CountBits = $clog2(Wipe + 1) + Log;

    if (Width < 2 * Base) $error("block_product: Width must be at least 2 Base");
    if ((Base << (Log - 1)) % Width != 0) $error("block_product: Width must divide Base 2^(High+Low) / 2");

    // Digits of zeros sent in, and digits that have come out.
    logic [CountBits-1:0] put_q, got_q;
    logic putting;
    assign putting = put_q != CountBits'(Wipe << (Log - 1));
    assign ready_o = got_q == CountBits'(Wipe << Log);

    logic digit_valid, digit_ready, take, product_valid, product_ready, unused_last;
    logic [1:0][Base-1:0] digit;
    logic [Base-1:0] product;
    logic words_ready, back_ready;

    gearbox #(
        .From (Width),
        .To   (Base),
        .Sides(2)
    ) u_digits (
        .clk_i,
        .rst_ni,
        .in_valid_i (in_valid_i && ready_o),
        .in_ready_o (words_ready),
        .in_data_i  ({y_i, x_i}),
        .out_valid_o(digit_valid),
        .out_ready_i(take && ready_o),
        .out_data_o (digit)
    );
    assign in_ready_o = words_ready && ready_o;

    folded_multiplier #(
        .B     (B),
        .High  (High),
        .Low   (Low),
        .Root  (Root),
        .Halves(Halves),
        .Base  (Base),
        .ATile (ATile)
    ) u_multiplier (
        .clk_i,
        .rst_ni,
        .in_valid_i (ready_o ? digit_valid : putting),
        .in_ready_o (digit_ready),
        .x_i        (ready_o ? digit[0] : '0),
        .y_i        (ready_o ? digit[1] : '0),
        .out_valid_o(product_valid),
        .out_ready_i(product_ready),
        .out_last_o (unused_last),
        .out_o      (product)
    );
    assign take          = digit_ready;
    assign product_ready = !ready_o || back_ready;

    gearbox #(
        .From(Base),
        .To  (Width)
    ) u_words (
        .clk_i,
        .rst_ni,
        .in_valid_i(product_valid && ready_o),
        .in_ready_o(back_ready),
        .in_data_i (product),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(out_o)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            put_q <= '0;
            got_q <= '0;
        end else if (!ready_o) begin
            if (putting && digit_ready) put_q <= put_q + CountBits'(1);
            if (product_valid) got_q <= got_q + CountBits'(1);
        end
    end

    logic unused;
    assign unused = unused_last;
endmodule
