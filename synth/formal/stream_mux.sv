// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream_mux passes exactly the items of the selected source, unchanged.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [1:0] select;
    (* anyseq *) logic [2:0] in_valid;
    (* anyseq *) logic [2:0][1:0] in_data;
    (* anyseq *) logic out_ready;
    (* anyconst *) logic [1:0] source;
    logic [2:0] in_ready;
    logic out_valid;
    logic [1:0] out_data;

    stream_mux #(
        .Sources(3),
        .Width  (2)
    ) u_block (
        .select_i   (select),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data)
    );

    always_comb assume (source < 3);
    always_ff @(posedge clk_i) begin
        if (select == source) begin
            assert (out_valid == in_valid[source] && in_ready[source] == out_ready);
            assert (!out_valid || out_data == in_data[source]);
        end else begin
            assert (!in_ready[source]);
        end
        if (select == 3) assert (!out_valid);
        cover (out_valid && out_ready && select == 2);
    end
endmodule
