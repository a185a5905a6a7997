// SPDX-License-Identifier: MIT OR Apache-2.0
// A source that keeps the contract of a stream: an offer stays unchanged until it is accepted or
// there is a reset.
module offer #(
    parameter int unsigned Width = 1
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic             ready_i,
    input logic [Width-1:0] data_i
);
    logic waits_q = 1'b0;
    logic [Width-1:0] data_q;
    always_ff @(posedge clk_i) begin
        waits_q <= rst_ni && valid_i && !ready_i;
        data_q  <= data_i;
    end
    always_comb if (waits_q && rst_ni) assume (valid_i && data_i == data_q);
endmodule
