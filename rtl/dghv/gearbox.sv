// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a stream of bits in pieces of From bits to pieces of To bits, lowest first, on several
// sides in step.
//
// Latency: 1 cycle from the piece that completes an output. A piece is accepted whenever fewer than
// To bits wait. Reset clears everything.
module gearbox #(
    parameter int unsigned From  = 64,  // at least 1
    parameter int unsigned To    = 28,  // at least 1
    parameter int unsigned Sides = 1
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       in_valid_i,
    output logic                       in_ready_o,
    input  logic [Sides-1:0][From-1:0] in_data_i,
    output logic                       out_valid_o,
    input  logic                       out_ready_i,
    output logic [Sides-1:0][To-1:0]   out_data_o
);
    if (From < 1 || To < 1 || Sides < 1) $error("gearbox: From, To and Sides must be at least 1");

    localparam int unsigned Room = From + To - 1;
    localparam int unsigned FillBits = $clog2(Room + 1);

    logic [FillBits-1:0] fill_q, rest;
    logic put;
    assign out_valid_o = fill_q >= FillBits'(To);
    assign rest        = out_valid_o && out_ready_i ? fill_q - FillBits'(To) : fill_q;
    assign in_ready_o  = rest < FillBits'(To);
    assign put         = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) fill_q <= '0;
        else fill_q <= put ? rest + FillBits'(From) : rest;
    end

    for (genvar s = 0; s < int'(Sides); s++) begin : gen_side
        logic [Room-1:0] bits_q, kept;
        assign kept          = out_valid_o && out_ready_i ? bits_q >> To : bits_q;
        assign out_data_o[s] = bits_q[To-1:0];

        always_ff @(posedge clk_i) begin
            if (!rst_ni) bits_q <= '0;
            else bits_q <= put ? kept | Room'(in_data_i[s]) << rest : kept;
        end
    end
endmodule
