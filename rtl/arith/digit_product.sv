// SPDX-License-Identifier: MIT OR Apache-2.0
// The passes of a large-digit Montgomery product (mont_mul_digit): r = a b / R mod M, with operands
// read and the result output word by word.
//
// One array (digit_mac) multiplies a digit of Digit bits by a word of Width bits per cycle. Its
// passes compute, in blocks that follow each other, the partial products, the factors of M in the
// reduction, and the reduction. With the digits b_i of b, N' = -M^-1 mod 2^Digit, Terms =
// ceil((N + 3) / Digit), R = 2^(Digit Terms) > 8 M:
//
//   S_0 = b_0 a,   Q_i = S_i N' mod 2^Digit,   S_(i+1) = (S_i + Q_i M) / 2^Digit + b_(i+1) a,   b_Terms = 0,   r = S_Terms.
//
// Bounds: M < 2^N. If a b < R M then r = (a b + Q M) / R < 2 M, since Q < R. So r can be an operand
// again, as can its sum with a number below M (a < 4 M, b < 2 M, R > 8 M). b = 1 gives r <= M, and
// M itself only for a multiple of M. S_i <= 2^Digit a + 2 M: by induction S_(i+1) <= a + 3 M / 2 +
// (2^Digit - 1) a. With a < 2^(N+2), S_i fits its memory of Words + PerDigit words of Width bits,
// Words = ceil((N + 3) / Width), PerDigit = Digit / Width.
//
// A term takes Period cycles. It has three blocks:
//
// - the reduction: Words + 2 PerDigit passes, which add S_i and b_(i+1) a and write S_(i+1) to
//   memory
// - Q_(i+1): PerDigit passes, truncated at 2^Digit
// - b_(i+2) a: Words + PerDigit passes
//
// In the first term, S_0 replaces the reduction. A block begins when its operands are available:
//
//   FactorAt = max(Words + 2 PerDigit, PerDigit + Latency + 1),   ProductAt = FactorAt + PerDigit,   Latency that of digit_mac,
//   Period = max(ProductAt + max(Words + PerDigit, Latency - PerDigit - 1), FactorAt + PerDigit + Latency).
//
// Operands are read one word or digit at a time, in the same cycle as their index. They must be
// stable from start_i until they have been read for the last time: word k of a and digit k of b may
// change from the cycle in which word k of the result, or the words that form that digit, are
// output. r_valid_o, r_index_o and r_o output the result's Words words, one per cycle, lowest
// first. start_i counts only with ready_o. A product that begins then may use this one's result as
// operands, if its words are stored as they are output. Rate: one product every Step = Terms
// Period + max(Words + PerDigit, 2 PerDigit + Latency) cycles. Latency: Terms Period + Words +
// PerDigit + Latency cycles from start_i to the last word. A reset clears the memories, which takes
// Words + PerDigit cycles. Neither the time nor the order of passes depends on any value.
//
// Multipliers: (Digit / Tile) (Width / Tile), each with registers at its inputs, after the product
// and at its output. Source: the blocks and their single array are from [RZ25], the order of blocks
// is its Algorithm 2, with a row of products before each reduction; [Montgomery85].
module digit_product #(
    parameter int unsigned N     = 1024,  // bits of the modulus, at least 2
    parameter int unsigned Digit = 256,   // bits of a digit, a multiple of Width
    parameter int unsigned Width = 128,   // bits of a word, a multiple of Tile
    parameter int unsigned Tile  = 16,    // bits of the multipliers' factors
    localparam int unsigned PerDigit  = Digit / Width,
    localparam int unsigned Words     = (N + Width + 2) / Width,
    localparam int unsigned Terms     = (N + Digit + 2) / Digit,
    localparam int unsigned WordIndex = $clog2(Words + PerDigit),
    localparam int unsigned TermIndex = $clog2(Terms + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // N', stable during a product, as is the modulus that m_index_o reads
    input  logic [Digit-1:0]     inverse_i,
    input  logic                 start_i,
    output logic                 ready_o,
    // a product begins: the cycle after start_i was accepted
    output logic                 first_o,
    output logic                 give_o,       // the product's last term begins
    output logic [WordIndex-1:0] a_index_o,    // below Words
    input  logic [Width-1:0]     a_i,
    output logic [TermIndex-1:0] b_index_o,    // below Terms
    input  logic [Digit-1:0]     b_i,
    output logic [WordIndex-1:0] m_index_o,    // below Words
    input  logic [Width-1:0]     m_i,
    output logic                 r_valid_o,
    output logic [WordIndex-1:0] r_index_o,
    output logic [Width-1:0]     r_o
);
    localparam int unsigned PerWord = Width / Tile;
    localparam int unsigned Latency = 6 + (PerWord < 3 ? 1 : PerWord < 9 ? 2 : PerWord < 27 ? 3 : 4);
    localparam int unsigned Kept = Words + PerDigit;  // words of S
    localparam int unsigned Passes = Kept + PerDigit;  // of a reduction
    localparam int unsigned Reduced = PerDigit + Latency + 1;
    localparam int unsigned FactorAt = Passes > Reduced ? Passes : Reduced;
    localparam int unsigned ProductAt = FactorAt + PerDigit;
    localparam int unsigned Multiplied = ProductAt + (Kept + PerDigit + 1 > Latency ? Kept : Latency - PerDigit - 1);
    localparam int unsigned Factored = FactorAt + PerDigit + Latency;
    localparam int unsigned Period = Multiplied > Factored ? Multiplied : Factored;
    localparam int unsigned Given = 2 * PerDigit + Latency;
    localparam int unsigned Final = Kept > Given ? Kept : Given;
    localparam int unsigned SlotBits = $clog2(Period + 1);
    localparam int unsigned PlaceBits = $clog2(Passes + 1);

    if (N < 2) $error("digit_product: N must be at least 2");
    if (Final > Period) begin : gen_bad
        $error("digit_product: the last term is longer than others, the modulus too short for its digits");
    end

    // ---- The slots of a term, and the terms. ----

    typedef enum logic [1:0] {
        Clear,
        Idle,
        Work
    } state_e;
    state_e state_d, state_q;
    logic [SlotBits-1:0] slot_d, slot_q;
    logic [TermIndex-1:0] term_d, term_q;
    logic last_term, last_slot;

    assign last_term = term_q == TermIndex'(Terms);
    assign last_slot = slot_q == (last_term ? SlotBits'(Final - 1) : SlotBits'(Period - 1));
    assign ready_o   = state_q == Idle || (state_q == Work && last_term && last_slot);
    assign first_o   = state_q == Work && term_q == '0 && slot_q == '0;
    assign give_o    = state_q == Work && last_term && slot_q == '0;

    always_comb begin
        state_d = state_q;
        slot_d  = slot_q;
        term_d  = term_q;
        unique case (state_q)
            Clear: begin
                slot_d = slot_q + 1'b1;
                if (slot_q == SlotBits'(Kept - 1)) begin
                    state_d = Idle;
                    slot_d  = '0;
                end
            end
            Idle:    if (start_i) state_d = Work;
            default: begin
                slot_d = last_slot ? '0 : slot_q + 1'b1;
                if (last_slot) term_d = last_term ? '0 : term_q + 1'b1;
                if (ready_o && !start_i) state_d = Idle;
            end
        endcase
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Clear;
            slot_q  <= '0;
            term_q  <= '0;
        end else begin
            state_q <= state_d;
            slot_q  <= slot_d;
            term_q  <= term_d;
        end
    end

    // ---- The pass of a slot and the destination of its word, one cycle ahead, to keep comparisons
    // off the paths to the multipliers. ----

    typedef enum logic [1:0] {
        Drop,
        Sum,      // of S, or of the result
        Factor,   // of Q
        Product   // of the next b_i a
    } kind_e;
    kind_e kind_d, kind_q;
    logic reduce_d, reduce_q;  // a pass of a reduction: its result moves down by a digit
    logic [PlaceBits-1:0] place_d, place_q;  // in its block
    logic [WordIndex-1:0] word_index_q;
    logic multiply_d, multiply_q;  // a word of a or M; 0 above the last one
    logic first_q;  // of a block
    logic [TermIndex-1:0] b_index_q;

    always_comb begin
        kind_d   = Drop;
        reduce_d = 1'b0;
        place_d  = PlaceBits'(slot_d);
        if (slot_d >= SlotBits'(ProductAt) && term_d != TermIndex'(Terms)) begin
            place_d = PlaceBits'(slot_d - SlotBits'(ProductAt));
            if (state_d == Work && slot_d < SlotBits'(ProductAt + Kept) && term_d != TermIndex'(Terms - 1)) kind_d = Product;
        end else if (slot_d >= SlotBits'(FactorAt) && term_d != TermIndex'(Terms)) begin
            place_d = PlaceBits'(slot_d - SlotBits'(FactorAt));
            if (state_d == Work) kind_d = Factor;
        end else begin
            reduce_d = state_d == Work && term_d != '0 && slot_d < (term_d == TermIndex'(Terms) ? SlotBits'(Kept) : SlotBits'(Passes));
            if (state_d == Work && term_d == '0 && slot_d < SlotBits'(Kept)) kind_d = Sum;
            if (reduce_d && slot_d >= SlotBits'(PerDigit)) kind_d = Sum;
        end
    end
    assign multiply_d = place_d < PlaceBits'(Words);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            kind_q       <= Drop;
            reduce_q     <= 1'b0;
            place_q      <= '0;
            multiply_q   <= 1'b1;
            word_index_q <= '0;
            first_q      <= 1'b1;
            b_index_q    <= '0;
        end else begin
            kind_q       <= kind_d;
            reduce_q     <= reduce_d;
            place_q      <= place_d;
            multiply_q   <= multiply_d;
            word_index_q <= multiply_d ? WordIndex'(place_d) : '0;
            first_q      <= place_d == '0;
            // The block of products is one term ahead.
            b_index_q    <= kind_d == Product ? term_d + 1'b1 : '0;
        end
    end
    assign a_index_o = word_index_q;
    assign m_index_o = word_index_q;
    assign b_index_o = b_index_q;

    // ---- The factors of a pass. ----

    logic [Width-1:0] sums[Kept];
    logic [Width-1:0] products[Kept];
    logic [Digit-1:0] factor_q, digit;
    logic [Width-1:0] word;
    always_comb begin
        if (kind_q == Factor) begin
            digit = inverse_i;
            word  = sums[WordIndex'(place_q)];
        end else if (reduce_q) begin
            digit = factor_q;
            word  = multiply_q ? m_i : '0;
        end else begin
            digit = b_i;
            word  = multiply_q ? a_i : '0;
        end
    end

    // ---- The pass, delayed along with the array. ----

    localparam int unsigned PassBits = 4 + PlaceBits;
    logic [Latency-1:0][PassBits-1:0] pass_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) pass_q <= '0;
        else pass_q <= {pass_q[Latency-2:0], kind_q, reduce_q, last_term, place_q};
    end

    // The addends, two cycles later.
    logic add_reduce, add_last;
    logic [PlaceBits-1:0] add_place;
    logic [Width-1:0] x, y;
    assign {add_reduce, add_last, add_place} = pass_q[1][PassBits-3:0];
    assign x = add_reduce && add_place < PlaceBits'(Kept) ? sums[WordIndex'(add_place)] : '0;
    assign y = add_reduce && !add_last && add_place >= PlaceBits'(PerDigit) ? products[WordIndex'(add_place-PlaceBits'(PerDigit))] : '0;

    digit_mac #(
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_mac (
        .clk_i,
        .rst_ni,
        .first_i(first_q),
        .digit_i(digit),
        .word_i (word),
        .x_i    (x),
        .y_i    (y),
        .word_o (r_o)
    );

    // ---- The word of the pass. ----

    logic [1:0] given_kind;
    logic given_reduce, given_last, cleared;
    logic [PlaceBits-1:0] given_place;
    logic [WordIndex-1:0] given_index, sum_index, product_index;
    assign {given_kind, given_reduce, given_last, given_place} = pass_q[Latency-1];
    assign given_index = WordIndex'(given_place - (given_reduce ? PlaceBits'(PerDigit) : '0));
    assign r_valid_o   = given_kind == Sum && given_last;
    assign r_index_o   = given_index;

    assign cleared       = state_q != Clear;
    assign sum_index     = cleared ? given_index : WordIndex'(slot_q);
    assign product_index = cleared ? given_index : WordIndex'(slot_q);
    always_ff @(posedge clk_i) begin
        if (!cleared || (given_kind == Sum && !given_last)) sums[sum_index] <= cleared ? r_o : '0;
    end
    always_ff @(posedge clk_i) begin
        if (!cleared || given_kind == Product) products[product_index] <= cleared ? r_o : '0;
    end
    for (genvar k = 0; k < PerDigit; k++) begin : gen_factor
        always_ff @(posedge clk_i) begin
            if (!rst_ni) factor_q[k*Width+:Width] <= '0;
            else if (given_kind == Factor && given_place == PlaceBits'(k)) factor_q[k*Width+:Width] <= r_o;
        end
    end
endmodule
