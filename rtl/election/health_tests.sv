// SPDX-License-Identifier: MIT OR Apache-2.0
// The continuous health tests of a noise source: repetition count and adaptive proportion.
//
// Samples of one bit are observed without delay. repetition_o is high for a cycle when one sample
// came Repetition times in a row, proportion_o when the first sample of a window occurs Proportion
// times in it. For a claimed entropy of H bits per sample and a probability alpha of a false alarm,
// the standard's cutoffs are
//
//   Repetition = 1 + ceil(-log2(alpha) / H)       Proportion = 1 + critbinom(Window, 2^-H, 1 - alpha)
//
// The defaults are for H = 0.5 and alpha = 2^-40. Source: [TBKMBB18], 4.4.
module health_tests #(
    parameter int unsigned Repetition = 81,    // at least 2
    // samples: the standard has 1024 for a source of bits
    parameter int unsigned Window     = 1024,
    parameter int unsigned Proportion = 824    // at least 2, at most Window
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic valid_i,
    input  logic sample_i,
    output logic repetition_o,
    output logic proportion_o
);
    if (Repetition < 2) $error("health_tests: Repetition must be at least 2");
    if (Proportion < 2 || Proportion > Window) $error("health_tests: Proportion must be from 2 to Window");

    localparam int unsigned RunBits = $clog2(Repetition + 1);
    localparam int unsigned CountBits = $clog2(Window + 1);

    // The length of the run of the last sample; 0 before the first sample.
    logic [RunBits-1:0] run_q, run;
    logic last_q;
    assign run = (run_q == '0 || sample_i != last_q) ? RunBits'(1) : run_q + RunBits'(1);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            run_q        <= '0;
            last_q       <= 1'b0;
            repetition_o <= 1'b0;
        end else begin
            repetition_o <= valid_i && run == RunBits'(Repetition);
            if (valid_i) begin
                // A run is reported again after the same number of samples.
                run_q  <= run == RunBits'(Repetition) ? '0 : run;
                last_q <= sample_i;
            end
        end
    end

    logic [CountBits-1:0] place_q, count_q, count;
    logic first_q, at_first;
    assign at_first = place_q == '0;
    assign count = at_first ? CountBits'(1) : count_q + CountBits'(sample_i == first_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            place_q      <= '0;
            count_q      <= '0;
            first_q      <= 1'b0;
            proportion_o <= 1'b0;
        end else begin
            proportion_o <= valid_i && count == CountBits'(Proportion) && count != count_q;
            if (valid_i) begin
                place_q <= place_q == CountBits'(Window - 1) ? '0 : place_q + CountBits'(1);
                count_q <= count;
                if (at_first) first_q <= sample_i;
            end
        end
    end
endmodule
