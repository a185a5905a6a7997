// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream_demux gives every item to the selected taker and to no other.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [1:0] select;
    (* anyseq *) logic in_valid;
    (* anyseq *) logic [2:0] out_ready;
    (* anyconst *) logic [1:0] taker;
    logic in_ready;
    logic [2:0] out_valid;

    stream_demux #(
        .Takers(3)
    ) u_block (
        .select_i   (select),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready)
    );

    always_comb assume (taker < 3);
    always_ff @(posedge clk_i) begin
        assert (out_valid[taker] == (in_valid && select == taker));
        if (select == taker) assert (in_ready == out_ready[taker]);
        if (select == 3) assert (!in_ready);
        cover (in_valid && in_ready && select == 2);
    end
endmodule
