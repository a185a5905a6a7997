// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the words of columns to memory: Block words of each lane, column after column, up to the
// length of z. Words beyond its end are dropped.
//
// A product has one lane. Seeded: sums of even segments go to z, sums of odd segments to odd, each
// at the place of its segment and z.words words long. A request is sent when its first word is
// there. done_o is high for a cycle when the last word has been handed over.
module column_writer #(
    parameter int unsigned Width       = 64,
    parameter int unsigned Block       = 28,
    parameter int unsigned AddrWidth   = 32,
    parameter int unsigned CountWidth  = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  dghv_pkg::step_t       step_i,
    output logic                  done_o,
    input  logic                  in_valid_i,
    output logic                  in_ready_o,
    input  logic [Width-1:0]      in_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o
);
    if (Block < 2) $error("column_writer: Block must be at least 2");

    localparam int unsigned Places = Block > 1 ? $clog2(Block) : 1;
    localparam logic [Places-1:0] Final = Places'(Block - 1);

    typedef enum logic [1:0] {
        Idle,
        Ask,
        Pass
    } state_e;
    state_e state_q;

    dghv_pkg::length_t column_q, left;
    dghv_pkg::lane_t lane_q;
    logic [Places-1:0] place_q;
    dghv_pkg::address_t lane_at_q;
    logic ours, take, lane_end, end_of_all;

    assign left           = step_i.z.words - column_q;
    assign ours           = dghv_pkg::length_t'(place_q) < left;
    assign wr_req_valid_o = state_q == Ask && in_valid_i;
    assign wr_req_addr_o  = AddrWidth'((lane_q[0] ? step_i.odd : step_i.z.at) + lane_at_q + dghv_pkg::address_t'(column_q));
    assign wr_req_count_o = CountWidth'(dghv_pkg::least(dghv_pkg::length_t'(Block), left));
    assign wr_valid_o     = state_q == Pass && in_valid_i && ours;
    assign wr_data_o      = in_data_i;
    assign in_ready_o     = state_q == Pass && (!ours || wr_ready_i);
    assign take           = in_valid_i && in_ready_o;
    assign lane_end       = step_i.kind != dghv_pkg::Seeded || (&lane_q);
    assign end_of_all     = take && place_q == Final && lane_end && left <= dghv_pkg::length_t'(Block);
    assign done_o         = end_of_all;

    logic unused;
    assign unused = &{1'b0, step_i};

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= Idle;
            column_q  <= '0;
            lane_q    <= '0;
            place_q   <= '0;
            lane_at_q <= '0;
        end else if (start_i) begin
            state_q   <= Ask;
            column_q  <= '0;
            lane_q    <= '0;
            place_q   <= '0;
            lane_at_q <= '0;
        end else if (state_q == Ask) begin
            if (wr_req_valid_o && wr_req_ready_i) state_q <= Pass;
        end else if (take) begin
            place_q <= place_q == Final ? '0 : place_q + Places'(1);
            if (place_q == Final) begin
                state_q   <= end_of_all ? Idle : Ask;
                lane_q    <= lane_end ? '0 : lane_q + dghv_pkg::lane_t'(1);
                lane_at_q <= lane_end ? '0 : lane_at_q + dghv_pkg::address_t'(step_i.y.words);
                if (lane_end) column_q <= column_q + dghv_pkg::length_t'(Block);
            end
        end
    end
endmodule
