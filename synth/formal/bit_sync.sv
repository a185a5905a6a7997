// SPDX-License-Identifier: MIT OR Apache-2.0
// The output of a bit_sync is its input two edges ago, and the configured value in reset and just
// after it.
module formal (
    input logic clk_i
);
    (* anyseq *) logic given, again;
    logic got, rst_n;
    logic [1:0] past_q;
    logic started = 1'b0;

    assign rst_n = started && !again;

    bit_sync #(
        .Value(1)
    ) u_block (
        .clk_i,
        .rst_ni(rst_n),
        .bit_i (given),
        .bit_o (got)
    );

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        past_q  <= rst_n ? {past_q[0], given} : 2'b11;
        if (started) assert (got == past_q[1]);
        cover (rst_n && !got);
    end
endmodule
