// SPDX-License-Identifier: MIT OR Apache-2.0
// A wide constant, written 32 bits at a time, word 0 at the low end, and wiped in one cycle.
//
// A write outside the constant has no effect. Only the logic wired to it can read it.
module config_register #(
    parameter int unsigned Bits      = 1024,  // bits of the constant
    parameter int unsigned IndexBits = 9      // bits of the index of a word
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 wipe_i,
    input  logic                 write_i,
    input  logic [IndexBits-1:0] index_i,
    input  logic [31:0]          data_i,
    output logic [Bits-1:0]      value_o
);
    if (Bits < 1) $error("config_register: Bits must be at least 1");

    localparam int unsigned Words = (Bits + 31) / 32;
    if (2 ** IndexBits < Words) $error("config_register: IndexBits cannot tell the words apart");

    for (genvar j = 0; j < int'(Words); j++) begin : gen_word
        // The top word may be narrower.
        localparam int unsigned Width = (Bits - 32 * j < 32) ? Bits - 32 * j : 32;
        logic [Width-1:0] word_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) word_q <= '0;
            else if (wipe_i) word_q <= '0;
            else if (write_i && index_i == IndexBits'(j)) word_q <= data_i[Width-1:0];
        end
        assign value_o[32*j+:Width] = word_q;
        if (Width < 32) begin : gen_cut
            logic unused;
            assign unused = &{1'b0, data_i[31:Width]};
        end
    end
endmodule
