// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks an AXI4 manager port, and fails the simulation when the manager breaks the rules; with
// Trusting = 0 also when the memory does.
//
// The manager's rules: items on every channel stay until accepted; bursts are INCR, of the bus's
// width, aligned, and never cross 4 KiB; the last beat of data of each burst is marked, and no
// other; data never precedes its address. The memory's rules: it answers only what was requested,
// and marks the last beat of each read burst.
module axi4_monitor #(
    parameter int unsigned Width    = 64,  // bits of the bus
    parameter int unsigned AddrBits = 35,  // bits of a byte's address
    parameter int unsigned Settle   = 0,   // stream_monitor
    parameter int unsigned Trusting = 1
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic [AddrBits-1:0] araddr_i,
    input logic [7:0]          arlen_i,
    input logic [2:0]          arsize_i,
    input logic [1:0]          arburst_i,
    input logic                arvalid_i,
    input logic                arready_i,
    input logic [Width-1:0]    rdata_i,
    input logic [1:0]          rresp_i,
    input logic                rlast_i,
    input logic                rvalid_i,
    input logic                rready_i,
    input logic [AddrBits-1:0] awaddr_i,
    input logic [7:0]          awlen_i,
    input logic [2:0]          awsize_i,
    input logic [1:0]          awburst_i,
    input logic                awvalid_i,
    input logic                awready_i,
    input logic [Width-1:0]    wdata_i,
    input logic [Width/8-1:0]  wstrb_i,
    input logic                wlast_i,
    input logic                wvalid_i,
    input logic                wready_i,
    input logic [1:0]          bresp_i,
    input logic                bvalid_i,
    input logic                bready_i
);
    if (Trusting > 1) $error("axi4_monitor: Trusting is 0 or 1");

    localparam int unsigned ByteBits = $clog2(Width / 8);

    stream_monitor #(
        .Width (AddrBits + 13),
        .Settle(Settle)
    ) u_ar (
        .clk_i,
        .rst_ni,
        .valid_i(arvalid_i),
        .ready_i(arready_i),
        .data_i ({arburst_i, arsize_i, arlen_i, araddr_i}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width (AddrBits + 13),
        .Settle(Settle)
    ) u_aw (
        .clk_i,
        .rst_ni,
        .valid_i(awvalid_i),
        .ready_i(awready_i),
        .data_i ({awburst_i, awsize_i, awlen_i, awaddr_i}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width (Width + Width / 8),
        .Settle(Settle)
    ) u_w (
        .clk_i,
        .rst_ni,
        .valid_i(wvalid_i),
        .ready_i(wready_i),
        .data_i ({wstrb_i, wdata_i}),
        .last_i (wlast_i)
    );
    if (Trusting == 0) begin : gen_memory
        stream_monitor #(
            .Width(Width + 2),
            .Settle(Settle),
            .QuietValid(0)
        ) u_r (
            .clk_i,
            .rst_ni,
            .valid_i(rvalid_i),
            .ready_i(rready_i),
            .data_i ({rresp_i, rdata_i}),
            .last_i (rlast_i)
        );
        stream_monitor #(
            .Width(2),
            .Settle(Settle),
            .QuietValid(0)
        ) u_b (
            .clk_i,
            .rst_ni,
            .valid_i(bvalid_i),
            .ready_i(bready_i),
            .data_i (bresp_i),
            .last_i (1'b0)
        );
    end

    logic [Settle:0] reset_q = '0;
    logic running;
    always_ff @(posedge clk_i) reset_q <= (Settle + 1)'({reset_q, !rst_ni});
    if (Settle == 0) begin : gen_at_once
        assign running = rst_ni;
    end else begin : gen_settle
        assign running = rst_ni && reset_q[Settle-1:0] == '0;
    end

    // Lengths of the bursts whose data or beats are outstanding; the oldest is at the `out` index.
    logic [7:0] read_len_q[256], write_len_q[256];
    logic [7:0] read_in_q, read_out_q, write_in_q, write_out_q, read_beat_q, write_beat_q;
    // Bursts whose response is outstanding.
    logic [8:0] responses_q;
    logic read_ends, write_ends;

    assign read_ends = read_beat_q == read_len_q[read_out_q];
    assign write_ends = write_beat_q == write_len_q[write_out_q];

    always_ff @(posedge clk_i) begin
        if (!running) begin
            read_in_q    <= '0;
            read_out_q   <= '0;
            read_beat_q  <= '0;
            write_in_q   <= '0;
            write_out_q  <= '0;
            write_beat_q <= '0;
            responses_q  <= '0;
        end else begin
            if (arvalid_i && arready_i) begin
                read_len_q[read_in_q] <= arlen_i;
                read_in_q <= read_in_q + 8'd1;
            end
            if (awvalid_i && awready_i) begin
                write_len_q[write_in_q] <= awlen_i;
                write_in_q <= write_in_q + 8'd1;
            end
            if (rvalid_i && rready_i) begin
                read_beat_q <= read_ends ? 8'd0 : read_beat_q + 8'd1;
                if (read_ends) read_out_q <= read_out_q + 8'd1;
            end
            if (wvalid_i && wready_i) begin
                write_beat_q <= write_ends ? 8'd0 : write_beat_q + 8'd1;
                if (write_ends) write_out_q <= write_out_q + 8'd1;
            end
            responses_q <= responses_q + 9'(wvalid_i && wready_i && wlast_i) - 9'(bvalid_i && bready_i);
        end
    end

    `include "assertions.svh"
    `ASSERT(ReadKind, !arvalid_i || (arburst_i == 2'b01 && arsize_i == 3'(ByteBits) && araddr_i >> ByteBits << ByteBits == araddr_i), clk_i, !running)
    `ASSERT(WriteKind, !awvalid_i || (awburst_i == 2'b01 && awsize_i == 3'(ByteBits) && awaddr_i >> ByteBits << ByteBits == awaddr_i), clk_i,
            !running)
    `ASSERT(ReadInPage, !arvalid_i || 32'(12'(araddr_i)) + ((32'(arlen_i) + 32'd1) << ByteBits) <= 32'd4096, clk_i, !running)
    `ASSERT(WriteInPage, !awvalid_i || 32'(12'(awaddr_i)) + ((32'(awlen_i) + 32'd1) << ByteBits) <= 32'd4096, clk_i, !running)
    `ASSERT(DataAfterAddress, !wvalid_i || write_in_q != write_out_q, clk_i, !running)
    `ASSERT(LastOfData, !wvalid_i || wlast_i == write_ends, clk_i, !running)
    `ASSERT(BeatAfterAddress, Trusting == 1 || !rvalid_i || read_in_q != read_out_q, clk_i, !running)
    `ASSERT(LastOfBeats, Trusting == 1 || !rvalid_i || rlast_i == read_ends, clk_i, !running)
    `ASSERT(ResponseAfterData, Trusting == 1 || !bvalid_i || responses_q != '0, clk_i, !running)

    logic unused;
    assign unused = &{1'b0, rdata_i, rresp_i, rlast_i, bresp_i, responses_q, read_ends, read_in_q};
endmodule
