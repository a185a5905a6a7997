// SPDX-License-Identifier: MIT OR Apache-2.0
// Sends bytes over an asynchronous line: a start bit, eight bits, least significant first, a stop
// bit (8N1).
//
// tx_o is registered, and high when idle. A byte takes 10 BaudDivisor cycles; its start bit is on
// the line in the cycle after it was accepted.
module uart_tx #(
    // cycles of a bit, at least 8: 115 200 baud at 100 MHz
    parameter int unsigned BaudDivisor = 868
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       in_valid_i,
    output logic       in_ready_o,
    input  logic [7:0] in_data_i,
    output logic       tx_o
);
    if (BaudDivisor < 8) $error("uart_tx: BaudDivisor must be at least 8");

    localparam int unsigned CountBits = $clog2(BaudDivisor);

    logic [CountBits-1:0] count_q;
    // Bits not yet finished, including the one on the line; and the bits behind it.
    logic [3:0] left_q;
    logic [8:0] behind_q;
    logic over;

    assign over = count_q == CountBits'(BaudDivisor - 1);
    assign in_ready_o = rst_ni && (left_q == 4'd0 || (left_q == 4'd1 && over));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q  <= '0;
            left_q   <= '0;
            behind_q <= '1;
            tx_o     <= 1'b1;
        end else if (in_valid_i && in_ready_o) begin
            count_q  <= '0;
            left_q   <= 4'd10;
            behind_q <= {1'b1, in_data_i};
            tx_o     <= 1'b0;
        end else if (left_q != 4'd0) begin
            count_q <= over ? '0 : count_q + CountBits'(1);
            if (over) begin
                left_q   <= left_q - 4'd1;
                behind_q <= {1'b1, behind_q[8:1]};
                tx_o     <= behind_q[0];
            end
        end
    end
endmodule
