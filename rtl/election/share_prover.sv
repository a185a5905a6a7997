// SPDX-License-Identifier: MIT OR Apache-2.0
// A trustee's share of a decryption, with its proof (docs/explanation/threshold.md): c_i = c^(2 D
// s_i), a = c^(4 rho), b = v^rho, all modulo n^2, and z = rho + e D s_i.
//
// What is kept is D s_i, the share times the factorial of the number of trustees. It comes in
// words, lowest first, behind load_i, and replaces what was kept; there is no way to read it. An
// order to check it raises v to it: with anything but v_i it is forgotten, as it is at a reset and
// with forget_i. Only a share that was checked is used.
//
// How long shares are depends on the key: those that a dealer made have N bits at most, those of a
// key that its trustees generated together half as many again and more
// (docs/explanation/threshold.md). share_bits_i says how many; D s_i has 64 more at most, and
// rho 511.
//
// Powers are made outside: a base, an exponent and its length go there, and the power comes back.
// There is one to check a share and three for each share of a decryption, with exponents of lengths
// that follow from share_bits_i: neither time nor order of what is done depends on the share, on
// rho or on c. rho is drawn before the powers; without random words nothing goes on, and abort_i
// ends it. Words of c_i, a, b and z leave lowest first: N / 32 of each number, ZWords of z.
module share_prover #(
    parameter int unsigned N = 512,  // bits of n^2, a multiple of 64
    parameter int unsigned ShareBits = N,  // of s_i at most, at least N
    localparam int unsigned ZWords = (ShareBits + 512 + 31) / 32,  // of an answer
    localparam int unsigned EBits = 32 * ZWords + 32,  // of an exponent
    localparam int unsigned BoundBits = $clog2(ShareBits + 1),
    localparam int unsigned CountBits = $clog2(EBits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // What is public, stable while a share is made (share_challenge).
    input  logic [N/2-1:0]       n_i,
    input  logic [N-1:0]         generator_i,      // v
    input  logic [N-1:0]         verifier_i,       // v_i
    input  logic [7:0]           needed_i,
    input  logic [7:0]           trustees_i,
    input  logic [7:0]           trustee_i,
    input  logic [BoundBits-1:0] share_bits_i,     // ShareBits at most
    input  logic [255:0]         election_i,
    input  logic [3:0]           contest_i,
    input  logic [3:0]           mark_i,
    input  logic [N-1:0]         c_i,
    // The share in words: ShareBits and 64 more bits, rounded up.
    input  logic                 forget_i,
    input  logic                 load_i,           // another one begins
    input  logic                 load_valid_i,
    input  logic [31:0]          load_word_i,
    // all its words are there, no more, and it is not too long
    output logic                 whole_o,
    output logic                 kept_o,           // it was checked
    // Random words.
    input  logic                 random_valid_i,
    output logic                 random_ready_o,
    input  logic [31:0]          random_i,
    // What is to be done, one thing after another.
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    // the share that was loaded; else a share of c is made
    input  logic                 check_i,
    input  logic                 abort_i,
    output logic                 done_o,           // for a cycle
    // Powers modulo n^2.
    output logic                 power_valid_o,
    input  logic                 power_ready_i,
    output logic [N-1:0]         power_base_o,
    output logic [EBits-1:0]     power_exponent_o,
    output logic [CountBits-1:0] power_bits_o,
    input  logic                 power_done_i,
    input  logic [N-1:0]         power_i,
    // The share of a decryption.
    output logic                 word_valid_o,
    input  logic                 word_ready_i,
    output logic [31:0]          word_o,
    output logic                 word_last_o
);
    localparam int unsigned SWords = (ShareBits + 64 + 31) / 32;  // of D s_i
    localparam int unsigned SBits = 32 * SWords;
    localparam int unsigned ZBits = 32 * ZWords;
    localparam int unsigned CWords = N / 32;
    localparam int unsigned LeftBits = $clog2(ZWords + 1);
    if (N < 64 || N % 64 != 0) $error("share_prover: N must be a multiple of 64");
    if (ShareBits < N) $error("share_prover: ShareBits must be at least N");

    typedef logic [LeftBits-1:0] left_t;
    typedef logic [CountBits-1:0] bits_t;
    typedef enum logic [2:0] {
        Rest,
        Draw,       // rho
        Raise,      // begins a power
        Raising,
        Challenge,
        Multiply,   // e D s_i
        Say         // words
    } state_e;
    // Powers, in their order, and what leaves, in its.
    typedef enum logic [1:0] {
        Number,  // c_i
        First,   // a
        Second,  // b
        Answer   // z; of powers, that of the check
    } part_e;

    state_e state_q;
    part_e part_q;
    logic [SBits-1:0] share_q;
    left_t loaded_q, count_q;
    logic [N-1:0] number_q, first_q, second_q;
    logic [ZBits-1:0] rho_q, operand_q, z_q, product;
    logic [255:0] hash_q, hash;
    logic [31:0] carry_q;
    logic [2:0] row_q;
    logic hash_valid, checked, too_long_q;

    assign in_ready_o = state_q == Rest;
    assign random_ready_o = state_q == Draw;
    assign whole_o = loaded_q == left_t'(SWords) && !too_long_q;

    // ---- the lengths of what comes in words: D s_i, and rho -------------------------------------

    // Which bits of the next word belong to a number of which so many are still to come.
    function automatic logic [31:0] word_mask(input bits_t left);
        word_mask = left >= bits_t'(32) ? '1 : ~(32'hffff_ffff << left[4:0]);
    endfunction

    function automatic bits_t less_a_word(input bits_t left);
        less_a_word = left >= bits_t'(32) ? left - bits_t'(32) : '0;
    endfunction

    bits_t share_left_q, rho_left_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            share_left_q <= '0;
            rho_left_q   <= '0;
        end else begin
            if (load_i) share_left_q <= bits_t'(share_bits_i) + bits_t'(64);
            else if (load_valid_i) share_left_q <= less_a_word(share_left_q);
            if (state_q == Rest) rho_left_q <= bits_t'(share_bits_i) + bits_t'(511);
            else if (state_q == Draw && random_valid_i) rho_left_q <= less_a_word(rho_left_q);
        end
    end

    // ---- powers ---------------------------------------------------------------------------------

    assign power_valid_o = state_q == Raise;
    always_comb begin
        power_base_o     = c_i;
        power_exponent_o = EBits'({share_q, 1'b0});
        power_bits_o     = bits_t'(share_bits_i) + bits_t'(65);
        unique case (part_q)
            First: begin
                power_exponent_o = EBits'({rho_q, 2'b00});
                power_bits_o     = bits_t'(share_bits_i) + bits_t'(513);
            end
            Second: begin
                power_base_o     = generator_i;
                power_exponent_o = EBits'(rho_q);
                power_bits_o     = bits_t'(share_bits_i) + bits_t'(513);
            end
            Answer: begin
                power_base_o     = generator_i;
                power_exponent_o = EBits'(share_q);
            end
            default: ;
        endcase
    end

    // ---- the share ------------------------------------------------------------------------------

    assign checked = state_q == Raising && power_done_i && part_q == Answer;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || forget_i || load_i || (checked && power_i != verifier_i)) begin
            share_q    <= '0;
            loaded_q   <= '0;
            too_long_q <= 1'b0;
            kept_o     <= 1'b0;
        end else begin
            if (load_valid_i) begin
                share_q <= {load_word_i, share_q[SBits-1:32]};
                if (loaded_q != left_t'(SWords + 1)) loaded_q <= loaded_q + left_t'(1);
                if ((load_word_i & ~word_mask(share_left_q)) != '0) too_long_q <= 1'b1;
            end
            if (checked) kept_o <= 1'b1;
        end
    end

    // ---- the challenge --------------------------------------------------------------------------

    share_challenge #(
        .N(N)
    ) u_challenge (
        .clk_i,
        .rst_ni     (rst_ni && !abort_i),
        .in_valid_i (state_q == Challenge),
        .election_i,
        .contest_i,
        .mark_i,
        .needed_i,
        .trustees_i,
        .trustee_i,
        .n_i,
        .generator_i,
        .verifier_i,
        .c_i,
        .share_i    (number_q),
        .first_i    (first_q),
        .second_i   (second_q),
        .out_valid_o(hash_valid),
        .out_ready_i(1'b1),
        .challenge_o(hash)
    );

    // ---- the answer: a row of products a word of the challenge ----------------------------------

    logic [63:0] term;
    logic row_ends;
    assign term = 64'(operand_q[31:0]) * 64'(hash_q[31:0]) + 64'(z_q[31:0]) + 64'(carry_q);
    assign product = {term[31:0], z_q[ZBits-1:32]};
    assign row_ends = count_q == left_t'(1);

    // ---- what is done ---------------------------------------------------------------------------

    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            state_q   <= Rest;
            part_q    <= Number;
            count_q   <= '0;
            number_q  <= '0;
            first_q   <= '0;
            second_q  <= '0;
            rho_q     <= '0;
            operand_q <= '0;
            z_q       <= '0;
            hash_q    <= '0;
            carry_q   <= '0;
            row_q     <= '0;
            done_o    <= 1'b0;
        end else begin
            done_o <= 1'b0;
            unique case (state_q)
                Rest:
                if (in_valid_i) begin
                    part_q  <= check_i ? Answer : Number;
                    count_q <= left_t'(ZWords);
                    state_q <= check_i ? Raise : Draw;
                end
                Draw:
                if (random_valid_i) begin
                    rho_q   <= {random_i & word_mask(rho_left_q), rho_q[ZBits-1:32]};
                    count_q <= count_q - left_t'(1);
                    if (count_q == left_t'(1)) state_q <= Raise;
                end
                Raise: if (power_ready_i) state_q <= Raising;
                Raising:
                if (power_done_i) begin
                    state_q <= Raise;
                    unique case (part_q)
                        Number: begin
                            number_q <= power_i;
                            part_q   <= First;
                        end
                        First: begin
                            first_q <= power_i;
                            part_q  <= Second;
                        end
                        Second: begin
                            second_q <= power_i;
                            state_q  <= Challenge;
                        end
                        default: begin
                            part_q  <= Number;
                            done_o  <= 1'b1;
                            state_q <= Rest;
                        end
                    endcase
                end
                Challenge:
                if (hash_valid) begin
                    hash_q    <= hash;
                    operand_q <= ZBits'(share_q);
                    z_q       <= rho_q;
                    rho_q     <= '0;
                    carry_q   <= '0;
                    row_q     <= '0;
                    count_q   <= left_t'(ZWords);
                    state_q   <= Multiply;
                end
                Multiply: begin
                    z_q       <= product;
                    operand_q <= {operand_q[31:0], operand_q[ZBits-1:32]};
                    carry_q   <= term[63:32];
                    count_q   <= count_q - left_t'(1);
                    if (row_ends) begin
                        // All the way round, and a word up.
                        operand_q <= {operand_q[ZBits-1:32], 32'd0};
                        hash_q    <= hash_q >> 32;
                        carry_q   <= '0;
                        row_q     <= row_q + 3'd1;
                        count_q   <= left_t'(ZWords);
                        if (row_q == 3'd7) begin
                            operand_q <= '0;
                            part_q    <= Number;
                            count_q   <= left_t'(CWords);
                            state_q   <= Say;
                        end
                    end
                end
                default:
                if (word_ready_i) begin
                    count_q <= count_q - left_t'(1);
                    unique case (part_q)
                        Number:  number_q <= number_q >> 32;
                        First:   first_q <= first_q >> 32;
                        Second:  second_q <= second_q >> 32;
                        default: z_q <= z_q >> 32;
                    endcase
                    if (count_q == left_t'(1)) begin
                        count_q <= part_q == Second ? left_t'(ZWords) : left_t'(CWords);
                        part_q  <= part_e'(part_q + 2'd1);
                        if (part_q == Answer) begin
                            done_o  <= 1'b1;
                            state_q <= Rest;
                        end
                    end
                end
            endcase
        end
    end

    assign word_valid_o = state_q == Say;
    always_comb begin
        word_o = '0;
        if (word_valid_o) begin
            unique case (part_q)
                Number:  word_o = number_q[31:0];
                First:   word_o = first_q[31:0];
                Second:  word_o = second_q[31:0];
                default: word_o = z_q[31:0];
            endcase
        end
    end
    assign word_last_o = word_valid_o && part_q == Answer && count_q == left_t'(1);

    `include "assertions.svh"
    `ASSERT(NothingCarried, !(state_q == Multiply && row_ends && term[63:32] != '0))
    `ASSERT(CheckedBeforeUse, !(state_q == Rest && in_valid_i && !check_i && !kept_o))
    `ASSERT_NEXT(Forgotten, forget_i, share_q == '0 && !kept_o)
    `ASSERT(HidingGone, !(state_q == Say && (rho_q != '0 || operand_q != '0)))
endmodule
