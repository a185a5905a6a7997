// SPDX-License-Identifier: MIT OR Apache-2.0
// Replaces rtl/lib/bit_sync.sv: a change between two edges is seen at the second or one edge later,
// as happens when flip-flops sample a signal in the middle of a change.
module bit_sync #(
    parameter int unsigned Stages = 2,
    parameter int unsigned Value  = 0
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic bit_i,
    output logic bit_o
);
    (* anyseq *) logic late;
    logic past_q;
    logic [Stages-1:0] sync_q;

    always_ff @(posedge clk_i) begin
        past_q <= bit_i;
        if (!rst_ni) sync_q <= {Stages{1'(Value)}};
        else sync_q <= {sync_q[Stages-2:0], late ? past_q : bit_i};
    end

    assign bit_o = sync_q[Stages-1];
endmodule
