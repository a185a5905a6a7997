// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of a digit-serial Montgomery product: all words of an iteration in parallel, one iteration a cycle, and no
// multiplication in the quotient.
//
// The modulus M (odd, at most N bits) is scaled: u = -M^-1 mod 2^(W (D+1)), M' = u M, so that M' = -1 modulo 2^(W (D+1)), and
// mt = (M' + 1) / 2^(W (D+1)) <= M. With b_0, b_1, ... the digits of b (zero from b_Digits on), q_i = S_i mod 2^W and S_0 = 0:
//
//   S_(i+1) = floor(S_i / 2^W) + q_(i-D) mt + b_i a
//
// Dropping q_i from S_i is adding q_i M' and taking q_i mt back D + 1 digits higher: exact, and the digit has D cycles to get to the multipliers.
// After T iterations and D more without new quotient digits,
//
//   r = sum_(k <= D) q_(T+k) 2^(W k) + 2^(W (D+1)) floor(S_(T+D) / 2^W) = (a b + Q M') / 2^(W (T-1)),    0 <= Q < 2^(W (T-1)).
//
// Bound: a, b < 2 M' and 4 M' <= R = 2^(W (T-1)) give r < 4 M'^2 / R + M' <= 2 M'. T - 1 = ceil((N+2)/W) + D + 1 makes R large enough, since
// M' < 2^(N + W (D+1)). With b = 1, r <= M'.
//
// The sum is kept in words of 2 W + 2 bits, a W apart (mont_word); only the lowest W bits need be exact, and they are.
// The result appears as digits q_o (exact, lowest first) and, in the last cycle, as words y_o of the rest, each at most 2^W + 2.
//
// The digits of q and b go to all words: the last register before the multipliers is there once for each group of words, so that it can lie
// near them.
//
// Timing, in cycles from 0: b_i = digit b_k in cycle k; a_i and mt_i stable; clear_i in cycle 1; take_q_i in cycles 2 to T + 1
// (q_o = q_i in cycle i + 2); q_T to q_(T+D+1) in cycles T + 2 to T + D + 3; y_o in cycle T + D + 3, and longer while hold_i.
//
// Cost: Digits + Words multipliers of W x (W+1) bits. Source: [Orup95].
module mont_row #(
    parameter int unsigned N = 1024,  // bits of the modulus, at least W
    parameter int unsigned W = 16,    // bits of a digit, 4 to 32
    parameter int unsigned D = 2,     // cycles a quotient digit has to reach the multipliers, 1 to 4
    localparam int unsigned Words  = (N + W - 1) / W,
    localparam int unsigned Digits = (N + W) / W + D + 1,
    localparam int unsigned Upper  = Digits - D - 2
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    clear_i,
    input  logic                    hold_i,
    input  logic                    take_q_i,
    input  logic [Words*W-1:0]      mt_i,
    input  logic [Digits*(W+1)-1:0] a_i,   // words of W + 1 bits, each at most 2^W + 2
    input  logic [W-1:0]            b_i,
    output logic [W-1:0]            q_o,
    output logic [Upper*(W+1)-1:0]  y_o    // likewise words; weight of the first is 2^(W (D+2))
);
    if (W < 4 || W > 32) begin : gen_bad_w
        $error("mont_row: W must be 4 to 32");
    end
    if (D < 1 || D > 4) begin : gen_bad_d
        $error("mont_row: D must be 1 to 4");
    end
    if (N < W) begin : gen_bad_n
        $error("mont_row: N must be at least W");
    end

    // The quotient digit on its way: D - 1 registers.
    logic [W-1:0] q [D > 1 ? D - 1 : 1];
    assign q[0] = take_q_i ? q_o : '0;
    for (genvar k = 1; k + 1 < D; k++) begin : gen_q
        logic [W-1:0] q_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) q_q <= '0;
            else q_q <= q[k-1];
        end
        assign q[k] = q_q;
    end

    // What a group of words multiplies by.
    localparam int unsigned Group  = 6;
    localparam int unsigned Groups = (Digits + Group - 1) / Group;
    logic [W-1:0] group_q [Groups];
    logic [W-1:0] group_b [Groups];
    for (genvar g = 0; g < Groups; g++) begin : gen_group
        digit_register #(.W(W)) u_b (.clk_i, .rst_ni, .d_i(b_i), .q_o(group_b[g]));
        if (D > 1) begin : gen_q
            digit_register #(.W(W)) u_q (.clk_i, .rst_ni, .d_i(q[D-2]), .q_o(group_q[g]));
        end else begin : gen_direct
            assign group_q[g] = q[0];
        end
    end

    logic [W-1:0] low [Digits+1];
    assign low[Digits] = '0;
    assign q_o = low[0];

    for (genvar j = 0; j < Digits; j++) begin : gen_word
        logic [W-1:0] mt;
        logic [W+1:0] y;
        if (j < Words) begin : gen_mt
            assign mt = mt_i[j*W+:W];
        end else begin : gen_no_mt
            assign mt = '0;
        end
        mont_word #(
            .W   (W),
            .HasM(j < Words)
        ) u_word (
            .clk_i,
            .clear_i,
            .hold_i,
            .q_i  (group_q[j/Group]),
            .mt_i (mt),
            .b_i  (group_b[j/Group]),
            .a_i  (a_i[j*(W+1)+:W+1]),
            .low_i(low[j+1]),
            .low_o(low[j]),
            .y_o  (y)
        );
        if (j < Upper) begin : gen_y
            // In the cycle that counts, the top bit is 0.
            logic unused;
            assign unused = y[W+1];
            assign y_o[j*(W+1)+:W+1] = y[W:0];
        end else begin : gen_no_y
            // Zero in the cycle that counts, since r fits Digits words.
            logic unused;
            assign unused = ^y;
        end
    end
endmodule
