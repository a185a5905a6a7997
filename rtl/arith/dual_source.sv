// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of a dual lane (dual_lane): 16 dual numbers in digits, read and written at public
// addresses.
//
// Every read reads the same digit of all 16 entries, and masks select the entry, so no address
// depends on it. digit_o is the digit one cycle later, 0 without valid_i. A reset clears the table
// digit by digit. cleared_o is high when that is done, after 2^(IndexBits + 1) cycles;
// clear_index_o is the count, for other memories too.
module dual_source #(
    parameter int unsigned W         = 18,  // bits of a digit
    parameter int unsigned IndexBits = 5    // bits of a digit's number
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic                 cleared_o,
    output logic [IndexBits-1:0] clear_index_o,
    input  logic                 valid_i,
    input  logic [3:0]           entry_i,
    input  logic                 high_i,         // of the high part, the multiple of M'
    input  logic [IndexBits-1:0] index_i,
    output logic [W-1:0]         digit_o,
    input  logic                 write_i,
    input  logic [3:0]           write_entry_i,
    input  logic                 write_high_i,
    input  logic [IndexBits-1:0] write_index_i,
    input  logic [W-1:0]         write_digit_i
);
    logic [IndexBits:0] clear_q, write_address, address;
    logic [W-1:0] write_digit, masked;
    logic [15:0][W-1:0] read;

    assign clear_index_o = clear_q[IndexBits-1:0];
    assign address       = {high_i, index_i};
    assign write_address = cleared_o ? {write_high_i, write_index_i} : clear_q;
    assign write_digit   = cleared_o ? write_digit_i : '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            clear_q   <= '0;
            cleared_o <= 1'b0;
        end else if (!cleared_o) begin
            clear_q   <= clear_q + 1'b1;
            cleared_o <= &clear_q;
        end
    end

    for (genvar k = 0; k < 16; k++) begin : gen_entry
        logic [W-1:0] digits[2**(IndexBits+1)];
        always_ff @(posedge clk_i) begin
            if (!cleared_o || (write_i && write_entry_i == 4'(k))) digits[write_address] <= write_digit;
        end
        assign read[k] = digits[address];
    end

    always_comb begin
        masked = '0;
        for (int unsigned k = 0; k < 16; k++) masked |= read[k] & {W{valid_i && entry_i == 4'(k)}};
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) digit_o <= '0;
        else digit_o <= masked;
    end
endmodule
