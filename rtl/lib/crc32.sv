// SPDX-License-Identifier: MIT OR Apache-2.0
// One step of the CRC-32 of IEEE 802.3 over a word: four bytes, the least significant first, each
// with its least significant bit first.
//
//   crc_o = the remainder of crc_i after 32 bits of data_i, polynomial 0x04c11db7, reflected (0xedb88320)
//
// The checksum of a sequence of words starts from all ones, takes a step per word, and complements
// the remainder: it is zlib's crc32 of their bytes. Combinational: every bit of crc_o is an XOR of
// bits of crc_i ^ data_i.
module crc32 (
    input  logic [31:0] crc_i,
    input  logic [31:0] data_i,
    output logic [31:0] crc_o
);
    localparam logic [31:0] Polynomial = 32'hedb88320;

    always_comb begin
        crc_o = crc_i ^ data_i;
        for (int i = 0; i < 32; i++) crc_o = (crc_o >> 1) ^ (crc_o[0] ? Polynomial : '0);
    end
endmodule
