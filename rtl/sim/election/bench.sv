// SPDX-License-Identifier: MIT OR Apache-2.0
// The digests of "abc" and of the standard's longer message [FIPS180].
module bench (
    input logic clk_i
);
    localparam logic [255:0] Short = 256'hba7816bf_8f01cfea_414140de_5dae2223_b00361a3_96177a9c_b410ff61_f20015ad;
    localparam logic [255:0] Long = 256'h248d6a61_d20638b8_e5c02693_0c3e6039_a33ce459_64ff2167_f6ecedd4_19db06c1;
    int unsigned cycle_q = 0;
    logic [3:0] at_q = '0;
    logic long_q = 1'b0, rst_n, ready, valid, last;
    logic [31:0] word;
    logic [255:0] digest;
    assign rst_n = cycle_q > 4;
    // "abcdbcdecdef...": word k begins with letter k, each letter followed by the next.
    assign word = long_q ? {8'h61 + 8'(at_q), 8'h62 + 8'(at_q), 8'h63 + 8'(at_q), 8'h64 + 8'(at_q)} : 32'h6162_6300;
    assign last = !long_q || at_q == 4'd13;

    sha256 u_hash (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (at_q < 4'd14),
        .in_ready_o (ready),
        .in_data_i  (word),
        .in_last_i  (last),
        .in_bytes_i (long_q ? 2'd0 : 2'd3),
        .out_valid_o(valid),
        .out_ready_i(1'b1),
        .out_data_o (digest)
    );

    always_ff @(posedge clk_i) begin
        cycle_q <= cycle_q + 1;
        if (rst_n && ready && at_q < 4'd14) at_q <= last ? 4'd15 : at_q + 1'b1;
        if (rst_n && valid) begin
            if (digest != (long_q ? Long : Short)) $fatal(1, "the digest is 0x%h", digest);
            if (long_q) begin
                $display("bench: both digests are right");
                $finish;
            end
            long_q <= 1'b1;
            at_q   <= '0;
        end
    end
endmodule
