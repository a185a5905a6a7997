// SPDX-License-Identifier: MIT OR Apache-2.0
// Plays an accelerator's host from a file: writes its registers over AXI4-Lite, sends a packet, and
// compares the answer word by word.
//
// The file (rtl/sim/vectors.py) consists of 32-bit words: the number of writes, then address and
// value of each; the number of words of the packet, then the words; the number of words of its
// answer, then the words. A beat has 32 bits. Anything unexpected ends the simulation with $fatal.
module player #(
    parameter int unsigned Words = 8192  // of the file, at most
) (
    input  logic        clk_i,
    output logic        rst_no,
    output logic [16:0] axil_awaddr_o,
    output logic        axil_awvalid_o,
    input  logic        axil_awready_i,
    output logic [31:0] axil_wdata_o,
    output logic        axil_wvalid_o,
    input  logic        axil_wready_i,
    input  logic [1:0]  axil_bresp_i,
    input  logic        axil_bvalid_i,
    output logic        axil_bready_o,
    output logic [31:0] s_axis_tdata_o,
    output logic        s_axis_tlast_o,
    output logic        s_axis_tvalid_o,
    input  logic        s_axis_tready_i,
    input  logic [31:0] m_axis_tdata_i,
    input  logic        m_axis_tlast_i,
    input  logic        m_axis_tvalid_i,
    output logic        m_axis_tready_o
);
    typedef enum logic [1:0] {
        Reset,
        Offer,   // a write
        Answer,  // its response
        Play     // the packet
    } state_e;

    logic [31:0] words[Words];
    initial $readmemh("vectors.hex", words);

    state_e state_q = Reset;
    int unsigned count_q = 0, at_q = 1, sent_q = 0, taken_q = 0;
    logic address_q = 1'b0, data_q = 1'b0;

    // The packet and its answer begin after their lengths.
    int unsigned writes, packet, sending, answer, taking;
    assign writes  = words[0];
    assign packet  = 2 + 2 * writes;
    assign sending = words[packet-1];
    assign answer  = packet + sending + 1;
    assign taking  = words[answer-1];

    assign rst_no          = state_q != Reset;
    assign axil_awaddr_o   = words[at_q][16:0];
    assign axil_wdata_o    = words[at_q+1];
    assign axil_awvalid_o  = address_q;
    assign axil_wvalid_o   = data_q;
    assign axil_bready_o   = state_q == Answer;
    assign s_axis_tvalid_o = state_q == Play && sent_q < sending;
    assign s_axis_tdata_o  = words[packet+sent_q];
    assign s_axis_tlast_o  = sent_q == sending - 1;
    // Not ready in every fourth cycle.
    assign m_axis_tready_o = state_q == Play && count_q[1:0] != 2'd0;

    always_ff @(posedge clk_i) begin
        count_q <= count_q + 1;
        unique case (state_q)
            Reset:
            if (count_q == 16) begin
                state_q   <= Offer;
                address_q <= 1'b1;
                data_q    <= 1'b1;
            end
            Offer: begin
                if (axil_awready_i) address_q <= 1'b0;
                if (axil_wready_i) data_q <= 1'b0;
                if ((axil_awready_i || !address_q) && (axil_wready_i || !data_q)) state_q <= Answer;
            end
            Answer:
            if (axil_bvalid_i) begin
                if (axil_bresp_i != '0) $fatal(1, "write %0d is rejected", (at_q - 1) / 2);
                if (at_q + 2 == packet - 1) begin
                    state_q <= Play;
                end else begin
                    state_q   <= Offer;
                    at_q      <= at_q + 2;
                    address_q <= 1'b1;
                    data_q    <= 1'b1;
                end
            end
            Play: begin
                if (s_axis_tvalid_o && s_axis_tready_i) sent_q <= sent_q + 1;
                if (m_axis_tvalid_i && m_axis_tready_o) begin
                    taken_q <= taken_q + 1;
                    if (m_axis_tdata_i != words[answer+taken_q])
                        $fatal(1, "word %0d is 0x%h, not 0x%h", taken_q, m_axis_tdata_i, words[answer+taken_q]);
                    if (m_axis_tlast_i != (taken_q == taking - 1)) $fatal(1, "tlast of the answer is wrong at word %0d", taken_q);
                    if (taken_q == taking - 1) begin
                        $display("bench: %0d words are right", taking);
                        $finish;
                    end
                end
            end
            default: state_q <= Reset;
        endcase
    end
endmodule
