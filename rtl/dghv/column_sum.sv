// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums columns of block products, one sum per lane. Products come in, 2 Block words each, lowest
// first. With the last product of a column, the lower half of the sum goes out. The upper half
// starts the next column.
//
// A column has at most 2^Width - 2 products. A word leaves in the cycle in which it arrives; the
// rate is a word every 2 cycles. Nothing is accepted while the memory is being wiped.
module column_sum #(
    parameter int unsigned Width = 64,  // bits of a word
    parameter int unsigned Block = 28   // words of a block
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    output logic                ready_o,
    input  logic                tag_valid_i,   // of a product, accepted with its last word
    output logic                tag_ready_o,
    input  logic                tag_fresh_i,   // nothing is carried into the column
    input  logic                tag_first_i,   // first product of its column, in its lane
    input  logic                tag_last_i,
    input  dghv_pkg::lane_t  tag_lane_i,
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic [Width-1:0]    in_data_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [Width-1:0]    out_data_o
);
    if (Block < 2) $error("column_sum: Block must be at least 2");

    localparam int unsigned Places = $clog2(2 * Block);
    localparam logic [Places-1:0] Final = Places'(2 * Block - 1);
    localparam logic [Places-1:0] Half = Places'(Block);

    // read_q: the former word of the sum has been read
    logic read_q, upper, at_half, at_end, step, wiped, unused_error;
    logic [Places-1:0] place_q;
    logic carry_q;
    // Carries out of a column's products, per lane. That of a product is added a cycle after its
    // last word, when no word can arrive: the addition would otherwise follow that of the words.
    logic [Width-1:0] top_q[dghv_pkg::Lanes];
    logic ended_q, ended_first_q, ended_carry_q;
    dghv_pkg::lane_t ended_lane_q;
    logic [Width-1:0] top;
    logic [Width-1:0] held, former;
    logic [Width:0] sum;

    assign upper       = place_q >= Half;
    assign at_half     = place_q == Half;
    assign at_end      = place_q == Final;
    assign sum         = {1'b0, former} + {1'b0, in_data_i} + (Width + 1)'(carry_q);
    assign out_valid_o = read_q && in_valid_i && tag_last_i && !upper;
    assign out_data_o  = sum[Width-1:0];
    assign step        = read_q && in_valid_i && (!out_valid_o || out_ready_i);
    assign in_ready_o  = step;
    assign tag_ready_o = step && at_end;
    assign ready_o     = wiped;
    assign top         = top_q[ended_q ? ended_lane_q : tag_lane_i];

    always_comb begin
        if (!tag_first_i) former = held;
        else if (tag_fresh_i) former = '0;
        else if (!upper) former = held;
        else former = at_half ? top : '0;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            read_q  <= 1'b0;
            place_q <= '0;
            carry_q <= 1'b0;
            ended_q <= 1'b0;
            for (int unsigned k = 0; k < dghv_pkg::Lanes; k++) top_q[k] <= '0;
        end else begin
            read_q        <= read_q ? !step : tag_valid_i && wiped;
            ended_q       <= step && at_end;
            ended_first_q <= tag_first_i;
            ended_carry_q <= sum[Width];
            ended_lane_q  <= tag_lane_i;
            if (ended_q) top_q[ended_lane_q] <= (ended_first_q ? '0 : top) + Width'(ended_carry_q);
            if (step) begin
                place_q <= at_end ? '0 : place_q + Places'(1);
                carry_q <= !at_end && sum[Width];
            end
        end
    end

    ram_1r1w #(
        .Width(Width),
        .Depth(dghv_pkg::Lanes << Places)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (wiped),
        .write_i        (step),
        .write_address_i({tag_lane_i, place_q}),
        .write_data_i   (sum[Width-1:0]),
        .read_i         (!read_q),
        .read_address_i ({tag_lane_i, tag_first_i && !upper ? place_q + Half : place_q}),
        .read_data_o    (held),
        .error_o        (unused_error)
    );

    logic unused;
    assign unused = unused_error;
endmodule
