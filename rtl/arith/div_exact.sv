// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact division from the low end, one bit of the quotient per cycle: q = (x - Minus) / d mod
// 2^QBits, d odd.
//
// With z = x - Minus, whose bits z_i follow from a running borrow, and initially S = 0:
//
//   g = (S + z_i) mod 2,    S <- (S + z_i + g d) / 2.
//
// After QBits steps 2^QBits S = z + g d for the number g of all g_i, so g = -z / d modulo 2^QBits,
// and q = -g, negated bit by bit as it is produced. S <= d throughout. If d divides z and z / d <
// 2^QBits, q is the quotient. Bits of x from QBits on do not matter.
//
// S is kept in words of Word + 2 bits, Word apart, each below 3 * 2^Word + 2. Only its lowest bit
// must be exact, so no carry is ever resolved. Latency QBits + 1 cycles from accepting x to
// offering q; one division per latency + 1 cycles. Source: [Jebelean93].
module div_exact #(
    parameter int unsigned XBits = 1073,  // bits of x
    parameter int unsigned DBits = 512,   // bits of d, at least 2
    parameter int unsigned QBits = 564,   // bits of q, at least 2
    parameter int unsigned Minus = 1,     // 0 or 1
    // bits between words: the length of a carry chain, at least 4
    parameter int unsigned Word  = 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [DBits-1:0] d_i,          // odd, stable from x to q
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [XBits-1:0] x_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [QBits-1:0] q_o
);
    if (DBits < 2 || QBits < 2 || Minus > 1 || Word < 4) begin : gen_bad
        $error("div_exact: DBits and QBits must be at least 2, Minus 0 or 1, Word at least 4");
    end

    localparam int unsigned Words = (DBits + Word - 1) / Word;
    localparam int unsigned B = Word + 2;
    localparam int unsigned CountBits = $clog2(QBits);

    typedef enum logic [1:0] {
        Idle,
        Dividing,
        Done
    } state_e;
    state_e state_q;

    logic start, z, g, borrow_q, negated_q;
    logic [CountBits-1:0] count_q;
    logic [QBits-1:0] x_q;  // bits of x leave at the bottom, bits of q enter at the top
    logic [Words*Word-1:0] half;

    assign in_ready_o  = state_q == Idle;
    assign out_valid_o = state_q == Done;
    assign q_o         = x_q;
    assign start       = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            unique case (state_q)
                Idle:     if (in_valid_i) state_q <= Dividing;
                Dividing: if (count_q == CountBits'(QBits - 1)) state_q <= Done;
                Done:     if (out_ready_i) state_q <= Idle;
                default:  state_q <= Idle;
            endcase
        end
    end

    logic low[Words+1];
    assign low[Words] = 1'b0;
    assign z = x_q[0] ^ borrow_q;
    assign g = low[0] ^ z;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            x_q       <= '0;
            borrow_q  <= 1'b0;
            negated_q <= 1'b0;
            count_q   <= '0;
        end else if (start) begin
            x_q       <= QBits'(x_i);
            borrow_q  <= Minus == 1;
            negated_q <= 1'b0;
            count_q   <= '0;
        end else if (state_q == Dividing) begin
            x_q       <= {g ^ negated_q, x_q[QBits-1:1]};
            borrow_q  <= borrow_q && !x_q[0];
            negated_q <= negated_q || g;
            count_q   <= count_q + 1'b1;
        end
    end
    if (XBits > QBits) begin : gen_unused
        logic unused;
        assign unused = ^x_i[XBits-1:QBits];
    end

    assign half = (Words * Word)'(d_i[DBits-1:1]);
    // d is odd.
    logic unused_d;
    assign unused_d = d_i[0];

    for (genvar j = 0; j < Words; j++) begin : gen_word
        logic [B-1:0] s_q, shifted;
        logic [Word-1:0] g_half;
        assign shifted[Word-2:0]   = s_q[Word-1:1];
        assign shifted[B-1:Word-1] = 3'(s_q[B-1:Word]) + 3'(low[j+1]);
        assign low[j]  = s_q[0];
        assign g_half  = g ? half[j*Word+:Word] : '0;
        // (S + z + g d) / 2: of S, z and g either none or two are 1 in the lowest bit, which add 0
        // or 1 here.
        always_ff @(posedge clk_i) begin
            if (!rst_ni) s_q <= '0;
            else if (start) s_q <= '0;
            else s_q <= shifted + B'(g_half) + B'(j == 0 && (low[0] || z));
        end
    end
endmodule
