// One word of a digit-serial Montgomery row with up to two products and an addend (see dual_row): mont_word with signs.
//
//   x <- floor(x / 2^W) + (x of the next word mod 2^W) + q mt + b a + f e + addend
//
// Bounds, with beta = 2^W, digits and mt below beta, a and e from -1 to beta + 3, the addend between -beta and beta: x is from -beta - 2 beta to
// 3 beta^2 + 7 beta, since floor(x / beta) <= 3 beta + 7 and 3 (beta - 1)^2 + 8 (beta - 1) + 5 beta + 7 is less; y_o is below 5 beta for beta >= 16. Once
// q, b, f and the addend are 0, x is at most 5 beta, and a cycle later y_o is from -1 to beta + 3.
module dual_word #(
    parameter int unsigned W     = 16,    // bits of a digit, 4 to 32
    parameter bit          HasM  = 1'b1,  // whether mt has a word here
    parameter int unsigned Terms = 2,     // products: 1 (b a) or 2
    parameter bit          First = 1'b0   // whether the addend comes in here
) (
    input  logic                clk_i,
    input  logic                clear_i,
    input  logic [W-1:0]        q_i,
    input  logic [W-1:0]        mt_i,
    input  logic [W-1:0]        b_i,
    input  logic signed [W+1:0] a_i,
    input  logic [W-1:0]        f_i,
    input  logic signed [W+1:0] e_i,
    input  logic signed [W:0]   addend_i,
    input  logic [W-1:0]        low_i,
    output logic [W-1:0]        low_o,
    output logic signed [W+3:0] y_o
);
    localparam int unsigned XBits = 2 * W + 4;

    logic signed [XBits-1:0] x_q, m1, m2_q, m3;

    if (HasM) begin : gen_m1
        logic [2*W-1:0] m1_q;
        always_ff @(posedge clk_i) m1_q <= (2*W)'(q_i) * (2*W)'(mt_i);
        assign m1 = $signed(XBits'(m1_q));
    end else begin : gen_no_m1
        logic unused;
        assign unused = ^{q_i, mt_i};
        assign m1 = '0;
    end

    if (Terms == 2) begin : gen_m3
        logic signed [XBits-1:0] m3_q;
        always_ff @(posedge clk_i) m3_q <= XBits'($signed({1'b0, f_i})) * XBits'(e_i);
        assign m3 = m3_q;
    end else begin : gen_no_m3
        logic unused;
        assign unused = ^{f_i, e_i};
        assign m3 = '0;
    end

    logic signed [W+3:0] y;
    assign low_o = x_q[W-1:0];
    assign y     = (W + 4)'($signed(x_q[XBits-1:W])) + $signed((W + 4)'(low_i));
    assign y_o   = y;

    logic signed [XBits-1:0] sum;
    if (First) begin : gen_addend
        assign sum = m1 + (m2_q + (m3 + XBits'(y))) + XBits'(addend_i);
    end else begin : gen_no_addend
        logic unused;
        assign unused = ^addend_i;
        assign sum = m1 + (m2_q + (m3 + XBits'(y)));
    end

    always_ff @(posedge clk_i) begin
        m2_q <= XBits'($signed({1'b0, b_i})) * XBits'(a_i);
        if (clear_i) x_q <= '0;
        else x_q <= sum;
    end
endmodule
