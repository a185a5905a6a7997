// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a number limb by limb from the low end. The number stays where it is: a multiplexer costs
// less than a copy in a shift register.
//
// The first limb follows start_i by a cycle, each further one next_i. After the last one next_i
// repeats limb 0, and a new start is possible. The number is stable from start_i to the last limb.
module limb_reader #(
    parameter int unsigned Limb  = 64,  // bits of a limb
    parameter int unsigned Limbs = 16   // limbs of the number, at least 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [Limbs*Limb-1:0] number_i,
    input  logic                  start_i,
    input  logic                  next_i,
    output logic [Limb-1:0]       limb_o,
    output logic                  last_o     // limb_o is the last
);
    if (Limb < 1 || Limbs < 1) $error("limb_reader: Limb and Limbs must be at least 1");

    localparam int unsigned IndexBits = (Limbs > 1) ? $clog2(Limbs) : 1;

    // Of the limb that follows; 0 after the last.
    logic [IndexBits-1:0] index_q;
    logic [Limb-1:0] limb;

    digit_select #(
        .W        (Limb),
        .Digits   (Limbs),
        .IndexBits(IndexBits)
    ) u_select (
        .number_i,
        .index_i(index_q),
        .digit_o(limb)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            index_q <= '0;
            limb_o  <= '0;
            last_o  <= 1'b0;
        end else if (start_i || next_i) begin
            limb_o <= limb;
            if (start_i || !last_o) begin
                last_o  <= index_q == IndexBits'(Limbs - 1);
                index_q <= (index_q == IndexBits'(Limbs - 1)) ? '0 : index_q + 1'b1;
            end
        end
    end
endmodule
