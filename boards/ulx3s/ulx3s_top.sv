// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test on a ULX3S with an ECP5 LFE5U-85F, at 25 MHz with eight lights. FIRE 1 restarts it.
// Never run on a board.
module ulx3s_top (
    input  logic       clk_25mhz_i,
    input  logic       fire_1_i,
    output logic [7:0] led_o
);
    self_test_lights u_lights (
        .clk_i    (clk_25mhz_i),
        .restart_i(fire_1_i),
        .lights_o (led_o)
    );
endmodule
