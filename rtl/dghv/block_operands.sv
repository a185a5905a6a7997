// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches the words of pairs of blocks while earlier pairs are multiplied. x comes from memory, y
// from memory or from the seed.
//
// A pair's x is read first, then its y. Words beyond a number's end are zero. Seeded: y is Block
// rows of an element's stream, a row being a word of each of the Lanes segments, and x is paired
// with a block of every segment. Two pairs are buffered: one comes in while the other goes out. The
// words of a pair leave together, Block per product, after the product's tag (tag_). Requests are
// sent as soon as there is room, so a memory that answers within about N - 2 Block - 8 cycles
// causes no stall.
module block_operands #(
    parameter int unsigned Width       = 64,  // bits of a word
    parameter int unsigned Block       = 28,  // words of a block
    parameter int unsigned AddrWidth   = 32,
    parameter int unsigned CountWidth  = 11,
    localparam int unsigned Places     = Block > 1 ? $clog2(Block) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // the memories hold nothing from before reset
    output logic                  ready_o,
    input  dghv_pkg::step_t       step_i,
    input  logic                  pair_valid_i,     // product_pairs
    output logic                  pair_ready_o,
    input  dghv_pkg::address_t    x_at_i,
    input  dghv_pkg::address_t    y_at_i,
    input  dghv_pkg::index_t      index_i,
    input  dghv_pkg::length_t     x_word_i,
    input  dghv_pkg::length_t     y_word_i,
    input  logic                  empty_i,
    input  logic                  fresh_i,
    input  logic                  first_i,
    input  logic                  last_i,
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    output logic                  seed_req_valid_o,
    input  logic                  seed_req_ready_i,
    output dghv_pkg::index_t      seed_req_index_o,  // index of the element
    output dghv_pkg::length_t     seed_req_row_o,    // the first row, of Lanes words each
    output logic [CountWidth-1:0] seed_req_count_o,  // rows
    input  logic                  seed_valid_i,
    output logic                  seed_ready_o,
    input  logic [Width-1:0]      seed_data_i,
    output logic                  tag_valid_o,
    input  logic                  tag_ready_i,
    output logic                  tag_fresh_o,
    output logic                  tag_first_o,
    output logic                  tag_last_o,
    output dghv_pkg::lane_t    tag_lane_o,
    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output logic [Width-1:0]      x_o,
    output logic [Width-1:0]      y_o
);
    if (Block < 2 || CountWidth < Places + 1) $error("block_operands: Block must be at least 2, CountWidth enough for it");

    localparam logic [Places-1:0] Final = Places'(Block - 1);
    typedef logic [Places:0] count_t;

    logic seeded;
    assign seeded = step_i.kind == dghv_pkg::Seeded;

    // ---- Requests: x, then y, of a pair for which there is room. ----

    logic y_turn_q, push, room, wait_ready, asked;
    logic [1:0] used_q;
    count_t x_count, y_count;
    logic free;  // a pair has left
    assign x_count          = empty_i ? '0 : count_t'(dghv_pkg::least(dghv_pkg::length_t'(Block), step_i.x.words - x_word_i));
    assign y_count          = empty_i ? '0 : count_t'(dghv_pkg::least(dghv_pkg::length_t'(Block), step_i.y.words - y_word_i));
    assign room             = pair_valid_i && !used_q[1] && wait_ready;
    assign rd_req_valid_o   = room && !empty_i && !(y_turn_q && seeded);
    assign rd_req_addr_o    = AddrWidth'(y_turn_q ? y_at_i + dghv_pkg::address_t'(y_word_i) : x_at_i + dghv_pkg::address_t'(x_word_i));
    assign rd_req_count_o   = y_turn_q ? CountWidth'(y_count) : CountWidth'(x_count);
    assign seed_req_valid_o = room && !empty_i && y_turn_q && seeded;
    assign seed_req_index_o = index_i;
    assign seed_req_row_o   = y_word_i;
    assign seed_req_count_o = CountWidth'(y_count);
    assign asked            = empty_i || (rd_req_valid_o && rd_req_ready_i) || (seed_req_valid_o && seed_req_ready_i);
    assign push             = room && y_turn_q && asked;
    assign pair_ready_o     = push;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            y_turn_q <= 1'b0;
            used_q   <= '0;
        end else begin
            if (room && asked) y_turn_q <= !y_turn_q;
            used_q <= used_q + 2'(push) - 2'(free);
        end
    end

    // ---- Pairs that wait for their words. ----

    typedef struct packed {
        count_t x_count, y_count;
        dghv_pkg::length_t row;
        logic fresh, first, last;
    } waiting_t;
    waiting_t waiting;
    logic waiting_valid, arrived;

    stream_fifo #(
        .Width(2 * Places + 5 + dghv_pkg::LengthBits),
        .Depth(2)
    ) u_waiting (
        .clk_i,
        .rst_ni,
        .in_valid_i (push),
        .in_ready_o (wait_ready),
        .in_data_i  ({x_count, y_count, y_word_i, fresh_i, first_i, last_i}),
        .out_valid_o(waiting_valid),
        .out_ready_i(arrived),
        .out_data_o (waiting)
    );

    // ---- Incoming words: x, then y, row by row, each padded with zeros. ----

    logic in_slot_q, in_y_q, ours, given, put, row_end;
    logic [Places-1:0] in_place_q;
    dghv_pkg::lane_t in_lane_q;
    dghv_pkg::length_t lane_base_q, position;  // index of the word in its element
    logic beyond, at_top;
    logic [Width-1:0] word, kept;

    assign ours         = {1'b0, in_place_q} < (in_y_q ? waiting.y_count : waiting.x_count);
    assign rd_ready_o   = waiting_valid && ours && !(in_y_q && seeded);
    assign seed_ready_o = waiting_valid && ours && in_y_q && seeded;
    assign given        = (rd_ready_o && rd_valid_i) || (seed_ready_o && seed_valid_i);
    assign put          = waiting_valid && (given || !ours);
    assign row_end      = !(in_y_q && seeded) || (&in_lane_q);
    assign position     = lane_base_q + waiting.row + dghv_pkg::length_t'(in_place_q);
    assign beyond       = position >= step_i.whole;
    assign at_top       = position == step_i.whole - dghv_pkg::length_t'(1) && step_i.kept != '0;
    assign kept         = at_top ? ~({Width{1'b1}} << step_i.kept) : {Width{1'b1}};
    assign arrived      = put && row_end && in_place_q == Final && in_y_q;

    always_comb begin
        word = '0;
        if (ours) begin
            if (!(in_y_q && seeded)) word = rd_data_i;
            else if (!beyond) word = seed_data_i & kept;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_slot_q   <= 1'b0;
            in_y_q      <= 1'b0;
            in_place_q  <= '0;
            in_lane_q   <= '0;
            lane_base_q <= '0;
        end else if (put) begin
            if (in_y_q && seeded) begin
                in_lane_q   <= in_lane_q + dghv_pkg::lane_t'(1);
                lane_base_q <= row_end ? '0 : lane_base_q + step_i.y.words;
            end
            if (row_end) begin
                in_place_q <= in_place_q == Final ? '0 : in_place_q + Places'(1);
                if (in_place_q == Final) in_y_q <= !in_y_q;
            end
            if (arrived) in_slot_q <= !in_slot_q;
        end
    end

    // ---- Outgoing words: a block of x together with one of y, lane by lane. ----

    logic [1:0] full_q;
    logic [2:0] tag_q[2];
    logic out_slot_q, tagged_q, have_q, read, block_end, product_end;
    logic [Places-1:0] out_place_q;
    dghv_pkg::lane_t out_lane_q;
    logic [1:0] ready, unused_error;

    assign tag_valid_o = full_q != '0 && !tagged_q;
    assign {tag_fresh_o, tag_first_o, tag_last_o} = tag_q[out_slot_q];
    assign tag_lane_o  = out_lane_q;
    assign read        = full_q != '0 && tagged_q && (!have_q || out_ready_i);
    assign block_end   = out_place_q == Final;
    assign product_end = read && block_end;
    assign free        = product_end && (!seeded || (&out_lane_q));
    assign out_valid_o = have_q;
    assign ready_o     = &ready;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            full_q      <= '0;
            out_slot_q  <= 1'b0;
            tagged_q    <= 1'b0;
            have_q      <= 1'b0;
            out_place_q <= '0;
            out_lane_q  <= '0;
            tag_q[0]    <= '0;
            tag_q[1]    <= '0;
        end else begin
            if (arrived) tag_q[in_slot_q] <= {waiting.fresh, waiting.first, waiting.last};
            full_q <= full_q + 2'(arrived) - 2'(free);
            if (tag_valid_o && tag_ready_i) tagged_q <= 1'b1;
            else if (product_end) tagged_q <= 1'b0;
            have_q <= read || (have_q && !out_ready_i);
            if (read) out_place_q <= block_end ? '0 : out_place_q + Places'(1);
            if (product_end && seeded) out_lane_q <= out_lane_q + dghv_pkg::lane_t'(1);
            if (free) out_slot_q <= !out_slot_q;
        end
    end

    ram_1r1w #(
        .Width(Width),
        .Depth(2 << Places)
    ) u_x (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (ready[0]),
        .write_i        (put && !in_y_q),
        .write_address_i({in_slot_q, in_place_q}),
        .write_data_i   (word),
        .read_i         (read),
        .read_address_i ({out_slot_q, out_place_q}),
        .read_data_o    (x_o),
        .error_o        (unused_error[0])
    );

    ram_1r1w #(
        .Width(Width),
        .Depth(2 * dghv_pkg::Lanes << Places)
    ) u_y (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (ready[1]),
        .write_i        (put && in_y_q),
        .write_address_i({in_slot_q, in_lane_q, in_place_q}),
        .write_data_i   (word),
        .read_i         (read),
        .read_address_i ({out_slot_q, out_lane_q, out_place_q}),
        .read_data_o    (y_o),
        .error_o        (unused_error[1])
    );

    logic unused;
    assign unused = &{1'b0, unused_error, step_i};
endmodule
