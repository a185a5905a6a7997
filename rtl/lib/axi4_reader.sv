// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads words from a memory behind an AXI4 port. Splits requests into bursts, and returns words in
// the order of the requests.
//
// A burst is issued only when the buffer has space for all of it, so every beat is accepted at
// once. Up to Bursts bursts are outstanding. Rate: a word per cycle, if the memory delivers one and
// Depth is at least the sum of its latency in cycles and two bursts. Latency: 2 cycles from a
// request to its first address, 2 from a beat to its word.
//
// After a fault (axi4_watch) no further word is stored and no burst issued; words received before
// it can still be read. clear_i drops requests and words. Outstanding bursts are awaited and
// dropped. Requests are accepted again when idle_o is high and the word memory is wiped (Depth + 2
// cycles). Reset drops everything at once: the memory must be reset together with this module.
module axi4_reader #(
    parameter int unsigned Width      = 64,   // bits of a word, and of the bus
    parameter int unsigned AddrWidth  = 32,   // bits of a word's address
    parameter int unsigned CountWidth = 16,   // bits of a request's length
    parameter int unsigned Beats      = 16,   // words of the longest burst: axi4_bursts
    parameter int unsigned Bursts     = 8,    // outstanding bursts, at least 2
    parameter int unsigned Depth      = 128,  // words of buffer, at least Beats
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
    output logic                          valid_o,
    input  logic                          ready_i,
    output logic [Width-1:0]              data_o,
    output logic                          last_o,          // of a request
    // The bus.
    output logic                          axi_arid_o,
    output logic [AddrWidth+ByteBits-1:0] axi_araddr_o,
    output logic [7:0]                    axi_arlen_o,
    output logic [2:0]                    axi_arsize_o,
    output logic [1:0]                    axi_arburst_o,
    output logic                          axi_arvalid_o,
    input  logic                          axi_arready_i,
    input  logic                          axi_rid_i,
    input  logic [Width-1:0]              axi_rdata_i,
    input  logic [1:0]                    axi_rresp_i,
    input  logic                          axi_rlast_i,
    input  logic                          axi_rvalid_i,
    output logic                          axi_rready_o
);
    if (Bursts < 2) $error("axi4_reader: Bursts must be at least 2");
    if (Depth < Beats || Depth < 2) $error("axi4_reader: Depth must be at least Beats and 2");

    localparam int unsigned RoomBits = $clog2(Depth + 1) > 9 ? $clog2(Depth + 1) : 9;
    localparam int unsigned BurstBits = $clog2(Bursts + 1);

    // Splits requests into bursts, until a fault.
    logic cutting, burst_valid, burst_ready, burst_last, cut_ready;
    logic [AddrWidth-1:0] burst_addr;
    logic [8:0] burst_beats;
    logic clearing_q;

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

    // Unreserved words of the buffer, and outstanding bursts, counted from the address register to
    // the last beat.
    logic [RoomBits-1:0] room_q;
    logic [BurstBits-1:0] under_way_q;
    logic asked, answered, ended, taken, words_ready, last_q;

    assign burst_ready = fault_o == axi4_pkg::Sound && words_ready && under_way_q != BurstBits'(Bursts) && room_q >= RoomBits'(burst_beats) &&
                         (!axi_arvalid_o || axi_arready_i);
    assign asked = burst_valid && burst_ready && cutting;
    assign taken = valid_o && ready_i;
    assign idle_o = !clearing_q && under_way_q == '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            room_q        <= RoomBits'(Depth);
            under_way_q   <= '0;
            clearing_q    <= 1'b0;
            axi_arvalid_o <= 1'b0;
            axi_araddr_o  <= '0;
            axi_arlen_o   <= '0;
            last_q        <= 1'b0;
        end else begin
            if (!cutting) room_q <= RoomBits'(Depth);
            else room_q <= room_q - (asked ? RoomBits'(burst_beats) : '0) + RoomBits'(taken);
            under_way_q <= under_way_q + BurstBits'(asked) - BurstBits'(ended);
            clearing_q  <= clear_i || (clearing_q && under_way_q != '0);
            if (asked) begin
                axi_arvalid_o <= 1'b1;
                axi_araddr_o  <= (AddrWidth + ByteBits)'(burst_addr) << ByteBits;
                axi_arlen_o   <= 8'(burst_beats - 9'd1);
                last_q        <= burst_last;
            end else if (axi_arready_i) begin
                axi_arvalid_o <= 1'b0;
            end
        end
    end

    assign axi_arid_o = 1'b0;
    assign axi_arsize_o = 3'(ByteBits);
    assign axi_arburst_o = 2'b01;

    // What is expected: for each accepted address, its length and whether it ends a request.
    logic expected_valid, expected_last, unused_ready;
    logic [7:0] expected_len, beat_q;

    stream_fifo #(
        .Width(9),
        .Depth(Bursts)
    ) u_expected (
        .clk_i,
        .rst_ni,
        .in_valid_i (axi_arvalid_o && axi_arready_i),
        .in_ready_o (unused_ready),
        .in_data_i  ({last_q, axi_arlen_o}),
        .out_valid_o(expected_valid),
        .out_ready_i(ended),
        .out_data_o ({expected_last, expected_len})
    );

    // What arrives. A burst ends with the beat that its length makes the last.
    logic [2:0] seen;
    logic last_beat, good;

    assign answered = axi_rvalid_i && axi_rready_o;
    assign last_beat = beat_q == expected_len;
    assign ended = answered && expected_valid && last_beat;
    assign good = answered && seen == axi4_pkg::Sound && fault_o == axi4_pkg::Sound && cutting;

    always_comb begin
        seen = axi4_pkg::Sound;
        if (answered) begin
            seen = axi4_pkg::response_fault(axi_rresp_i);
            if (axi_rlast_i != last_beat) seen = axi4_pkg::Misplaced;
            if (!expected_valid || axi_rid_i != axi_arid_o) seen = axi4_pkg::Unasked;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            beat_q       <= '0;
            axi_rready_o <= 1'b0;
        end else begin
            if (answered && expected_valid) beat_q <= last_beat ? 8'd0 : beat_q + 8'd1;
            axi_rready_o <= 1'b1;
        end
    end

    axi4_watch #(
        .Timeout(Timeout)
    ) u_watch (
        .clk_i,
        .rst_ni,
        .clear_i,
        .awaited_i(under_way_q != '0),
        .moved_i  (answered || (axi_arvalid_o && axi_arready_i)),
        .seen_i   (seen),
        .fault_o
    );

    stream_fifo #(
        .Width (Width + 1),
        .Depth (Depth),
        .Memory(1)
    ) u_words (
        .clk_i,
        .rst_ni     (cutting),
        .in_valid_i (good),
        .in_ready_o (words_ready),
        .in_data_i  ({expected_last && last_beat, axi_rdata_i}),
        .out_valid_o(valid_o),
        .out_ready_i(ready_i),
        .out_data_o ({last_o, data_o})
    );

    // The assertions hold from the first reset on.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(RoomForWords, !good || words_ready, clk_i, !rst_ni || !settled_q)
    `ASSERT(RoomForBursts, !(axi_arvalid_o && axi_arready_i) || unused_ready, clk_i, !rst_ni || !settled_q)
    `ASSERT(Promised, room_q <= RoomBits'(Depth), clk_i, !rst_ni || !settled_q)
    `COVER(FullyPromised, under_way_q == BurstBits'(Bursts), clk_i, !rst_ni || !settled_q)

    logic unused;
    assign unused = &{1'b0, unused_ready};
endmodule
