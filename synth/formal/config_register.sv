// SPDX-License-Identifier: MIT OR Apache-2.0
// Any word of a config_register is what was last written to it, and 0 after reset and wipe.
module formal (
    input logic clk_i
);
    (* anyseq *) logic wipe, write, again;
    (* anyseq *) logic [1:0] index;
    (* anyseq *) logic [31:0] data;
    (* anyconst *) logic [1:0] watched;
    logic [69:0] value;
    logic [31:0] word_q;
    logic rst_n;
    logic started = 1'b0, said = 1'b0;

    assign rst_n = started && !again;

    config_register #(
        .Bits(70),
        .IndexBits(2)
    ) u_block (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (wipe),
        .write_i(write),
        .index_i(index),
        .data_i (data),
        .value_o(value)
    );

    always_comb assume (watched < 3);
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        said    <= said || !rst_n;
        if (!rst_n || wipe) word_q <= '0;
        else if (write && index == watched) word_q <= data;
        // The top word has six bits.
        if (said) assert (32'({26'd0, value} >> (32 * watched)) == (watched == 2 ? word_q & 32'h3f : word_q));
        cover (said && watched == 2 && value[69:64] == 6'h2a);
    end
endmodule
