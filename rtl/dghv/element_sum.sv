// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of a sum of multiples of elements of a compressed public key, A_i = chi_i - delta_i,
// with chi_i from the seed:
//
//   z = sum over i < terms of b_i chi_(first + i) - sum of b_i delta_(first + i)
//
// The sum of a segment is longer than the segment by a coefficient, so neighbouring sums overlap.
// Sums of even and of odd segments are therefore two numbers, which are then added. Corrections are
// multiplied by an ordinary product. Scratch, with S = ceil(words / 8) words of a segment: 18 S
// words, the first 9 S of which are the sum before corrections; then one word more than b_i and
// delta_i have together. S must be larger than the number of words of b_i.
module element_sum (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  dghv_pkg::operand_t  coefficients_i,  // b_0; to kept_i: stable, start_i to done_o
    input  dghv_pkg::operand_t  corrections_i,   // delta_first
    input  dghv_pkg::operand_t  z_i,
    input  dghv_pkg::address_t  scratch_i,
    input  dghv_pkg::length_t   terms_i,
    input  dghv_pkg::index_t    first_i,
    input  dghv_pkg::length_t   words_i,         // words of an element
    input  logic [5:0]          kept_i,          // bits of its top word, 0 for all
    output logic                step_valid_o,
    output dghv_pkg::step_t     step_o,
    input  logic                step_done_i,
    input  dghv_pkg::finding_t  finding_i,
    output logic                done_o,
    output logic                negative_o       // the sum is below zero
);
    typedef enum logic [2:0] {
        Idle,
        Segments,
        Join,
        Corrections,
        Less
    } state_e;
    state_e state_q;

    dghv_pkg::length_t segment, short_words;
    dghv_pkg::address_t odd, short_at;
    assign segment      = (words_i + dghv_pkg::length_t'(dghv_pkg::Lanes - 1)) / dghv_pkg::length_t'(dghv_pkg::Lanes);
    assign short_words  = coefficients_i.words + corrections_i.words + dghv_pkg::length_t'(1);
    assign odd          = scratch_i + dghv_pkg::address_t'(dghv_pkg::length_t'(9) * segment);
    assign short_at     = odd + dghv_pkg::address_t'(dghv_pkg::length_t'(9) * segment);
    assign step_valid_o = state_q != Idle;

    always_comb begin
        step_o       = '0;
        step_o.write = 1'b1;
        step_o.terms = terms_i;
        step_o.first = first_i;
        step_o.whole = words_i;
        step_o.kept  = kept_i;
        step_o.odd   = odd;
        unique case (state_q)
            Segments: begin
                step_o.kind = dghv_pkg::Seeded;
                step_o.x    = coefficients_i;
                step_o.y    = {dghv_pkg::address_t'(0), segment, dghv_pkg::length_t'(0)};
                step_o.z    = {scratch_i, segment + segment, dghv_pkg::length_t'(0)};
            end
            Join: begin
                step_o.kind = dghv_pkg::Add;
                step_o.x    = {scratch_i + dghv_pkg::address_t'(segment), dghv_pkg::length_t'(7) * segment, dghv_pkg::length_t'(0)};
                step_o.y    = {odd + dghv_pkg::address_t'(segment), dghv_pkg::length_t'(8) * segment, dghv_pkg::length_t'(0)};
                step_o.z    = {scratch_i + dghv_pkg::address_t'(segment), dghv_pkg::length_t'(8) * segment, dghv_pkg::length_t'(0)};
            end
            Corrections: begin
                step_o.kind = dghv_pkg::Product;
                step_o.x    = coefficients_i;
                step_o.y    = corrections_i;
                step_o.z    = {short_at, short_words, dghv_pkg::length_t'(0)};
            end
            default: begin
                step_o.kind = dghv_pkg::Subtract;
                step_o.x    = {scratch_i, dghv_pkg::length_t'(9) * segment, dghv_pkg::length_t'(0)};
                step_o.y    = {short_at, short_words, dghv_pkg::length_t'(0)};
                step_o.z    = z_i;
            end
        endcase
    end

    always_ff @(posedge clk_i) begin
        done_o <= 1'b0;
        if (!rst_ni) begin
            state_q    <= Idle;
            negative_o <= 1'b0;
        end else if (start_i) begin
            state_q <= Segments;
        end else if (step_done_i && state_q != Idle) begin
            state_q    <= state_q == Less ? Idle : state_e'(state_q + 3'd1);
            done_o     <= state_q == Less;
            negative_o <= finding_i.carry;
        end
    end

    logic unused;
    assign unused = &{1'b0, finding_i};
endmodule
