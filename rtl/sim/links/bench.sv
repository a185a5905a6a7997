// SPDX-License-Identifier: MIT OR Apache-2.0
// Messages in both directions over a serial line with occasional bit errors.
module bench (
    input logic clk_i
);
    // Xorshift.
    function automatic logic [31:0] next(input logic [31:0] x);
        next = x ^ (x << 13);
        next = next ^ (next >> 17);
        next = next ^ (next << 5);
    endfunction

    localparam int unsigned Words = 8;
    int unsigned cycle_q = 0;
    logic [31:0] random_q = 32'd1;
    logic [1:0] in_ready, out_valid, out_last, tx, up, fault, delivered;
    logic [1:0][31:0] out_data, sent_q = '0, taken_q = '0;
    logic [1:0][3:0] code;
    logic rst_n, wrong;
    assign rst_n = cycle_q > 4;
    // Long enough to corrupt a frame, rare enough for most to arrive.
    assign wrong = cycle_q % 9973 < 9;

    for (genvar k = 0; k < 2; k++) begin : gen_end
        uart_link #(
            .BaudDivisor(8),
            .Words      (Words),
            .Timeout    (4000)
        ) u_link (
            .clk_i,
            .rst_ni      (rst_n),
            .tag_i       (16'(k + 1)),
            .in_valid_i  (sent_q[k] < 32'd80),
            .in_ready_o  (in_ready[k]),
            .in_data_i   (next(sent_q[k] + 32'(k) + 32'd1)),
            .in_last_i   (sent_q[k] % 4 == 3),
            .delivered_o (delivered[k]),
            .out_valid_o (out_valid[k]),
            .out_ready_i (random_q[k]),
            .out_data_o  (out_data[k]),
            .out_last_o  (out_last[k]),
            .tx_o        (tx[k]),
            .rx_i        (tx[1-k] ^ wrong),
            .up_o        (up[k]),
            .fault_o     (fault[k]),
            .fault_code_o(code[k])
        );

        always_ff @(posedge clk_i) begin
            if (rst_n && in_ready[k] && sent_q[k] < 32'd80) sent_q[k] <= sent_q[k] + 32'd1;
            if (rst_n && out_valid[k] && random_q[k]) begin
                if (out_data[k] != next(taken_q[k] + 32'(1 - k) + 32'd1)) $fatal(1, "word %0d of end %0d is 0x%h", taken_q[k], 1 - k, out_data[k]);
                if (out_last[k] != (taken_q[k] % 4 == 3)) $fatal(1, "end %0d: the end of a message is wrong at word %0d", 1 - k, taken_q[k]);
                taken_q[k] <= taken_q[k] + 32'd1;
            end
        end
    end

    always_ff @(posedge clk_i) begin
        cycle_q  <= cycle_q + 1;
        random_q <= next(random_q);
        if (taken_q[0] == 32'd80 && taken_q[1] == 32'd80) begin
            $display("bench: 20 messages each way are right");
            $finish;
        end
    end

    logic unused;
    assign unused = &{1'b0, delivered, up, fault, code, random_q};
endmodule
