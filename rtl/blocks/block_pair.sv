// SPDX-License-Identifier: MIT OR Apache-2.0
// Pairs two numbers block by block: the shorter one is padded with zeros until the longer one ends.
//
// Latency 0: all ports follow each other within the cycle. The only state is whether a number has
// ended.
module block_pair #(
    parameter int unsigned Bits = 32  // of a block
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            a_valid_i,
    output logic            a_ready_o,
    input  logic [Bits-1:0] a_block_i,
    input  logic            a_last_i,
    input  logic            b_valid_i,
    output logic            b_ready_o,
    input  logic [Bits-1:0] b_block_i,
    input  logic            b_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] a_block_o,
    output logic [Bits-1:0] b_block_o,
    output logic            out_last_o
);
    if (Bits < 1) $error("block_pair: Bits must be at least 1");

    logic a_ended_q, b_ended_q;

    assign out_valid_o = (a_valid_i || a_ended_q) && (b_valid_i || b_ended_q);
    assign out_last_o  = (a_last_i || a_ended_q) && (b_last_i || b_ended_q);
    assign a_ready_o   = !a_ended_q && out_ready_i && (b_valid_i || b_ended_q);
    assign b_ready_o   = !b_ended_q && out_ready_i && (a_valid_i || a_ended_q);
    assign a_block_o   = a_ended_q ? '0 : a_block_i;
    assign b_block_o   = b_ended_q ? '0 : b_block_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {a_ended_q, b_ended_q} <= '0;
        end else if (out_valid_o && out_ready_i) begin
            a_ended_q <= !out_last_o && (a_ended_q || a_last_i);
            b_ended_q <= !out_last_o && (b_ended_q || b_last_i);
        end
    end
endmodule
