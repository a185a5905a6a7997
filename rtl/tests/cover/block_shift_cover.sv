// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of block_shift: its states.
module block_shift_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic skip_i,
    input logic inner_i,
    input logic flush_i
);
    Skip :
    cover property (@(posedge clk_i) rst_ni && skip_i);
    Inner :
    cover property (@(posedge clk_i) rst_ni && inner_i);
    Flush :
    cover property (@(posedge clk_i) rst_ni && flush_i);
endmodule

bind block_shift block_shift_cover u_cover (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .skip_i (state_q == Skip),
    .inner_i(state_q == Inner),
    .flush_i(state_q == Flush)
);
