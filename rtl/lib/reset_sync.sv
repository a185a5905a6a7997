// SPDX-License-Identifier: MIT OR Apache-2.0
// Synchronises both edges of an external reset to the clock, through a chain of flip-flops.
//
// rst_no follows rst_ni after Stages edges. A reset that no clock edge sees is ignored: rst_ni must
// be low for at least a clock period and the set-up time.
module reset_sync #(
    parameter int unsigned Stages = 2  // flip-flops, at least 2
) (
    input  logic clk_i,
    input  logic rst_ni,
    output logic rst_no
);
    if (Stages < 2) $error("reset_sync: Stages must be at least 2");

    // Placed close together, and not as a shift register in a LUT.
    (* ASYNC_REG = "TRUE", shreg_extract = "no" *) logic [Stages-1:0] sync_q;

    always_ff @(posedge clk_i) sync_q <= {sync_q[Stages-2:0], rst_ni};

    assign rst_no = sync_q[Stages-1];
endmodule
