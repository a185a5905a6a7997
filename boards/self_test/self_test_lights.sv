// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test on a board with lights. It starts by itself 2^8 cycles after configuration, and
// restarts when restart_i, which may come from a button, falls.
//
// The lower seven bits of lights_o are the number of the current step or, after a failure, of the
// failed step. All seven are on after success. The highest blinks while the clock runs.
module self_test_lights (
    input  logic       clk_i,
    input  logic       restart_i,
    output logic [7:0] lights_o
);
    // Zero after configuration, because a board has no other reset. This is the only place where a
    // register's initial value matters.
    logic [8:0] start_q = '0;
    logic [23:0] blink_q = '0;
    logic restart, rst_n, done, pass;
    logic [6:0] step;

    bit_sync u_restart (
        .clk_i,
        .rst_ni(1'b1),
        .bit_i (restart_i),
        .bit_o (restart)
    );

    assign rst_n = start_q[8];

    always_ff @(posedge clk_i) begin
        blink_q <= blink_q + 24'd1;
        if (restart) start_q <= '0;
        else if (!start_q[8]) start_q <= start_q + 9'd1;
    end

    self_test u_self_test (
        .clk_i,
        .rst_ni (rst_n),
        .fault_i('1),
        .done_o (done),
        .pass_o (pass),
        .step_o (step)
    );

    assign lights_o = {blink_q[23], (done && pass) ? 7'h7f : step};
endmodule
