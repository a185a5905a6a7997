// SPDX-License-Identifier: MIT OR Apache-2.0
// verilog_lint: waive-start port-name-suffix // the names are the buses' own
//
// Passes packets on, a cycle later. For tests of the bench's AXI4-Stream models only.
//
// `fault_i` breaks the stream's contract:
//   1 the last beat of a packet is not marked   2 a beat is withdrawn   3 a beat changes while it waits
//   4 a byte in the middle does not count       5 packets lose their last beat
module axis_pass (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [ 2:0] fault_i,
    // Named as in vendors' tools; the bench finds these names too.
    // verilog_lint: waive-start port-name-suffix
    input  logic        s_axis_tvalid,
    output logic        s_axis_tready,
    input  logic [31:0] s_axis_tdata,
    input  logic [ 3:0] s_axis_tkeep,
    input  logic        s_axis_tlast,
    output logic        m_axis_tvalid,
    input  logic        m_axis_tready,
    output logic [31:0] m_axis_tdata,
    output logic [ 3:0] m_axis_tkeep,
    output logic        m_axis_tlast
    // verilog_lint: waive-stop port-name-suffix
);
    logic there_q, last_q, toggle_q;
    logic [31:0] data_q;
    logic [3:0] keep_q;

    assign s_axis_tready = !there_q || m_axis_tready;
    assign m_axis_tvalid = there_q && !(fault_i == 3'd2 && toggle_q);
    assign m_axis_tdata = data_q ^ {31'b0, fault_i == 3'd3 && toggle_q};
    assign m_axis_tkeep = keep_q & ~{2'b0, fault_i == 3'd4, 1'b0};
    assign m_axis_tlast = last_q && fault_i != 3'd1;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            there_q <= 1'b0;
            toggle_q <= 1'b0;
        end else begin
            toggle_q <= !toggle_q;
            if (s_axis_tready) there_q <= s_axis_tvalid && !(fault_i == 3'd5 && s_axis_tlast);
        end
    end

    always_ff @(posedge clk_i) begin
        if (s_axis_tready) {keep_q, last_q, data_q} <= {s_axis_tkeep, s_axis_tlast, s_axis_tdata};
    end
endmodule
