// SPDX-License-Identifier: MIT OR Apache-2.0
// Second part of addition recovery: sums a row of block products. The result comes in words of
// Width bits, lowest first:
//
//   r = addend + sum over j of block_j 2^(j Half Width),   block_j = sum over i < 2 Half of word_i 2^(i Width).
//
// The lower half of a block is added word by word to the upper half of the block before it. Bits of
// a word above Width are carried into the next word. The upper half of a row's last block follows
// that block. A row of J blocks yields (J + 1) Half words and consumes as many words of the addend
// (zeros if there is none); r must fit in them. A word is below 2^WordBits. The sum of two words,
// the addend and the carry is below 2^(WordBits + 2).
//
// Latency: 1 cycle from a block to its first word. Rate: a word every cycle, a block every Half
// cycles, a row every (J + 1) Half. Source: [CMOOH13], figs. 4 (ii) and 5.
module block_rows #(
    parameter int unsigned Half     = 8,   // words of half a block, at least 2
    parameter int unsigned Width    = 48,  // bits of an output word, at least 2
    parameter int unsigned WordBits = 66   // bits of a block's words, at least Width
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic                             in_valid_i,
    output logic                             in_ready_o,
    input  logic                             first_i,       // first block of its row
    input  logic                             last_i,
    input  logic [2*Half-1:0][WordBits-1:0]  word_i,
    input  logic                             add_valid_i,
    output logic                             add_ready_o,
    input  logic [Width-1:0]                 add_i,
    output logic                             out_valid_o,
    input  logic                             out_ready_i,
    output logic                             out_last_o,    // last word of its row
    output logic [Width-1:0]                 out_o
);
    if (Half < 2 || Width < 2 || WordBits < Width) $error("block_rows: Half and Width must be at least 2, WordBits at least Width");

    localparam int unsigned SumBits = WordBits + 2;
    localparam int unsigned CountBits = Half > 1 ? $clog2(Half) : 1;
    localparam logic [CountBits-1:0] Final = CountBits'(Half - 1);

    typedef enum logic [1:0] {
        Idle,
        Lower,  // a block's lower half plus the upper half before it
        Upper   // a row's last upper half
    } state_e;
    state_e state_q;

    logic last_q, step, at_end, take;
    logic [CountBits-1:0] count_q;
    logic [2*Half-1:0][WordBits-1:0] block_q;
    logic [Half-1:0][WordBits-1:0] before_q;
    logic [SumBits-Width-1:0] carry_q;
    logic [SumBits-1:0] sum;

    assign out_valid_o = state_q != Idle && add_valid_i;
    assign add_ready_o = state_q != Idle && out_ready_i;
    assign out_last_o  = state_q == Upper && count_q == Final;
    assign out_o       = sum[Width-1:0];
    assign step        = out_valid_o && out_ready_i;
    assign at_end      = step && count_q == Final;
    assign in_ready_o  = state_q == Idle || (at_end && (state_q == Upper || !last_q));
    assign take        = in_valid_i && in_ready_o;
    assign sum         = (state_q == Lower ? SumBits'(block_q[0]) : '0) + SumBits'(before_q[0]) + SumBits'(add_i) + SumBits'(carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            last_q  <= 1'b0;
            count_q <= '0;
            carry_q <= '0;
        end else begin
            if (take) begin
                state_q <= Lower;
                last_q  <= last_i;
            end else if (at_end) begin
                state_q <= state_q == Lower && last_q ? Upper : Idle;
            end
            if (step) count_q <= at_end ? '0 : count_q + CountBits'(1);
            if (take && first_i) carry_q <= '0;
            else if (step) carry_q <= sum[SumBits-1:Width];
        end
    end

    // Both drop one word per step. After a block's lower half, its upper half moves to before_q.
    always_ff @(posedge clk_i) begin
        if (take) block_q <= word_i;
        else if (step) block_q <= block_q >> WordBits;
        if (take && first_i) before_q <= '0;
        else if (at_end) before_q <= block_q[Half:1];
        else if (step) before_q <= before_q >> WordBits;
    end
endmodule
