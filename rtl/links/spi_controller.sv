// SPDX-License-Identifier: MIT OR Apache-2.0
// The controller of a serial peripheral interface, mode 0: the clock idles low, bits change on its
// falling edge and are read on its rising edge, most significant first.
//
// Each accepted byte is exchanged for one of the peripheral's, which is then offered. The next one
// begins when that has been accepted, so none is lost. The peripheral is selected from the first
// byte to the one with in_last_i, and then deselected for 2 SckHalfPeriod cycles. cipo_i is read at
// the end of the clock's high half. A byte takes 16 SckHalfPeriod cycles; the deselection follows
// the last byte by SckHalfPeriod. All outputs come from registers, in_ready_o also from the reset.
module spi_controller #(
    // cycles of half a clock period, at least 3; 4 for a spi_peripheral with an equally fast clock
    parameter int unsigned SckHalfPeriod = 8,
    parameter int unsigned Stages        = 2  // of the synchroniser of cipo_i
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       in_valid_i,
    output logic       in_ready_o,
    input  logic [7:0] in_data_i,
    input  logic       in_last_i,
    output logic       out_valid_o,
    input  logic       out_ready_i,
    output logic [7:0] out_data_o,
    output logic       cs_no,
    output logic       sck_o,
    output logic       copi_o,
    input  logic       cipo_i
);
    if (SckHalfPeriod < 3) $error("spi_controller: SckHalfPeriod must be at least 3");

    localparam int unsigned CountBits = $clog2(2 * SckHalfPeriod);

    typedef enum logic [1:0] {
        Idle,   // not selected
        Open,   // selected, between bytes
        Byte,   // exchanging a byte
        Closed  // deselected
    } state_e;

    state_e state_q;
    logic cipo, half, take, last_q;
    logic [CountBits-1:0] count_q;
    logic [3:0] halves_q;
    logic [6:0] send_q;
    logic [6:0] byte_q;

    bit_sync #(
        .Stages(Stages)
    ) u_cipo (
        .clk_i,
        .rst_ni,
        .bit_i(cipo_i),
        .bit_o(cipo)
    );

    assign half = count_q == CountBits'(SckHalfPeriod - 1);
    assign in_ready_o = rst_ni && !out_valid_o && (state_q == Idle || state_q == Open);
    assign take = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q     <= Closed;
            count_q     <= '0;
            halves_q    <= '0;
            send_q      <= '0;
            byte_q      <= '0;
            last_q      <= 1'b0;
            cs_no       <= 1'b1;
            sck_o       <= 1'b0;
            copi_o      <= 1'b0;
            out_valid_o <= 1'b0;
            out_data_o  <= '0;
        end else begin
            if (out_ready_i) out_valid_o <= 1'b0;
            unique case (state_q)
                Idle, Open: begin
                    count_q  <= '0;
                    halves_q <= '0;
                    if (take) begin
                        state_q          <= Byte;
                        cs_no            <= 1'b0;
                        {copi_o, send_q} <= in_data_i;
                        last_q           <= in_last_i;
                    end
                end
                Byte: begin
                    count_q <= half ? '0 : count_q + CountBits'(1);
                    if (half) begin
                        halves_q <= halves_q + 4'd1;
                        sck_o    <= !sck_o;
                        if (sck_o) begin
                            byte_q <= {byte_q[5:0], cipo};
                            if (halves_q != 4'd15) {copi_o, send_q} <= {send_q, 1'b0};
                        end
                        if (halves_q == 4'd15) begin
                            state_q     <= last_q ? Closed : Open;
                            out_valid_o <= 1'b1;
                            out_data_o  <= {byte_q, cipo};
                        end
                    end
                end
                default: begin
                    // A low half after the last bit, then two halves deselected.
                    count_q <= count_q == CountBits'(2 * SckHalfPeriod - 1) ? '0 : count_q + CountBits'(1);
                    if (half && !cs_no) begin
                        cs_no   <= 1'b1;
                        count_q <= '0;
                    end else if (count_q == CountBits'(2 * SckHalfPeriod - 1)) begin
                        state_q <= Idle;
                    end
                end
            endcase
        end
    end
endmodule
