// SPDX-License-Identifier: MIT OR Apache-2.0
// The sequencer of a digit-serial Montgomery product (mont_row, mont_digits): a counter and the
// control signals of each cycle.
//
// start_i makes the next cycle number 0; cycles 0 to Step - 1 follow. start_i in the last one
// restarts without a gap. While stay_i is high, the last cycle is repeated. Step = T + D + 4 +
// Wait, T = ceil((N+2)/W) + D + 2. Only start_i and stay_i have any influence.
module mont_sequencer #(
    parameter int unsigned N = 1024,  // as in mont_row
    parameter int unsigned W = 16,
    parameter int unsigned D = 2,
    // additional cycles, by which all outputs but first_o, ahead_o and last_o are later
    parameter int unsigned Wait = 0
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic start_i,
    input  logic stay_i,
    output logic busy_o,
    output logic first_o,   // cycle 0
    output logic clear_o,   // cycle Wait, one cycle before the sum starts at 0
    output logic take_q_o,  // cycles 2 to T + 1, Wait later: quotient digits count
    output logic feed_o,    // cycles T + 2 + Wait to Step - 1: digits of the result
    output logic ahead_o,   // cycle Step - 2, to prepare for the last one
    output logic last_o     // cycle Step - 1
);
    localparam int unsigned T = (N + W + 1) / W + D + 2;
    localparam int unsigned Step = T + D + 4 + Wait;
    localparam int unsigned CountBits = $clog2(Step + 1);

    logic [CountBits-1:0] count_q, count_d;
    logic busy_d;

    always_comb begin
        busy_d  = busy_o;
        count_d = count_q;
        if (start_i) begin
            busy_d  = 1'b1;
            count_d = '0;
        end else if (busy_o && !(last_o && stay_i)) begin
            busy_d  = !last_o;
            count_d = count_q + 1'b1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q  <= '0;
            busy_o   <= 1'b0;
            first_o  <= 1'b0;
            clear_o  <= 1'b0;
            take_q_o <= 1'b0;
            feed_o   <= 1'b0;
            ahead_o  <= 1'b0;
            last_o   <= 1'b0;
        end else begin
            count_q  <= count_d;
            busy_o   <= busy_d;
            first_o  <= busy_d && count_d == '0;
            clear_o  <= busy_d && count_d == CountBits'(Wait);
            take_q_o <= busy_d && count_d >= CountBits'(2 + Wait) && count_d <= CountBits'(T + 1 + Wait);
            feed_o   <= busy_d && count_d >= CountBits'(T + 2 + Wait);
            ahead_o  <= busy_d && count_d == CountBits'(Step - 2);
            last_o   <= busy_d && count_d == CountBits'(Step - 1);
        end
    end
endmodule
