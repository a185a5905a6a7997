// SPDX-License-Identifier: MIT OR Apache-2.0
// The first bytes that a spi_controller and a spi_peripheral exchange are those that each was
// given, for any values. A peripheral without a byte sends its Idle. No fault shows.
module formal (
    input logic       clk_i,
    input logic       in_valid_i,
    input logic [7:0] in_data_i,
    input logic       in_last_i
);
    (* anyconst *) logic given;
    (* anyconst *) logic [7:0] answer;

    logic rst_n = 1'b0;
    always_ff @(posedge clk_i) rst_n <= 1'b1;

    // The controller waits until the peripheral has seen that it is not selected.
    logic [2:0] settled_q = '0;
    always_ff @(posedge clk_i) if (rst_n && settled_q != 3'd7) settled_q <= settled_q + 3'd1;

    logic in_ready, cs_n, sck, copi, cipo, back_valid, gone, heard_valid, short, overrun;
    logic [7:0] back, heard;
    spi_controller #(
        .SckHalfPeriod(4),
        .Stages       (2)
    ) u_controller (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (in_valid_i && settled_q == 3'd7),
        .in_ready_o (in_ready),
        .in_data_i,
        .in_last_i,
        .out_valid_o(back_valid),
        .out_ready_i(1'b1),
        .out_data_o (back),
        .cs_no      (cs_n),
        .sck_o      (sck),
        .copi_o     (copi),
        .cipo_i     (cipo)
    );
    spi_peripheral #(
        .Idle  (8'h7e),
        .Stages(2)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .cs_ni      (cs_n),
        .sck_i      (sck),
        .copi_i     (copi),
        .cipo_o     (cipo),
        .in_valid_i (given),
        .in_ready_o (gone),
        .in_data_i  (answer),
        .out_valid_o(heard_valid),
        .out_ready_i(1'b1),
        .out_data_o (heard),
        .short_o    (short),
        .overrun_o  (overrun)
    );

    logic sent_q = 1'b0, heard_q = 1'b0, back_q = 1'b0;
    logic [7:0] first_q;
    always_ff @(posedge clk_i) begin
        if (rst_n) begin
            if (in_valid_i && settled_q == 3'd7 && in_ready && !sent_q) begin
                sent_q  <= 1'b1;
                first_q <= in_data_i;
            end
            if (heard_valid) heard_q <= 1'b1;
            if (back_valid) back_q <= 1'b1;
            if (heard_valid) assert (sent_q && (heard_q || heard == first_q));
            if (back_valid) assert (sent_q && back == (given ? answer : 8'h7e));
            // If there was a byte, it is gone when its last bit has been read.
            assert (!gone || given);
            assert (!short && !overrun);
            cover (back_valid && heard_q && given && back == 8'h5a && first_q == 8'hc3);
        end
    end
endmodule
