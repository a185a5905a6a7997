// SPDX-License-Identifier: MIT OR Apache-2.0
// A round-robin pointer that moves to the next receiver with every transfer.
//
// If all receivers take the same time, results collected in the same rotation come back in order.
module stream_round_robin #(
    parameter int unsigned Takers = 2  // at least 1
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              transfer_i,
    output logic [Takers-1:0] turn_o       // one bit set
);
    if (Takers < 1) $error("stream_round_robin: Takers must be at least 1");

    if (Takers == 1) begin : gen_one
        logic unused;
        assign unused = &{1'b0, clk_i, rst_ni, transfer_i};
        assign turn_o = 1'b1;
    end else begin : gen_many
        always_ff @(posedge clk_i) begin
            if (!rst_ni) turn_o <= {{Takers - 1{1'b0}}, 1'b1};
            else if (transfer_i) turn_o <= {turn_o[Takers-2:0], turn_o[Takers-1]};
        end
    end
endmodule
