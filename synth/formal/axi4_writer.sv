// SPDX-License-Identifier: MIT OR Apache-2.0
// Whatever the memory does and whatever is cleared, an offer of an axi4_writer stays until it is
// accepted. Beats go to the bursts whose addresses were accepted, each as long as its address said.
// The words written are those that came, in order. While the memory keeps the protocol, the only
// fault is silence, and a request is done at most once.
module formal (
    input logic clk_i
);
    (* anyseq *) logic req_valid, valid, clear, awready, wready, bvalid, bid;
    (* anyconst *) logic keeps, calm;
    (* anyconst *) logic [4:0] target;
    (* anyseq *) logic [8:0] req_addr;
    (* anyseq *) logic [2:0] req_count;
    (* anyseq *) logic [7:0] data;
    (* anyseq *) logic [1:0] bresp;
    logic req_ready, ready, done, idle, awid, awvalid, wvalid, wlast, wstrb, bready;
    logic [2:0] fault, awsize;
    logic [1:0] awburst;
    logic [7:0] wdata, awlen;
    logic [8:0] awaddr;
    logic started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    axi4_writer #(
        .Width(8),
        .AddrWidth(9),
        .CountWidth(3),
        .Beats(2),
        .Bursts(2),
        .Depth(4),
        .Timeout(32)
    ) u_block (
        .clk_i,
        .rst_ni       (started),
        .clear_i      (clear),
        .idle_o       (idle),
        .fault_o      (fault),
        .req_valid_i  (req_valid),
        .req_ready_o  (req_ready),
        .req_addr_i   (req_addr),
        .req_count_i  (req_count),
        .valid_i      (valid),
        .ready_o      (ready),
        .data_i       (data),
        .done_o       (done),
        .axi_awid_o   (awid),
        .axi_awaddr_o (awaddr),
        .axi_awlen_o  (awlen),
        .axi_awsize_o (awsize),
        .axi_awburst_o(awburst),
        .axi_awvalid_o(awvalid),
        .axi_awready_i(awready),
        .axi_wdata_o  (wdata),
        .axi_wstrb_o  (wstrb),
        .axi_wlast_o  (wlast),
        .axi_wvalid_o (wvalid),
        .axi_wready_i (wready),
        .axi_bid_i    (bid),
        .axi_bresp_i  (bresp),
        .axi_bvalid_i (bvalid),
        .axi_bready_o (bready)
    );
    stream_monitor #(
        .Width(17)
    ) u_addresses (
        .clk_i,
        .rst_ni (started),
        .valid_i(awvalid),
        .ready_i(awready),
        .data_i ({awlen, awaddr}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(9)
    ) u_beats (
        .clk_i,
        .rst_ni (started),
        .valid_i(wvalid),
        .ready_i(wready),
        .data_i ({wstrb, wdata}),
        .last_i (wlast)
    );
    always_comb assume (req_count != '0);

    // Bursts whose address was accepted, whose last beat was accepted, and that were answered;
    // requests accepted and done; words that came and went.
    logic [2:0] asked_q = '0, sent_q = '0, answered_q = '0, requests_q = '0, done_q = '0;
    logic [4:0] came_q = '0, went_q = '0;
    logic beat_q = 1'b0;
    logic [7:0] lens_q[8];
    logic [7:0] word_q;
    always_comb begin
        if (keeps) assume (!bvalid || (sent_q != answered_q && !bid && bresp == 2'b00));
        // If calm, nothing is cleared.
        if (calm) assume (!clear);
    end
    always_ff @(posedge clk_i) begin
        if (started && awvalid && awready) begin
            lens_q[asked_q] <= awlen;
            asked_q <= asked_q + 3'd1;
        end
        if (started && wvalid) begin
            assert (asked_q != sent_q);
            assert (wlast == (8'(beat_q) == lens_q[sent_q]));
        end
        if (started && wvalid && wready) begin
            beat_q <= !wlast;
            if (wlast) sent_q <= sent_q + 3'd1;
        end
        if (started && keeps && bvalid && bready) answered_q <= answered_q + 3'd1;
        if (started && keeps) assert (fault == axi4_pkg::Sound || fault == axi4_pkg::Silent);
        if (started && calm) begin
            if (valid && ready) begin
                came_q <= came_q + 5'd1;
                if (came_q == target) word_q <= data;
            end
            if (wvalid && wready) went_q <= went_q + 5'd1;
            if (wvalid) assert (wstrb && went_q != came_q);
            if (wvalid && went_q == target) assert (wdata == word_q);
            if (req_valid && req_ready) requests_q <= requests_q + 3'd1;
            if (done) done_q <= done_q + 3'd1;
            if (done) assert (done_q != requests_q);
        end
        if (started) cover (calm && keeps && done && done_q == 3'd1 && went_q == 5'd3);
    end
endmodule
