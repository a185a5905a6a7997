// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives every item to several takers, each in its own time; the item leaves the source when all
// have it.
//
// Latency 0; carries no data: the takers read the source's. No taker waits for another but to get
// the next item. in_ready_o follows out_ready_i within the cycle.
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

    // Who has taken the present item already.
    logic [Takers-1:0] done_q;

    assign out_valid_o = {Takers{in_valid_i}} & ~done_q;
    assign in_ready_o = &(out_ready_i | done_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) done_q <= '0;
        else if (in_valid_i) done_q <= in_ready_o ? '0 : out_ready_i | done_q;
    end
endmodule
