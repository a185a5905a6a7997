// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory with two ports, each of which reads or writes (true dual port).
//
// In a cycle with a port's enable_i, the port writes (write_i) or reads. The contract is that of
// ram_1r1w: a word that is read appears one cycle later and stays until the same port reads again,
// even while it writes. Addresses of Depth or more must not be used. The two ports must not write
// the same word in one cycle; a word that one writes and the other reads is either old or new.
// Reset and wipe_i start a wipe, which clears every word to 0, one per cycle, and then the read
// outputs. ready_o is high again Depth + 1 cycles after the end of the reset, or Depth + 2 after
// the cycle with wipe_i. While it is low nothing is written or read. With Wiped = 0 there is no
// wipe and ready_o is always high. With Parity each word has a parity bit; error_o is high next to
// a word that disagrees with it. Written to be inferred as block RAM on 7-series, UltraScale+ and
// ECP5 parts.
module ram_2rw #(
    parameter int unsigned Width       = 32,            // bits of a word, at least 1
    parameter int unsigned Depth       = 512,           // words, at least 2
    parameter int unsigned Parity      = 0,             // 1: a parity bit a word
    parameter int unsigned Wiped       = 1,             // 1: reset and wipe_i clear all words
    // derived, the bits of a word's address; do not set
    parameter int unsigned AddressBits = $clog2(Depth)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        wipe_i,
    output logic                        ready_o,
    input  logic [1:0]                  enable_i,
    input  logic [1:0]                  write_i,
    input  logic [1:0][AddressBits-1:0] address_i,
    input  logic [1:0][Width-1:0]       write_data_i,
    output logic [1:0][Width-1:0]       read_data_o,
    output logic [1:0]                  error_o
);
    if (Width < 1) $error("ram_2rw: Width must be at least 1");
    if (Depth < 2) $error("ram_2rw: Depth must be at least 2");
    if (Parity > 1) $error("ram_2rw: Parity is 0 or 1");
    if (Wiped > 1) $error("ram_2rw: Wiped is 0 or 1");
    if (AddressBits != $clog2(Depth)) $error("ram_2rw: AddressBits follows from Depth");

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

    (* ram_style = "block", no_rw_check *) logic [Bits-1:0] word_q[Depth];

    for (genvar k = 0; k < 2; k++) begin : gen_port
        // The memory's port. In a wipe port 0 clears the words, then both ports read word 0.
        logic enable, write;
        logic [AddressBits-1:0] address;
        logic [Bits-1:0] given, write_word, read_word_q;

        assign enable = enable_i[k] || !ready_o;
        assign write = ready_o ? write_i[k] : clear && k == 0;
        assign address = ready_o ? address_i[k] : (k == 0 && clear) ? clear_address : '0;
        assign write_word = ready_o ? given : '0;

        always @(posedge clk_i) begin
            if (enable) begin
                if (write) word_q[address] <= write_word;
                else read_word_q <= word_q[address];
            end
        end

        assign read_data_o[k] = read_word_q[Width-1:0];

        if (Parity == 1) begin : gen_parity
            assign given = {^write_data_i[k], write_data_i[k]};
            assign error_o[k] = ready_o && ^read_word_q;
        end else begin : gen_no_parity
            assign given = write_data_i[k];
            assign error_o[k] = 1'b0;
        end
    end
endmodule
