// SPDX-License-Identifier: MIT OR Apache-2.0
// What a host may write reaches accelerator_registers' outputs unchanged, and nothing else does:
//
// - No constant is written while anything is in flight, and none beyond its region.
// - Constants are in use only if the host has said so since they last changed.
// - A constant written while they are in use belongs to another key, for which all are cleared
//   first.
// - No constant can be read.
// - Every flush has its own epoch.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [16:0] awaddr, araddr;
    (* anyseq *) logic awvalid, wvalid, bready, arvalid, rready, pending, accepted, delivered, open, again;
    (* anyseq *) logic [31:0] wdata;
    (* anyseq *) logic [3:0] wstrb;
    logic awready, wready, bvalid, arready, rvalid, irq, key_write, key_wipe, key_ready, flush, rst_n;
    logic [1:0] bresp, rresp;
    logic [31:0] rdata, key_data, key_complete;
    logic [15:0] index, epoch;
    logic [13:0] key_index;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    // One word in region 0, two in region 3, which is optional.
    accelerator_registers #(
        .CountBits  (1),
        .RegionWords(320'd1 | (320'd2 << 30)),
        .Optional   (32'd8)
    ) u_block (
        .clk_i,
        .rst_ni         (rst_n),
        .axil_awaddr_i  (awaddr),
        .axil_awvalid_i (awvalid),
        .axil_awready_o (awready),
        .axil_wdata_i   (wdata),
        .axil_wstrb_i   (wstrb),
        .axil_wvalid_i  (wvalid),
        .axil_wready_o  (wready),
        .axil_bresp_o   (bresp),
        .axil_bvalid_o  (bvalid),
        .axil_bready_i  (bready),
        .axil_araddr_i  (araddr),
        .axil_arvalid_i (arvalid),
        .axil_arready_o (arready),
        .axil_rdata_o   (rdata),
        .axil_rresp_o   (rresp),
        .axil_rvalid_o  (rvalid),
        .axil_rready_i  (rready),
        .irq_o          (irq),
        .parameters_i   ('0),
        .index_o        (index),
        .value_i        ('0),
        .key_write_o    (key_write),
        .key_index_o    (key_index),
        .key_data_o     (key_data),
        .key_wipe_o     (key_wipe),
        .key_ready_o    (key_ready),
        .key_complete_o (key_complete),
        .key_open_i     (open),
        .flush_o        (flush),
        .epoch_o        (epoch),
        .pending_i      (pending),
        .accepted_i     (accepted),
        .delivered_i    (delivered),
        .answered_i     (1'b0),
        .closing_i      (1'b0),
        .foreign_i      (1'b0),
        .broken_i       (1'b0),
        .discarded_i    (1'b0),
        .product_count_i('0)
    );

    axil_host #(
        .AddressBits(17)
    ) u_host (
        .clk_i,
        .rst_ni   (rst_n),
        .awaddr_i (awaddr),
        .awvalid_i(awvalid),
        .awready_i(awready),
        .wdata_i  (wdata),
        .wstrb_i  (wstrb),
        .wvalid_i (wvalid),
        .wready_i (wready),
        .bresp_i  (bresp),
        .bvalid_i (bvalid),
        .bready_i (bready),
        .araddr_i (araddr),
        .arvalid_i(arvalid),
        .arready_i(arready),
        .rdata_i  (rdata),
        .rresp_i  (rresp),
        .rvalid_i (rvalid),
        .rready_i (rready)
    );

    // The last accepted write and read; what is in flight; outputs a cycle ago.
    logic [16:0] address_q, read_address_q;
    logic [35:0] data_q;
    logic [2:0] held_q = '0, past_held_q = '0;
    logic wrote_q = 1'b0, past_q = 1'b0, past_ready_q, past_pending_q, past_answer_q;
    logic [15:0] past_epoch_q;
    logic control;
    always_comb if (held_q == '0) assume (!delivered);
    always_comb if (held_q == 3'd7) assume (!accepted);
    assign control = address_q == 17'h10 && data_q[35:32] == 4'hf;

    always_ff @(posedge clk_i) begin
        past_q         <= rst_n;
        past_ready_q   <= key_ready;
        past_pending_q <= pending;
        past_answer_q  <= bvalid;
        past_epoch_q   <= epoch;
        past_held_q    <= held_q;
        // The only constant that a key must have.
        if (!rst_n || key_wipe) wrote_q <= 1'b0;
        else if (key_write && key_index == '0) wrote_q <= 1'b1;
        if (rst_n && awvalid && awready) address_q <= awaddr;
        if (rst_n && wvalid && wready) data_q <= {wstrb, wdata};
        if (rst_n && arvalid && arready) read_address_q <= araddr;
        held_q <= (!rst_n || flush) ? '0 : held_q + 3'(accepted) - 3'(delivered);

        if (rst_n) begin
            if (key_write) begin
                assert (address_q[16] && address_q[1:0] == '0 && data_q[35:32] == 4'hf);
                assert (key_index == address_q[15:2] && key_data == data_q[31:0]);
                assert (key_index == 14'd0 || key_index == 14'd1536 || key_index == 14'd1537);
                assert (!key_ready && past_held_q == '0 && !(past_pending_q && past_ready_q));
            end else begin
                assert (key_data == '0);
            end
            if (key_wipe)
                assert (flush && !key_ready && ((control && data_q[2]) || (address_q[16] && past_ready_q && past_held_q == '0 && !past_pending_q)));
            if (flush) assert (((control && (data_q[1] || data_q[2])) || key_wipe) && epoch != '0);
            if (key_ready) assert (wrote_q);
            if (bvalid && !past_answer_q && bresp == 2'b00) assert (data_q[35:32] == 4'hf && address_q[1:0] == '0);
            // Constants cannot be read back.
            if (rvalid && read_address_q[16]) assert (rresp == 2'b10 && rdata == '0);
            if (rvalid && read_address_q == '0) assert (rresp == 2'b00 && rdata == "NONE");
            if (past_q) begin
                assert (flush ? epoch == (past_epoch_q == 16'hffff ? 16'd1 : past_epoch_q + 16'd1) : epoch == past_epoch_q);
                if (key_ready && !past_ready_q) assert (control && data_q[0] && !data_q[2]);
            end
            cover (key_write && key_index == 14'd1537);
            cover (flush && epoch == 16'd2);
            cover (key_wipe && address_q[16]);
            cover (bvalid && !past_answer_q && bresp == 2'b10 && control && data_q[2:0] == 3'd3);
            cover (bvalid && !past_answer_q && bresp == 2'b10 && held_q != '0 && key_ready && address_q == 17'h1_0000);
        end
    end
endmodule
