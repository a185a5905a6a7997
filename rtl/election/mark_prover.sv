// SPDX-License-Identifier: MIT OR Apache-2.0
// A mark is encrypted, c = (1 + n)^m (h^n)^a mod n^2, and shown to hold 0 or 1; or a contest's sum
// is shown to be what it must be. The proofs are those by short openings of
// docs/explanation/proofs.md, for what proof_i says:
//
//   MarkIsBit   a is drawn. c and the proof are given.
//   SumIsBit    a is the sum of the marks' openings and m that of the marks, 0 or 1: c is the product of their ciphertexts. The proof is given.
//   SumIsKnown  c = (h^n)^a, the same product less the known sum: the proof that it holds 0 is given.
//
// A proof that c holds 0 or 1 has two sides. That of the number s which c does not hold is made up
// from a challenge f that is drawn, that of the other gets what f leaves of the hash E. A prover
// who knows a need not invert anything for that: with rho_s drawn for both sides,
//
//   A_s = (1 + n)^((s - m) f) (h^n)^rho_s,   z_s = rho_s + e_s a,   e_m = E - f mod 2^256,   the other e = f,
//
// since (h^n)^z_s (c (1 + n)^-s)^-e_s comes to the same A_s. So a side is two powers, of 1 - n or
// 1 + n with the exponent f or 0, and of h^n, whichever it is: neither time nor order of what is
// done depends on m, a or anything drawn. All powers are made twice (lockstep_power); where two
// differ the prover gives unequal_o, and nothing else until it is reset.
//
// Words leave lowest first, in pieces that end with word_last_o: c (marks alone), then for each
// side A_s, e_s (not of SumIsKnown) and z_s. a is given with opening_o when all of them were taken.
// What is secret is wiped then.
module mark_prover #(
    parameter int unsigned N     = 512,  // bits of n^2, a multiple of 64
    parameter int unsigned ABits = 128,  // of an opening, a multiple of 32
    parameter int unsigned More  = 2,    // bits that a sum of openings is longer
    parameter int unsigned Digit = 32,   // of products, as in mont_mul_digit
    localparam int unsigned OBits = ABits + 32,
    localparam int unsigned MoreBits = $clog2(More + 1)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // The key, as in secret_power, stable.
    input  logic [N-1:0]        modulus_i,
    input  logic [Digit-1:0]    inverse_i,
    input  logic [N-1:0]        enter_i,
    input  logic [N-1:0]        zero_i,        // R mod n^2
    input  logic [N-1:0]        one_i,         // (1 + n) R mod n^2
    input  logic [N-1:0]        plus_i,        // 1 + n
    input  logic [N-1:0]        minus_i,       // 1 - n mod n^2
    input  logic [N-1:0]        base_i,        // h^n mod n^2
    // What the challenge is over beside what is made here (proof_challenge), stable while a proof
    // is made.
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
    // What is to be shown.
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic [1:0]          proof_i,       // a proof_e of ballot_pkg
    input  logic                value_i,       // m
    input  logic [OBits-1:0]    sum_i,         // a, of a sum
    input  logic [MoreBits-1:0] more_i,        // by how many bits it is longer: 0 for a mark
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
        Draw,       // random words
        Cipher,     // begins the power that is c
        Ciphering,
        Shift,      // begins the power of 1 - n or 1 + n
        Shifting,
        Commit,     // begins that of h^n
        Committing,
        Challenge,
        Multiply,   // e_s a
        Say,        // words
        Done,
        Failed
    } state_e;
    // What is drawn.
    typedef enum logic [1:0] {
        Opening,
        Share,  // of the challenge
        Rho
    } draw_e;

    state_e state_q;
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

    // rho has as many bits as the opening and Hiding more.
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
    // Of this side.
    assign challenge = false_side && !known ? share_q : hash_q - (share_q & {256{!known}});

    // ---- answers: a row of products a word of the challenge -------------------------------------

    logic [63:0] term;
    logic row_ends;
    assign term = 64'(a_q[31:0]) * 64'(unasked_q[31:0]) + 64'(z_q[31:0]) + 64'(carry_q);
    assign product = {term[31:0], z_q[ZBits-1:32]};
    assign row_ends = count_q == left_t'(1);

    // ---- what is done ---------------------------------------------------------------------------

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q      <= Rest;
            draw_q       <= Opening;
            proof_q      <= '0;
            value_q      <= 1'b0;
            side_q       <= 1'b0;
            of_side_q    <= 1'b0;
            more_q       <= '0;
            random_q     <= '0;
            share_q      <= '0;
            hash_q       <= '0;
            unasked_q    <= '0;
            a_q          <= '0;
            z_q          <= '0;
            c_q          <= '0;
            start_q      <= '0;
            for (int k = 0; k < 2; k++) begin
                rho_q[k]        <= '0;
                commitment_q[k] <= '0;
            end
            opening_q    <= '0;
            carry_q      <= '0;
            row_q        <= '0;
            count_q      <= '0;
            said_q       <= '0;
        end else begin
            unique case (state_q)
                Rest:
                if (in_valid_i) begin
                    proof_q   <= proof_i;
                    value_q   <= value_i;
                    more_q    <= more_i;
                    opening_q <= sum_i;
                    side_q    <= 1'b0;
                    of_side_q <= 1'b0;
                    start_q   <= value_i && proof_i != ballot_pkg::SumIsKnown ? one_i : zero_i;
                    draw_q    <= Opening;
                    count_q   <= left_t'(ABits / 32);
                    state_q   <= proof_i == ballot_pkg::MarkIsBit ? Draw : Cipher;
                end
                Draw:
                if (random_valid_i) begin
                    random_q <= {random_i, random_q[RBits-1:32]};
                    count_q  <= count_q - left_t'(1);
                    if (drawn) begin
                        unique case (draw_q)
                            Opening: begin
                                opening_q <= {32'd0, random_i, random_q[RBits-1-:ABits-32]};
                                state_q   <= Cipher;
                            end
                            Share: begin
                                share_q <= {random_i, random_q[RBits-1-:224]};
                                state_q <= Shift;
                            end
                            default: state_q <= Commit;
                        endcase
                    end
                end
                Cipher: if (power_ready) state_q <= Ciphering;
                Ciphering:
                if (r_valid) begin
                    c_q     <= r;
                    said_q  <= SaidBits'(r);
                    start_q <= known ? zero_i : enter_i;
                    draw_q  <= known ? Rho : Share;
                    count_q <= known ? left_t'(RBits / 32) : left_t'(8);
                    state_q <= Draw;
                    if (proof_q == ballot_pkg::MarkIsBit) begin
                        count_q <= left_t'(CWords);
                        state_q <= Say;
                    end
                end
                Shift: if (power_ready) state_q <= Shifting;
                Shifting:
                if (r_valid) begin
                    start_q <= r;
                    draw_q  <= Rho;
                    count_q <= left_t'(RBits / 32);
                    state_q <= Draw;
                end
                Commit:
                if (power_ready) begin
                    rho_q[side_q] <= masked;
                    random_q      <= '0;
                    state_q       <= Committing;
                end
                Committing:
                if (r_valid) begin
                    commitment_q[side_q] <= r;
                    start_q              <= enter_i;
                    side_q               <= !side_q && !known;
                    state_q              <= (side_q || known) ? Challenge : Shift;
                end
                Challenge:
                if (hash_valid) begin
                    hash_q    <= hash;
                    of_side_q <= 1'b1;
                    count_q   <= '0;
                    state_q   <= Multiply;
                end
                Multiply: begin
                    // Its first cycle loads the operands.
                    if (count_q == '0) begin
                        unasked_q <= challenge;
                        a_q       <= ZBits'(opening_q);
                        z_q       <= ZBits'(rho_q[side_q]);
                        carry_q   <= '0;
                        row_q     <= '0;
                        count_q   <= left_t'(ZWords);
                    end else begin
                        z_q     <= product;
                        a_q     <= {a_q[31:0], a_q[ZBits-1:32]};
                        carry_q <= term[63:32];
                        count_q <= count_q - left_t'(1);
                        if (row_ends) begin
                            // All the way round, and a word up.
                            a_q       <= {a_q[ZBits-1:32], 32'd0};
                            unasked_q <= unasked_q >> 32;
                            carry_q   <= '0;
                            row_q     <= row_q + 3'd1;
                            count_q   <= left_t'(ZWords);
                            if (row_q == 3'd7) begin
                                said_q  <= known ? SaidBits'({product, commitment_q[0]}) : {product, challenge, commitment_q[side_q]};
                                count_q <= known ? left_t'(SaidWords - 8) : left_t'(SaidWords);
                                state_q <= Say;
                            end
                        end
                    end
                end
                Say:
                if (word_ready_i) begin
                    said_q  <= said_q >> 32;
                    count_q <= count_q - left_t'(1);
                    if (word_last_o) begin
                        state_q <= Draw;
                        count_q <= left_t'(8);
                        if (of_side_q) begin
                            count_q <= '0;
                            side_q  <= 1'b1;
                            state_q <= (side_q || known) ? Done : Multiply;
                        end
                    end
                end
                Done: if (out_ready_i) state_q <= Rest;
                default: state_q <= Failed;
            endcase
            if (r_valid && r_ready && !equal) state_q <= Failed;
            // What is secret is wiped when it was used: the opening with the proof.
            if (state_q == Failed || (state_q == Done && out_ready_i)) begin
                value_q   <= 1'b0;
                random_q  <= '0;
                share_q   <= '0;
                unasked_q <= '0;
                a_q       <= '0;
                z_q       <= '0;
                start_q   <= '0;
                opening_q <= '0;
                carry_q   <= '0;
                said_q    <= '0;
                for (int k = 0; k < 2; k++) rho_q[k] <= '0;
            end
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
