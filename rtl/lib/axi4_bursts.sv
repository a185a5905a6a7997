// SPDX-License-Identifier: MIT OR Apache-2.0
// Splits requests for words of a memory into bursts of at most Beats words.
//
// Bursts end at multiples of Beats words: only the first and last burst of a request can be
// shorter, and none crosses 4 KiB. It issues a burst every cycle, with one idle cycle between
// requests. All outputs are registers except the length and burst_last_o, which are computed from
// two registers.
module axi4_bursts #(
    parameter int unsigned Width      = 64,  // bits of a word: 8, 16 ... 1024
    parameter int unsigned AddrWidth  = 32,  // bits of a word's address
    parameter int unsigned CountWidth = 16,  // bits of a request's length
    // words of the longest burst: 1, 2, 4 ... 256, and at most 4 KiB
    parameter int unsigned Beats      = 16
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  req_valid_i,
    output logic                  req_ready_o,
    input  logic [AddrWidth-1:0]  req_addr_i,
    input  logic [CountWidth-1:0] req_count_i,    // words, not 0
    output logic                  burst_valid_o,
    input  logic                  burst_ready_i,
    output logic [AddrWidth-1:0]  burst_addr_o,
    output logic [8:0]            burst_beats_o,
    output logic                  burst_last_o    // the last burst of its request
);
    if (Width < 8 || Width > 1024 || Width != 2 ** $clog2(Width)) $error("axi4_bursts: Width is a power of two, 8 to 1024");
    if (Beats < 1 || Beats > 256 || Beats != 2 ** $clog2(Beats)) $error("axi4_bursts: Beats is a power of two up to 256");
    if (Beats * Width > 8 * 4096) $error("axi4_bursts: Beats words are more than 4 KiB");
    if (AddrWidth < 9 || AddrWidth > 56) $error("axi4_bursts: AddrWidth is 9 to 56");
    if (CountWidth < 1 || CountWidth > 32) $error("axi4_bursts: CountWidth is 1 to 32");

    localparam logic [8:0] Most = 9'(Beats);

    logic running_q, active_q;
    logic [AddrWidth-1:0] addr_q;
    logic [CountWidth-1:0] count_q;

    // Words to the next multiple of Beats.
    logic [8:0] room;
    assign room = Most - (addr_q[8:0] & (Most - 9'd1));

    assign req_ready_o = running_q && !active_q;
    assign burst_valid_o = active_q;
    assign burst_addr_o = addr_q;
    assign burst_last_o = 32'(count_q) <= 32'(room);
    assign burst_beats_o = burst_last_o ? 9'(count_q) : room;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            running_q <= 1'b0;
            active_q  <= 1'b0;
            addr_q    <= '0;
            count_q   <= '0;
        end else begin
            running_q <= 1'b1;
            if (req_valid_i && req_ready_o) begin
                active_q <= 1'b1;
                addr_q   <= req_addr_i;
                count_q  <= req_count_i;
            end else if (burst_valid_o && burst_ready_i) begin
                active_q <= !burst_last_o;
                addr_q   <= addr_q + AddrWidth'(burst_beats_o);
                count_q  <= count_q - CountWidth'(burst_beats_o);
            end
        end
    end

    // The assertions hold from the first reset on.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(SomethingRequested, !(req_valid_i && req_ready_o) || req_count_i != '0, clk_i, !rst_ni || !settled_q)
    `ASSERT(WithinBounds, !burst_valid_o || (burst_beats_o >= 9'd1 && burst_beats_o <= Most), clk_i, !rst_ni || !settled_q)
    `ASSERT(WithinBlock, !burst_valid_o || (addr_q[8:0] & (Most - 9'd1)) + burst_beats_o <= Most, clk_i, !rst_ni || !settled_q)
endmodule
