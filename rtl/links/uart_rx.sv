// SPDX-License-Identifier: MIT OR Apache-2.0
// Receives bytes from an asynchronous line: a start bit, eight bits, least significant first, a
// stop bit (8N1).
//
// Each bit is the majority of three samples, at a quarter, half and three quarters of it, counted
// from the edge of the start bit. This is right while the two clocks differ by at most 4 percent
// (BaudDivisor 24 or more). A start bit that does not last is ignored. A low stop bit is an error:
// the byte is dropped, framing_o is high for one cycle, and the line must be high before the next
// start. A byte that ends before the previous one is accepted is dropped, and overrun_o is high for
// one cycle. A byte is offered Stages + 9 BaudDivisor + BaudDivisor / 2 + 2 cycles after its start
// bit began.
module uart_rx #(
    parameter int unsigned BaudDivisor = 868,  // cycles of a bit, at least 8
    parameter int unsigned Stages      = 2     // of the synchroniser of the line
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       rx_i,
    output logic       out_valid_o,
    input  logic       out_ready_i,
    output logic [7:0] out_data_o,
    output logic       framing_o,
    output logic       overrun_o
);
    if (BaudDivisor < 8) $error("uart_rx: BaudDivisor must be at least 8");

    localparam int unsigned CountBits = $clog2(BaudDivisor);
    localparam logic [CountBits-1:0] Quarter = CountBits'(BaudDivisor / 4);
    localparam logic [CountBits-1:0] Half = CountBits'(BaudDivisor / 2);
    localparam logic [CountBits-1:0] Decide = CountBits'(3 * BaudDivisor / 4);

    typedef enum logic [1:0] {
        High,  // waits for the line to be high
        Idle,  // waits for a start
        Bits   // in a byte
    } state_e;

    state_e state_q;
    logic line, sampled, bit_value;
    logic [CountBits-1:0] count_q;
    logic [3:0] bit_q;
    logic [1:0] samples_q;
    logic [7:0] byte_q;

    bit_sync #(
        .Stages(Stages),
        .Value (1)
    ) u_line (
        .clk_i,
        .rst_ni,
        .bit_i(rx_i),
        .bit_o(line)
    );

    // The third sample decides. The stop bit has only two samples, either of which suffices: the
    // next byte may begin a little early.
    logic stop;
    assign stop      = bit_q == 4'd9;
    assign sampled   = state_q == Bits && count_q == (stop ? Half : Decide);
    assign bit_value = stop ? line || samples_q[0] : (samples_q[0] && samples_q[1]) || (line && (samples_q[0] || samples_q[1]));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= High;
            count_q   <= '0;
            bit_q     <= '0;
            samples_q <= '0;
            byte_q    <= '0;
        end else begin
            count_q <= (state_q != Bits || count_q == CountBits'(BaudDivisor - 1)) ? '0 : count_q + CountBits'(1);
            if (count_q == Quarter || count_q == Half) samples_q <= {samples_q[0], line};
            unique case (state_q)
                High: if (line) state_q <= Idle;
                Idle: begin
                    bit_q <= '0;
                    if (!line) state_q <= Bits;
                end
                default: begin
                    if (sampled) begin
                        bit_q <= bit_q + 4'd1;
                        if (bit_q == 4'd0) begin
                            if (bit_value) state_q <= High;
                        end else if (stop) begin
                            // A sender with a fast clock may begin the next byte in this cycle.
                            state_q <= bit_value ? Idle : High;
                        end else begin
                            byte_q <= {bit_value, byte_q[7:1]};
                        end
                    end
                end
            endcase
        end
    end

    logic ended;
    assign ended = sampled && stop;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            out_valid_o <= 1'b0;
            out_data_o  <= '0;
            framing_o   <= 1'b0;
            overrun_o   <= 1'b0;
        end else begin
            framing_o <= ended && !bit_value;
            overrun_o <= ended && bit_value && out_valid_o && !out_ready_i;
            if (!out_valid_o || out_ready_i) begin
                out_valid_o <= ended && bit_value;
                if (ended) out_data_o <= byte_q;
            end
        end
    end
endmodule
