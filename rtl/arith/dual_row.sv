// The rows of half a product of dual numbers (dual_lane): mont_row with signed words, a second product and an addend.
//
//   S_(i+1) = floor(S_i / 2^W) + q_(i-D) mt + b_i a + f_i e + addend_i
//
// so that the result is (a b + e f + sum of addend_i 2^(W i) + Q M') / R with 0 <= Q < R. Constants, words and timing are those of mont_row, the
// addend of step i in cycle i + 2; words are signed and of W + 2 bits, from -1 to 2^W + 3 (dual_word).
module dual_row #(
    parameter int unsigned N     = 512,  // bits of the modulus, at least W
    parameter int unsigned W     = 16,   // bits of a digit, 4 to 32
    parameter int unsigned D     = 2,    // cycles a quotient digit has to reach the multipliers, 1 to 4
    parameter int unsigned Terms = 2,    // products
    localparam int unsigned Words  = (N + W - 1) / W,
    localparam int unsigned Digits = (N + W) / W + D + 1,
    localparam int unsigned Upper  = Digits - D - 2,
    localparam int unsigned B      = W + 2
) (
    input  logic                clk_i,
    input  logic                clear_i,
    input  logic                take_q_i,
    input  logic [Words*W-1:0]  mt_i,
    input  logic [Digits*B-1:0] a_i,
    input  logic [W-1:0]        b_i,
    input  logic [Digits*B-1:0] e_i,
    input  logic [W-1:0]        f_i,
    input  logic signed [W:0]   addend_i,
    output logic [W-1:0]        q_o,
    output logic [W-1:0]        taken_q_o,  // q_o where it counts, otherwise 0
    output logic [Upper*B-1:0]  y_o
);
    if (W < 4 || W > 32 || D < 1 || D > 4 || N < W || Terms < 1 || Terms > 2) begin : gen_bad
        $error("dual_row: W must be 4 to 32, D 1 to 4, N at least W, Terms 1 or 2");
    end

    logic [W-1:0] q [D];
    assign taken_q_o = take_q_i ? q_o : '0;
    assign q[0]      = taken_q_o;
    for (genvar k = 1; k < D; k++) begin : gen_q
        logic [W-1:0] q_q;
        always_ff @(posedge clk_i) q_q <= q[k-1];
        assign q[k] = q_q;
    end

    logic [W-1:0] low [Digits+1];
    assign low[Digits] = '0;
    assign q_o = low[0];

    for (genvar j = 0; j < Digits; j++) begin : gen_word
        logic [W-1:0] mt;
        logic signed [W+3:0] y;
        if (j < Words) begin : gen_mt
            assign mt = mt_i[j*W+:W];
        end else begin : gen_no_mt
            assign mt = '0;
        end
        dual_word #(
            .W    (W),
            .HasM (j < Words),
            .Terms(Terms),
            .First(j == 0)
        ) u_word (
            .clk_i,
            .clear_i,
            .q_i     (q[D-1]),
            .mt_i    (mt),
            .b_i,
            .a_i     (a_i[j*B+:B]),
            .f_i,
            .e_i     (e_i[j*B+:B]),
            .addend_i,
            .low_i   (low[j+1]),
            .low_o   (low[j]),
            .y_o     (y)
        );
        if (j < Upper) begin : gen_y
            logic unused;
            assign unused = ^y[W+3:W+2];
            assign y_o[j*B+:B] = y[W+1:0];
        end else begin : gen_no_y
            logic unused;
            assign unused = ^y;
        end
    end
endmodule
