// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes words to a memory behind an AXI4 port. Splits requests into bursts, and writes the words
// to the requested addresses in order.
//
// A burst begins only when all of its words are here, so the bus never waits for them. Up to Bursts
// bursts are outstanding. Rate: a word per cycle, if the memory accepts one and Depth is at least
// two bursts. done_o is high for one cycle when every word of the oldest request is in the memory.
//
// After a fault (axi4_watch) no burst begins and done_o stays low; bursts that have begun are
// completed. clear_i drops requests and words. The rest of a burst that has begun is sent without
// strobes. Requests are accepted again when idle_o is high and the word memory is wiped (Depth + 2
// cycles). Reset drops everything at once: the memory must be reset together with this module.
module axi4_writer #(
    parameter int unsigned Width      = 64,   // bits of a word, and of the bus
    parameter int unsigned AddrWidth  = 32,   // bits of a word's address
    parameter int unsigned CountWidth = 16,   // bits of a request's length
    parameter int unsigned Beats      = 16,   // words of the longest burst: axi4_bursts
    parameter int unsigned Bursts     = 8,    // outstanding bursts, at least 2
    parameter int unsigned Depth      = 64,   // words of buffer, at least Beats
    parameter int unsigned Timeout    = 4096, // cycles without progress before a fault
    localparam int unsigned ByteBits = $clog2(Width / 8)
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    input  logic                          clear_i,
    output logic                          idle_o,
    output logic [2:0] fault_o,
    // Requests and words.
    input  logic                          req_valid_i,
    output logic                          req_ready_o,
    input  logic [AddrWidth-1:0]          req_addr_i,
    input  logic [CountWidth-1:0]         req_count_i,
    input  logic                          valid_i,
    output logic                          ready_o,
    input  logic [Width-1:0]              data_i,
    output logic                          done_o,
    // The bus.
    output logic                          axi_awid_o,
    output logic [AddrWidth+ByteBits-1:0] axi_awaddr_o,
    output logic [7:0]                    axi_awlen_o,
    output logic [2:0]                    axi_awsize_o,
    output logic [1:0]                    axi_awburst_o,
    output logic                          axi_awvalid_o,
    input  logic                          axi_awready_i,
    output logic [Width-1:0]              axi_wdata_o,
    output logic [Width/8-1:0]            axi_wstrb_o,
    output logic                          axi_wlast_o,
    output logic                          axi_wvalid_o,
    input  logic                          axi_wready_i,
    input  logic                          axi_bid_i,
    input  logic [1:0]                    axi_bresp_i,
    input  logic                          axi_bvalid_i,
    output logic                          axi_bready_o
);
    if (Bursts < 2) $error("axi4_writer: Bursts must be at least 2");
    if (Depth < Beats || Depth < 2) $error("axi4_writer: Depth must be at least Beats and 2");

    localparam int unsigned HeldBits = $clog2(Depth + 1) > 9 ? $clog2(Depth + 1) : 9;
    localparam int unsigned BurstBits = $clog2(Bursts + 1);

    // Bursts, cut until a fault.
    logic cutting, burst_valid, burst_ready, burst_last, cut_ready, clearing_q;
    logic [AddrWidth-1:0] burst_addr;
    logic [8:0] burst_beats;

    assign cutting = rst_ni && !clear_i && !clearing_q;
    assign req_ready_o = cut_ready && fault_o == axi4_pkg::Sound;

    axi4_bursts #(
        .Width     (Width),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .Beats     (Beats)
    ) u_bursts (
        .clk_i,
        .rst_ni       (cutting),
        .req_valid_i  (req_valid_i && fault_o == axi4_pkg::Sound),
        .req_ready_o  (cut_ready),
        .req_addr_i,
        .req_count_i,
        .burst_valid_o(burst_valid),
        .burst_ready_i(burst_ready),
        .burst_addr_o (burst_addr),
        .burst_beats_o(burst_beats),
        .burst_last_o (burst_last)
    );

    // Waiting words; held_q counts those that no burst has claimed.
    logic word_valid, word_ready, pushed;
    logic [Width-1:0] word;
    logic [HeldBits-1:0] held_q;
    assign pushed = valid_i && ready_o;

    stream_fifo #(
        .Width (Width),
        .Depth (Depth),
        .Memory(1)
    ) u_words (
        .clk_i,
        .rst_ni     (cutting),
        .in_valid_i (valid_i),
        .in_ready_o (ready_o),
        .in_data_i  (data_i),
        .out_valid_o(word_valid),
        .out_ready_i(word_ready),
        .out_data_o (word)
    );

    // Outstanding bursts, counted from the address register to the response.
    logic [BurstBits-1:0] under_way_q;
    logic begun, addressed, answered, responded, last_q;

    assign burst_ready = fault_o == axi4_pkg::Sound && under_way_q != BurstBits'(Bursts) && held_q >= HeldBits'(burst_beats) && (!axi_awvalid_o || axi_awready_i);
    assign begun = burst_valid && burst_ready && cutting;
    assign addressed = axi_awvalid_o && axi_awready_i;
    assign idle_o = !clearing_q && under_way_q == '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            held_q        <= '0;
            under_way_q   <= '0;
            clearing_q    <= 1'b0;
            axi_awvalid_o <= 1'b0;
            axi_awaddr_o  <= '0;
            axi_awlen_o   <= '0;
            last_q        <= 1'b0;
        end else begin
            if (!cutting) held_q <= '0;
            else held_q <= held_q + HeldBits'(pushed) - (begun ? HeldBits'(burst_beats) : '0);
            under_way_q <= under_way_q + BurstBits'(begun) - BurstBits'(responded);
            clearing_q  <= clear_i || (clearing_q && under_way_q != '0);
            if (begun) begin
                axi_awvalid_o <= 1'b1;
                axi_awaddr_o  <= (AddrWidth + ByteBits)'(burst_addr) << ByteBits;
                axi_awlen_o   <= 8'(burst_beats - 9'd1);
                last_q        <= burst_last;
            end else if (axi_awready_i) begin
                axi_awvalid_o <= 1'b0;
            end
        end
    end

    assign axi_awid_o = 1'b0;
    assign axi_awsize_o = 3'(ByteBits);
    assign axi_awburst_o = 2'b01;

    // Beats of the bursts whose address was accepted. An offered beat stays, even through a clear.
    logic sending_valid, sending_last, unused_ready, loads, ends;
    logic [7:0] sending_len, beat_q;

    stream_fifo #(
        .Width(9),
        .Depth(Bursts)
    ) u_sending (
        .clk_i,
        .rst_ni,
        .in_valid_i (addressed),
        .in_ready_o (unused_ready),
        .in_data_i  ({last_q, axi_awlen_o}),
        .out_valid_o(sending_valid),
        .out_ready_i(loads && ends),
        .out_data_o ({sending_last, sending_len})
    );

    assign ends = beat_q == sending_len;
    assign loads = sending_valid && (!axi_wvalid_o || axi_wready_i) && (word_valid || !cutting);
    assign word_ready = loads && cutting;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            axi_wvalid_o <= 1'b0;
            axi_wdata_o  <= '0;
            axi_wstrb_o  <= '0;
            axi_wlast_o  <= 1'b0;
            beat_q       <= '0;
        end else begin
            if (loads) begin
                axi_wvalid_o <= 1'b1;
                axi_wdata_o  <= cutting ? word : '0;
                axi_wstrb_o  <= {Width / 8{cutting}};
                axi_wlast_o  <= ends;
                beat_q       <= ends ? 8'd0 : beat_q + 8'd1;
            end else if (axi_wready_i) begin
                axi_wvalid_o <= 1'b0;
                axi_wdata_o  <= '0;
            end
        end
    end

    // Responses to bursts whose last beat was accepted. A bit per burst says whether it ends a
    // request.
    logic closing_q, closed, expected_valid, expected_last, unused_room;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) closing_q <= 1'b0;
        else if (loads) closing_q <= sending_last;
    end
    assign closed = axi_wvalid_o && axi_wready_i && axi_wlast_o;

    stream_fifo #(
        .Width(1),
        .Depth(Bursts)
    ) u_expected (
        .clk_i,
        .rst_ni,
        .in_valid_i (closed),
        .in_ready_o (unused_room),
        .in_data_i  (closing_q),
        .out_valid_o(expected_valid),
        .out_ready_i(answered),
        .out_data_o (expected_last)
    );

    logic [2:0] seen;
    assign answered = axi_bvalid_i && axi_bready_o;
    assign responded = answered && expected_valid;

    always_comb begin
        seen = axi4_pkg::Sound;
        if (answered) begin
            seen = axi4_pkg::response_fault(axi_bresp_i);
            if (!expected_valid || axi_bid_i != axi_awid_o) seen = axi4_pkg::Unasked;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            axi_bready_o <= 1'b0;
            done_o       <= 1'b0;
        end else begin
            axi_bready_o <= 1'b1;
            done_o       <= responded && expected_last && seen == axi4_pkg::Sound && fault_o == axi4_pkg::Sound && cutting;
        end
    end

    axi4_watch #(
        .Timeout(Timeout)
    ) u_watch (
        .clk_i,
        .rst_ni,
        .clear_i,
        .awaited_i(under_way_q != '0),
        .moved_i  (answered || addressed || (axi_wvalid_o && axi_wready_i)),
        .seen_i   (seen),
        .fault_o
    );

    // The assertions hold from the first reset on.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(RoomForBursts, (!addressed || unused_ready) && (!closed || unused_room), clk_i, !rst_ni || !settled_q)
    `COVER(FullyUnderWay, under_way_q == BurstBits'(Bursts), clk_i, !rst_ni || !settled_q)

    logic unused;
    assign unused = &{1'b0, unused_ready, unused_room};
endmodule
