// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of carry_resolve: its states, a result that waits to be accepted, and an operand
// that waits for the previous result.
module carry_resolve_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic empty_i,
    input logic adding_i,
    input logic full_i,
    input logic in_valid_i,
    input logic in_ready_i,
    input logic out_valid_i,
    input logic out_ready_i
);
    Empty :
    cover property (@(posedge clk_i) rst_ni && empty_i);
    Adding :
    cover property (@(posedge clk_i) rst_ni && adding_i);
    Full :
    cover property (@(posedge clk_i) rst_ni && full_i);
    ResultWaits :
    cover property (@(posedge clk_i) rst_ni && out_valid_i && !out_ready_i);
    OperandWaits :
    cover property (@(posedge clk_i) rst_ni && in_valid_i && !in_ready_i);
endmodule

bind carry_resolve carry_resolve_cover u_cover (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .empty_i(state_q == Empty),
    .adding_i(state_q == Adding),
    .full_i(state_q == Full),
    .in_valid_i(in_valid_i),
    .in_ready_i(in_ready_o),
    .out_valid_i(out_valid_o),
    .out_ready_i(out_ready_i)
);
