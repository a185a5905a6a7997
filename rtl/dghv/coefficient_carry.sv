// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the coefficients of a polynomial at 2^Base into the words of a number, both in memory. A
// coefficient is a word, below 2^Width.
//
// Reads 2^log_i coefficients in order, and adds the bits above Base to the next one. Writes
// z_words_i words, at most as many as the coefficients yield. Cycles from start_i to done_o, for a
// memory that answers at once: one per coefficient plus the pipeline's latency.
module coefficient_carry #(
    parameter int unsigned Width      = 64,
    parameter int unsigned Columns    = 16,  // words of a request, a power of two
    parameter int unsigned Base       = 20,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  dghv_pkg::address_t    x_at_i,          // to z_words_i: stable, start_i to done_o
    input  logic [4:0]            log_i,           // at least log2(Columns)
    input  dghv_pkg::address_t    z_at_i,
    input  dghv_pkg::length_t     z_words_i,       // at least 1
    output logic                  done_o,          // low while busy
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o
);
    localparam dghv_pkg::length_t Step = dghv_pkg::length_t'(Columns);

    if (Columns < 2 || (Columns & (Columns - 1)) != 0 || CountWidth < $clog2(Columns) + 1)
        $error("coefficient_carry: Columns is a power of two, at least 2, below 2^CountWidth");
    if (Base < 1 || Base >= Width) $error("coefficient_carry: Base is 1 to Width - 1");

    dghv_pkg::length_t count, asked_q, taken_q, told_q, given_q;
    logic active_q, asked, told, take, give, finished;
    assign count = dghv_pkg::length_t'(1) << log_i;

    assign rd_req_valid_o = active_q && asked_q != count;
    assign rd_req_addr_o  = AddrWidth'(x_at_i + dghv_pkg::address_t'(asked_q));
    assign rd_req_count_o = CountWidth'(Step);
    assign asked          = rd_req_valid_o && rd_req_ready_i;

    assign wr_req_valid_o = active_q && told_q < z_words_i;
    assign wr_req_addr_o  = AddrWidth'(z_at_i + dghv_pkg::address_t'(told_q));
    assign wr_req_count_o = CountWidth'(dghv_pkg::least(Step, z_words_i - told_q));
    assign told           = wr_req_valid_o && wr_req_ready_i;

    // sum_q holds a coefficient plus its carry: a digit, and the carry into the next.
    logic [Width:0] sum_q;
    logic digit_valid_q, digit_ready, word_valid, wanted;
    assign rd_ready_o = active_q && taken_q != count && (!digit_valid_q || digit_ready);
    assign take       = rd_valid_i && rd_ready_o;

    gearbox #(
        .From(Base),
        .To  (Width)
    ) u_words (
        .clk_i,
        .rst_ni(rst_ni && active_q),
        .in_valid_i(digit_valid_q),
        .in_ready_o(digit_ready),
        .in_data_i(sum_q[Base-1:0]),
        .out_valid_o(word_valid),
        .out_ready_i(!wanted || wr_ready_i),
        .out_data_o(wr_data_o)
    );
    assign wanted     = given_q != z_words_i;
    assign wr_valid_o = word_valid && wanted;
    assign give       = wr_valid_o && wr_ready_i;
    assign finished   = taken_q == count && !wanted && told_q >= z_words_i;
    assign done_o     = !active_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            active_q      <= 1'b0;
            asked_q       <= '0;
            taken_q       <= '0;
            told_q        <= '0;
            given_q       <= '0;
            sum_q         <= '0;
            digit_valid_q <= 1'b0;
        end else if (start_i) begin
            active_q      <= 1'b1;
            asked_q       <= '0;
            taken_q       <= '0;
            told_q        <= '0;
            given_q       <= '0;
            sum_q         <= '0;
            digit_valid_q <= 1'b0;
        end else begin
            if (finished) active_q <= 1'b0;
            if (asked) asked_q <= asked_q + Step;
            if (told) told_q <= told_q + Step;
            if (give) given_q <= given_q + dghv_pkg::length_t'(1);
            if (take) begin
                sum_q   <= {1'b0, rd_data_i} + (Width + 1)'(sum_q[Width:Base]);
                taken_q <= taken_q + dghv_pkg::length_t'(1);
            end
            if (take) digit_valid_q <= 1'b1;
            else if (digit_ready) digit_valid_q <= 1'b0;
        end
    end
endmodule
