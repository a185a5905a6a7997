// SPDX-License-Identifier: MIT OR Apache-2.0
// A rank of butterflies, computed one after another on a single one. Items x and x' that are Span
// apart become x + x' and x - x' in the same places.
//
// In each block of 2 Span items, the first half is stored in a memory. When the second half
// arrives, the sums leave and the differences replace the stored items. The differences leave
// during the first half of the next block. Position 0 of a block arrives when the number of cycles
// with en_i since reset is Start plus a multiple of 2 Span. Latency: Span + 2 cycles with en_i.
// Rate: an item every cycle. The memory has Span - 2 words: that of single-path delay feedback,
// minus the two items in the adder.
module folded_butterfly #(
    parameter int unsigned A     = 64,  // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B     = 32,  // 0: the first form
    parameter int unsigned Span  = 64,  // a power of two
    parameter int unsigned Start = 0,
    localparam int unsigned Bits = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            en_i,
    input  logic [Bits-1:0] x_i,    // below p
    output logic [Bits-1:0] y_o     // below p
);
    if (Span < 1 || (Span & (Span - 1)) != 0) $error("folded_butterfly: Span is a power of two");

    logic [$clog2(2*Span)-1:0] place;
    logic second, second_q, second_qq;  // the second half of a block
    logic [Bits-1:0] held, sum, difference;

    place_counter #(
        .Count(2 * Span),
        .Start(Start)
    ) u_place (
        .clk_i,
        .rst_ni,
        .en_i,
        .place_o(place)
    );
    assign second = place[$clog2(Span)];

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            second_q  <= second;
            second_qq <= second_q;
        end
    end

    modular_pair #(
        .A(A),
        .B(B)
    ) u_pair (
        .clk_i,
        .en_i,
        .a_i         (held),
        .b_i         (x_i),
        .sum_o       (sum),
        .difference_o(difference)
    );

    if (Span == 1) begin : gen_two
        // Span is shorter than the latency of the pair: each half has a register of its own.
        logic [Bits-1:0] x_q, difference_q;
        always_ff @(posedge clk_i) begin
            if (en_i) begin
                x_q          <= x_i;
                difference_q <= difference;
            end
        end
        assign held = x_q;
        assign y_o  = second_qq ? sum : difference_q;
    end else begin : gen_shared
        logic [Bits-1:0] x, left, kept;

        // Delayed as long as the pair's results.
        delay_line #(
            .Width (2 * Bits),
            .Cycles(2)
        ) u_step (
            .clk_i,
            .en_i,
            .x_i({x_i, held}),
            .y_o({x, left})
        );
        assign kept = second_qq ? difference : x;
        assign y_o  = second_qq ? sum : left;

        if (Span < 64) begin : gen_registers
            delay_line #(
                .Width (Bits),
                .Cycles(Span - 2)
            ) u_held (
                .clk_i,
                .en_i,
                .x_i(kept),
                .y_o(held)
            );
        end else begin : gen_memory
            ram_delay #(
                .Width (Bits),
                .Cycles(Span - 2)
            ) u_held (
                .clk_i,
                .rst_ni,
                .en_i,
                .x_i(kept),
                .y_o(held)
            );
        end
    end

    if (Span > 1) begin : gen_unused
        logic unused;
        assign unused = ^place[$clog2(Span)-1:0];
    end
endmodule
