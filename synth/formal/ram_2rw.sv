// SPDX-License-Identifier: MIT OR Apache-2.0
// Any one word of a ram_2rw: both ports read what either wrote last, and it stays at the output.
// After a wipe it is 0.
module formal (
    input logic clk_i
);
    (* anyseq *) logic wipe, again;
    (* anyseq *) logic [1:0] enable, write;
    (* anyseq *) logic [1:0][1:0] address, data;
    (* anyconst *) logic [1:0] watched;
    logic ready, rst_n;
    logic [1:0] error;
    logic [1:0][1:0] read_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    ram_2rw #(
        .Width (2),
        .Depth (3),
        .Parity(1)
    ) u_block (
        .clk_i,
        .rst_ni      (rst_n),
        .wipe_i      (wipe),
        .ready_o     (ready),
        .enable_i    (enable),
        .write_i     (write),
        .address_i   (address),
        .write_data_i(data),
        .read_data_o (read_data),
        .error_o     (error)
    );

    logic [1:0] writes;
    assign writes = enable & write;
    always_comb assume (watched < 3 && address[0] < 3 && address[1] < 3);
    always_comb assume (writes != 2'b11 || address[0] != address[1]);

    logic [1:0] word_q = '0;
    logic [2:0] wait_q = '0;
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        wait_q  <= (!rst_n || wipe) ? 3'd0 : ready ? 3'd0 : wait_q + 3'd1;
        if (started) assert (ready || wait_q < 3'd4);
        if (!ready || !rst_n || wipe) word_q <= '0;
        else if (writes[0] && address[0] == watched) word_q <= data[0];
        else if (writes[1] && address[1] == watched) word_q <= data[1];
    end
    for (genvar k = 0; k < 2; k++) begin : gen_port
        logic [1:0] shown_q;
        logic said_q = 1'b0;
        always_ff @(posedge clk_i) begin
            if (!ready || !rst_n || wipe) begin
                shown_q <= '0;
                said_q  <= 1'b1;
            end else if (enable[k] && !write[k]) begin
                said_q  <= address[k] == watched && !(writes[1-k] && address[1-k] == watched);
                shown_q <= word_q;
            end
            if (started && ready && said_q) assert (read_data[k] == shown_q && !error[k]);
            cover (started && ready && said_q && read_data[k] == 2'd3);
        end
    end
endmodule
