// SPDX-License-Identifier: MIT OR Apache-2.0
// The sequencer of dual lanes (dual_lane): a counter of the Job cycles of a job, shared by all
// parallel lanes, and the digits of the constants, one of each per cycle.
//
// phase_o counts from 0 to Job - 1 and repeats. It stops at Job - 3 while wait_i is high, which
// says that no lane has work: the next item then begins as soon as it arrives. Digit k of the
// constants appears one cycle after phase_o = k; they are 0 after the last digit.
module dual_sequencer #(
    parameter int unsigned H = 512,  // bits of the modulus, and the others as in dual_row
    parameter int unsigned W = 18,
    parameter int unsigned D = 2,
    localparam int unsigned Digits    = (H + W + 2) / W + D + 1,
    localparam int unsigned Job       = Digits + D + 2,
    localparam int unsigned PhaseBits = $clog2(Job)
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      wait_i,
    input  logic [6:0][Digits*W-1:0]  constants_i,
    output logic [PhaseBits-1:0]      phase_o,
    output logic [6:0][W-1:0]         digits_o
);
    logic last_q;  // phase_o is Job - 1
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            phase_o <= '0;
            last_q  <= 1'b0;
        end else if (wait_i) begin
            phase_o <= PhaseBits'(Job - 3);
            last_q  <= 1'b0;
        end else begin
            phase_o <= last_q ? '0 : phase_o + 1'b1;
            last_q  <= phase_o == PhaseBits'(Job - 2);
        end
    end

    for (genvar k = 0; k < 7; k++) begin : gen_constant
        logic [W-1:0] digit;
        digit_select #(
            .W(W),
            .Digits(Digits),
            .IndexBits(PhaseBits)
        ) u_select (
            .number_i(constants_i[k]),
            .index_i (phase_o),
            .digit_o (digit)
        );
        always_ff @(posedge clk_i) begin
            if (!rst_ni) digits_o[k] <= '0;
            else digits_o[k] <= digit;
        end
    end
endmodule
