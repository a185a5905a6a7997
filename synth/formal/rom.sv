// SPDX-License-Identifier: MIT OR Apache-2.0
// Words of a rom come a cycle after their request, and stay.
module formal (
    input logic clk_i
);
    (* anyseq *) logic read;
    (* anyseq *) logic [1:0] address;
    logic [2:0] data, shown_q;
    logic error;
    logic said_q = 1'b0;

    rom #(
        .Width (3),
        .Depth (3),
        .Words (9'o527),
        .Parity(1)
    ) u_block (
        .clk_i,
        .read_i        (read),
        .read_address_i(address),
        .read_data_o   (data),
        .error_o       (error)
    );

    always_comb assume (address < 3);
    always_ff @(posedge clk_i) begin
        if (read) begin
            said_q  <= 1'b1;
            shown_q <= address == 0 ? 3'o7 : address == 1 ? 3'o2 : 3'o5;
        end
        if (said_q) assert (data == shown_q && !error);
        cover (said_q && data == 3'o5);
    end
endmodule
