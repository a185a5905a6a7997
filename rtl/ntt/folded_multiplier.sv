// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies long numbers by folded transforms. Input: N / 2 digits of Base bits of each factor.
// Output: N digits of their product, lowest first, N = 2^(High+Low).
//
// Two transforms, a multiplier for their points, the inverse and a carry register process one item
// a cycle: four products of residues a cycle for any N. Coefficients of the product's polynomial
// are at most N / 2 (2^Base - 1)^2 < p, which elaboration checks. Latency from a block's first
// digits to its product's first: 2 ntt_pkg::folded_latency + ntt_pkg::product_latency + 3 cycles.
// Rate: a block every N cycles, N / 2 of which accept digits.
//
// The flow control runs a cycle ahead of the pipeline, and a queue takes the digits that come out:
// the enable of all its registers is itself a register, and no path leads from one side to the
// other.
module folded_multiplier #(
    // p = 2^(2B) - 2^B + 1; see ntt_folded, also for the parameters below
    parameter int unsigned B      = 32,
    parameter int unsigned High   = 6,
    parameter int unsigned Low    = 6,
    parameter logic [65:0] Root   = 66'd24545942927815091,
    parameter int unsigned Halves = 0,
    parameter int unsigned Base   = 26,                     // bits of a digit
    parameter int unsigned ATile  = 24                     // bits of pieces (wide_product)
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Base-1:0] x_i,
    input  logic [Base-1:0] y_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic            out_last_o,   // last digit of a product
    output logic [Base-1:0] out_o
);
    localparam int unsigned Log = High + Low;
    localparam int unsigned Bits = 2 * B;
    localparam int unsigned Transform = ntt_pkg::folded_latency(B, High, Low);
    localparam int unsigned Product = ntt_pkg::product_latency(Bits, B, 0);
    localparam int unsigned Latency = 2 * Transform + Product + 1;
    localparam logic [131:0] Largest = (132'd1 << Base) - 132'd1;

    if (Base < 1 || Base > 64 || (Largest * Largest) << (Log - 1) >= 132'(ntt_pkg::modulus(Bits, B))) begin : gen_bad
        $error("folded_multiplier: Base is too large for the modulus");
    end

    // Digits in the output queue or one step before it. Fewer would slow a stream without pauses.
    localparam int unsigned Depth = 3;

    logic en, take, ahead_valid, room, en_q, put_q, last_q;
    logic [1:0] promised_q;
    logic [Log-1:0] place;
    logic [Bits-1:0] x_q, y_q, x_transform, y_transform, product, z;

    folded_flow_control #(
        .Log    (Log),
        .Latency(Latency)
    ) u_pace (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .take_o     (take),
        .en_o       (en),
        .out_valid_o(ahead_valid),
        .out_ready_i(room),
        .out_place_o(place)
    );
    assign room = promised_q != 2'(Depth);

    always_ff @(posedge clk_i) begin
        x_q    <= take ? Bits'(x_i) : '0;
        y_q    <= take ? Bits'(y_i) : '0;
        last_q <= &place;
        if (!rst_ni) begin
            en_q       <= 1'b0;
            put_q      <= 1'b0;
            promised_q <= '0;
        end else begin
            en_q       <= en;
            put_q      <= ahead_valid && room;
            promised_q <= promised_q + 2'(ahead_valid && room) - 2'(out_valid_o && out_ready_i);
        end
    end

    ntt_folded #(
        .B     (B),
        .High  (High),
        .Low   (Low),
        .Root  (Root),
        .Halves(Halves),
        .ATile (ATile)
    ) u_x (
        .clk_i,
        .rst_ni,
        .en_i(en_q),
        .x_i (x_q),
        .y_o (x_transform)
    );

    ntt_folded #(
        .B     (B),
        .High  (High),
        .Low   (Low),
        .Root  (Root),
        .Halves(Halves),
        .ATile (ATile)
    ) u_y (
        .clk_i,
        .rst_ni,
        .en_i(en_q),
        .x_i (y_q),
        .y_o (y_transform)
    );

    modular_product #(
        .A    (Bits),
        .B    (B),
        .ATile(ATile)
    ) u_point (
        .clk_i,
        .en_i(en_q),
        .a_i (x_transform),
        .b_i (y_transform),
        .y_o (product)
    );

    ntt_folded #(
        .B      (B),
        .High   (High),
        .Low    (Low),
        .Root   (Root),
        .Halves (Halves),
        .Inverse(1),
        .Start  (Transform + Product),
        .ATile  (ATile)
    ) u_z (
        .clk_i,
        .rst_ni,
        .en_i(en_q),
        .x_i (product),
        .y_o (z)
    );

    // sum_q holds a digit of the product and the carry into the next.
    logic [Bits:0] sum_q;
    always_ff @(posedge clk_i) begin
        if (en_q) sum_q <= {1'b0, z} + (last_q ? '0 : (Bits + 1)'(sum_q[Bits:Base]));
    end

    logic queue_ready;
    stream_fifo #(
        .Width(Base + 1),
        .Depth(Depth)
    ) u_digits (
        .clk_i,
        .rst_ni,
        .in_valid_i(put_q),
        .in_ready_o(queue_ready),
        .in_data_i ({last_q, sum_q[Base-1:0]}),
        .out_valid_o,
        .out_ready_i,
        .out_data_o({out_last_o, out_o})
    );

    // Assertions apply only after the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(RoomForDigits, !put_q || queue_ready, clk_i, !rst_ni || !settled_q)
endmodule
