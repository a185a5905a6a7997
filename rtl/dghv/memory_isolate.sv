// SPDX-License-Identifier: MIT OR Apache-2.0
// The path to memory, with a count of accesses in progress, so that the inside can be reset at any
// moment. Words it has requested are then read and dropped, and words it has promised are written
// as zeros.
//
// Words to write leave only after their requests. Each output has a register. With drain_i, nothing
// is accepted from the inside. idle_o is high when nothing is in progress. Seeds are rows of Lanes
// words, read in the same manner. dead_i means that no more responses will come, so nothing counts
// as in progress. Whatever is on offer then stays on offer until reset.
module memory_isolate #(
    parameter int unsigned Width       = 64,
    parameter int unsigned AddrWidth   = 32,
    parameter int unsigned CountWidth  = 11,
    localparam int unsigned SeedBits   = dghv_pkg::IndexBits + dghv_pkg::LengthBits + CountWidth,
    localparam int unsigned OwedBits   = CountWidth + 8
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  drain_i,
    input  logic                  dead_i,
    output logic                  idle_o,
    // Inside.
    input  logic                  rd_req_valid_i,
    output logic                  rd_req_ready_o,
    input  logic [AddrWidth-1:0]  rd_req_addr_i,
    input  logic [CountWidth-1:0] rd_req_count_i,
    output logic                  rd_valid_o,
    input  logic                  rd_ready_i,
    input  logic                  wr_req_valid_i,
    output logic                  wr_req_ready_o,
    input  logic [AddrWidth-1:0]  wr_req_addr_i,
    input  logic [CountWidth-1:0] wr_req_count_i,
    input  logic                  wr_valid_i,
    output logic                  wr_ready_o,
    input  logic [Width-1:0]      wr_data_i,
    input  logic                  seed_req_valid_i,
    output logic                  seed_req_ready_o,
    input  dghv_pkg::index_t      seed_req_index_i,
    input  dghv_pkg::length_t     seed_req_row_i,
    input  logic [CountWidth-1:0] seed_req_count_i,
    output logic                  seed_valid_o,
    input  logic                  seed_ready_i,
    // Outside; words read bypass this module.
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o,
    input  logic                  wr_done_i,
    output logic                  seed_req_valid_o,
    input  logic                  seed_req_ready_i,
    output dghv_pkg::index_t      seed_req_index_o,
    output dghv_pkg::length_t     seed_req_row_o,
    output logic [CountWidth-1:0] seed_req_count_o,
    input  logic                  seed_valid_i,
    output logic                  seed_ready_o
);
    // ---- Requests, each through a register. ----

    logic [2:0] req_valid, req_ready, out_valid;
    assign req_valid = {seed_req_valid_i, wr_req_valid_i, rd_req_valid_i} & {3{!drain_i}};
    // Limits the words in progress, so that the counts below do not overflow.
    logic [2:0] room, taken;
    assign {seed_req_ready_o, wr_req_ready_o, rd_req_ready_o} = req_ready & room & {3{!drain_i}};
    assign taken                                              = req_valid & req_ready & room;
    assign {seed_req_valid_o, wr_req_valid_o, rd_req_valid_o} = out_valid;

    stream_skid #(
        .Width(AddrWidth + CountWidth)
    ) u_read (
        .clk_i,
        .rst_ni,
        .in_valid_i (req_valid[0] && room[0]),
        .in_ready_o (req_ready[0]),
        .in_data_i  ({rd_req_addr_i, rd_req_count_i}),
        .out_valid_o(out_valid[0]),
        .out_ready_i(rd_req_ready_i),
        .out_data_o ({rd_req_addr_o, rd_req_count_o})
    );

    logic write_valid;
    logic [AddrWidth+CountWidth-1:0] write_data;
    stream_skid #(
        .Width(AddrWidth + CountWidth)
    ) u_write (
        .clk_i,
        .rst_ni,
        .in_valid_i (req_valid[1] && room[1]),
        .in_ready_o (req_ready[1]),
        .in_data_i  ({wr_req_addr_i, wr_req_count_i}),
        .out_valid_o(write_valid),
        .out_ready_i(wr_req_ready_i),
        .out_data_o (write_data)
    );
    assign out_valid[1]                    = write_valid;
    assign {wr_req_addr_o, wr_req_count_o} = write_data;

    stream_skid #(
        .Width(SeedBits)
    ) u_seed (
        .clk_i,
        .rst_ni,
        .in_valid_i (req_valid[2] && room[2]),
        .in_ready_o (req_ready[2]),
        .in_data_i  ({seed_req_index_i, seed_req_row_i, seed_req_count_i}),
        .out_valid_o(out_valid[2]),
        .out_ready_i(seed_req_ready_i),
        .out_data_o ({seed_req_index_o, seed_req_row_o, seed_req_count_o})
    );

    // ---- Counts of words: to be read, to be sent, of seeds; of requests whose words are not in
    // memory yet; of words that may go out. ----

    logic [OwedBits-1:0] read_q, send_q, seed_q, open_q, allowed_q;
    logic got, sent, grown, put, data_valid, data_ready, accepted;
    assign got      = rd_valid_i && rd_ready_o;
    assign grown    = seed_valid_i && seed_ready_o;
    assign accepted = wr_req_valid_o && wr_req_ready_i;
    assign room     = {!seed_q[OwedBits-1], !send_q[OwedBits-1] && !open_q[OwedBits-1], !read_q[OwedBits-1]};
    assign put      = data_valid && data_ready;
    assign sent     = wr_valid_o && wr_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            read_q    <= '0;
            send_q    <= '0;
            seed_q    <= '0;
            open_q    <= '0;
            allowed_q <= '0;
        end else begin
            read_q    <= read_q + (taken[0] ? OwedBits'(rd_req_count_i) : '0) - OwedBits'(got);
            send_q    <= send_q + (taken[1] ? OwedBits'(wr_req_count_i) : '0) - OwedBits'(put);
            seed_q    <= seed_q + (taken[2] ? OwedBits'({seed_req_count_i, 3'd0}) : '0) - OwedBits'(grown);
            open_q    <= open_q + OwedBits'(taken[1]) - OwedBits'(wr_done_i);
            allowed_q <= allowed_q + (accepted ? OwedBits'(wr_req_count_o) : '0) - OwedBits'(sent);
        end
    end
    assign idle_o = dead_i || ({read_q, send_q, seed_q, open_q} == '0 && out_valid == '0);

    // ---- Words. ----

    assign rd_ready_o   = drain_i || rd_ready_i;
    assign rd_valid_o   = rd_valid_i && !drain_i;
    assign seed_ready_o = drain_i || seed_ready_i;
    assign seed_valid_o = seed_valid_i && !drain_i;
    assign data_valid   = send_q != '0 && (drain_i || wr_valid_i);
    assign wr_ready_o   = send_q != '0 && data_ready && !drain_i;

    logic word_valid;
    stream_skid #(
        .Width(Width)
    ) u_words (
        .clk_i,
        .rst_ni,
        .in_valid_i (data_valid),
        .in_ready_o (data_ready),
        .in_data_i  (drain_i ? Width'(0) : wr_data_i),
        .out_valid_o(word_valid),
        .out_ready_i(wr_ready_i && allowed_q != '0),
        .out_data_o (wr_data_o)
    );
    assign wr_valid_o = word_valid && allowed_q != '0;

    if (AddrWidth < 1 || CountWidth < 2) $error("memory_isolate: AddrWidth must be at least 1, CountWidth at least 2");
endmodule
