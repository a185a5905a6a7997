// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests only: a ram_1r1w with parity. Every cycle with flip_i flips a bit of the word at
// write_address_i.
module ram_1r1w_fault #(
    parameter int unsigned Width       = 8,
    parameter int unsigned Depth       = 6,
    parameter int unsigned AddressBits = $clog2(Depth),
    parameter int unsigned BitBits     = $clog2(Width + 1)
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
    output logic                   error_o,
    input  logic                   flip_i,
    input  logic [BitBits-1:0]     flip_bit_i
);
    ram_1r1w #(
        .Width (Width),
        .Depth (Depth),
        .Parity(1)
    ) u_ram (
        .clk_i,
        .rst_ni,
        .wipe_i,
        .ready_o,
        .write_i,
        .write_address_i,
        .write_data_i,
        .read_i,
        .read_address_i,
        .read_data_o,
        .error_o
    );

    always @(posedge clk_i) begin
        if (flip_i) u_ram.word_q[write_address_i][flip_bit_i] <= !u_ram.word_q[write_address_i][flip_bit_i];
    end
endmodule
