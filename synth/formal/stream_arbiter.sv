// SPDX-License-Identifier: MIT OR Apache-2.0
// The packets of each source leave a stream_arbiter whole, unchanged and in order. No source waits
// for more than one packet of each other source.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [2:0] in_valid, in_last;
    (* anyseq *) logic [2:0][1:0] in_data;
    (* anyseq *) logic out_ready;
    (* anyconst *) logic [1:0] watched;
    logic [2:0] in_ready;
    logic out_valid, out_last;
    logic [1:0] out_data, out_source;
    logic started = 1'b0;

    stream_arbiter #(
        .Sources(3),
        .Width  (2)
    ) u_block (
        .clk_i,
        .rst_ni      (started),
        .in_valid_i  (in_valid),
        .in_ready_o  (in_ready),
        .in_data_i   (in_data),
        .in_last_i   (in_last),
        .out_valid_o (out_valid),
        .out_ready_i (out_ready),
        .out_data_o  (out_data),
        .out_last_o  (out_last),
        .out_source_o(out_source)
    );
    stream_monitor #(
        .Width(4),
        .QuietValid(0)
    ) u_monitor (
        .clk_i,
        .rst_ni (started),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i ({out_source, out_data}),
        .last_i (out_last)
    );

    always_ff @(posedge clk_i) started <= 1'b1;
    for (genvar k = 0; k < 3; k++) begin : gen_source
        offer #(
            .Width(3)
        ) u_source (
            .clk_i,
            .rst_ni (started),
            .valid_i(in_valid[k]),
            .ready_i(in_ready[k]),
            .data_i ({in_last[k], in_data[k]})
        );
    end
    always_comb assume (watched < 3);

    // The source whose packet is in progress, and the packets that have passed the waiting one.
    logic inside_q = 1'b0;
    logic [1:0] owner_q;
    logic [2:0] passed_q = '0;
    always_ff @(posedge clk_i) begin
        if (started) begin
            if (out_valid && out_ready) begin
                inside_q <= !out_last;
                owner_q  <= out_source;
            end
            if (!in_valid[watched] || in_ready[watched]) passed_q <= '0;
            else if (out_valid && out_ready && out_last) passed_q <= passed_q + 3'd1;
            // An accepted beat leaves exactly one source, which is the named one.
            assert ((in_valid & in_ready) == ((out_valid && out_ready) ? 3'b001 << out_source : 3'b000));
            if (out_valid) assert (out_source < 3 && out_data == in_data[out_source] && out_last == in_last[out_source]);
            if (out_valid && inside_q) assert (out_source == owner_q);
            // The output is idle only if no source offers anything, or in a gap within a packet.
            assert (out_valid || in_valid == '0 || inside_q);
            assert (passed_q <= 3'd2 + 3'(inside_q));
            cover (out_valid && out_ready && out_source == 2 && passed_q == 3'd2 && watched == 2);
        end
    end
endmodule
