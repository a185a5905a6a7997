// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks an AXI4-Lite port, and fails the simulation when either side breaks the protocol.
//
// On each of the five channels an offered item stays, unchanged, until accepted. No response
// precedes its request; a write's response follows both address and data. Responses are OKAY,
// SLVERR or DECERR. At most Pending reads and Pending writes await their response.
module axil_monitor #(
    parameter int unsigned AddressBits = 16,  // bits of a byte address, at least 1
    parameter int unsigned Pending     = 15,  // at least 1
    // clock edges until a reset reaches the responder: the flip-flops of a reset_sync
    parameter int unsigned Settle      = 0
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic [AddressBits-1:0] awaddr_i,
    input logic                   awvalid_i,
    input logic                   awready_i,
    input logic [31:0]            wdata_i,
    input logic [3:0]             wstrb_i,
    input logic                   wvalid_i,
    input logic                   wready_i,
    input logic [1:0]             bresp_i,
    input logic                   bvalid_i,
    input logic                   bready_i,
    input logic [AddressBits-1:0] araddr_i,
    input logic                   arvalid_i,
    input logic                   arready_i,
    input logic [31:0]            rdata_i,
    input logic [1:0]             rresp_i,
    input logic                   rvalid_i,
    input logic                   rready_i
);
    if (AddressBits < 1) $error("axil_monitor: AddressBits must be at least 1");
    if (Pending < 1) $error("axil_monitor: Pending must be at least 1");

    stream_monitor #(
        .Width(AddressBits),
        .Settle(Settle),
        .QuietValid(0)
    ) u_aw (
        .clk_i,
        .rst_ni,
        .valid_i(awvalid_i),
        .ready_i(awready_i),
        .data_i (awaddr_i),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(36),
        .Settle(Settle),
        .QuietValid(0)
    ) u_w (
        .clk_i,
        .rst_ni,
        .valid_i(wvalid_i),
        .ready_i(wready_i),
        .data_i ({wstrb_i, wdata_i}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(2),
        .Settle(Settle),
        .QuietValid(1)
    ) u_b (
        .clk_i,
        .rst_ni,
        .valid_i(bvalid_i),
        .ready_i(bready_i),
        .data_i (bresp_i),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(AddressBits),
        .Settle(Settle),
        .QuietValid(0)
    ) u_ar (
        .clk_i,
        .rst_ni,
        .valid_i(arvalid_i),
        .ready_i(arready_i),
        .data_i (araddr_i),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(34),
        .Settle(Settle),
        .QuietValid(1)
    ) u_r (
        .clk_i,
        .rst_ni,
        .valid_i(rvalid_i),
        .ready_i(rready_i),
        .data_i ({rresp_i, rdata_i}),
        .last_i (1'b0)
    );

    // The resets at the latest edges, the newest at the low end.
    logic [Settle:0] reset_q = '0;
    logic running;
    always_ff @(posedge clk_i) reset_q <= (Settle + 1)'({reset_q, !rst_ni});
    if (Settle == 0) begin : gen_at_once
        assign running = rst_ni;
    end else begin : gen_settle
        assign running = rst_ni && reset_q[Settle-1:0] == '0;
    end

    // Requests accepted but not yet answered.
    localparam int unsigned CountBits = $clog2(Pending + 2);
    localparam logic [CountBits-1:0] Most = CountBits'(Pending);
    logic [CountBits-1:0] addresses_q, data_q, reads_q;

    always_ff @(posedge clk_i) begin
        if (!running) begin
            addresses_q <= '0;
            data_q      <= '0;
            reads_q     <= '0;
        end else begin
            addresses_q <= addresses_q + CountBits'(awvalid_i && awready_i) - CountBits'(bvalid_i && bready_i);
            data_q      <= data_q + CountBits'(wvalid_i && wready_i) - CountBits'(bvalid_i && bready_i);
            reads_q     <= reads_q + CountBits'(arvalid_i && arready_i) - CountBits'(rvalid_i && rready_i);
        end
    end

    `include "assertions.svh"
    `ASSERT(WriteBeforeResponse, !bvalid_i || (addresses_q != '0 && data_q != '0), clk_i, !running)
    `ASSERT(ReadBeforeResponse, !rvalid_i || reads_q != '0, clk_i, !running)
    `ASSERT(WriteResponse, !bvalid_i || bresp_i != 2'b01, clk_i, !running)
    `ASSERT(ReadResponse, !rvalid_i || rresp_i != 2'b01, clk_i, !running)
    `ASSERT(PendingBounded, addresses_q <= Most && data_q <= Most && reads_q <= Most, clk_i, !running)

    logic unused;
    assign unused = &{1'b0, addresses_q, data_q, reads_q, reset_q};
endmodule
