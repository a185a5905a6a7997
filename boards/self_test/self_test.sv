// SPDX-License-Identifier: MIT OR Apache-2.0
// A self-test that replaces the host, for a board with only a clock and lights. It loads a key into
// a MESA of 64 bits, verifies its checksums, sends ciphertexts, compares plaintexts, checks the
// interrupt, sends a packet that lacks a byte, and wipes the key. It instantiates the MESA through
// its wrapper, as a vendor's tools would.
//
// The steps are those of self_test_program. done_o rises when the last one is done or one has
// failed; pass_o distinguishes the two, and step_o is the number of the step. A step that takes
// longer than 2^20 cycles fails. fault_i is the number of a step whose lowest data bit is inverted
// (all ones: none), so that a test can see each step fail.
module self_test (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [6:0] fault_i,
    output logic       done_o,
    output logic       pass_o,
    output logic [6:0] step_o
);
    typedef enum logic [2:0] {
        Finish,
        Write,
        Read,
        Send,
        Expect,
        Interrupt
    } operation_e;
    typedef enum logic [1:0] {
        Fetch,
        Act,
        Stopped
    } state_e;

    state_e state_q;
    operation_e operation_q;
    logic [2:0] operation;
    logic [16:0] address, address_q;
    logic [31:0] data, data_q;
    // The parts of a bus transaction that have not been accepted yet.
    logic address_waits_q, data_waits_q;
    logic [20:0] patience_q;

    logic [31:0] rdata, answer;
    logic [1:0] bresp, rresp;
    logic awready, wready, bvalid, arready, rvalid, beat_ready, answer_valid, answer_last, irq, good, over;
    logic [3:0] answer_keep;

    self_test_program u_program (
        .step_i     (step_o),
        .operation_o(operation),
        .address_o  (address),
        .data_o     (data)
    );

    // Whether the step ends, and whether its result is as expected.
    always_comb begin
        over = 1'b0;
        good = 1'b1;
        case (operation_q)
            Write: begin
                over = bvalid;
                good = bresp == '0;
            end
            Read: begin
                over = rvalid;
                good = rresp == '0 && rdata == data_q;
            end
            Send: over = beat_ready;
            Expect: begin
                over = answer_valid;
                good = answer == data_q && answer_last == address_q[0] && &answer_keep;
            end
            Interrupt: over = irq;
            default: over = 1'b1;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q         <= Fetch;
            operation_q     <= Finish;
            address_q       <= '0;
            data_q          <= '0;
            address_waits_q <= 1'b0;
            data_waits_q    <= 1'b0;
            patience_q      <= '0;
            step_o          <= '0;
            done_o          <= 1'b0;
            pass_o          <= 1'b0;
        end else begin
            case (state_q)
                Fetch: begin
                    state_q         <= Act;
                    operation_q     <= operation_e'(operation);
                    address_q       <= address;
                    data_q          <= data ^ 32'(step_o == fault_i);
                    address_waits_q <= 1'b1;
                    data_waits_q    <= 1'b1;
                    patience_q      <= '0;
                end
                Act: begin
                    patience_q <= patience_q + 21'd1;
                    if (operation_q == Write ? awready : arready) address_waits_q <= 1'b0;
                    if (wready) data_waits_q <= 1'b0;
                    if (operation_q == Finish || (over && !good) || patience_q[20]) begin
                        state_q <= Stopped;
                        done_o  <= 1'b1;
                        pass_o  <= operation_q == Finish;
                    end else if (over) begin
                        state_q <= Fetch;
                        step_o  <= step_o + 7'd1;
                    end
                end
                default: state_q <= Stopped;
            endcase
        end
    end

    hearith_mesa #(
        .N         (64),
        .Stages    (1),
        .W         (16),
        .V         (16),
        .D         (2),
        .StreamBits(32)
    ) u_mesa (
        .aclk         (clk_i),
        .aresetn      (rst_ni),
        .s_axi_awaddr (address_q),
        .s_axi_awprot ('0),
        .s_axi_awvalid(state_q == Act && operation_q == Write && address_waits_q),
        .s_axi_awready(awready),
        .s_axi_wdata  (data_q),
        .s_axi_wstrb  ('1),
        .s_axi_wvalid (state_q == Act && operation_q == Write && data_waits_q),
        .s_axi_wready (wready),
        .s_axi_bresp  (bresp),
        .s_axi_bvalid (bvalid),
        .s_axi_bready (state_q == Act && operation_q == Write),
        .s_axi_araddr (address_q),
        .s_axi_arprot ('0),
        .s_axi_arvalid(state_q == Act && operation_q == Read && address_waits_q),
        .s_axi_arready(arready),
        .s_axi_rdata  (rdata),
        .s_axi_rresp  (rresp),
        .s_axi_rvalid (rvalid),
        .s_axi_rready (state_q == Act && operation_q == Read),
        .s_axis_tdata (data_q),
        .s_axis_tkeep (address_q[4:1]),
        .s_axis_tlast (address_q[0]),
        .s_axis_tvalid(state_q == Act && operation_q == Send),
        .s_axis_tready(beat_ready),
        .m_axis_tdata (answer),
        .m_axis_tkeep (answer_keep),
        .m_axis_tlast (answer_last),
        .m_axis_tvalid(answer_valid),
        .m_axis_tready(state_q == Act && operation_q == Expect),
        .interrupt    (irq)
    );
endmodule
