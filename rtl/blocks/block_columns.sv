// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by columns: c = a b, block by block, with Lanes multipliers; the engine of block_mul
// and block_square.
//
// Column k, the sum of all a_i b_(k-i), is accumulated in one register and leaves as a block before
// the next one begins. So no product is stored and a column needs only the blocks up to its own:
// the first ones leave while operands still arrive. Lanes products with neighbouring i are added
// per cycle. The blocks of b are in Lanes memories, by their index modulo Lanes, and are rotated to
// the lanes that need them.
//
// Column k begins once b_k is here, and ends once a_k is. Operands have at most Blocks blocks,
// further ones are ignored; a shorter operand counts as if padded with zeros. c has 2 Blocks
// blocks; with Low only those below 2^(Bits Blocks), c modulo it. With Square b must be the same
// number as a: products with i < k - i count twice, those with i > k - i are not computed.
//
// Cycles: with n = Blocks, L = Lanes, and steps(k) = floor(hi / L) - floor(lo / L) + 1 for column
// k, where lo = max(0, k - n + 1) and hi = min(k, n - 1), or with Square floor(k / 2): C = 1 + the
// sum of steps(k) for k < 2 n - 1; with Low the sum for k < n. For L = 1 that is n^2 + 1 and with
// Square n (n + 1) / 2 + 1. The first block leaves 6 cycles after the first blocks of both operands
// are accepted, the last one C + 5 cycles after. This holds if no block is late; one per cycle
// suffices. The next operands are accepted from cycle C + 1 on. The timing depends on lengths
// alone, not on values. Reset wipes the memories: nothing is accepted for Blocks / Lanes + 1
// cycles. Multipliers: Lanes, of Bits x Bits, with input and output registers (of 32 bits 4 DSP48E1
// each).
module block_columns #(
    parameter int unsigned Bits   = 32,   // of a block
    parameter int unsigned Blocks = 128,  // of an operand, a multiple of Lanes, at least 2 Lanes
    parameter int unsigned Lanes  = 1,    // a power of two
    parameter int unsigned Low    = 0,    // 1: the lower half only
    parameter int unsigned Square = 0     // 1: both operands are the same
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
    output logic            mul_o         // the multipliers' operands are read
);
    if (Lanes < 1 || (Lanes & (Lanes - 1)) != 0 || Blocks % Lanes != 0 || Blocks < 2 * Lanes) begin : gen_bad
        $error("block_columns: Lanes is a power of two, Blocks a multiple of it, at least 2 Lanes");
    end
    if (Low > 1 || Square > 1 || Bits < 2) $error("block_columns: Low and Square are 0 or 1, Bits at least 2");

    localparam int unsigned Rows = Blocks / Lanes;
    localparam int unsigned Columns = Low == 1 ? Blocks : 2 * Blocks;
    localparam int unsigned RowBits = $clog2(Rows);
    localparam int unsigned CountBits = $clog2(2 * Blocks + 1);
    localparam int unsigned SumBits = 2 * Bits + $clog2(Lanes) + 1;
    localparam int unsigned AccBits = 2 * Bits + $clog2(Blocks) + 2;

    // ---- Operands: the number of blocks here, and whether they are complete. ----

    logic [CountBits-1:0] a_count_q, b_count_q;
    logic a_done_q, b_done_q, a_take, b_take, release_it, wiped;
    assign a_ready_o = wiped && !a_done_q;
    assign b_ready_o = wiped && !b_done_q;
    assign a_take    = a_valid_i && a_ready_o;
    assign b_take    = b_valid_i && b_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || release_it) begin
            {a_count_q, b_count_q} <= '0;
            {a_done_q, b_done_q} <= '0;
        end else begin
            if (a_take && a_count_q != CountBits'(Blocks)) a_count_q <= a_count_q + 1'b1;
            if (b_take && b_count_q != CountBits'(Blocks)) b_count_q <= b_count_q + 1'b1;
            if (a_take) a_done_q <= a_last_i;
            if (b_take) b_done_q <= b_last_i;
        end
    end

    // ---- Steps: a column, and a row of a. ----

    logic [CountBits-1:0] column_q, row_q, row_last, next_row, a_need;
    logic a_here, b_here, here, step, column_end, last_column, move;
    assign last_column = column_q == CountBits'(Columns - 1);
    // A column's steps ascend in a and descend in b. Its own block of a is needed last, so a may be
    // a product that arrives no faster.
    assign a_need      = 32'(row_q) * Lanes + Lanes - 1 < 32'(column_q) ? CountBits'(32'(row_q) * Lanes + Lanes - 1) : column_q;
    assign a_here      = a_done_q || (a_count_q > a_need && 32'(a_need) + 1 < Blocks);
    assign b_here      = b_done_q || (b_count_q > column_q && 32'(column_q) + 1 < Blocks);
    assign here        = a_here && b_here && (!last_column || (a_done_q && b_done_q));
    assign step        = here && move;
    assign column_end  = row_q >= row_last;
    assign release_it  = step && column_end && last_column;
    assign mul_o       = step;
    always_comb begin
        if (Square == 1) row_last = CountBits'(32'(column_q) / 2 / Lanes);
        else row_last = CountBits'(32'(column_q) < Blocks ? 32'(column_q) / Lanes : Rows - 1);
        // The first row of the next column.
        next_row = 32'(column_q) + 1 < Blocks ? '0 : CountBits'((32'(column_q) + 2 - Blocks) / Lanes);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {column_q, row_q} <= '0;
        end else if (step) begin
            column_q <= release_it ? '0 : column_end ? column_q + 1'b1 : column_q;
            row_q    <= release_it ? '0 : column_end ? next_row : row_q + 1'b1;
        end
    end

    // ---- Memories, and the products of a step that count. ----

    logic [Lanes-1:0] wiped_a, wiped_b;
    logic [Lanes-1:0][Bits-1:0] a_read, b_read, a_q, b_q;
    logic [Lanes-1:0] used, used_q, twice, twice_1_q, twice_2_q, twice_3_q;
    logic [$clog2(Lanes+1)-1:0] turn_q;  // of the column: its number modulo Lanes
    assign wiped = &{wiped_a, wiped_b};

    for (genvar r = 0; r < int'(Lanes); r++) begin : gen_bank
        logic [RowBits-1:0] b_row;
        logic a_error, b_error, unused;
        // Lane l reads b at column - row Lanes - l. This bank serves the lane for which that is r
        // modulo Lanes.
        assign b_row  = RowBits'((32'(column_q) + Lanes - r) / Lanes - 1 - 32'(row_q));
        assign unused = a_error ^ b_error;
        ram_1r1w #(
            .Width(Bits),
            .Depth(Rows)
        ) u_a (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped_a[r]),
            .write_i        (a_take && a_count_q != CountBits'(Blocks) && 32'(a_count_q) % Lanes == r),
            .write_address_i(RowBits'(32'(a_count_q) / Lanes)),
            .write_data_i   (a_block_i),
            .read_i         (step),
            .read_address_i (RowBits'(row_q)),
            .read_data_o    (a_read[r]),
            .error_o        (a_error)
        );
        ram_1r1w #(
            .Width(Bits),
            .Depth(Rows)
        ) u_b (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped_b[r]),
            .write_i        (b_take && b_count_q != CountBits'(Blocks) && 32'(b_count_q) % Lanes == r),
            .write_address_i(RowBits'(32'(b_count_q) / Lanes)),
            .write_data_i   (b_block_i),
            .read_i         (step),
            .read_address_i (b_row),
            .read_data_o    (b_read[r]),
            .error_o        (b_error)
        );
        // Lane r.
        int unsigned i, j;
        assign i        = 32'(row_q) * Lanes + r;
        assign j        = 32'(column_q) - i;
        assign used[r]  = i < 32'(a_count_q) && i <= 32'(column_q) && j < 32'(b_count_q) && (Square == 0 || i <= j);
        assign twice[r] = Square == 1 && i < j;
    end

    // ---- The pipeline: read, rotate, multiply, add the lanes, add to the column. ----

    logic [4:1] valid_q, end_q, last_q;
    logic [Lanes-1:0][2*Bits-1:0] product_q;
    logic [SumBits-1:0] sum, sum_q;
    logic [AccBits-1:0] acc_q, acc;
    always_comb begin
        sum = '0;
        for (int l = 0; l < int'(Lanes); l++) sum += SumBits'(product_q[l]) << twice_3_q[l];
    end
    assign acc  = acc_q + AccBits'(sum_q);
    assign move = !out_valid_o || out_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {valid_q, end_q, last_q} <= '0;
            {used_q, twice_1_q, twice_2_q, twice_3_q} <= '0;
            turn_q      <= '0;
            {a_q, b_q, product_q} <= '0;
            sum_q       <= '0;
            acc_q       <= '0;
            {out_valid_o, out_last_o} <= '0;
            out_block_o <= '0;
        end else if (move) begin
            valid_q <= {valid_q[3:1], step};
            end_q   <= {end_q[3:1], column_end};
            last_q  <= {last_q[3:1], last_column};
            used_q  <= used;
            turn_q  <= $bits(turn_q)'(32'(column_q) % Lanes);
            {twice_1_q, twice_2_q, twice_3_q} <= {twice, twice_1_q, twice_2_q};
            for (int unsigned l = 0; l < Lanes; l++) begin
                a_q[l]       <= used_q[l] ? a_read[l] : '0;
                b_q[l]       <= b_read[(32'(turn_q)+Lanes-l)%Lanes];
                product_q[l] <= (2 * Bits)'(a_q[l]) * (2 * Bits)'(b_q[l]);
            end
            sum_q <= sum;
            if (valid_q[4]) acc_q <= !end_q[4] ? acc : last_q[4] ? '0 : acc >> Bits;
            out_valid_o <= valid_q[4] && end_q[4];
            out_last_o  <= last_q[4];
            out_block_o <= acc[Bits-1:0];
        end
    end
endmodule
