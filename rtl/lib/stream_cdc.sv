// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries a stream from one clock domain to another: an asynchronous FIFO.
//
// Each end counts in a Gray code, in which one bit changes at a time. The other end sees the count
// through Stages flip-flops, and so sees either the old count or the new one. An item is offered
// Stages + 2 edges of out_clk_i after the edge of in_clk_i that accepted it (or one more). Rate: an
// item per cycle of the slower clock if Depth is at least 2 Stages + 4 and the clocks are equal;
// otherwise Depth limits it. Valid, ready and data are registered on their own clocks. Not ready in
// reset. Both clocks must see either reset: each side obeys the other's reset through flip-flops,
// so a reset must last Stages + 2 periods of the slower clock. Items in transit are then lost. The
// values of waiting items are cleared once in_clk_i has run in reset.
module stream_cdc #(
    parameter int unsigned Width  = 8,  // bits of an item, at least 1
    parameter int unsigned Depth  = 8,  // items, a power of two, at least 4
    parameter int unsigned Stages = 2   // flip-flops of a synchroniser, at least 2
) (
    input  logic             in_clk_i,
    input  logic             in_rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    input  logic             out_clk_i,
    input  logic             out_rst_ni,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    localparam int unsigned Bits = $clog2(Depth);

    if (Width < 1) $error("stream_cdc: Width must be at least 1");
    if (Depth < 4 || Depth != 2 ** Bits) $error("stream_cdc: Depth must be a power of two, at least 4");
    if (Stages < 2) $error("stream_cdc: Stages must be at least 2");

    logic in_rst_n, out_rst_n, in_peer_n, out_peer_n;

    bit_sync #(
        .Stages(Stages)
    ) u_in_peer (
        .clk_i (in_clk_i),
        .rst_ni(in_rst_ni),
        .bit_i (out_rst_ni),
        .bit_o (in_peer_n)
    );
    bit_sync #(
        .Stages(Stages)
    ) u_out_peer (
        .clk_i (out_clk_i),
        .rst_ni(out_rst_ni),
        .bit_i (in_rst_ni),
        .bit_o (out_peer_n)
    );
    assign in_rst_n = in_rst_ni && in_peer_n;
    assign out_rst_n = out_rst_ni && out_peer_n;

    // Counts of items accepted and of items output, one bit wider than an index; binary for the own
    // end, Gray for the other.
    logic [Bits:0] in_count_q, in_count, in_gray_q, in_gray, in_gray_seen;
    logic [Bits:0] out_count_q, out_count, out_gray_q, out_gray, out_gray_seen;
    logic [Depth-1:0][Width-1:0] item_q;
    logic push, load;

    for (genvar k = 0; k <= int'(Bits); k++) begin : gen_bit
        bit_sync #(
            .Stages(Stages)
        ) u_in (
            .clk_i (out_clk_i),
            .rst_ni(out_rst_n),
            .bit_i (in_gray_q[k]),
            .bit_o (in_gray_seen[k])
        );
        bit_sync #(
            .Stages(Stages)
        ) u_out (
            .clk_i (in_clk_i),
            .rst_ni(in_rst_n),
            .bit_i (out_gray_q[k]),
            .bit_o (out_gray_seen[k])
        );
    end

    // Input.
    assign push = in_valid_i && in_ready_o;
    assign in_count = in_count_q + (Bits + 1)'(push);
    assign in_gray = in_count ^ (in_count >> 1);

    always_ff @(posedge in_clk_i) begin
        if (!in_rst_n) begin
            in_count_q <= '0;
            in_gray_q  <= '0;
            in_ready_o <= 1'b0;
        end else begin
            in_count_q <= in_count;
            in_gray_q  <= in_gray;
            // Full when the counts differ by Depth: in Gray, in both upper bits.
            in_ready_o <= in_gray != (out_gray_seen ^ {2'b11, {Bits-1{1'b0}}});
        end
    end

    always_ff @(posedge in_clk_i) begin
        if (!in_rst_n) item_q <= '0;
        else if (push) item_q[in_count_q[Bits-1:0]] <= in_data_i;
    end

    // Output: the item that is offered no longer occupies an entry.
    assign load = in_gray_seen != out_gray_q && (!out_valid_o || out_ready_i);
    assign out_count = out_count_q + (Bits + 1)'(load);
    assign out_gray = out_count ^ (out_count >> 1);

    always_ff @(posedge out_clk_i) begin
        if (!out_rst_n) begin
            out_count_q <= '0;
            out_gray_q  <= '0;
            out_valid_o <= 1'b0;
            out_data_o  <= '0;
        end else begin
            out_count_q <= out_count;
            out_gray_q  <= out_gray;
            if (load) out_data_o <= item_q[out_count_q[Bits-1:0]];
            if (load) out_valid_o <= 1'b1;
            else if (out_ready_i) out_valid_o <= 1'b0;
        end
    end
endmodule
