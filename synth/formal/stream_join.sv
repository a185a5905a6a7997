// SPDX-License-Identifier: MIT OR Apache-2.0
// All sources of a stream_join give an item in the same cycles, in which the taker accepts one.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [2:0] in_valid;
    (* anyseq *) logic out_ready;
    logic [2:0] in_ready;
    logic out_valid;

    stream_join #(
        .Sources(3)
    ) u_block (
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready)
    );

    always_ff @(posedge clk_i) begin
        assert (out_valid == (in_valid == 3'b111));
        assert ((in_valid & in_ready) == {3{out_valid && out_ready}});
        // A source is not called ready if its item would not be accepted.
        assert (in_ready == '0 || in_valid == 3'b111);
        cover (out_valid && out_ready);
    end
endmodule
