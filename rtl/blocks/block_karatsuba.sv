// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies two numbers by the generalised Karatsuba method [WP06]: Blocks (Blocks + 1) / 2
// products of blocks, about half of the grade-school ones, with one multiplier.
//
// With the diagonal products D_i = a_i b_i, column k is
//
//   sum of (a_i + a_j) (b_i + b_j) over i < j, i + j = k   -   sum of D_i over all i of the column   +   2 D_(k/2) if k is even,
//
// since a pair's product contains both of its diagonal products as well. D_k is the first product
// of column k < n, and is stored in memory. The sum of a column's D_i is a running one: D_k is
// added, from column n on D_(k-n) is subtracted.
//
// Operands are as in block_columns. Cycles: a column k < n = Blocks takes 1 + floor((k + 1) / 2),
// another below 2 n - 1 max(1, ceil(k / 2) - (k - n + 1)), and one cycle follows: C = n (n + 1) /
// 2 + 2 in total. The first block leaves 5 cycles after the first blocks of both operands are
// accepted, the last one C + 4 cycles after (8262 for 4096 bits). The next operands are accepted
// from cycle C + 1 on. Reset wipes the memories: nothing is accepted for Blocks + 1 cycles.
// Multipliers: one of (Bits + 1) x (Bits + 1) (of 33 bits 4 DSP48E1).
module block_karatsuba #(
    parameter int unsigned Bits   = 32,  // of a block, at least 2
    parameter int unsigned Blocks = 128  // of an operand, at least 2
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            a_valid_i,
    output logic            a_ready_o,
    input  logic [Bits-1:0] a_block_i,
    input  logic            a_last_i,
    input  logic            b_valid_i,
    output logic            b_ready_o,
    input  logic [Bits-1:0] b_block_i,
    input  logic            b_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o,
    output logic            mul_o         // the multiplier's operands are read
);
    if (Bits < 2 || Blocks < 2) $error("block_karatsuba: Bits and Blocks must be at least 2");

    localparam int unsigned PlaceBits = $clog2(Blocks);
    localparam int unsigned CountBits = $clog2(2 * Blocks + 1);
    localparam int unsigned AccBits = 2 * Bits + $clog2(Blocks) + 4;

    // ---- Operands: the number of blocks here, and whether they are complete. ----

    logic [1:0] take, done_q, valid, last, ready;
    logic [1:0][Bits-1:0] block;
    logic [1:0][CountBits-1:0] count_q;
    logic release_it, wiped;
    assign valid = {b_valid_i, a_valid_i};
    assign last  = {b_last_i, a_last_i};
    assign block = {b_block_i, a_block_i};
    assign ready = {2{wiped}} & ~done_q;
    assign {b_ready_o, a_ready_o} = ready;
    assign take  = valid & ready;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || release_it) begin
            count_q <= '0;
            done_q  <= '0;
        end else begin
            for (int k = 0; k < 2; k++) begin
                if (take[k] && count_q[k] != CountBits'(Blocks)) count_q[k] <= count_q[k] + 1'b1;
                if (take[k]) done_q[k] <= last[k];
            end
        end
    end

    // ---- Steps: a column, and within it the diagonal product or a pair. ----

    logic [CountBits-1:0] column_q, low_q, high;
    logic diagonal_q;  // the next product is D_k
    logic here, step, column_end, last_column, move, pair;
    assign last_column = column_q == CountBits'(2 * Blocks - 1);
    assign high        = diagonal_q ? column_q : column_q - low_q;
    // There are pairs while the lower index is below the higher one. A column without pairs has one
    // idle step.
    assign pair        = !diagonal_q && !last_column && low_q < high;
    always_comb begin
        if (diagonal_q) column_end = column_q == '0;
        else column_end = low_q + 1'b1 >= column_q - low_q - 1'b1 || low_q >= high;
        if (last_column) column_end = 1'b1;
    end
    always_comb begin
        here = 1'b1;
        for (int k = 0; k < 2; k++) here &= done_q[k] || (count_q[k] > column_q && 32'(column_q) + 1 < Blocks);
    end
    assign step       = here && move;
    assign release_it = step && last_column;
    assign mul_o      = step;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {column_q, low_q} <= '0;
            diagonal_q <= 1'b1;
        end else if (step) begin
            if (release_it) begin
                {column_q, low_q} <= '0;
                diagonal_q <= 1'b1;
            end else if (column_end) begin
                column_q   <= column_q + 1'b1;
                low_q      <= 32'(column_q) + 1 < Blocks ? '0 : CountBits'(32'(column_q) + 2 - Blocks);
                diagonal_q <= 32'(column_q) + 1 < Blocks;
            end else begin
                diagonal_q <= 1'b0;
                low_q      <= diagonal_q ? '0 : low_q + 1'b1;
            end
        end
    end

    // ---- Memories: each operand twice, for the two blocks of a pair. ----

    logic [1:0][1:0] wiped_each;
    logic [1:0][1:0][Bits-1:0] read;  // of an operand, low and high
    logic [1:0][1:0] used, used_q;
    logic [1:0][CountBits-1:0] place;
    assign place[0] = low_q;
    assign place[1] = high;
    for (genvar k = 0; k < 2; k++) begin : gen_operand
        for (genvar h = 0; h < 2; h++) begin : gen_copy
            logic unused_error;
            // The diagonal product uses the higher block alone.
            assign used[k][h] = (h == 1 ? diagonal_q || pair : pair) && place[h] < count_q[k];
            ram_1r1w #(
                .Width(Bits),
                .Depth(Blocks)
            ) u_blocks (
                .clk_i,
                .rst_ni,
                .wipe_i         (1'b0),
                .ready_o        (wiped_each[k][h]),
                .write_i        (take[k] && count_q[k] != CountBits'(Blocks)),
                .write_address_i(PlaceBits'(count_q[k])),
                .write_data_i   (block[k]),
                .read_i         (step),
                .read_address_i (PlaceBits'(place[h])),
                .read_data_o    (read[k][h]),
                .error_o        (unused_error)
            );
        end
    end

    // ---- The pipeline: read, add, multiply, add to the column. When a column ends, diagonal
    // products are read again. ----

    typedef struct packed {
        logic valid;
        logic diagonal;
        logic ends;
        logic last;
        logic upper;                      // column n or above
        logic even;
        logic zero;                       // column 0
        // of the diagonal product: this column's, or the one that is subtracted
        logic [PlaceBits-1:0] place;
    } tag_t;
    tag_t tag, tag_1_q, tag_2_q, tag_3_q;
    logic [PlaceBits-1:0] middle_1_q, middle_2_q;  // column / 2
    logic [1:0][Bits:0] sum_q;
    logic [2*Bits+1:0] product_q;
    logic [2*Bits-1:0] middle_read, gone_read;
    logic [1:0] wiped_products;
    logic [AccBits-1:0] acc_q, window_q, window, acc, column_sum;
    assign wiped = &{wiped_each, wiped_products};

    always_comb begin
        tag.valid    = step;
        tag.diagonal = diagonal_q;
        tag.ends     = column_end;
        tag.last     = last_column;
        tag.upper    = 32'(column_q) >= Blocks;
        tag.even     = !column_q[0];
        tag.zero     = column_q == '0;
        tag.place    = PlaceBits'(32'(column_q) % Blocks);
    end

    for (genvar k = 0; k < 2; k++) begin : gen_products
        logic [2*Bits-1:0] word;
        logic unused_error;
        ram_1r1w #(
            .Width(2 * Bits),
            .Depth(Blocks)
        ) u_diagonal (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped_products[k]),
            .write_i        (move && tag_3_q.valid && tag_3_q.diagonal),
            .write_address_i(tag_3_q.place),
            .write_data_i   (product_q[2*Bits-1:0]),
            .read_i         (move),
            .read_address_i (k == 0 ? middle_2_q : tag_2_q.place),
            .read_data_o    (word),
            .error_o        (unused_error)
        );
        if (k == 0) begin : gen_middle
            assign middle_read = word;
        end else begin : gen_gone
            assign gone_read = word;
        end
    end

    // The column so far; its diagonal products are subtracted when it ends.
    assign acc = acc_q + (tag_3_q.diagonal ? '0 : AccBits'(product_q));
    always_comb begin
        window = window_q;
        if (tag_3_q.diagonal) window = window_q + AccBits'(product_q);
        else if (tag_3_q.upper && tag_3_q.ends) window = window_q - AccBits'(gone_read);
    end
    always_comb begin
        column_sum = acc - window;
        if (tag_3_q.zero) column_sum = column_sum + (AccBits'(product_q) << 1);
        else if (tag_3_q.even) column_sum = column_sum + (AccBits'(middle_read) << 1);
        if (tag_3_q.last) column_sum = acc_q;
    end
    assign move = !out_valid_o || out_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {tag_1_q, tag_2_q, tag_3_q} <= '0;
            {middle_1_q, middle_2_q} <= '0;
            used_q      <= '0;
            sum_q       <= '0;
            product_q   <= '0;
            {acc_q, window_q} <= '0;
            {out_valid_o, out_last_o} <= '0;
            out_block_o <= '0;
        end else if (move) begin
            {tag_1_q, tag_2_q, tag_3_q} <= {tag, tag_1_q, tag_2_q};
            {middle_1_q, middle_2_q} <= {PlaceBits'(column_q >> 1), middle_1_q};
            used_q <= used;
            for (int k = 0; k < 2; k++) begin
                sum_q[k] <= (used_q[k][0] ? (Bits + 1)'(read[k][0]) : '0) + (used_q[k][1] ? (Bits + 1)'(read[k][1]) : '0);
            end
            product_q <= (2 * Bits + 2)'(sum_q[0]) * (2 * Bits + 2)'(sum_q[1]);
            if (tag_3_q.valid) begin
                window_q <= tag_3_q.last ? '0 : window;
                acc_q    <= tag_3_q.last ? '0 : tag_3_q.ends ? column_sum >> Bits : acc;
            end
            out_valid_o <= tag_3_q.valid && tag_3_q.ends;
            out_last_o  <= tag_3_q.last;
            out_block_o <= column_sum[Bits-1:0];
        end
    end
endmodule
