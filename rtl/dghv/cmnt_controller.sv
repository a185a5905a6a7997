// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes the sum of a CMNT encryption, equation 1 of [CMOOH13] before its reduction, with b
// elements of each kind:
//
//   sum over i of A_i0 G_i,   G_i = sum over j of b_ij A_j1,   then noise_sum
//
// A_i0 are the first b elements of the key, A_j1 the next b. All are regenerated from the seed when
// needed, which takes b^2 + b generations and b products of numbers as long as the modulus. The sum
// is left at the beginning of the scratch, sum_o. Scratch: that of element_sum; then a word; then b
// times the words of an element; then b times the words of an element, those of a coefficient and
// one more.
module cmnt_controller (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  dghv_pkg::command_t  command_i,     // this to kept_i: stable from start_i to done_o
    input  dghv_pkg::length_t   words_i,       // words of an element
    input  logic [5:0]          kept_i,        // bits of its top word, 0 for all
    output logic                step_valid_o,
    output dghv_pkg::step_t     step_o,
    input  logic                step_done_i,
    input  dghv_pkg::finding_t  finding_i,
    output logic                done_o,
    output dghv_pkg::operand_t  sum_o,
    output dghv_pkg::ending_e   ending_o
);
    typedef enum logic [2:0] {
        Idle,
        One,      // writes the coefficient 1
        Outer,    // A_i0
        Inner,    // G_i
        Products,
        Noise
    } state_e;
    state_e state_q;

    // Addresses and lengths.
    dghv_pkg::length_t segment, inner_words, before_one;
    dghv_pkg::address_t one_at, outer_at_q, inner_at_q, outer_first_q;
    assign segment     = (words_i + dghv_pkg::length_t'(dghv_pkg::Lanes - 1)) / dghv_pkg::length_t'(dghv_pkg::Lanes);
    assign inner_words = words_i + command_i.x.words + dghv_pkg::length_t'(1);
    assign one_at      = command_i.scratch.at + dghv_pkg::address_t'(before_one);
    assign before_one  = dghv_pkg::length_t'(18) * segment + command_i.x.words + command_i.y.words + dghv_pkg::length_t'(1);
    assign sum_o       = {command_i.scratch.at, words_i + inner_words + dghv_pkg::length_t'(1), dghv_pkg::length_t'(0)};

    // The current i; the addresses of its coefficients, of its correction, and of the corrections
    // of A_j1. element_sum counts j.
    dghv_pkg::length_t index_q;
    dghv_pkg::address_t row_q, correction_q, second_q;
    logic last, sum_done, sum_negative, noise_done, noise_negative, start_sum_q, walking_q;
    logic [1:0] valid;
    dghv_pkg::step_t element_step, noise_step, own;
    assign last = index_q == command_i.elements - dghv_pkg::length_t'(1);

    dghv_pkg::operand_t coefficients, corrections, result;
    always_comb begin
        if (state_q == Outer) begin
            coefficients = {one_at, dghv_pkg::length_t'(1), dghv_pkg::length_t'(1)};
            corrections  = {correction_q, command_i.y.words, command_i.y.words};
            result       = {outer_at_q, words_i, dghv_pkg::length_t'(0)};
        end else begin
            coefficients = {row_q, command_i.x.words, command_i.x.words};
            corrections  = {second_q, command_i.y.words, command_i.y.words};
            result       = {inner_at_q, inner_words, dghv_pkg::length_t'(0)};
        end
    end

    element_sum u_elements (
        .clk_i,
        .rst_ni,
        .start_i       (start_sum_q),
        .coefficients_i(coefficients),
        .corrections_i (corrections),
        .z_i           (result),
        .scratch_i     (command_i.scratch.at),
        .terms_i       (state_q == Outer ? dghv_pkg::length_t'(1) : command_i.elements),
        .first_i       (state_q == Outer ? dghv_pkg::index_t'(index_q) : dghv_pkg::index_t'(command_i.elements)),
        .words_i,
        .kept_i,
        .step_valid_o  (valid[0]),
        .step_o        (element_step),
        .step_done_i,
        .finding_i,
        .done_o        (sum_done),
        .negative_o    (sum_negative)
    );

    noise_sum u_noise (
        .clk_i,
        .rst_ni,
        .start_i     (state_q == Products && step_done_i),
        .x_i         (sum_o),
        .noise_i     (command_i.noise),
        .modulus_i   ({command_i.modulus, words_i, dghv_pkg::length_t'(0)}),
        .step_valid_o(valid[1]),
        .step_o      (noise_step),
        .step_done_i,
        .finding_i,
        .done_o      (noise_done),
        .negative_o  (noise_negative)
    );

    // This module's own steps: a word that is 1, and the sum of products.
    logic own_valid;
    assign own_valid = (state_q == One && !walking_q) || state_q == Products;
    always_comb begin
        own       = '0;
        own.write = 1'b1;
        own.kind  = dghv_pkg::Add;
        own.carry = 1'b1;
        own.z     = {one_at, dghv_pkg::length_t'(1), dghv_pkg::length_t'(0)};
        if (state_q == Products) begin
            own.kind  = dghv_pkg::Product;
            own.terms = command_i.elements;
            own.x     = {outer_first_q, words_i, words_i};
            own.y     = {inner_at_q, inner_words, inner_words};
            own.z     = sum_o;
        end
    end
    assign step_valid_o = own_valid || (|valid);
    assign step_o       = own_valid ? own : valid[0] ? element_step : noise_step;
    assign done_o       = noise_done || (sum_done && sum_negative);
    assign ending_o     = (noise_done && noise_negative) || (sum_done && sum_negative) ? dghv_pkg::Negative : dghv_pkg::Done;

    // Cycles after a row's sum is done, one per element.
    logic stepping_q, row_end_q;
    dghv_pkg::length_t column_q;

    // All A_i0 come first, then all G_i. While walking, addresses that depend on the number of
    // elements are accumulated, one element per cycle.
    dghv_pkg::address_t inner_first_q;
    always_ff @(posedge clk_i) begin
        start_sum_q <= 1'b0;
        if (!rst_ni) begin
            state_q       <= Idle;
            walking_q     <= 1'b0;
            index_q       <= '0;
            row_q         <= '0;
            correction_q  <= '0;
            second_q      <= '0;
            outer_at_q    <= '0;
            outer_first_q <= '0;
            inner_at_q    <= '0;
            inner_first_q <= '0;
        end else if (start_i) begin
            state_q       <= One;
            walking_q     <= 1'b1;
            index_q       <= '0;
            row_q         <= command_i.x.at;
            correction_q  <= command_i.y.at;
            second_q      <= command_i.y.at;
            outer_at_q    <= one_at + dghv_pkg::address_t'(1);
            outer_first_q <= one_at + dghv_pkg::address_t'(1);
            inner_at_q    <= one_at + dghv_pkg::address_t'(1);
        end else begin
            unique case (state_q)
                One:
                if (walking_q) begin
                    walking_q  <= !last;
                    index_q    <= last ? '0 : index_q + dghv_pkg::length_t'(1);
                    second_q   <= second_q + dghv_pkg::address_t'(command_i.y.words);
                    inner_at_q <= inner_at_q + dghv_pkg::address_t'(words_i);
                end else if (step_done_i) begin
                    state_q       <= Outer;
                    start_sum_q   <= 1'b1;
                    inner_first_q <= inner_at_q;
                end
                Outer:
                if (sum_done) begin
                    state_q      <= sum_negative ? Idle : last ? Inner : Outer;
                    start_sum_q  <= !sum_negative;
                    index_q      <= last ? '0 : index_q + dghv_pkg::length_t'(1);
                    correction_q <= correction_q + dghv_pkg::address_t'(command_i.y.words);
                    outer_at_q   <= outer_at_q + dghv_pkg::address_t'(words_i);
                end
                Inner:
                if (sum_done && sum_negative) begin
                    state_q <= Idle;
                end else if (row_end_q) begin
                    state_q     <= last ? Products : Inner;
                    start_sum_q <= !last;
                    index_q     <= index_q + dghv_pkg::length_t'(1);
                    inner_at_q  <= last ? inner_first_q : inner_at_q + dghv_pkg::address_t'(inner_words);
                end
                Products: if (step_done_i) state_q <= Noise;
                Noise: if (noise_done) state_q <= Idle;
                default: ;
            endcase
            // The next row's coefficients, one per cycle.
            if (state_q == Inner && (sum_done || stepping_q)) row_q <= row_q + dghv_pkg::address_t'(command_i.x.words);
        end
    end

    always_ff @(posedge clk_i) begin
        row_end_q <= 1'b0;
        if (!rst_ni || start_i) begin
            stepping_q <= 1'b0;
            row_end_q  <= 1'b0;
            column_q   <= '0;
        end else if ((state_q == Inner && sum_done) || stepping_q) begin
            column_q   <= column_q == command_i.elements - dghv_pkg::length_t'(1) ? '0 : column_q + dghv_pkg::length_t'(1);
            stepping_q <= column_q != command_i.elements - dghv_pkg::length_t'(1);
            row_end_q  <= column_q == command_i.elements - dghv_pkg::length_t'(1);
        end
    end

    logic unused;
    assign unused = &{1'b0, command_i};
endmodule
