// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies every item to several receivers, each at its own pace; the item leaves the source when all
// have accepted it.
//
// Latency 0. It carries no data: the receivers read the source's. A receiver waits for the others
// only before the next item. in_ready_o follows out_ready_i within the cycle.
module stream_fork #(
    parameter int unsigned Takers = 2  // at least 1
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              in_valid_i,
    output logic              in_ready_o,
    output logic [Takers-1:0] out_valid_o,
    input  logic [Takers-1:0] out_ready_i
);
    if (Takers < 1) $error("stream_fork: Takers must be at least 1");

    // The receivers that have already accepted the present item.
    logic [Takers-1:0] done_q;

    assign out_valid_o = {Takers{in_valid_i}} & ~done_q;
    assign in_ready_o = &(out_ready_i | done_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) done_q <= '0;
        else if (in_valid_i) done_q <= in_ready_o ? '0 : out_ready_i | done_q;
    end
endmodule
