// SPDX-License-Identifier: MIT OR Apache-2.0
// Whatever the memory does and whatever is cleared, an axi4_reader has room for every word that it
// accepts, and an address on offer stays. While the memory keeps the protocol, the only fault is
// silence.
module formal (
    input logic clk_i
);
    (* anyseq *) logic req_valid, ready, clear, arready, rvalid, rlast, rid;
    (* anyconst *) logic keeps;
    (* anyseq *) logic [8:0] req_addr;
    (* anyseq *) logic [2:0] req_count;
    (* anyseq *) logic [7:0] rdata;
    (* anyseq *) logic [1:0] rresp;
    logic req_ready, valid, last, idle, arid, arvalid, rready;
    logic [2:0] fault;
    logic [7:0] data, arlen;
    logic [8:0] araddr;
    logic [2:0] arsize;
    logic [1:0] arburst;
    logic started = 1'b0;
    always_ff @(posedge clk_i) started <= 1'b1;

    axi4_reader #(
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
        .valid_o      (valid),
        .ready_i      (ready),
        .data_o       (data),
        .last_o       (last),
        .axi_arid_o   (arid),
        .axi_araddr_o (araddr),
        .axi_arlen_o  (arlen),
        .axi_arsize_o (arsize),
        .axi_arburst_o(arburst),
        .axi_arvalid_o(arvalid),
        .axi_arready_i(arready),
        .axi_rid_i    (rid),
        .axi_rdata_i  (rdata),
        .axi_rresp_i  (rresp),
        .axi_rlast_i  (rlast),
        .axi_rvalid_i (rvalid),
        .axi_rready_o (rready)
    );
    stream_monitor #(
        .Width(17)
    ) u_monitor (
        .clk_i,
        .rst_ni (started),
        .valid_i(arvalid),
        .ready_i(arready),
        .data_i ({arlen, araddr}),
        .last_i (1'b0)
    );
    always_comb assume (req_count != '0);

    // Bursts whose address was accepted, and the next beat.
    logic [2:0] asked_q = '0, given_q = '0;
    logic beat_q = 1'b0;
    logic [7:0] lens_q[8];
    logic ends;
    assign ends = 8'(beat_q) == lens_q[given_q];
    always_comb begin
        if (keeps) assume (!rvalid || (asked_q != given_q && rlast == ends && !rid && rresp == 2'b00));
    end
    always_ff @(posedge clk_i) begin
        if (started && arvalid && arready) begin
            lens_q[asked_q] <= arlen;
            asked_q <= asked_q + 3'd1;
        end
        if (started && keeps && rvalid && rready) begin
            beat_q <= !ends;
            if (ends) given_q <= given_q + 3'd1;
        end
        if (started && keeps) assert (fault == axi4_pkg::Sound || fault == axi4_pkg::Silent);
        if (started) cover (valid && ready && last && given_q == 3'd2);
    end
endmodule
