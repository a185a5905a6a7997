// SPDX-License-Identifier: MIT OR Apache-2.0
// Processes a tile's memory in a pass of a four-step transform. Every column or row goes through
// the one transform and the one product behind it, and back to its place.
//
//   ColumnsX, ColumnsY   Columns columns c of 2^rows items become X w^(q t), X their transform, q the row of an item, t the number of its column
//   Rows                 of Columns / 2 rows of x and as many of y, of 2^columns items, row k of both becomes Z w^(-q t) / N, Z the inverse transform of the product of their transforms
//   Back                 columns become their inverse transforms
//
// w has order N = 2^(rows + columns). There is no separate inverse transform: it is the transform
// with its places counted from the other end. Results of a transform come in bit-reversed order and
// are written to their natural places, which are free by then. A memory of one row keeps the
// transform of row k of x until it is multiplied by that of row k of y. Rows has two rounds: the
// rows of both factors, then those of their products. A round takes a cycle for each item, the
// transform's latency, root_product's and 4 more; start_i to done_o takes two more. Source:
// [Bailey90].
module tile_compute #(
    parameter int unsigned High      = 6,                       // High, Low: see ntt_lengths
    parameter int unsigned Low       = 5,
    // of order 2^(2 High + 2 Low) (root_product)
    parameter logic [65:0] Root      = 66'd7915626813612114351,
    parameter int unsigned ATile     = 24,
    parameter int unsigned Columns   = 16,                      // a power of two, at least 4
    localparam int unsigned Log       = High + Low,
    localparam int unsigned PlaceBits = Log + $clog2(Columns)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 start_i,
    input  four_step_pkg::pass_e pass_i,         // this to first_i: stable from start_i to done_o
    input  logic [3:0]           rows_i,         // logarithms, Low + 1 to Log
    input  logic [3:0]           columns_i,
    input  logic [Log-1:0]       first_i,        // first of the tile's columns or rows
    output logic                 done_o,         // low while busy
    output logic                 read_o,
    output logic [PlaceBits-1:0] read_place_o,
    input  logic [63:0]          read_data_i,
    output logic                 write_o,
    output logic [PlaceBits-1:0] write_place_o,
    output logic [63:0]          write_data_o,
    output logic                 wiped_o         // its memory holds nothing from before reset
);
    localparam int unsigned ColumnBits = $clog2(Columns);
    // Cycles from a transform's item to the inputs of root_product.
    localparam int unsigned Lead = 3;
    // Latencies of root_product and of the longest transform.
    localparam int unsigned RootLatency = 1 + 2 * ntt_pkg::product_latency(64, 32, 0) + ntt_pkg::ShiftLatency;
    localparam int unsigned Transform = ntt_pkg::folded_latency(32, High, Low);
    localparam int unsigned WaitBits = $clog2(Transform + 2);
    localparam logic [65:0] TransformRoot = ntt_pkg::power(Root, 1 << Log, ntt_pkg::modulus(64, 32));

    typedef logic [Log-1:0] index_t;
    typedef logic [ColumnBits-1:0] block_t;

    // ---- A round: blocks of items go in one after another, and come out one after another later.
    // ----

    logic by_rows, feeding_q, working_q, begin_q, second_q, round_end;
    logic [3:0] size, skip;
    index_t last_item;
    block_t last_block;
    assign by_rows    = pass_i == four_step_pkg::Rows;
    assign size       = by_rows ? columns_i : rows_i;
    assign skip       = 4'(Log) - size;
    assign last_item  = index_t'((Log + 1)'(1) << size) - index_t'(1);
    assign last_block = by_rows && second_q ? block_t'(Columns / 2 - 1) : block_t'(Columns - 1);

    index_t in_q, out_q;
    block_t in_block_q, out_block_q;
    logic [WaitBits-1:0] wait_q;
    logic out_valid, giving_q, written, last_written;
    assign out_valid = giving_q && wait_q == '0;
    assign done_o    = !working_q;
    assign round_end = written && last_written;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            feeding_q   <= 1'b0;
            working_q   <= 1'b0;
            begin_q     <= 1'b0;
            second_q    <= 1'b0;
            giving_q    <= 1'b0;
            in_q        <= '0;
            in_block_q  <= '0;
            out_q       <= '0;
            out_block_q <= '0;
            wait_q      <= '0;
        end else if (start_i || (round_end && by_rows && !second_q)) begin
            feeding_q   <= 1'b1;
            working_q   <= 1'b1;
            begin_q     <= 1'b1;
            second_q    <= !start_i;
            giving_q    <= 1'b1;
            in_q        <= '0;
            in_block_q  <= '0;
            out_q       <= '0;
            out_block_q <= '0;
            wait_q      <= WaitBits'(Transform + 1 - (1 << Log)) + (WaitBits'(1) << size);
        end else begin
            begin_q <= 1'b0;
            if (round_end) working_q <= 1'b0;
            if (feeding_q) begin
                in_q <= in_q == last_item ? '0 : in_q + index_t'(1);
                if (in_q == last_item) begin
                    in_block_q <= in_block_q + block_t'(1);
                    if (in_block_q == last_block) feeding_q <= 1'b0;
                end
            end
            if (giving_q && wait_q != '0) wait_q <= wait_q - WaitBits'(1);
            if (out_valid) begin
                out_q <= out_q == last_item ? '0 : out_q + index_t'(1);
                if (out_q == last_item) begin
                    out_block_q <= out_block_q + block_t'(1);
                    if (out_block_q == last_block) giving_q <= 1'b0;
                end
            end
        end
    end

    // The place of an item: in columns, or in rows, those of x before those of y. In the first
    // round, every second block is of y.
    function automatic logic [PlaceBits-1:0] place(input logic rows, input logic [3:0] log, input block_t block, input index_t item);
        place = rows ? PlaceBits'(block) << log | PlaceBits'(item) : {item, block};
    endfunction

    block_t in_line;
    assign in_line = !by_rows ? in_block_q : second_q ? in_block_q | block_t'(Columns / 2) : {in_block_q[0], in_block_q[ColumnBits-1:1]};
    assign read_o       = feeding_q;
    assign read_place_o = place(by_rows, columns_i, in_line, in_q);

    // ---- The transform. Its counts restart with each round; between rounds, zeros go in. ----

    logic fed_q;
    logic [63:0] transform;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) fed_q <= 1'b0;
        else fed_q <= feeding_q;
    end

    ntt_lengths #(
        .High (High),
        .Low  (Low),
        .Root (TransformRoot),
        .ATile(ATile)
    ) u_transform (
        .clk_i,
        .rst_ni(rst_ni && !begin_q),
        .skip_i(skip[2:0]),
        .x_i   (fed_q ? read_data_i : '0),
        .y_o   (transform)
    );

    // ---- The places of its items: bits reversed, and counted from the other end for the inverse.
    // ----

    index_t reversed, number, line, target_q, line_q;
    logic back, keep, multiply;
    assign back = pass_i == four_step_pkg::Back || (by_rows && second_q);
    // x is kept, and y is multiplied by what was kept.
    assign keep     = by_rows && !second_q && !out_block_q[0];
    assign multiply = by_rows && !second_q && out_block_q[0];
    for (genvar b = 0; b < int'(Log); b++) begin : gen_reverse
        assign reversed[b] = out_q[Log-1-b];
    end
    assign number = reversed >> skip;
    assign line   = first_i | index_t'(out_block_q);

    // Registers: the places; the exponent's product; its sign and unit.
    logic [2*Log-1:0] product_q, exponent_q;
    logic turns_q, back_q, negative_q, scaled_q, multiply_q, multiply_qq, by_factor_q;
    logic [7:0] shift_q;
    logic [4:0] both;
    index_t out_place_q, out_place_qq;
    assign both = 5'(rows_i) + 5'(columns_i);

    always_ff @(posedge clk_i) begin
        target_q     <= back ? (index_t'(0) - number) & last_item : number;
        line_q       <= line;
        turns_q      <= pass_i != four_step_pkg::Back && !multiply;
        back_q       <= back;
        multiply_q   <= multiply;
        out_place_q  <= out_q;
        product_q    <= turns_q ? (2 * Log)'(target_q) * (2 * Log)'(line_q) : '0;
        negative_q   <= back_q;
        scaled_q     <= turns_q && back_q;
        multiply_qq  <= multiply_q;
        out_place_qq <= out_place_q;
        exponent_q   <= (negative_q ? (2 * Log)'(0) - product_q : product_q) << (5'(2 * Log) - both);
        shift_q      <= scaled_q ? 8'd192 - 8'(both) : '0;
        by_factor_q  <= multiply_qq;
    end

    logic [63:0] kept, x;
    logic unused_error;
    ram_1r1w #(
        .Width(64),
        .Depth(1 << Log)
    ) u_kept (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (wiped_o),
        .write_i        (out_valid && keep),
        .write_address_i(out_q),
        .write_data_i   (transform),
        .read_i         (multiply_qq),
        .read_address_i (out_place_qq),
        .read_data_o    (kept),
        .error_o        (unused_error)
    );

    delay_line #(
        .Width (64),
        .Cycles(Lead)
    ) u_lead (
        .clk_i,
        .en_i(1'b1),
        .x_i (transform),
        .y_o (x)
    );

    root_product #(
        .Log  (2 * Log),
        .Root (Root),
        .ATile(ATile)
    ) u_product (
        .clk_i,
        .en_i       (1'b1),
        .x_i        (x),
        .exponent_i (exponent_q),
        .shift_i    (shift_q),
        .by_factor_i(by_factor_q),
        .factor_i   (kept),
        .y_o        (write_data_o)
    );

    // ---- The places of the results. ----

    block_t out_line_q;
    logic valid_q, keep_q, last_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            valid_q <= 1'b0;
            keep_q  <= 1'b0;
            last_q  <= 1'b0;
        end else begin
            valid_q <= out_valid;
            keep_q  <= keep;
            last_q  <= out_q == last_item && out_block_q == last_block;
        end
        out_line_q <= !by_rows || second_q ? out_block_q : {1'b1, out_block_q[ColumnBits-1:1]};
    end

    // Marks of items in progress. A reset clears only valid; the other marks pass through.
    logic [RootLatency+Lead-2:0] valid_line_q;
    logic last_line, keep_line;
    logic [PlaceBits-1:0] place_line;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_line_q <= '0;
        else valid_line_q <= {valid_line_q[RootLatency+Lead-3:0], valid_q};
    end

    delay_line #(
        .Width (PlaceBits + 2),
        .Cycles(RootLatency + Lead - 1)
    ) u_place (
        .clk_i,
        .en_i(1'b1),
        .x_i ({last_q, keep_q, place(by_rows, columns_i, out_line_q, target_q)}),
        .y_o ({last_line, keep_line, place_line})
    );
    assign written       = valid_line_q[RootLatency+Lead-2];
    assign last_written  = last_line;
    assign write_o       = written && !keep_line;
    assign write_place_o = place_line;

    if (High + Low < 7 || High + Low > 12) $error("tile_compute: High + Low is 7 to 12");
    if (Columns < 4 || (Columns & (Columns - 1)) != 0 || Columns > 1 << Low + 1) $error("tile_compute: Columns is a power of two, 4 to 2^(Low+1)");

    logic unused;
    assign unused = &{1'b0, unused_error, skip[3]};
endmodule
