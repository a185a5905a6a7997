// SPDX-License-Identifier: MIT OR Apache-2.0
// An axil_port keeps AXI4-Lite's rules towards a host that does, and passes each write and each
// read to the register file once and unchanged.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [2:0] awaddr, araddr;
    (* anyseq *) logic awvalid, wvalid, bready, arvalid, rready, write_refused, write_wait, read_refused, again;
    (* anyseq *) logic [31:0] wdata, read_data;
    (* anyseq *) logic [3:0] wstrb;
    logic awready, wready, bvalid, arready, rvalid, write_held, write, write_whole, read, rst_n;
    logic [1:0] bresp, rresp;
    logic [31:0] rdata, write_data;
    logic [2:0] write_address, read_address;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    axil_port #(
        .AddressBits(3)
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
        .write_held_o   (write_held),
        .write_wait_i   (write_wait),
        .write_o        (write),
        .write_whole_o  (write_whole),
        .write_address_o(write_address),
        .write_data_o   (write_data),
        .write_refused_i(write_refused),
        .read_o         (read),
        .read_address_o (read_address),
        .read_data_i    (read_data),
        .read_refused_i (read_refused)
    );

    axil_host #(
        .AddressBits(3)
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

    // The requests in progress, and how far they are.
    logic [2:0] address_q, read_address_q;
    logic [35:0] data_q;
    logic [31:0] answer_q;
    logic has_address_q = 1'b0, has_data_q = 1'b0, given_q = 1'b0, has_read_q = 1'b0, answered_q = 1'b0, refused_q, read_refused_q;
    logic held_q = 1'b0;
    logic [2:0] waited_q = '0, read_waited_q = '0;
    always_ff @(posedge clk_i) begin
        if (!rst_n) begin
            {has_address_q, has_data_q, given_q, has_read_q, answered_q, held_q} <= '0;
            waited_q      <= '0;
            read_waited_q <= '0;
        end else begin
            if (awvalid && awready) begin
                has_address_q <= 1'b1;
                address_q     <= awaddr;
            end
            if (wvalid && wready) begin
                has_data_q <= 1'b1;
                data_q     <= {wstrb, wdata};
            end
            assert (write == (write_held && !write_wait));
            if (write) begin
                // Once, unchanged, and after the previous answer has been accepted.
                assert (has_address_q && has_data_q && !given_q);
                assert (write_address == address_q && write_data == data_q[31:0] && write_whole == &data_q[35:32]);
                {has_address_q, has_data_q} <= '0;
                given_q   <= 1'b1;
                refused_q <= write_refused;
            end
            assert (bvalid == given_q);
            if (bvalid) assert (bresp == (refused_q ? 2'b10 : 2'b00));
            if (bvalid && bready) given_q <= 1'b0;
            // Nothing waits for ever.
            waited_q <= (has_address_q && has_data_q && !bvalid && !(write_held && write_wait)) ? waited_q + 3'd1 : '0;
            assert (waited_q <= 3'd2);

            if (arvalid && arready) begin
                has_read_q     <= 1'b1;
                read_address_q <= araddr;
            end
            if (read) begin
                assert (has_read_q && !answered_q && read_address == read_address_q);
                answered_q     <= 1'b1;
                answer_q       <= read_data;
                read_refused_q <= read_refused;
            end
            assert (rvalid == answered_q);
            if (rvalid) assert (rdata == answer_q && rresp == (read_refused_q ? 2'b10 : 2'b00));
            if (rvalid && rready) {has_read_q, answered_q} <= {arvalid && arready, 1'b0};
            read_waited_q <= (has_read_q && !rvalid) ? read_waited_q + 3'd1 : '0;
            assert (read_waited_q <= 3'd2);
            if (held_q) assert (write_held);
            held_q <= write_held && write_wait;
            cover (bvalid && bready && bresp == 2'b10);
            cover (held_q && write);
            cover (rvalid && rready && rresp == 2'b00 && rdata == 32'h1234);
        end
    end
endmodule
