// SPDX-License-Identifier: MIT OR Apache-2.0
// The output of a reset_sync is its input, two edges later.
module formal (
    input logic clk_i
);
    (* anyseq *) logic rst_n;
    logic out_n;
    logic [1:0] past_q;
    logic [1:0] started = '0;

    reset_sync u_block (
        .clk_i,
        .rst_ni(rst_n),
        .rst_no(out_n)
    );

    always_ff @(posedge clk_i) begin
        started <= {started[0], 1'b1};
        past_q  <= {past_q[0], rst_n};
        if (&started) assert (out_n == past_q[1]);
        cover (&started && out_n && !rst_n);
    end
endmodule
