// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries single events from one clock domain to another; none is lost or duplicated.
//
// An event is accepted in a cycle of src_clk_i with pulse_i and ready_o high. pulse_o is then high
// for one cycle of dst_clk_i, Stages + 1 edges of that clock later (or one more). ready_o is high
// again Stages edges of src_clk_i after that. Both clocks must see either reset: each side obeys
// the other's reset through flip-flops, so a reset must last Stages + 2 periods of the slower
// clock.
module pulse_sync #(
    parameter int unsigned Stages = 2  // flip-flops of a synchroniser, at least 2
) (
    input  logic src_clk_i,
    input  logic src_rst_ni,
    input  logic pulse_i,
    output logic ready_o,
    input  logic dst_clk_i,
    input  logic dst_rst_ni,
    output logic pulse_o
);
    if (Stages < 2) $error("pulse_sync: Stages must be at least 2");

    // An event is a change of level: sent_q has toggled and seen_q has not followed yet.
    logic src_rst_n, dst_rst_n, src_peer_n, dst_peer_n;
    logic sent_q, sent, seen_q, seen;

    bit_sync #(
        .Stages(Stages)
    ) u_src_peer (
        .clk_i (src_clk_i),
        .rst_ni(src_rst_ni),
        .bit_i (dst_rst_ni),
        .bit_o (src_peer_n)
    );
    bit_sync #(
        .Stages(Stages)
    ) u_dst_peer (
        .clk_i (dst_clk_i),
        .rst_ni(dst_rst_ni),
        .bit_i (src_rst_ni),
        .bit_o (dst_peer_n)
    );
    assign src_rst_n = src_rst_ni && src_peer_n;
    assign dst_rst_n = dst_rst_ni && dst_peer_n;

    bit_sync #(
        .Stages(Stages)
    ) u_sent (
        .clk_i (dst_clk_i),
        .rst_ni(dst_rst_n),
        .bit_i (sent_q),
        .bit_o (sent)
    );
    bit_sync #(
        .Stages(Stages)
    ) u_seen (
        .clk_i (src_clk_i),
        .rst_ni(src_rst_n),
        .bit_i (seen_q),
        .bit_o (seen)
    );

    assign ready_o = src_rst_n && sent_q == seen;

    always_ff @(posedge src_clk_i) begin
        if (!src_rst_n) sent_q <= 1'b0;
        else if (pulse_i && ready_o) sent_q <= !sent_q;
    end

    always_ff @(posedge dst_clk_i) begin
        if (!dst_rst_n) begin
            seen_q  <= 1'b0;
            pulse_o <= 1'b0;
        end else begin
            seen_q  <= sent;
            pulse_o <= sent != seen_q;
        end
    end
endmodule
