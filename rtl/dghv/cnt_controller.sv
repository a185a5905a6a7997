// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes the sum of a CNT encryption, equation 2 of [CMOOH13] before its reduction: sum over i of
// b_i A_i, then noise_sum.
//
// The sum is left at the beginning of the scratch, sum_o. Scratch: that of element_sum.
module cnt_controller (
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
    dghv_pkg::length_t segment;
    dghv_pkg::operand_t coefficients, corrections;
    assign segment      = (words_i + dghv_pkg::length_t'(dghv_pkg::Lanes - 1)) / dghv_pkg::length_t'(dghv_pkg::Lanes);
    assign sum_o        = {command_i.scratch.at, dghv_pkg::length_t'(9) * segment, dghv_pkg::length_t'(0)};
    assign coefficients = {command_i.x.at, command_i.x.words, command_i.x.words};
    assign corrections  = {command_i.y.at, command_i.y.words, command_i.y.words};

    logic [1:0] valid, done, negative;
    dghv_pkg::step_t element_step, noise_step;
    assign step_valid_o = |valid;
    assign step_o       = valid[0] ? element_step : noise_step;

    element_sum u_elements (
        .clk_i,
        .rst_ni,
        .start_i,
        .coefficients_i(coefficients),
        .corrections_i (corrections),
        .z_i           (sum_o),
        .scratch_i     (command_i.scratch.at),
        .terms_i       (command_i.elements),
        .first_i       ('0),
        .words_i,
        .kept_i,
        .step_valid_o  (valid[0]),
        .step_o        (element_step),
        .step_done_i,
        .finding_i,
        .done_o        (done[0]),
        .negative_o    (negative[0])
    );

    noise_sum u_noise (
        .clk_i,
        .rst_ni,
        .start_i     (done[0] && !negative[0]),
        .x_i         (sum_o),
        .noise_i     (command_i.noise),
        .modulus_i   ({command_i.modulus, words_i, dghv_pkg::length_t'(0)}),
        .step_valid_o(valid[1]),
        .step_o      (noise_step),
        .step_done_i,
        .finding_i,
        .done_o      (done[1]),
        .negative_o  (negative[1])
    );
    assign done_o   = done[1] || (done[0] && negative[0]);
    assign ending_o = (done[1] && negative[1]) || (done[0] && negative[0]) ? dghv_pkg::Negative : dghv_pkg::Done;

    logic unused;
    assign unused = &{1'b0, command_i};
endmodule
