// SPDX-License-Identifier: MIT OR Apache-2.0
// Digits of stored numbers for half of a dual lane (dual_lane): a table of 16 numbers that is read at public addresses, and constants.
//
// Every read reads the same digit of all 16 entries; the entry only decides which of them is let through, by masks. So no address depends on it.
// digit_o is digit index_i of the selected number two cycles later; digits from Digits on are 0. After a reset the table is cleared, digit by digit:
// cleared_o says when that is done.
module dual_source #(
    parameter int unsigned W      = 16,  // bits of a digit
    parameter int unsigned Digits = 36,  // digits of a number
    localparam int unsigned OpBits    = Digits * W,
    localparam int unsigned IndexBits = $clog2(Digits)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic                 cleared_o,
    input  logic [IndexBits-1:0] index_i,
    input  logic                 valid_i,   // index_i is below Digits
    input  logic                 table_i,   // an entry of the table, otherwise a constant
    input  logic [3:0]           entry_i,
    input  logic                 constant_i,
    input  logic [1:0]           which_i,   // which constant, while constant_i
    input  logic [OpBits-1:0]    shift_i,   // constants 0 to 3, stable
    input  logic [OpBits-1:0]    enter_i,
    input  logic [OpBits-1:0]    one_i,
    input  logic [OpBits-1:0]    unit_i,
    output logic [W-1:0]         digit_o,
    input  logic                 write_i,
    input  logic [3:0]           write_entry_i,
    input  logic [IndexBits-1:0] write_index_i,
    input  logic [W-1:0]         write_digit_i
);
    logic [OpBits-1:0] constant;
    logic [W-1:0] constant_q, masked;
    logic [15:0][W-1:0] read;
    logic [15:0] mask_q;

    always_comb begin
        unique case (which_i)
            2'd0: constant = shift_i;
            2'd1: constant = enter_i;
            2'd2: constant = one_i;
            2'd3: constant = unit_i;
        endcase
    end

    // Clearing.
    logic [IndexBits-1:0] clear_index_q, write_index;
    logic [W-1:0] write_digit;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            clear_index_q <= '0;
            cleared_o     <= 1'b0;
        end else if (!cleared_o) begin
            clear_index_q <= clear_index_q + 1'b1;
            cleared_o     <= &clear_index_q;
        end
    end
    assign write_index = cleared_o ? write_index_i : clear_index_q;
    assign write_digit = cleared_o ? write_digit_i : '0;

    for (genvar k = 0; k < 16; k++) begin : gen_entry
        logic [W-1:0] digits [2**IndexBits];
        logic [W-1:0] read_q;
        always_ff @(posedge clk_i) begin
            if (!cleared_o || (write_i && write_entry_i == 4'(k))) digits[write_index] <= write_digit;
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                read_q    <= '0;
                mask_q[k] <= 1'b0;
            end else begin
                read_q    <= digits[index_i];
                mask_q[k] <= valid_i && table_i && entry_i == 4'(k);
            end
        end
        assign read[k] = read_q;
    end
    always_comb begin
        masked = '0;
        for (int unsigned k = 0; k < 16; k++) masked |= read[k] & {W{mask_q[k]}};
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            constant_q <= '0;
            digit_o    <= '0;
        end else begin
            constant_q <= valid_i && constant_i ? constant[index_i*W+:W] : '0;
            digit_o    <= constant_q | masked;
        end
    end
endmodule
