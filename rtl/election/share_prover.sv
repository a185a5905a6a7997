// SPDX-License-Identifier: MIT OR Apache-2.0
// A trustee's share of a decryption, with its proof (docs/explanation/threshold.md): c_i = c^(2 D
// s_i), a = c^(4 rho), b = v^rho, all modulo n^2, and z = rho + e D s_i.
//
// The stored secret is D s_i, the share times the factorial of the number of trustees. It comes in
// words, lowest first, after load_i, and replaces the former one. It cannot be read. An order to
// check it raises v to it: if the result is not v_i, the secret is erased, as it is by a reset and
// by forget_i. Only a checked share is used. Words count only while in_ready_o is high, so an
// operation has the same share from beginning to end, or none after forget_i.
//
// The length of shares depends on the key. Those of a dealer have at most N bits, those of a key
// that its trustees generated together at least half as many again (docs/explanation/threshold.md).
// share_bits_i is the number of bits; D s_i has at most 64 more, and rho 511 more.
//
// Powers are computed outside: a base, an exponent and its length go out, and the power comes back.
// A check takes one power and a share of a decryption three. The lengths of their exponents follow
// from share_bits_i: neither the time nor the order of operations depends on the share, on rho or
// on c. rho is drawn before the powers. Without random words nothing proceeds, and abort_i ends it.
// Words of c_i, a, b and z leave lowest first: N / 32 of each number, ZWords of z.
module share_prover #(
    parameter int unsigned N = 512,  // bits of n^2, a multiple of 64
    parameter int unsigned ShareBits = N,  // bits of s_i at most; at least N
    localparam int unsigned ZWords = (ShareBits + 512 + 31) / 32,  // words of an answer
    localparam int unsigned EBits = 32 * ZWords + 32,  // bits of an exponent
    localparam int unsigned BoundBits = $clog2(ShareBits + 1),
    localparam int unsigned CountBits = $clog2(EBits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // Public inputs, stable while a share is made (share_challenge).
    input  logic [N/2-1:0]       n_i,
    input  logic [N-1:0]         generator_i,      // v
    input  logic [N-1:0]         verifier_i,       // v_i
    input  logic [7:0]           needed_i,
    input  logic [7:0]           trustees_i,
    input  logic [7:0]           trustee_i,
    input  logic [BoundBits-1:0] share_bits_i,     // at most ShareBits
    input  logic [255:0]         election_i,
    input  logic [3:0]           contest_i,
    input  logic [3:0]           mark_i,
    input  logic [N-1:0]         c_i,
    // The share in words: ShareBits and 64 more bits, rounded up.
    input  logic                 forget_i,
    input  logic                 load_i,           // a new share begins
    input  logic                 load_valid_i,
    input  logic [31:0]          load_word_i,
    // exactly all its words have come, and it is not too long
    output logic                 whole_o,
    output logic                 kept_o,           // the share was checked
    // Random words.
    input  logic                 random_valid_i,
    output logic                 random_ready_o,
    input  logic [31:0]          random_i,
    // The operations, one after another.
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    // check the loaded share; otherwise make a share of c
    input  logic                 check_i,
    input  logic                 abort_i,
    output logic                 done_o,           // for one cycle
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
        Draw,       // draws rho
        Raise,      // begins a power
        Raising,
        Challenge,
        Multiply,   // e times D s_i
        Say         // outputs words
    } state_e;
    // The powers in their order, and the outputs in theirs.
    typedef enum logic [1:0] {
        Number,  // c_i
        First,   // a
        Second,  // b
        Answer   // z; as a power, that of the check
    } part_e;

    state_e state_d, state_q;
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
    logic load, load_word;
    assign load = load_i && in_ready_o;
    assign load_word = load_valid_i && in_ready_o;
    assign random_ready_o = state_q == Draw;
    assign whole_o = loaded_q == left_t'(SWords) && !too_long_q;

    // ---- the lengths of inputs in words: D s_i, and rho -----------------------------------------

    // The bits of the next word that belong to a number with left bits still to come.
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
            if (load) share_left_q <= bits_t'(share_bits_i) + bits_t'(64);
            else if (load_word) share_left_q <= less_a_word(share_left_q);
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
        if (!rst_ni || forget_i || load || (checked && power_i != verifier_i)) begin
            share_q    <= '0;
            loaded_q   <= '0;
            too_long_q <= 1'b0;
            kept_o     <= 1'b0;
        end else begin
            if (load_word) begin
                share_q <= {load_word_i, share_q[SBits-1:32]};
                if (loaded_q != left_t'(SWords + 1)) loaded_q <= loaded_q + left_t'(1);
                if ((load_word_i & ~word_mask(share_left_q)) != '0) too_long_q <= 1'b1;
            end
            if (checked) kept_o <= whole_o;
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

    // ---- the answer: one row of products per word of the challenge ------------------------------

    logic [63:0] term;
    logic row_ends;
    assign term = 64'(operand_q[31:0]) * 64'(hash_q[31:0]) + 64'(z_q[31:0]) + 64'(carry_q);
    assign product = {term[31:0], z_q[ZBits-1:32]};
    assign row_ends = count_q == left_t'(1);

    // ---- control --------------------------------------------------------------------------------

    logic answered, given, part_ends;
    assign part_ends = count_q == left_t'(1);
    // The last row is done.
    assign answered = state_q == Multiply && row_ends && row_q == 3'd7;

    // given: a word is output.
    always_comb begin
        state_d = state_q;
        given   = 1'b0;
        unique case (state_q)
            Rest: if (in_valid_i) state_d = check_i ? Raise : Draw;
            Draw: if (random_valid_i && part_ends) state_d = Raise;
            Raise: if (power_ready_i) state_d = Raising;
            Raising:
            if (power_done_i) begin
                unique case (part_q)
                    Number, First: state_d = Raise;
                    Second: state_d = Challenge;
                    default: state_d = Rest;
                endcase
            end
            Challenge: if (hash_valid) state_d = Multiply;
            Multiply: if (answered) state_d = Say;
            default: begin
                given = word_ready_i;
                if (given && part_ends && part_q == Answer) state_d = Rest;
            end
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            state_q <= Rest;
            done_o  <= 1'b0;
        end else begin
            state_q <= state_d;
            done_o  <= checked || (given && part_ends && part_q == Answer);
        end
    end

    // The current power or output, and the words left of it, or the products left in a row.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            part_q  <= Number;
            count_q <= '0;
        end else begin
            unique case (state_q)
                Rest:
                if (in_valid_i) begin
                    part_q  <= check_i ? Answer : Number;
                    count_q <= left_t'(ZWords);
                end
                Draw: if (random_valid_i) count_q <= count_q - left_t'(1);
                Raise: ;
                Raising:
                if (power_done_i) begin
                    unique case (part_q)
                        Number: part_q <= First;
                        First: part_q <= Second;
                        Second: ;
                        default: part_q <= Number;
                    endcase
                end
                Challenge: if (hash_valid) count_q <= left_t'(ZWords);
                Multiply: begin
                    count_q <= row_ends ? left_t'(ZWords) : count_q - left_t'(1);
                    if (answered) begin
                        part_q  <= Number;
                        count_q <= left_t'(CWords);
                    end
                end
                default:
                if (given) begin
                    count_q <= count_q - left_t'(1);
                    if (part_ends) begin
                        count_q <= part_q == Second ? left_t'(ZWords) : left_t'(CWords);
                        part_q  <= part_e'(part_q + 2'd1);
                    end
                end
            endcase
        end
    end

    // The powers, shifted out as they are output.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            number_q <= '0;
            first_q  <= '0;
            second_q <= '0;
        end else if (state_q == Raising && power_done_i) begin
            unique case (part_q)
                Number:  number_q <= power_i;
                First:   first_q <= power_i;
                Second:  second_q <= power_i;
                default: ;
            endcase
        end else if (given) begin
            unique case (part_q)
                Number:  number_q <= number_q >> 32;
                First:   first_q <= first_q >> 32;
                Second:  second_q <= second_q >> 32;
                default: ;
            endcase
        end
    end

    // rho, kept until the answer begins with it.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            rho_q <= '0;
        end else begin
            if (state_q == Draw && random_valid_i) rho_q <= {random_i & word_mask(rho_left_q), rho_q[ZBits-1:32]};
            if (state_q == Challenge && hash_valid) rho_q <= '0;
        end
    end

    // The answer, and its operands.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || abort_i) begin
            operand_q <= '0;
            z_q       <= '0;
            hash_q    <= '0;
            carry_q   <= '0;
            row_q     <= '0;
        end else begin
            if (state_q == Challenge && hash_valid) begin
                hash_q    <= hash;
                operand_q <= ZBits'(share_q);
                z_q       <= rho_q;
                carry_q   <= '0;
                row_q     <= '0;
            end
            if (state_q == Multiply) begin
                z_q       <= product;
                operand_q <= {operand_q[31:0], operand_q[ZBits-1:32]};
                carry_q   <= term[63:32];
                if (row_ends) begin
                    // Once around, and up by a word.
                    operand_q <= {operand_q[ZBits-1:32], 32'd0};
                    hash_q    <= hash_q >> 32;
                    carry_q   <= '0;
                    row_q     <= row_q + 3'd1;
                end
                if (answered) operand_q <= '0;
            end
            if (given && part_q == Answer) z_q <= z_q >> 32;
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
