// SPDX-License-Identifier: MIT OR Apache-2.0
// The sum of Count numbers: a tree of three-input additions with a register after each. A sum every
// cycle, latency Levels, the logarithm of Count to the base 3, rounded up.
module adder_tree #(
    parameter int unsigned Count = 9,   // numbers, at least 2
    parameter int unsigned Bits  = 32,  // bits of each
    localparam int unsigned SumBits = Bits + $clog2(Count)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic [Count-1:0][ Bits-1:0] x_i,
    output logic [SumBits-1:0]          sum_o
);
    if (Count < 2 || Bits < 1) $error("adder_tree: Count must be at least 2, Bits at least 1");

    // Terms left after the first level.
    localparam int unsigned Next = (Count + 2) / 3;

    logic [3*Next-1:0][SumBits-1:0] terms;
    for (genvar k = 0; k < 3 * Next; k++) begin : gen_term
        assign terms[k] = k < Count ? SumBits'(x_i[k<Count?k : 0]) : '0;
    end

    logic [Next-1:0][SumBits-1:0] sum_q;
    for (genvar k = 0; k < Next; k++) begin : gen_sum
        always_ff @(posedge clk_i) begin
            if (!rst_ni) sum_q[k] <= '0;
            else sum_q[k] <= terms[3*k] + terms[3*k+1] + terms[3*k+2];
        end
    end

    if (Next == 1) begin : gen_last
        assign sum_o = sum_q[0];
    end else begin : gen_next
        localparam int unsigned NextBits = SumBits + $clog2(Next);
        logic [NextBits-1:0] sum;
        adder_tree #(
            .Count(Next),
            .Bits (SumBits)
        ) u_next (
            .clk_i,
            .rst_ni,
            .x_i  (sum_q),
            .sum_o(sum)
        );
        assign sum_o = sum[SumBits-1:0];
        logic unused;
        assign unused = ^sum[NextBits-1:SumBits];
    end
endmodule
