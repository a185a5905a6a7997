// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers in order through a stream_fifo, with pauses at both ends, and a checksum as in zlib.
module bench (
    input logic clk_i
);
    // Xorshift.
    function automatic logic [31:0] next(input logic [31:0] x);
        next = x ^ (x << 13);
        next = next ^ (next >> 17);
        next = next ^ (next << 5);
    endfunction

    int unsigned cycle_q = 0;
    logic [31:0] random_q = 32'd1;
    logic [15:0] sent_q = '0, taken_q = '0;
    logic rst_n, in_ready, out_valid;
    logic [15:0] out_data;
    logic [31:0] crc;
    assign rst_n = cycle_q > 4;

    stream_fifo #(
        .Width(16),
        .Depth(3)
    ) u_fifo (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (random_q[0]),
        .in_ready_o (in_ready),
        .in_data_i  (sent_q),
        .out_valid_o(out_valid),
        .out_ready_i(random_q[7]),
        .out_data_o (out_data)
    );
    // The checksum of "1234" is 0x9be3e0a3.
    crc32 u_crc (
        .crc_i (32'hffff_ffff),
        .data_i(32'h3433_3231),
        .crc_o (crc)
    );

    always_ff @(posedge clk_i) begin
        cycle_q  <= cycle_q + 1;
        random_q <= next(random_q);
        if (~crc != 32'h9be3_e0a3) $fatal(1, "the checksum is 0x%h", ~crc);
        if (rst_n && random_q[0] && in_ready) sent_q <= sent_q + 1'b1;
        if (rst_n && out_valid && random_q[7]) begin
            if (out_data != taken_q) $fatal(1, "the output is %0d, not %0d", out_data, taken_q);
            taken_q <= taken_q + 1'b1;
            if (taken_q == 16'd999) begin
                $display("bench: 1000 numbers in order");
                $finish;
            end
        end
    end
endmodule
