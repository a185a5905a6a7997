// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory behind an AXI4 port, for benches: bursts of ascending words of 64 bits, one read and one
// write at a time.
module memory #(
    parameter int unsigned Words = 1024  // of 64 bits
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [34:0] araddr_i,
    input  logic [7:0]  arlen_i,
    input  logic        arvalid_i,
    output logic        arready_o,
    output logic [63:0] rdata_o,
    output logic        rlast_o,
    output logic        rvalid_o,
    input  logic        rready_i,
    input  logic [34:0] awaddr_i,
    input  logic        awvalid_i,
    output logic        awready_o,
    input  logic [63:0] wdata_i,
    input  logic [7:0]  wstrb_i,
    input  logic        wlast_i,
    input  logic        wvalid_i,
    output logic        wready_o,
    output logic        bvalid_o,
    input  logic        bready_i
);
    localparam int unsigned Bits = $clog2(Words);
    logic [63:0] words[Words];
    logic [Bits-1:0] read_q, write_q;
    logic [8:0] left_q;
    logic writing_q;

    assign arready_o = left_q == '0;
    assign rvalid_o  = left_q != '0;
    assign rlast_o   = left_q == 9'd1;
    assign rdata_o   = words[read_q];
    assign awready_o = !writing_q && !bvalid_o;
    assign wready_o  = writing_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            left_q    <= '0;
            writing_q <= 1'b0;
            bvalid_o  <= 1'b0;
        end else begin
            if (arvalid_i && arready_o) begin
                read_q <= araddr_i[3+:Bits];
                left_q <= 9'(arlen_i) + 9'd1;
            end else if (rvalid_o && rready_i) begin
                read_q <= read_q + 1'b1;
                left_q <= left_q - 9'd1;
            end
            if (awvalid_i && awready_o) begin
                write_q   <= awaddr_i[3+:Bits];
                writing_q <= 1'b1;
            end else if (wvalid_i && wready_o) begin
                for (int b = 0; b < 8; b++) if (wstrb_i[b]) words[write_q][8*b+:8] <= wdata_i[8*b+:8];
                write_q   <= write_q + 1'b1;
                writing_q <= !wlast_i;
                bvalid_o  <= wlast_i;
            end
            if (bvalid_o && bready_i) bvalid_o <= 1'b0;
        end
    end

    logic unused;
    assign unused = &{1'b0, araddr_i, awaddr_i};
endmodule
