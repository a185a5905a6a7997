// SPDX-License-Identifier: MIT OR Apache-2.0
// Encrypts a mark, c = (1 + n)^m (h^n)^a mod n^2, and proves that it holds 0 or 1; or proves that a
// contest's sum is as required. The proofs are those by short openings of
// docs/explanation/proofs.md. proof_i selects one:
//
//   MarkIsBit   a is drawn. Outputs c and the proof.
//   SumIsBit    a is the sum of the marks' openings and m that of the marks, 0 or 1: c is the product of their ciphertexts. Outputs the proof.
//   SumIsKnown  c = (h^n)^a, the same product less the known sum. Outputs the proof that it holds 0.
//
// A proof that c holds 0 or 1 has two sides. The side of the number s that c does not hold is
// simulated from a drawn challenge f. The other side's challenge is what f leaves of the hash E. A
// prover who knows a need not invert anything: with rho_s drawn for both sides,
//
//   A_s = (1 + n)^((s - m) f) (h^n)^rho_s,   z_s = rho_s + e_s a,   e_m = E - f mod 2^256,   the other e = f,
//
// since (h^n)^z_s (c (1 + n)^-s)^-e_s equals the same A_s. So each side is two powers: one of 1 - n
// or 1 + n with the exponent f or 0, and one of h^n. Neither the time nor the order of operations
// depends on m, a or anything drawn. All powers are computed twice (lockstep_power). If two differ,
// the prover sets unequal_o and outputs nothing else until it is reset.
//
// Words leave lowest first, in pieces that end with word_last_o: c (marks only), then for each side
// A_s, e_s (not of SumIsKnown) and z_s. When all of them have been accepted, a is output on
// opening_o, and then all secrets are wiped.
module mark_prover #(
    parameter int unsigned N     = 512,  // bits of n^2, a multiple of 64
    parameter int unsigned ABits = 128,  // bits of an opening, a multiple of 32
    parameter int unsigned More  = 2,    // extra bits of a sum of openings
    parameter int unsigned Digit = 32,   // of products, as in mont_mul_digit
    localparam int unsigned OBits = ABits + 32,
    localparam int unsigned MoreBits = $clog2(More + 1)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // The key, as in secret_power; stable.
    input  logic [N-1:0]        modulus_i,
    input  logic [Digit-1:0]    inverse_i,
    input  logic [N-1:0]        enter_i,
    input  logic [N-1:0]        zero_i,        // R mod n^2
    input  logic [N-1:0]        one_i,         // (1 + n) R mod n^2
    input  logic [N-1:0]        plus_i,        // 1 + n
    input  logic [N-1:0]        minus_i,       // 1 - n mod n^2
    input  logic [N-1:0]        base_i,        // h^n mod n^2
    // Further inputs of the challenge (proof_challenge), stable while a proof is made.
    input  logic [N/2-1:0]      n_i,
    input  logic [N/2-1:0]      h_i,
    input  logic [255:0]        election_i,
    input  logic [31:0]         voter_i,
    input  logic [3:0]          contest_i,
    input  logic [3:0]          place_i,       // of the mark
    // Random words.
    input  logic                random_valid_i,
    output logic                random_ready_o,
    input  logic [31:0]         random_i,
    // The statement to prove.
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic [1:0]          proof_i,       // a proof_e of ballot_pkg
    input  logic                value_i,       // m
    input  logic [OBits-1:0]    sum_i,         // a, of a sum
    input  logic [MoreBits-1:0] more_i,        // extra bits of a sum: 0 for a mark
    output logic                word_valid_o,
    input  logic                word_ready_i,
    output logic [31:0]         word_o,
    output logic                word_last_o,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [ABits-1:0]    opening_o,
    output logic                unequal_o
);
    // bits that rho has beyond a: 256 for the challenge, 128 to hide it
    localparam int unsigned Hiding = 384;
    localparam int unsigned RBits = ABits + Hiding + 32;
    localparam int unsigned ZBits = RBits + 32;
    localparam int unsigned ZWords = ZBits / 32;
    localparam int unsigned CWords = N / 32;
    localparam int unsigned SaidBits = N + 256 + ZBits;
    localparam int unsigned SaidWords = SaidBits / 32;
    localparam int unsigned LeftBits = $clog2(SaidWords + 1);
    localparam int unsigned CountBits = $clog2(RBits + 1);
    if (N < 64 || N % 64 != 0 || ABits % 32 != 0 || ABits < 64) $error("mark_prover: N must be a multiple of 64, ABits of 32, at least 64");
    if (More < 1 || More > 31) $error("mark_prover: More must be from 1 to 31");

    typedef logic [LeftBits-1:0] left_t;
    typedef enum logic [3:0] {
        Rest,
        Draw,       // draws random words
        Cipher,     // begins the power that is c
        Ciphering,
        Shift,      // begins the power of 1 - n or 1 + n
        Shifting,
        Commit,     // begins the power of h^n
        Committing,
        Challenge,
        Multiply,   // e_s times a
        Say,        // outputs words
        Done,
        Failed
    } state_e;
    // The values that are drawn.
    typedef enum logic [1:0] {
        Opening,
        Share,  // of the challenge
        Rho
    } draw_e;

    state_e state_d, state_q;
    draw_e draw_q;
    logic [1:0] proof_q;
    logic value_q, side_q, of_side_q;
    logic [MoreBits-1:0] more_q;
    logic [RBits-1:0] random_q, masked;
    logic [255:0] share_q, hash_q, challenge, unasked_q;
    logic [ZBits-1:0] a_q, z_q, product;
    logic [RBits-1:0] rho_q[2];
    logic [N-1:0] c_q, start_q, commitment_q[2];
    logic [OBits-1:0] opening_q;
    logic [31:0] carry_q;
    logic [2:0] row_q;
    left_t count_q;
    logic [SaidBits-1:0] said_q;
    logic known, drawn;

    assign known = proof_q == ballot_pkg::SumIsKnown;
    assign in_ready_o = state_q == Rest;
    assign random_ready_o = state_q == Draw;
    assign drawn = random_valid_i && count_q == left_t'(1);

    // rho has Hiding bits more than the opening.
    assign masked = random_q & ~({RBits{1'b1}} << (CountBits'(ABits + Hiding) + CountBits'(more_q)));

    // ---- powers ---------------------------------------------------------------------------------

    logic power_valid, power_ready, r_valid, r_ready, equal, false_side;
    logic [N-1:0] power_base, r;
    logic [RBits-1:0] power_exponent;
    logic [CountBits-1:0] power_bits;

    assign false_side = side_q != value_q;
    assign power_valid = state_q == Cipher || state_q == Shift || state_q == Commit;
    assign r_ready = state_q == Ciphering || state_q == Shifting || state_q == Committing;
    always_comb begin
        power_base     = base_i;
        power_exponent = RBits'(opening_q);
        power_bits     = proof_q == ballot_pkg::MarkIsBit ? CountBits'(ABits) : CountBits'(OBits);
        if (state_q == Shift) begin
            power_base     = side_q ? plus_i : minus_i;
            power_exponent = false_side ? RBits'(share_q) : '0;
            power_bits     = CountBits'(256);
        end
        if (state_q == Commit) begin
            power_exponent = masked;
            power_bits     = proof_q == ballot_pkg::MarkIsBit ? CountBits'(ABits + Hiding) : CountBits'(RBits);
        end
    end
    lockstep_power #(
        .N    (N),
        .EBits(RBits),
        .Digit(Digit),
        .Width(Digit)
    ) u_twin (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .in_valid_i (power_valid),
        .in_ready_o (power_ready),
        .start_i    (start_q),
        .base_i     (power_base),
        .exponent_i (power_exponent),
        .bits_i     (power_bits),
        .out_valid_o(r_valid),
        .out_ready_i(r_ready),
        .equal_o    (equal),
        .r_o        (r)
    );

    // ---- the challenge --------------------------------------------------------------------------

    logic hash_valid;
    logic [255:0] hash;
    proof_challenge #(
        .N(N)
    ) u_challenge (
        .clk_i,
        .rst_ni,
        .in_valid_i (state_q == Challenge),
        .proof_i    (proof_q),
        .election_i,
        .voter_i,
        .contest_i,
        .mark_i     (place_i),
        .n_i,
        .h_i,
        .c_i        (c_q),
        .first_i    (commitment_q[0]),
        .second_i   (commitment_q[1]),
        .out_valid_o(hash_valid),
        .out_ready_i(1'b1),
        .challenge_o(hash)
    );
    // The challenge of this side.
    assign challenge = false_side && !known ? share_q : hash_q - (share_q & {256{!known}});

    // ---- answers: one row of products per word of the challenge ---------------------------------

    logic [63:0] term;
    logic row_ends;
    assign term = 64'(a_q[31:0]) * 64'(unasked_q[31:0]) + 64'(z_q[31:0]) + 64'(carry_q);
    assign product = {term[31:0], z_q[ZBits-1:32]};
    assign row_ends = count_q == left_t'(1);

    // ---- control --------------------------------------------------------------------------------

    logic accept, of_mark, answered, part_said, wipe;
    assign accept = in_ready_o && in_valid_i;
    assign of_mark = proof_q == ballot_pkg::MarkIsBit;
    // The last row is done.
    assign answered = state_q == Multiply && row_ends && row_q == 3'd7;
    assign part_said = word_ready_i && word_last_o;
    // Secrets are wiped after their use, the opening with the proof.
    assign wipe = state_q == Failed || (state_q == Done && out_ready_i);

    always_comb begin
        state_d = state_q;
        unique case (state_q)
            Rest: if (in_valid_i) state_d = proof_i == ballot_pkg::MarkIsBit ? Draw : Cipher;
            Draw:
            if (drawn) begin
                unique case (draw_q)
                    Opening: state_d = Cipher;
                    Share: state_d = Shift;
                    default: state_d = Commit;
                endcase
            end
            Cipher: if (power_ready) state_d = Ciphering;
            Ciphering: if (r_valid) state_d = of_mark ? Say : Draw;
            Shift: if (power_ready) state_d = Shifting;
            Shifting: if (r_valid) state_d = Draw;
            Commit: if (power_ready) state_d = Committing;
            Committing: if (r_valid) state_d = (side_q || known) ? Challenge : Shift;
            Challenge: if (hash_valid) state_d = Multiply;
            Multiply: if (answered) state_d = Say;
            Say:
            if (part_said) begin
                state_d = Draw;
                if (of_side_q) state_d = (side_q || known) ? Done : Multiply;
            end
            Done: if (out_ready_i) state_d = Rest;
            default: state_d = Failed;
        endcase
        if (r_valid && r_ready && !equal) state_d = Failed;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) state_q <= Rest;
        else state_q <= state_d;
    end

    // The statement to prove, and the current side; once of_side_q is high, sides are output.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            proof_q   <= '0;
            value_q   <= 1'b0;
            more_q    <= '0;
            side_q    <= 1'b0;
            of_side_q <= 1'b0;
        end else begin
            if (accept) begin
                proof_q   <= proof_i;
                value_q   <= value_i;
                more_q    <= more_i;
                side_q    <= 1'b0;
                of_side_q <= 1'b0;
            end
            if (state_q == Committing && r_valid) side_q <= !side_q && !known;
            if (state_q == Challenge && hash_valid) of_side_q <= 1'b1;
            if (part_said && of_side_q) side_q <= 1'b1;
            if (wipe) value_q <= 1'b0;
        end
    end

    // Words left to draw or to output, or products left in a row; 0 before the first.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q <= '0;
        end else begin
            unique case (state_q)
                Rest: if (in_valid_i) count_q <= left_t'(ABits / 32);
                Draw: if (random_valid_i) count_q <= count_q - left_t'(1);
                Ciphering:
                if (r_valid) begin
                    count_q <= known ? left_t'(RBits / 32) : left_t'(8);
                    if (of_mark) count_q <= left_t'(CWords);
                end
                Shifting: if (r_valid) count_q <= left_t'(RBits / 32);
                Challenge: if (hash_valid) count_q <= '0;
                Multiply: begin
                    count_q <= (count_q == '0 || row_ends) ? left_t'(ZWords) : count_q - left_t'(1);
                    if (answered) count_q <= known ? left_t'(SaidWords - 8) : left_t'(SaidWords);
                end
                Say:
                if (word_ready_i) begin
                    count_q <= count_q - left_t'(1);
                    if (word_last_o) count_q <= of_side_q ? '0 : left_t'(8);
                end
                default: ;
            endcase
        end
    end

    // Values that are drawn, or come as a sum. A rho is kept for its answer.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            draw_q    <= Opening;
            random_q  <= '0;
            opening_q <= '0;
            share_q   <= '0;
            for (int k = 0; k < 2; k++) rho_q[k] <= '0;
        end else begin
            unique case (state_q)
                Rest:
                if (in_valid_i) begin
                    draw_q    <= Opening;
                    opening_q <= sum_i;
                end
                Draw:
                if (random_valid_i) begin
                    random_q <= {random_i, random_q[RBits-1:32]};
                    if (drawn && draw_q == Opening) opening_q <= {32'd0, random_i, random_q[RBits-1-:ABits-32]};
                    if (drawn && draw_q == Share) share_q <= {random_i, random_q[RBits-1-:224]};
                end
                Ciphering: if (r_valid) draw_q <= known ? Rho : Share;
                Shifting: if (r_valid) draw_q <= Rho;
                Commit:
                if (power_ready) begin
                    rho_q[side_q] <= masked;
                    random_q      <= '0;
                end
                default: ;
            endcase
            if (wipe) begin
                random_q  <= '0;
                opening_q <= '0;
                share_q   <= '0;
                for (int k = 0; k < 2; k++) rho_q[k] <= '0;
            end
        end
    end

    // The start of a power, and the powers that enter the challenge.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            start_q <= '0;
            c_q     <= '0;
            for (int k = 0; k < 2; k++) commitment_q[k] <= '0;
        end else begin
            unique case (state_q)
                Rest: if (in_valid_i) start_q <= value_i && proof_i != ballot_pkg::SumIsKnown ? one_i : zero_i;
                Ciphering:
                if (r_valid) begin
                    c_q     <= r;
                    start_q <= known ? zero_i : enter_i;
                end
                Shifting: if (r_valid) start_q <= r;
                Committing:
                if (r_valid) begin
                    commitment_q[side_q] <= r;
                    start_q              <= enter_i;
                end
                default: ;
            endcase
            if (wipe) start_q <= '0;
        end
    end

    // The answer of a side. The first cycle loads the operands.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            hash_q    <= '0;
            unasked_q <= '0;
            a_q       <= '0;
            z_q       <= '0;
            carry_q   <= '0;
            row_q     <= '0;
        end else begin
            if (state_q == Challenge && hash_valid) hash_q <= hash;
            if (state_q == Multiply && count_q == '0) begin
                unasked_q <= challenge;
                a_q       <= ZBits'(opening_q);
                z_q       <= ZBits'(rho_q[side_q]);
                carry_q   <= '0;
                row_q     <= '0;
            end else if (state_q == Multiply) begin
                z_q     <= product;
                a_q     <= {a_q[31:0], a_q[ZBits-1:32]};
                carry_q <= term[63:32];
                if (row_ends) begin
                    // Once around, and up by a word.
                    a_q       <= {a_q[ZBits-1:32], 32'd0};
                    unasked_q <= unasked_q >> 32;
                    carry_q   <= '0;
                    row_q     <= row_q + 3'd1;
                end
            end
            if (wipe) begin
                unasked_q <= '0;
                a_q       <= '0;
                z_q       <= '0;
                carry_q   <= '0;
            end
        end
    end

    // The piece to output: c, or the values of a side.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            said_q <= '0;
        end else begin
            if (state_q == Ciphering && r_valid) said_q <= SaidBits'(r);
            if (answered) said_q <= known ? SaidBits'({product, commitment_q[0]}) : {product, challenge, commitment_q[side_q]};
            if (word_valid_o && word_ready_i) said_q <= said_q >> 32;
            if (wipe) said_q <= '0;
        end
    end

    assign word_valid_o = state_q == Say;
    assign word_o = word_valid_o ? said_q[31:0] : '0;
    assign word_last_o = word_valid_o && count_q == left_t'(1);
    assign out_valid_o = state_q == Done;
    assign opening_o = out_valid_o ? opening_q[ABits-1:0] : '0;
    assign unequal_o = state_q == Failed;

    `include "assertions.svh"
    `ASSERT(NothingCarried, !(state_q == Multiply && row_ends && term[63:32] != '0))
    `ASSERT_NEXT(SecretsWiped, out_valid_o && out_ready_i, opening_q == '0 && share_q == '0 && said_q == '0)
    `COVER(FalseOfZero, state_q == Shift && !side_q && false_side)
    `COVER(FalseOfOne, state_q == Shift && side_q && false_side)
endmodule
