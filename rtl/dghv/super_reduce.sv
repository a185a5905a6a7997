// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of Barrett's reduction of a super-size number in memory, with the parameters of
// [CMOOH13] corrected. The modulus A has phi bits, x at most phi + gamma. With words of d bits,
//
//   beta = d floor(phi / d) - phi, less d if that is above -3        alpha = d (floor((gamma - beta) / d) + 1) + beta
//   mu   = floor(2^(phi + alpha) / A)                                the reciprocal, of size = (alpha - beta) / d words
//   q    = floor(floor(x / 2^(phi + beta)) mu / 2^(alpha - beta))    r = x - q A, less A if it is not below
//
// The quotient floor(x / A) follows r in size words, so that anyone who has x can check both with
// one equation.
//
// All shifts are by whole words, so they only change addresses. crates/ntt proves that one
// subtraction is enough if the top bit of A is set. That bit is tested, and so is the bound on the
// bits of x. The result is written once it is known to be below A. The last subtraction is of A or
// zero, in the same cycles, so the time depends on lengths alone. Scratch: 2 size words for the
// quotient, then one word more than the modulus has. x has at least as many words as the modulus,
// and phi is more than d.
module super_reduce #(
    parameter int unsigned Width = 64  // d, a power of two, at least 8
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  dghv_pkg::operand_t  x_i,           // this to excess_i: stable from start_i to done_o
    input  dghv_pkg::address_t  z_i,
    input  dghv_pkg::address_t  scratch_i,
    input  dghv_pkg::address_t  modulus_i,
    input  dghv_pkg::address_t  reciprocal_i,
    input  dghv_pkg::index_t    bits_i,        // phi
    input  dghv_pkg::index_t    excess_i,      // gamma
    output logic                step_valid_o,
    output dghv_pkg::step_t     step_o,
    input  logic                step_done_i,
    input  dghv_pkg::finding_t  finding_i,     // of the finished step
    output logic                done_o,
    output dghv_pkg::ending_e   ending_o,
    // the first word of the scratch that is not used here
    output dghv_pkg::address_t  behind_o
);
    localparam int unsigned Shift = $clog2(Width);
    if (Width < 8 || Width > 64 || (Width & (Width - 1)) != 0) $error("super_reduce: Width is a power of two, 8 to 64");

    // Lengths in words, and places in a word.
    dghv_pkg::index_t minus_beta, bound;
    dghv_pkg::length_t words, below, size, bound_word;
    assign minus_beta = dghv_pkg::index_t'(bits_i[Shift-1:0]) + (bits_i[Shift-1:0] < Shift'(3) ? dghv_pkg::index_t'(Width) : '0);
    assign bound      = bits_i + excess_i;
    assign words      = dghv_pkg::length_t'((bits_i + dghv_pkg::index_t'(Width - 1)) >> Shift);
    assign below      = dghv_pkg::length_t'((bits_i - minus_beta) >> Shift);
    assign size       = dghv_pkg::length_t'((excess_i + minus_beta) >> Shift) + dghv_pkg::length_t'(1);
    assign bound_word = dghv_pkg::length_t'(bound >> Shift);

    logic [Shift-1:0] top_place;
    assign top_place = bits_i[Shift-1:0] - Shift'(1);

    dghv_pkg::address_t quotient, rest, size_at;
    dghv_pkg::length_t more;
    assign quotient = scratch_i;
    assign size_at  = dghv_pkg::address_t'(size);
    assign rest     = scratch_i + size_at + size_at;
    assign more     = words + dghv_pkg::length_t'(1);
    assign behind_o = rest + dghv_pkg::address_t'(more);

    typedef enum logic [3:0] {
        Idle,
        Modulus,    // tests that its top bit is set
        Bound,      // tests x above its bound, in the word of the bound
        Beyond,     // and in the words above
        Quotient,
        Multiple,
        Rest,
        Compare,
        Correct,
        Check,
        Give,
        Count       // copies the quotient, plus one if A was subtracted
    } state_e;
    state_e state_q;
    logic bad_sizes, masked_q, more_q;
    assign bad_sizes    = bits_i <= dghv_pkg::index_t'(Width) || x_i.words < words;
    assign step_valid_o = state_q != Idle;

    function automatic dghv_pkg::operand_t number(input dghv_pkg::address_t at, input dghv_pkg::length_t count);
        number = {at, count, dghv_pkg::length_t'(0)};
    endfunction

    always_comb begin
        step_o        = '0;
        step_o.kind   = dghv_pkg::Subtract;
        step_o.terms  = dghv_pkg::length_t'(1);
        step_o.masked = masked_q;
        unique case (state_q)
            Modulus: begin
                step_o.x      = number(modulus_i + dghv_pkg::address_t'(words) - dghv_pkg::address_t'(1), dghv_pkg::length_t'(1));
                step_o.z      = number('0, dghv_pkg::length_t'(1));
                step_o.tested = 6'(top_place);
            end
            Bound: begin
                step_o.x      = number(x_i.at + dghv_pkg::address_t'(bound_word), dghv_pkg::least(dghv_pkg::length_t'(1), dghv_pkg::less(x_i.words, bound_word)));
                step_o.z      = number('0, dghv_pkg::length_t'(1));
                step_o.tested = 6'(bound[Shift-1:0]);
            end
            Beyond: begin
                step_o.x = number(x_i.at + dghv_pkg::address_t'(bound_word) + dghv_pkg::address_t'(1), dghv_pkg::less(x_i.words, bound_word + dghv_pkg::length_t'(1)));
                step_o.z = number('0, step_o.x.words == '0 ? dghv_pkg::length_t'(1) : step_o.x.words);
            end
            Quotient: begin
                step_o.kind = dghv_pkg::Product;
                step_o.x    = number(x_i.at + dghv_pkg::address_t'(below), dghv_pkg::least(size, x_i.words - below));
                step_o.y    = number(reciprocal_i, size);
                step_o.z    = number(quotient, size + size);
            end
            Multiple: begin
                step_o.kind = dghv_pkg::Product;
                step_o.x    = number(quotient + size_at, size);
                step_o.y    = number(modulus_i, words);
                step_o.z    = number(rest, more);
            end
            Rest: begin
                step_o.x     = number(x_i.at, dghv_pkg::least(x_i.words, more));
                step_o.y     = number(rest, more);
                step_o.z     = number(rest, more);
                step_o.write = 1'b1;
            end
            Compare, Check: begin
                step_o.x      = number(rest, more);
                step_o.y      = number(modulus_i, words);
                step_o.z      = number('0, more);
                step_o.masked = 1'b0;
            end
            Correct: begin
                step_o.x     = number(rest, more);
                step_o.y     = number(modulus_i, words);
                step_o.z     = number(rest, more);
                step_o.write = 1'b1;
            end
            Give: begin
                step_o.x     = number(rest, words);
                step_o.z     = number(z_i, words);
                step_o.write = 1'b1;
            end
            default: begin
                step_o.kind  = dghv_pkg::Add;
                step_o.x     = number(quotient + size_at, size);
                step_o.z     = number(z_i + dghv_pkg::address_t'(words), size);
                step_o.carry = more_q;
                step_o.write = 1'b1;
            end
        endcase
    end

    // The error that the finished step has found.
    dghv_pkg::ending_e wrong;
    always_comb begin
        wrong = dghv_pkg::Done;
        if (state_q == Modulus && (!finding_i.at || finding_i.beyond)) wrong = dghv_pkg::BadModulus;
        if (state_q == Bound && (finding_i.at || finding_i.beyond)) wrong = dghv_pkg::BadOperand;
        if (state_q == Beyond && finding_i.any) wrong = dghv_pkg::BadOperand;
        if (state_q == Check && !finding_i.carry) wrong = dghv_pkg::BadModulus;
    end

    always_ff @(posedge clk_i) begin
        done_o <= 1'b0;
        if (!rst_ni) begin
            state_q  <= Idle;
            masked_q <= 1'b0;
            more_q   <= 1'b0;
            ending_o <= dghv_pkg::Done;
        end else if (start_i) begin
            state_q  <= bad_sizes ? Idle : Modulus;
            masked_q <= 1'b0;
            more_q   <= 1'b0;
            ending_o <= bad_sizes ? dghv_pkg::BadSizes : dghv_pkg::Done;
            done_o   <= bad_sizes;
        end else if (step_done_i && state_q != Idle) begin
            if (state_q == Compare) begin
                masked_q <= finding_i.carry;
                more_q   <= !finding_i.carry;
            end
            if (state_q == Correct) masked_q <= 1'b0;
            ending_o <= wrong;
            if (wrong != dghv_pkg::Done || state_q == Count) begin
                state_q <= Idle;
                done_o  <= 1'b1;
            end else begin
                state_q <= state_e'(state_q + 4'd1);
            end
        end
    end

    logic unused;
    assign unused = &{1'b0, x_i, minus_beta, bound};
endmodule
