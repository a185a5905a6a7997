// SPDX-License-Identifier: MIT OR Apache-2.0
// Any one word of a ram_1r1w reads as it was last written, and stays. After a wipe it is 0, and
// nothing else shows after a reset.
module formal (
    input logic clk_i
);
    (* anyseq *) logic write, read, wipe, again;
    (* anyseq *) logic [1:0] write_address, read_address;
    (* anyseq *) logic [1:0] write_data;
    (* anyconst *) logic [1:0] watched;
    logic ready, error, rst_n;
    logic [1:0] read_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    ram_1r1w #(
        .Width (2),
        .Depth (3),
        .Parity(1)
    ) u_block (
        .clk_i,
        .rst_ni         (rst_n),
        .wipe_i         (wipe),
        .ready_o        (ready),
        .write_i        (write),
        .write_address_i(write_address),
        .write_data_i   (write_data),
        .read_i         (read),
        .read_address_i (read_address),
        .read_data_o    (read_data),
        .error_o        (error)
    );

    always_comb assume (watched < 3 && write_address < 3 && read_address < 3);

    // The word, and the expected output while one is known.
    logic [1:0] word_q = '0, shown_q;
    logic said_q = 1'b0;
    logic [2:0] wait_q = '0;
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        wait_q  <= (!rst_n || wipe) ? 3'd0 : ready ? 3'd0 : wait_q + 3'd1;
        // Four cycles: three words, and the one that reads.
        if (started) assert (ready || wait_q < 3'd4);
        if (started && wait_q == 3'd3) assert (!ready);
        if (!ready || !rst_n || wipe) begin
            word_q  <= '0;
            shown_q <= '0;
            said_q  <= 1'b1;
        end else begin
            if (write && write_address == watched) word_q <= write_data;
            if (read) begin
                said_q  <= read_address == watched && !(write && write_address == watched);
                shown_q <= word_q;
            end
        end
        if (started && ready && said_q) assert (read_data == shown_q && !error);
        cover (started && ready && said_q && read_data == 2'd3);
    end
endmodule
