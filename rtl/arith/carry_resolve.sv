// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a redundant number to a non-redundant one: r = sum over j of x_j 2^(at j), which must be
// below 2^RBits. Words lie W bits apart, or, where Span is not PerCycle W, at bit floor(j Span /
// PerCycle): PerCycle of them to Span bits.
//
// It adds a limb of PerCycle words per cycle, lowest first. The sum of a limb is its words' low
// parts concatenated, plus their tops concatenated one word higher, plus the carry out of the limb
// below. That carry is at most 2^(B - v) where the limb's last word has v bits, so it fits B - v +
// 1 bits: a limb is below 2^Span + 2^(Span - v + B). Latency ceil(Words / PerCycle) + 1 cycles from
// accepting a number to offering the result; one number per latency + 1 cycles.
module carry_resolve #(
    parameter int unsigned Words    = 68,  // words of the number
    parameter int unsigned W        = 16,  // bits between words, at most
    parameter int unsigned B        = 17,  // bits per word, W to 2 W - 1
    parameter int unsigned PerCycle = 4,   // words added per cycle
    // their bits in total, more than PerCycle (W - 1)
    parameter int unsigned Span     = PerCycle * W,
    localparam int unsigned RBits   = Words * Span / PerCycle
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [Words*B-1:0] x_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [RBits-1:0]   r_o
);
    if (W < 1 || B < W || B > 2 * W - 1) begin : gen_bad_b
        $error("carry_resolve: B must be W to 2 W - 1");
    end
    if (PerCycle < 1) begin : gen_bad_per_cycle
        $error("carry_resolve: PerCycle must be at least 1");
    end

    if (Span > PerCycle * W || Span <= PerCycle * (W - 1)) begin : gen_bad_span
        $error("carry_resolve: Span must be at most PerCycle W and more than PerCycle (W - 1)");
    end

    localparam int unsigned Limbs = (Words + PerCycle - 1) / PerCycle;
    localparam int unsigned LimbBits = Span;
    localparam int unsigned CountBits = $clog2(Limbs + 1);
    // The part of a limb above its own bits: the top of its last word and a carry.
    localparam int unsigned LastBits = Span - (PerCycle - 1) * Span / PerCycle;
    localparam int unsigned OverBits = B - LastBits + 1;

    typedef enum logic [1:0] {
        Empty,
        Adding,
        Full
    } state_e;
    state_e state_q;

    logic [CountBits-1:0] count_q;
    logic [Limbs*PerCycle*B-1:0] x_q;
    logic [Limbs*LimbBits-1:0] r_q;
    logic [OverBits-1:0] over_q;
    logic [LimbBits+OverBits-1:0] sum;

    logic [LimbBits-1:0] low;
    logic [LimbBits+OverBits-1:0] high;
    for (genvar k = 0; k < PerCycle; k++) begin : gen_word
        localparam int unsigned At = k * Span / PerCycle;
        localparam int unsigned Bits = (k + 1) * Span / PerCycle - At;
        localparam int unsigned NextBits = (k + 2) * Span / PerCycle - At - Bits;
        localparam int unsigned SlotBits = k == PerCycle - 1 ? OverBits : NextBits;
        assign low[At+:Bits] = x_q[k*B+:Bits];
        if (k == 0) begin : gen_over
            assign high[Bits-1:0] = Bits'(over_q);
        end
        if (B > Bits) begin : gen_top
            assign high[At+Bits+:SlotBits] = SlotBits'(x_q[k*B+Bits+:B-Bits]);
        end else begin : gen_no_top
            assign high[At+Bits+:SlotBits] = '0;
        end
    end
    assign sum = (LimbBits + OverBits)'(low) + high;

    assign in_ready_o  = state_q == Empty;
    assign out_valid_o = state_q == Full;
    assign r_o         = r_q[RBits-1:0];
    if (Limbs * PerCycle > Words) begin : gen_unused
        logic unused;
        assign unused = ^r_q[Limbs*LimbBits-1:RBits];
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Empty;
        end else begin
            unique case (state_q)
                Empty:   if (in_valid_i) state_q <= Adding;
                Adding:  if (count_q == CountBits'(Limbs - 1)) state_q <= Full;
                Full:    if (out_ready_i) state_q <= Empty;
                default: state_q <= Empty;
            endcase
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            x_q     <= (Limbs*PerCycle*B)'(0);
            r_q     <= (Limbs*LimbBits)'(0);
            count_q <= '0;
            over_q  <= '0;
        end else begin
            // While a result waits only r_q is kept. The others need no enable, which would have to
            // reach all of their bits.
            x_q     <= state_q == Empty ? (Limbs*PerCycle*B)'(x_i) : x_q >> (PerCycle * B);
            over_q  <= state_q == Empty ? '0 : sum[LimbBits+OverBits-1:LimbBits];
            count_q <= state_q == Empty ? '0 : count_q + 1'b1;
            if (state_q == Adding) r_q <= (Limbs * LimbBits)'({sum[LimbBits-1:0], r_q} >> LimbBits);
        end
    end
endmodule
