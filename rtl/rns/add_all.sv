// SPDX-License-Identifier: MIT OR Apache-2.0
// The sum of Count numbers of Bits bits, modulo 2^Bits. Combinational.
module add_all #(
    parameter int unsigned Count = 6,  // at least 1
    parameter int unsigned Bits  = 76  // at least 1
) (
    input  logic [Count*Bits-1:0] x_i,
    output logic [Bits-1:0]       sum_o
);
    if (Count < 1 || Bits < 1) $error("add_all: Count and Bits must be at least 1");

    always_comb begin
        sum_o = '0;
        for (int i = 0; i < int'(Count); i++) sum_o = sum_o + x_i[i*Bits+:Bits];
    end
endmodule
