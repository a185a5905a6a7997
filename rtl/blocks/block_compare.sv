// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares two numbers with a running comparator: the highest pair of blocks that differ decides.
//
// It accepts both numbers to their ends, whatever they are, and outputs one answer. Latency 1 cycle
// from the last pair of blocks, a pair every cycle.
module block_compare #(
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
    output logic            less_o,       // a < b
    output logic            greater_o     // a > b
);
    logic pair_valid, pair_ready, last, less_q, greater_q, less, greater;
    logic [Bits-1:0] a, b;

    block_pair #(
        .Bits(Bits)
    ) u_pair (
        .clk_i,
        .rst_ni,
        .a_valid_i,
        .a_ready_o,
        .a_block_i,
        .a_last_i,
        .b_valid_i,
        .b_ready_o,
        .b_block_i,
        .b_last_i,
        .out_valid_o(pair_valid),
        .out_ready_i(pair_ready),
        .a_block_o  (a),
        .b_block_o  (b),
        .out_last_o (last)
    );

    assign pair_ready = !out_valid_o || out_ready_i;
    assign less       = a < b || (a == b && less_q);
    assign greater    = a > b || (a == b && greater_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {less_q, greater_q, less_o, greater_o, out_valid_o} <= '0;
        end else if (pair_ready) begin
            out_valid_o <= pair_valid && last;
            if (pair_valid) begin
                {less_q, greater_q} <= last ? '0 : {less, greater};
                {less_o, greater_o} <= {less, greater};
            end
        end
    end
endmodule
