// SPDX-License-Identifier: MIT OR Apache-2.0
// Exactly one bit of stream_round_robin is set, and it moves on with every transfer.
module formal (
    input logic clk_i
);
    (* anyseq *) logic transfer, again;
    logic [2:0] turn, turn_q;
    logic rst_n, transfer_q;
    logic started = 1'b0;

    assign rst_n = started && !again;

    stream_round_robin #(
        .Takers(3)
    ) u_block (
        .clk_i,
        .rst_ni    (rst_n),
        .transfer_i(transfer),
        .turn_o    (turn)
    );

    logic running_q = 1'b0;
    always_ff @(posedge clk_i) begin
        started    <= 1'b1;
        running_q  <= rst_n;
        turn_q     <= turn;
        transfer_q <= transfer;
        if (started) assert (turn == 3'b001 || turn == 3'b010 || turn == 3'b100);
        if (running_q) assert (turn == (transfer_q ? {turn_q[1:0], turn_q[2]} : turn_q));
        if (started && !running_q) assert (turn == 3'b001);
        cover (running_q && turn == 3'b100);
    end
endmodule
