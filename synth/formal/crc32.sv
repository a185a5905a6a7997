// SPDX-License-Identifier: MIT OR Apache-2.0
// A crc32 is the remainder of a division of polynomials over two elements, highest power first,
// with the bits of words and checksums reversed.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [31:0] earlier, data;
    logic [31:0] later, remainder;
    logic [63:0] dividend;

    crc32 u_block (
        .crc_i (earlier),
        .data_i(data),
        .crc_o (later)
    );

    always_comb begin
        dividend = '0;
        for (int k = 0; k < 32; k++) dividend[63-k] = earlier[k] ^ data[k];
        for (int k = 63; k >= 32; k--) if (dividend[k]) dividend = dividend ^ (64'h1_04c1_1db7 << (k - 32));
        for (int k = 0; k < 32; k++) remainder[k] = dividend[31-k];
    end
    always_ff @(posedge clk_i) begin
        assert (later == remainder);
        cover (later == 32'd0 && data != 32'd0);
    end
endmodule
