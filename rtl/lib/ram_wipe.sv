// SPDX-License-Identifier: MIT OR Apache-2.0
// Steps through the words of a memory to clear them, after reset and on request.
//
// clear_o is high for Depth cycles while address_o runs from 0 to Depth - 1. One more cycle lets
// the memory's outputs be read again. Then ready_o is high: Depth + 1 cycles after the end of the
// reset, Depth + 2 after the cycle with wipe_i. With Wiped = 0 it is always high.
module ram_wipe #(
    parameter int unsigned Depth       = 512,           // words, at least 2
    parameter int unsigned Wiped       = 1,             // 0: no wipe
    // derived, the bits of a word's address; do not set
    parameter int unsigned AddressBits = $clog2(Depth)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   wipe_i,
    output logic                   ready_o,
    output logic                   clear_o,
    output logic [AddressBits-1:0] address_o
);
    if (Depth < 2) $error("ram_wipe: Depth must be at least 2");
    if (Wiped > 1) $error("ram_wipe: Wiped is 0 or 1");
    if (AddressBits != $clog2(Depth)) $error("ram_wipe: AddressBits follows from Depth");

    if (Wiped == 1) begin : gen_wipe
        // The cycle after the last word is the read.
        localparam int unsigned CountBits = $clog2(Depth + 1);
        logic [CountBits-1:0] count_q;

        assign clear_o = !ready_o && count_q != CountBits'(Depth);
        assign address_o = count_q[AddressBits-1:0];

        always_ff @(posedge clk_i) begin
            if (!rst_ni || wipe_i) begin
                ready_o <= 1'b0;
                count_q <= '0;
            end else if (!ready_o) begin
                ready_o <= !clear_o;
                count_q <= clear_o ? count_q + CountBits'(1) : '0;
            end
        end
    end else begin : gen_none
        assign ready_o = 1'b1;
        assign clear_o = 1'b0;
        assign address_o = '0;

        logic unused;
        assign unused = &{1'b0, clk_i, rst_ni, wipe_i};
    end
endmodule
