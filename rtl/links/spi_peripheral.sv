// SPDX-License-Identifier: MIT OR Apache-2.0
// A peripheral on a serial peripheral interface, mode 0, which samples the controller's clock with
// its own clock, like any other signal.
//
// Each byte from the controller is offered when its last bit has been read. In exchange the
// peripheral sends a waiting byte, or Idle if there is none when the byte begins. A byte counts as
// sent when its last bit has been read. Selecting the peripheral always begins a byte, whatever the
// clock does. A byte that ends before its eighth bit is dropped, and short_o is high for one cycle.
// A byte that arrives before the previous one was accepted is dropped, and overrun_o is high for
// one cycle. Each half of the controller's clock must last at least Stages + 2 cycles.
module spi_peripheral #(
    parameter logic [7:0]  Idle   = 8'h7e,  // sent when no byte waits
    parameter int unsigned Stages = 2       // of the synchronisers
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       cs_ni,
    input  logic       sck_i,
    input  logic       copi_i,
    output logic       cipo_o,
    input  logic       in_valid_i,
    output logic       in_ready_o,
    input  logic [7:0] in_data_i,
    output logic       out_valid_o,
    input  logic       out_ready_i,
    output logic [7:0] out_data_o,
    output logic       short_o,
    output logic       overrun_o
);
    logic cs_n, sck, copi, sck_q, rises, falls, ends, waiting_q;
    logic [2:0] bit_q;
    logic [6:0] send_q, byte_q;
    logic [7:0] next;

    bit_sync #(
        .Stages(Stages),
        .Value (1)
    ) u_cs (
        .clk_i,
        .rst_ni,
        .bit_i(cs_ni),
        .bit_o(cs_n)
    );
    bit_sync #(
        .Stages(Stages)
    ) u_sck (
        .clk_i,
        .rst_ni,
        .bit_i(sck_i),
        .bit_o(sck)
    );
    bit_sync #(
        .Stages(Stages)
    ) u_copi (
        .clk_i,
        .rst_ni,
        .bit_i(copi_i),
        .bit_o(copi)
    );

    assign rises = !cs_n && sck && !sck_q;
    assign falls = !cs_n && !sck && sck_q;
    assign ends = rises && bit_q == 3'd7;
    // The byte chosen at the start is accepted when its last bit is read.
    assign in_ready_o = ends && waiting_q;
    assign next = in_valid_i ? in_data_i : Idle;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            sck_q     <= 1'b0;
            bit_q     <= '0;
            send_q    <= '0;
            byte_q    <= '0;
            waiting_q <= 1'b0;
            cipo_o    <= 1'b0;
        end else begin
            sck_q <= sck;
            if (cs_n) bit_q <= '0;
            else if (rises) bit_q <= bit_q + 3'd1;
            if (rises) byte_q <= {byte_q[5:0], copi};
            if (cs_n || (falls && bit_q == 3'd0)) begin
                {cipo_o, send_q} <= next;
                waiting_q        <= in_valid_i;
            end else if (falls) begin
                {cipo_o, send_q} <= {send_q, 1'b0};
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            out_valid_o <= 1'b0;
            out_data_o  <= '0;
            short_o     <= 1'b0;
            overrun_o   <= 1'b0;
        end else begin
            short_o   <= cs_n && bit_q != 3'd0;
            overrun_o <= ends && out_valid_o && !out_ready_i;
            if (!out_valid_o || out_ready_i) begin
                out_valid_o <= ends;
                if (ends) out_data_o <= {byte_q, copi};
            end
        end
    end
endmodule
