// SPDX-License-Identifier: MIT OR Apache-2.0
// One branch of MESA in dual numbers: parallel lanes, each for a whole exponentiation modulo p^2,
// and the product that turns their results into shares of the plaintext.
//
//   residue = L(c^(p-1) mod p^2) t mod n,   0 <= residue < n
//
// Ciphertexts are distributed to the lanes round-robin, one at a time since all lanes read their
// digits from one register. All lanes take the same time, so results return in the same order. A
// lane computes L modulo p, below twice the scaled modulus (dual_lanes). As t is a multiple of q,
// any multiple of p in L becomes a multiple of n. The radix-2 multiplier computes the product, with
// merged = t 2^XBits mod n.
//
// foreign_o, with the residue: c^e is not 1 modulo p, and the residue is meaningless.
//
// All constants are stable while anything is in flight: those of dual_lanes, whose dual numbers are
// below 2^H here, and n and merged. Once filled, Lanes items take (56 + 11 (windows_i + 1)) Job
// cycles, H = N / 2, Job = ceil((H + 3) / W) + 2 D + 3, if that is more than Lanes radix-2 products
// of XBits + 2.
module mesa_dual_branch #(
    parameter int unsigned N     = 1024,  // bits of n
    parameter int unsigned Lanes = 10,    // at least 1
    parameter int unsigned W     = 18,    // bits of a digit
    parameter int unsigned V     = 24,    // bits of a word
    parameter int unsigned D     = 2,     // delay of a digit of the quotient
    localparam int unsigned H      = N / 2,
    localparam int unsigned MtBits = (H + W - 1) / W * W,
    localparam int unsigned OpBits = ((H + W + 2) / W + D + 1) * W,
    localparam int unsigned XBits  = OpBits,
    localparam int unsigned WindowBits = $clog2((H + 3) / 4)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [MtBits-1:0]  mt_i,
    input  logic [H-1:0]       exponent_i,
    input  logic [WindowBits-1:0] windows_i,   // windows of the exponent after the first
    input  logic [W*(D+1)-1:0] unit_i,
    input  logic [H-1:0]       shift_low_i,
    input  logic [H-1:0]       shift_high_i,
    input  logic [H-1:0]       enter_low_i,
    input  logic [H-1:0]       enter_high_i,
    input  logic [H-1:0]       one_low_i,
    input  logic [H-1:0]       one_high_i,
    input  logic [N-1:0]       merged_i,
    input  logic [N-1:0]       n_i,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [2*N-1:0]     ciphertext_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [N-1:0]       residue_o,
    output logic               foreign_o,
    output logic [Lanes-1:0]   mul_o          // a product starts in this lane
);
    if (Lanes < 1) $error("mesa_dual_branch: Lanes must be at least 1");

    // The ciphertext for the lanes: its quarters, the highest first, in digits.
    localparam int unsigned QuarterBits = (H + W - 1) / W * W;
    logic [4*QuarterBits-1:0] quarters;
    logic text_valid, text_ready, text_last;
    logic [W-1:0] text_digit;
    for (genvar k = 0; k < 4; k++) begin : gen_quarter
        assign quarters[k*QuarterBits+:QuarterBits] = QuarterBits'(ciphertext_i[(3-k)*H+:H]);
    end

    stream_narrow #(
        .Width(W),
        .Beats(4 * QuarterBits / W)
    ) u_text (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i  (quarters),
        .out_valid_o(text_valid),
        .out_ready_i(text_ready),
        .out_data_o (text_digit),
        .out_last_o (text_last)
    );

    logic quotient_valid, quotient_ready, foreign, mul_ready, flag_ready, flag_valid;
    logic [OpBits-1:0] quotient;

    dual_lanes #(
        .N(N),
        .Lanes(Lanes),
        .W(W),
        .V(V),
        .D(D)
    ) u_lanes (
        .clk_i,
        .rst_ni,
        .mt_i,
        .unit_i,
        .exponent_i,
        .windows_i,
        .shift_low_i (OpBits'(shift_low_i)),
        .shift_high_i(OpBits'(shift_high_i)),
        .enter_low_i (OpBits'(enter_low_i)),
        .enter_high_i(OpBits'(enter_high_i)),
        .one_low_i   (OpBits'(one_low_i)),
        .one_high_i  (OpBits'(one_high_i)),
        .in_valid_i  (text_valid),
        .in_ready_o  (text_ready),
        .digit_i     (text_digit),
        .last_i      (text_last),
        .out_valid_o (quotient_valid),
        .out_ready_i (quotient_ready),
        .l_o         (quotient),
        .foreign_o   (foreign),
        .mul_o
    );

    // The lanes' flags of items, alongside their products: at most two are here and one in
    // cond_sub.
    stream_fifo #(
        .Width(1),
        .Depth(4)
    ) u_foreign (
        .clk_i,
        .rst_ni,
        .in_valid_i (quotient_valid && mul_ready),
        .in_ready_o (flag_ready),
        .in_data_i  (foreign),
        .out_valid_o(flag_valid),
        .out_ready_i(out_valid_o && out_ready_i),
        .out_data_o (foreign_o)
    );
    assign quotient_ready = mul_ready && flag_ready;
    logic unused_flag;
    assign unused_flag = flag_valid;

    // Multiplies by t, modulo n.
    logic product_valid, product_ready;
    logic [N:0] product;

    mont_mul_radix2 #(
        .N(N),
        .XBits(XBits)
    ) u_mont_mul (
        .clk_i,
        .rst_ni,
        .m_i        (n_i),
        .in_valid_i (quotient_valid && flag_ready),
        .in_ready_o (mul_ready),
        .x_i        (quotient),
        .y_i        (merged_i),
        .out_valid_o(product_valid),
        .out_ready_i(product_ready),
        .r_o        (product)
    );

    cond_sub #(
        .N(N)
    ) u_judge (
        .clk_i,
        .rst_ni,
        .m_i        (n_i),
        .in_valid_i (product_valid),
        .in_ready_o (product_ready),
        .a_i        (product),
        .out_valid_o(out_valid_o),
        .out_ready_i(out_ready_i),
        .r_o        (residue_o)
    );
endmodule
