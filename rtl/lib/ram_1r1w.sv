// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory with a write port and a read port.
//
// The contract of all memories here: a requested word (read_i) appears one cycle later and stays
// until the next read. Addresses of Depth or more must not be used. A word that is read in the
// cycle in which it is written is either old or new, unspecified. Reset and wipe_i start a wipe,
// which clears every word to 0, one per cycle, and then the read output. ready_o is high again
// Depth + 1 cycles after the end of the reset, or Depth + 2 after the cycle with wipe_i. While it
// is low nothing is written or read. With Wiped = 0 there is no wipe, the initial words are
// undefined, and ready_o is always high. With Parity each word has a parity bit; error_o is high
// next to a word that disagrees with it (an odd number of flipped bits). Written to be inferred as
// block RAM on 7-series, UltraScale+ and ECP5 parts.
module ram_1r1w #(
    parameter int unsigned Width       = 32,            // bits of a word, at least 1
    parameter int unsigned Depth       = 512,           // words, at least 2
    parameter int unsigned Parity      = 0,             // 1: a parity bit a word
    parameter int unsigned Wiped       = 1,             // 1: reset and wipe_i clear all words
    // derived, the bits of a word's address; do not set
    parameter int unsigned AddressBits = $clog2(Depth)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   wipe_i,
    output logic                   ready_o,
    input  logic                   write_i,
    input  logic [AddressBits-1:0] write_address_i,
    input  logic [Width-1:0]       write_data_i,
    input  logic                   read_i,
    input  logic [AddressBits-1:0] read_address_i,
    output logic [Width-1:0]       read_data_o,
    output logic                   error_o
);
    if (Width < 1) $error("ram_1r1w: Width must be at least 1");
    if (Depth < 2) $error("ram_1r1w: Depth must be at least 2");
    if (Parity > 1) $error("ram_1r1w: Parity is 0 or 1");
    if (Wiped > 1) $error("ram_1r1w: Wiped is 0 or 1");
    if (AddressBits != $clog2(Depth)) $error("ram_1r1w: AddressBits follows from Depth");

    localparam int unsigned Bits = Width + Parity;

    logic clear;
    logic [AddressBits-1:0] clear_address;

    ram_wipe #(
        .Depth(Depth),
        .Wiped(Wiped)
    ) u_wipe (
        .clk_i,
        .rst_ni,
        .wipe_i,
        .ready_o,
        .clear_o  (clear),
        .address_o(clear_address)
    );

    // The memory's ports. A wipe reads word 0, which is 0 at the end.
    logic write, read;
    logic [AddressBits-1:0] write_address, read_address;
    logic [Bits-1:0] given, write_word, read_word_q;

    assign write = ready_o ? write_i : clear;
    assign write_address = ready_o ? write_address_i : clear_address;
    assign write_word = ready_o ? given : Bits'(0);
    assign read = read_i || !ready_o;
    assign read_address = ready_o ? read_address_i : '0;

    (* ram_style = "block", no_rw_check *) logic [Bits-1:0] word_q[Depth];

    always_ff @(posedge clk_i) begin
        if (write) word_q[write_address] <= write_word;
        if (read) read_word_q <= word_q[read_address];
    end

    assign read_data_o = read_word_q[Width-1:0];

    if (Parity == 1) begin : gen_parity
        assign given = {^write_data_i, write_data_i};
        assign error_o = ready_o && ^read_word_q;
    end else begin : gen_no_parity
        assign given = write_data_i;
        assign error_o = 1'b0;
    end
endmodule
