// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes a tile's memory to a matrix in memory: rows of Columns items, one after another, as
// tile_loader reads them.
//
// Row k goes to the words from base + first + k stride on. Cycles from start_i to done_o, for a
// memory that accepts words at once: one per item, and two.
module tile_writer #(
    parameter int unsigned Width      = 64,
    parameter int unsigned Columns    = 16,  // a power of two, at least 4
    parameter int unsigned PlaceBits  = 15,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  dghv_pkg::address_t    base_i,          // this to rows_i: stable from start_i to done_o
    input  dghv_pkg::length_t     first_i,
    input  dghv_pkg::length_t     stride_i,
    input  dghv_pkg::length_t     rows_i,          // at least 1
    output logic                  done_o,          // low while busy
    output logic                  read_o,
    output logic [PlaceBits-1:0]  read_place_o,
    input  logic [Width-1:0]      read_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o
);
    localparam int unsigned ColumnBits = $clog2(Columns);

    if (Columns < 4 || (Columns & (Columns - 1)) != 0) $error("tile_writer: Columns is a power of two, at least 4");
    if (CountWidth < ColumnBits + 1) $error("tile_writer: CountWidth is too small for a row");

    // ---- Requests. ----

    logic asking_q, asked;
    dghv_pkg::length_t row_q, from_q;
    assign wr_req_valid_o = asking_q;
    assign wr_req_addr_o  = AddrWidth'(base_i + dghv_pkg::address_t'(from_q));
    assign wr_req_count_o = CountWidth'(Columns);
    assign asked          = asking_q && wr_req_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            asking_q <= 1'b0;
            row_q    <= '0;
            from_q   <= '0;
        end else if (start_i) begin
            asking_q <= 1'b1;
            row_q    <= '0;
            from_q   <= first_i;
        end else if (asked) begin
            row_q    <= row_q + dghv_pkg::length_t'(1);
            from_q   <= from_q + stride_i;
            asking_q <= row_q + dghv_pkg::length_t'(1) != rows_i;
        end
    end

    // ---- Items: the next one is read when the current one is accepted. ----

    logic [PlaceBits:0] place_q, items;
    logic active_q, held_q, more;
    assign items        = (PlaceBits + 1)'(rows_i) << ColumnBits;
    assign more         = active_q && place_q != items;
    assign read_o       = more && (!held_q || wr_ready_i);
    assign read_place_o = place_q[PlaceBits-1:0];
    assign wr_valid_o   = held_q;
    assign wr_data_o    = read_data_i;
    assign done_o       = !active_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            active_q <= 1'b0;
            held_q   <= 1'b0;
            place_q  <= '0;
        end else if (start_i) begin
            active_q <= 1'b1;
            place_q  <= '0;
        end else begin
            if (read_o) place_q <= place_q + (PlaceBits + 1)'(1);
            if (read_o) held_q <= 1'b1;
            else if (wr_ready_i) held_q <= 1'b0;
            if (held_q && wr_ready_i && !more) active_q <= 1'b0;
        end
    end
endmodule
