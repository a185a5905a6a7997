// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of dual_lane: its states, a result that waits to be accepted, and an operand that
// waits for the previous result.
module dual_lane_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic idle_i,
    input logic running_i,
    input logic drain_i,
    input logic give_i,
    input logic in_valid_i,
    input logic in_ready_i,
    input logic out_valid_i,
    input logic out_ready_i
);
    Idle :
    cover property (@(posedge clk_i) rst_ni && idle_i);
    Running :
    cover property (@(posedge clk_i) rst_ni && running_i);
    Drain :
    cover property (@(posedge clk_i) rst_ni && drain_i);
    Give :
    cover property (@(posedge clk_i) rst_ni && give_i);
    ResultWaits :
    cover property (@(posedge clk_i) rst_ni && out_valid_i && !out_ready_i);
    OperandWaits :
    cover property (@(posedge clk_i) rst_ni && in_valid_i && !in_ready_i);
endmodule

bind dual_lane dual_lane_cover u_cover (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .idle_i(state_q == Idle),
    .running_i(state_q == Running),
    .drain_i(state_q == Drain),
    .give_i(state_q == Give),
    .in_valid_i(in_valid_i),
    .in_ready_i(in_ready_o),
    .out_valid_i(out_valid_o),
    .out_ready_i(out_ready_i)
);
