// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test on an Arty A7-100T (Artix-7): 100 MHz; the four lights show the number of the step,
// its lower three bits and a beat, or with SW0 on its upper four; BTN0 starts it again. Never run
// on a board.
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
