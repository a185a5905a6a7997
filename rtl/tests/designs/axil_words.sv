// SPDX-License-Identifier: MIT OR Apache-2.0
// Eight words behind an AXI4-Lite port. For tests of the bench's AXI4-Lite manager only.
//
// Byte addresses from 0x20 on are rejected with SLVERR, from 0x80 on with DECERR. A write's address
// and data are accepted in any order, and a read at the same time as a write. `fault_i` breaks a
// rule of the bus:
//   1 a write is answered when its address has come   2 its answer is withdrawn     3 what was read changes while it waits
//   4 an answer that nobody asked for                 5 what was read is offered only when it will be taken
//   6 a write is answered with EXOKAY                 7 reads are never answered
module axil_words (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [ 2:0] fault_i,
    input  logic [ 7:0] axil_awaddr_i,
    input  logic        axil_awvalid_i,
    output logic        axil_awready_o,
    input  logic [31:0] axil_wdata_i,
    input  logic [ 3:0] axil_wstrb_i,
    input  logic        axil_wvalid_i,
    output logic        axil_wready_o,
    output logic [ 1:0] axil_bresp_o,
    output logic        axil_bvalid_o,
    input  logic        axil_bready_i,
    input  logic [ 7:0] axil_araddr_i,
    input  logic        axil_arvalid_i,
    output logic        axil_arready_o,
    output logic [31:0] axil_rdata_o,
    output logic [ 1:0] axil_rresp_o,
    output logic        axil_rvalid_o,
    input  logic        axil_rready_i
);
    logic [31:0] words [8];
    logic [7:0] address_q;
    logic [31:0] data_q, read_q;
    logic [3:0] strobe_q;
    logic [1:0] written_q, response_q;
    logic address_there_q, data_there_q, answer_q, read_there_q, toggle_q;

    function automatic logic [1:0] refusal(input logic [7:0] address);
        return address[7] ? 2'b11 : address >= 8'h20 ? 2'b10 : 2'b00;
    endfunction

    assign axil_awready_o = !address_there_q;
    assign axil_wready_o = !data_there_q;
    assign axil_bvalid_o = (answer_q && !(fault_i == 3'd2 && toggle_q)) || (fault_i == 3'd1 && address_there_q);
    assign axil_bresp_o = fault_i == 3'd6 ? 2'b01 : written_q;
    assign axil_arready_o = !read_there_q;
    assign axil_rvalid_o = fault_i == 3'd4 || (read_there_q && (fault_i != 3'd5 || axil_rready_i) && fault_i != 3'd7);
    assign axil_rdata_o = read_q ^ {31'b0, fault_i == 3'd3 && toggle_q};
    assign axil_rresp_o = response_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            address_there_q <= 1'b0;
            data_there_q <= 1'b0;
            answer_q <= 1'b0;
            read_there_q <= 1'b0;
            toggle_q <= 1'b0;
        end else begin
            toggle_q <= !toggle_q;
            if (axil_awvalid_i && axil_awready_o) address_there_q <= 1'b1;
            if (axil_wvalid_i && axil_wready_o) data_there_q <= 1'b1;
            if (address_there_q && data_there_q && !answer_q) answer_q <= 1'b1;
            if (axil_bvalid_o && axil_bready_i && answer_q) begin
                answer_q <= 1'b0;
                address_there_q <= 1'b0;
                data_there_q <= 1'b0;
            end
            if (axil_arvalid_i && axil_arready_o) read_there_q <= 1'b1;
            if (axil_rvalid_o && axil_rready_i) read_there_q <= 1'b0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (axil_awvalid_i && axil_awready_o) address_q <= axil_awaddr_i;
        if (axil_wvalid_i && axil_wready_o) {strobe_q, data_q} <= {axil_wstrb_i, axil_wdata_i};
        if (address_there_q && data_there_q && !answer_q) begin
            written_q <= refusal(address_q);
            for (int lane = 0; lane < 4; lane++) begin
                if (strobe_q[lane] && address_q < 8'h20) words[address_q[4:2]][8*lane+:8] <= data_q[8*lane+:8];
            end
        end
        if (axil_arvalid_i && axil_arready_o) begin
            read_q <= words[axil_araddr_i[4:2]];
            response_q <= refusal(axil_araddr_i);
        end
    end
endmodule
