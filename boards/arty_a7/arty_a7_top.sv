// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test on an Arty A7-100T (Artix-7) at 100 MHz. Three of the four lights show the lower
// three bits of the step number, the fourth blinks. With SW0 on, they show its upper four bits.
// BTN0 restarts the test. Never run on a board.
module arty_a7_top (
    input  logic       clk_100mhz_i,
    input  logic       btn_0_i,
    input  logic       sw_0_i,
    output logic [3:0] led_o
);
    logic [7:0] lights;

    self_test_lights u_lights (
        .clk_i    (clk_100mhz_i),
        .restart_i(btn_0_i),
        .lights_o (lights)
    );

    assign led_o = sw_0_i ? lights[6:3] : {lights[7], lights[2:0]};
endmodule
