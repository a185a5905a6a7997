// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies a burst from one place in a memory to another. For tests of the bench's AXI4 memory only.
//
// A cycle with `start_i` high and `busy_o` low begins a copy of `beats_i` + 1 beats of 2^`size_i`
// bytes (at most 8). Both bursts are of the kind `kind_i`. `failed_o` is high if a response of the
// last copy was an error or had a wrong identifier, or if `m_axi_rlast_i` was wrong. The write's
// address and data are offered at the same time. `fault_i` breaks a rule of the bus:
//   1 the write's address is withdrawn   2 it changes while it waits   3 the last beat is marked too early
//   4 the last beat is not marked        5 all bytes of the bus are strobed
module axi_copy (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [31:0] from_i,
    input  logic [31:0] to_i,
    input  logic [ 7:0] beats_i,
    input  logic [ 2:0] size_i,
    input  logic [ 1:0] kind_i,
    input  logic [ 2:0] fault_i,
    output logic        busy_o,
    output logic        failed_o,
    output logic [ 3:0] m_axi_arid_o,
    output logic [31:0] m_axi_araddr_o,
    output logic [ 7:0] m_axi_arlen_o,
    output logic [ 2:0] m_axi_arsize_o,
    output logic [ 1:0] m_axi_arburst_o,
    output logic        m_axi_arvalid_o,
    input  logic        m_axi_arready_i,
    input  logic [ 3:0] m_axi_rid_i,
    input  logic [63:0] m_axi_rdata_i,
    input  logic [ 1:0] m_axi_rresp_i,
    input  logic        m_axi_rlast_i,
    input  logic        m_axi_rvalid_i,
    output logic        m_axi_rready_o,
    output logic [ 3:0] m_axi_awid_o,
    output logic [31:0] m_axi_awaddr_o,
    output logic [ 7:0] m_axi_awlen_o,
    output logic [ 2:0] m_axi_awsize_o,
    output logic [ 1:0] m_axi_awburst_o,
    output logic        m_axi_awvalid_o,
    input  logic        m_axi_awready_i,
    output logic [63:0] m_axi_wdata_o,
    output logic [ 7:0] m_axi_wstrb_o,
    output logic        m_axi_wlast_o,
    output logic        m_axi_wvalid_o,
    input  logic        m_axi_wready_i,
    input  logic [ 3:0] m_axi_bid_i,
    input  logic [ 1:0] m_axi_bresp_i,
    input  logic        m_axi_bvalid_i,
    output logic        m_axi_bready_o
);
    typedef enum logic [2:0] {
        Idle,
        Address,
        Read,
        Write,
        Response
    } state_e;
    state_e state_q;

    logic [63:0] buffer [256];
    logic [7:0] at_q;
    logic address_done_q, data_done_q, toggle_q;
    logic [2:0] lane;
    logic last;

    assign last = at_q == beats_i;
    assign busy_o = state_q != Idle;

    assign m_axi_arid_o = 4'h5;
    assign m_axi_araddr_o = from_i;
    assign m_axi_arlen_o = beats_i;
    assign m_axi_arsize_o = size_i;
    assign m_axi_arburst_o = kind_i;
    assign m_axi_arvalid_o = state_q == Address;
    assign m_axi_rready_o = state_q == Read;

    assign m_axi_awid_o = 4'ha;
    assign m_axi_awaddr_o = to_i ^ {28'b0, fault_i == 3'd2 && toggle_q, 3'b0};
    assign m_axi_awlen_o = beats_i;
    assign m_axi_awsize_o = size_i;
    assign m_axi_awburst_o = kind_i;
    assign m_axi_awvalid_o = state_q == Write && !address_done_q && !(fault_i == 3'd1 && toggle_q);

    // The lanes of a beat that is narrower than the bus. Only the first beat may begin in the
    // middle of its bytes.
    assign lane = 3'(to_i + (32'(at_q) << size_i)) & 3'(3'b111 << size_i);
    assign m_axi_wdata_o = buffer[at_q];
    assign m_axi_wstrb_o = (fault_i == 3'd5 ? 8'hff : 8'((32'd1 << (32'd1 << size_i)) - 32'd1) << lane) &
                           (at_q == 8'd0 ? 8'hff << to_i[2:0] : 8'hff);
    assign m_axi_wlast_o = fault_i == 3'd3 ? at_q + 8'd1 == beats_i : last && fault_i != 3'd4;
    assign m_axi_wvalid_o = state_q == Write && !data_done_q;
    assign m_axi_bready_o = state_q == Response;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            failed_o <= 1'b0;
            at_q <= '0;
            address_done_q <= 1'b0;
            data_done_q <= 1'b0;
            toggle_q <= 1'b0;
        end else begin
            toggle_q <= m_axi_awvalid_o && !m_axi_awready_i;
            unique case (state_q)
                Idle:
                if (start_i) begin
                    state_q <= Address;
                    failed_o <= 1'b0;
                    at_q <= '0;
                end
                Address: if (m_axi_arready_i) state_q <= Read;
                Read: if (m_axi_rvalid_i) begin
                    failed_o <= failed_o || m_axi_rresp_i != '0 || m_axi_rlast_i != last || m_axi_rid_i != 4'h5;
                    at_q <= last ? '0 : at_q + 8'd1;
                    if (last) state_q <= Write;
                end
                Write: begin
                    if (m_axi_awvalid_o && m_axi_awready_i) address_done_q <= 1'b1;
                    if (m_axi_wvalid_o && m_axi_wready_i) begin
                        data_done_q <= last;
                        if (!last) at_q <= at_q + 8'd1;
                    end
                    if (address_done_q && data_done_q) begin
                        state_q <= Response;
                        address_done_q <= 1'b0;
                        data_done_q <= 1'b0;
                    end
                end
                Response: if (m_axi_bvalid_i) begin
                    failed_o <= failed_o || m_axi_bresp_i != '0 || m_axi_bid_i != 4'ha;
                    state_q <= Idle;
                end
                default: state_q <= Idle;
            endcase
        end
    end

    always_ff @(posedge clk_i) begin
        if (m_axi_rvalid_i && m_axi_rready_o) buffer[at_q] <= m_axi_rdata_i;
    end
endmodule
