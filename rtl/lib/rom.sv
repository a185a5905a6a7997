// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory of constant words.
//
// The contract is that of ram_1r1w: a requested word (read_i) appears one cycle later and stays
// until the next read. Addresses of Depth or more must not be used. With Parity each word has a
// parity bit; error_o is high next to a word that disagrees with it. Written to be inferred as
// block RAM on 7-series, UltraScale+ and ECP5 parts.
module rom #(
    parameter int unsigned            Width       = 8,              // bits of a word, at least 1
    parameter int unsigned            Depth       = 256,            // words, at least 2
    parameter logic [Width*Depth-1:0] Words       = '0,             // word 0 at the low end
    parameter int unsigned            Parity      = 0,              // 1: a parity bit a word
    // derived, the bits of a word's address; do not set
    parameter int unsigned            AddressBits = $clog2(Depth)
) (
    input  logic                   clk_i,
    input  logic                   read_i,
    input  logic [AddressBits-1:0] read_address_i,
    output logic [Width-1:0]       read_data_o,
    output logic                   error_o
);
    if (Width < 1) $error("rom: Width must be at least 1");
    if (Depth < 2) $error("rom: Depth must be at least 2");
    if (Parity > 1) $error("rom: Parity is 0 or 1");
    if (AddressBits != $clog2(Depth)) $error("rom: AddressBits follows from Depth");

    localparam int unsigned Bits = Width + Parity;

    (* rom_style = "block" *) logic [Bits-1:0] word[Depth];
    logic [Bits-1:0] read_word_q;

    initial begin
        for (int unsigned k = 0; k < Depth; k++) begin
            word[k] = Bits'(Words[k*Width+:Width]);
            if (Parity == 1) word[k][Bits-1] = ^Words[k*Width+:Width];
        end
    end

    always_ff @(posedge clk_i) begin
        if (read_i) read_word_q <= word[read_address_i];
    end

    assign read_data_o = read_word_q[Width-1:0];

    if (Parity == 1) begin : gen_parity
        assign error_o = ^read_word_q;
    end else begin : gen_no_parity
        assign error_o = 1'b0;
    end
endmodule
