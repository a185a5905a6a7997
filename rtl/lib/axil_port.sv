// SPDX-License-Identifier: MIT OR Apache-2.0
// The AXI4-Lite side of a register file: turns bus transactions into single-cycle reads and writes.
//
// Words have 32 bits. The register file answers in the same cycle as write_o or read_o, and rejects
// an access with write_refused_i or read_refused_i (SLVERR). write_whole_o says whether the strobes
// cover the whole word. A pending write (write_held_o) waits while write_wait_i is high. One write
// and one read can be in progress at a time, independently; a write's address and data may come in
// any order. No combinational path crosses the module. Not ready in reset. A read takes 3 cycles
// from accepting the address to returning the data. A write takes 2 cycles after both address and
// data have been accepted, plus its wait.
module axil_port #(
    parameter int unsigned AddressBits = 16  // bits of a byte address
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    // AXI4-Lite.
    input  logic [AddressBits-1:0] axil_awaddr_i,
    input  logic                   axil_awvalid_i,
    output logic                   axil_awready_o,
    input  logic [31:0]            axil_wdata_i,
    input  logic [3:0]             axil_wstrb_i,
    input  logic                   axil_wvalid_i,
    output logic                   axil_wready_o,
    output logic [1:0]             axil_bresp_o,
    output logic                   axil_bvalid_o,
    input  logic                   axil_bready_i,
    input  logic [AddressBits-1:0] axil_araddr_i,
    input  logic                   axil_arvalid_i,
    output logic                   axil_arready_o,
    output logic [31:0]            axil_rdata_o,
    output logic [1:0]             axil_rresp_o,
    output logic                   axil_rvalid_o,
    input  logic                   axil_rready_i,
    // The register file.
    output logic                   write_held_o,
    input  logic                   write_wait_i,
    output logic                   write_o,
    output logic                   write_whole_o,
    output logic [AddressBits-1:0] write_address_o,
    output logic [31:0]            write_data_o,
    input  logic                   write_refused_i,
    output logic                   read_o,
    output logic [AddressBits-1:0] read_address_o,
    input  logic [31:0]            read_data_i,
    input  logic                   read_refused_i
);
    localparam logic [1:0] Okay = 2'b00;
    localparam logic [1:0] SlaveError = 2'b10;

    // Address and data are held until both have arrived.
    logic address_held_q, data_held_q, address_held, data_held;

    assign write_held_o = address_held_q && data_held_q && !axil_bvalid_o;
    assign write_o = write_held_o && !write_wait_i;
    assign address_held = !write_o && (address_held_q || (axil_awvalid_i && axil_awready_o));
    assign data_held = !write_o && (data_held_q || (axil_wvalid_i && axil_wready_o));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            axil_awready_o <= 1'b0;
            axil_wready_o  <= 1'b0;
            address_held_q <= 1'b0;
            data_held_q    <= 1'b0;
            axil_bvalid_o  <= 1'b0;
        end else begin
            axil_awready_o <= !address_held;
            axil_wready_o  <= !data_held;
            address_held_q <= address_held;
            data_held_q    <= data_held;
            if (write_o) axil_bvalid_o <= 1'b1;
            else if (axil_bready_i) axil_bvalid_o <= 1'b0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (axil_awready_o) write_address_o <= axil_awaddr_i;
        if (axil_wready_o) begin
            write_data_o  <= axil_wdata_i;
            write_whole_o <= &axil_wstrb_i;
        end
        if (write_o) axil_bresp_o <= write_refused_i ? SlaveError : Okay;
    end

    logic address_taken;
    assign address_taken = axil_arvalid_i && axil_arready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            axil_arready_o <= 1'b0;
            read_o         <= 1'b0;
            axil_rvalid_o  <= 1'b0;
        end else begin
            axil_arready_o <= !address_taken && !read_o && (!axil_rvalid_o || axil_rready_i);
            read_o         <= address_taken;
            if (read_o) axil_rvalid_o <= 1'b1;
            else if (axil_rready_i) axil_rvalid_o <= 1'b0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (axil_arready_o) read_address_o <= axil_araddr_i;
        if (read_o) begin
            axil_rdata_o <= read_data_i;
            axil_rresp_o <= read_refused_i ? SlaveError : Okay;
        end
    end
endmodule
