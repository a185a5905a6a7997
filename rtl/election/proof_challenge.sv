// SPDX-License-Identifier: MIT OR Apache-2.0
// The challenge of a proof by a short opening: SHA-256 over the transcript of docs/proofs.md, each part after its length.
//
//   "hearith-proofs 1 membership, short" or "... residue, short"; "hearith-election 1 " and the election's id in hexadecimal digits; ["voter",contest,mark] with the
//   voter in eight hexadecimal digits and "sum" in place of a mark where marks are added up; n; h; for membership 0 and 1; the ciphertext; its commitments.
//
// Numbers go in big-endian, a byte a cycle. Inputs are stable from in_valid_i on until the challenge is taken. All of them are public.
module proof_challenge #(
    parameter int unsigned N = 512  // bits of n^2, a multiple of 64
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           in_valid_i,
    input  logic [1:0]     proof_i,       // a proof_e of ballot_pkg
    input  logic [255:0]   election_i,    // the id, its first digit at the high end
    input  logic [31:0]    voter_i,
    input  logic [3:0]     contest_i,     // below 10, as is the mark
    input  logic [3:0]     mark_i,
    input  logic [N/2-1:0] n_i,
    input  logic [N/2-1:0] h_i,
    input  logic [N-1:0]   c_i,
    input  logic [N-1:0]   first_i,       // the commitments; of a residue, one
    input  logic [N-1:0]   second_i,
    output logic           out_valid_o,
    input  logic           out_ready_i,
    output logic [255:0]   challenge_o
);
    localparam int unsigned Text = 69;  // bytes of the longest piece that is no number
    localparam int unsigned HalfBytes = N / 16;  // of n
    localparam int unsigned FullBytes = N / 8;  // of n^2
    localparam int unsigned BothBytes = N / 4;  // of two commitments
    localparam int unsigned Bytes = FullBytes + 8 > Text ? FullBytes + 8 : Text;
    localparam int unsigned CountBits = $clog2(Bytes + 1);
    if (N % 64 != 0) $error("proof_challenge: N must be a multiple of 64");

    typedef logic [8*Bytes-1:0] piece_t;
    typedef logic [CountBits-1:0] count_t;
    typedef enum logic [3:0] {
        Tag,
        Election,
        Place,
        Modulus,
        Generator,
        Set,
        Ciphertext,
        First,
        Second,
        None
    } part_e;

    function automatic logic [7:0] digit(input logic [3:0] value);
        digit = value < 4'd10 ? 8'd48 + 8'(value) : 8'd87 + 8'(value);
    endfunction

    // ---- the pieces, each from the high end of a register --------------------------------------------------------------------------------

    part_e part_q, next_part;
    piece_t piece;
    count_t count;
    logic residue, of_sum;
    logic [511:0] election;
    logic [63:0] voter;
    assign residue = proof_i == ballot_pkg::SumIsKnown;
    assign of_sum = proof_i != ballot_pkg::MarkIsBit;
    for (genvar k = 0; k < 64; k++) begin : gen_election
        assign election[8*k+:8] = digit(election_i[4*k+:4]);
    end
    for (genvar k = 0; k < 8; k++) begin : gen_voter
        assign voter[8*k+:8] = digit(voter_i[4*k+:4]);
    end

    // Bits of a piece brought to the high end.
    function automatic piece_t high(input piece_t value, input int unsigned bytes);
        high = value << (8 * (Bytes - bytes));
    endfunction

    always_comb begin
        piece     = '0;
        count     = '0;
        next_part = None;
        unique case (part_q)
            Tag: begin
                piece     = high(piece_t'({64'd34, "hearith-proofs 1 membership, short", 64'd83, "hearith-election 1 "}), 69);
                count     = count_t'(69);
                next_part = Election;
                if (residue) begin
                    piece = high(piece_t'({64'd31, "hearith-proofs 1 residue, short", 64'd83, "hearith-election 1 "}), 66);
                    count = count_t'(66);
                end
            end
            Election: begin
                piece     = high(piece_t'(election), 64);
                count     = count_t'(64);
                next_part = Place;
            end
            Place: begin
                piece     = high(piece_t'({64'd16, "[\"", voter, "\",", digit(contest_i), ",", digit(mark_i), "]"}), 24);
                count     = count_t'(24);
                next_part = Modulus;
                if (of_sum) begin
                    piece = high(piece_t'({64'd20, "[\"", voter, "\",", digit(contest_i), ",\"sum\"]"}), 28);
                    count = count_t'(28);
                end
            end
            Modulus: begin
                piece     = high(piece_t'({64'(HalfBytes), n_i}), HalfBytes + 8);
                count     = count_t'(HalfBytes + 8);
                next_part = Generator;
            end
            Generator: begin
                piece     = high(piece_t'({64'(HalfBytes), h_i}), HalfBytes + 8);
                count     = count_t'(HalfBytes + 8);
                next_part = residue ? Ciphertext : Set;
            end
            Set: begin
                piece     = high(piece_t'({64'(FullBytes), N'(1)}), FullBytes + 8);
                count     = count_t'(FullBytes + 8);
                next_part = Ciphertext;
            end
            Ciphertext: begin
                piece     = high(piece_t'({64'(FullBytes), c_i}), FullBytes + 8);
                count     = count_t'(FullBytes + 8);
                next_part = First;
            end
            First: begin
                piece     = high(piece_t'({residue ? 64'(FullBytes) : 64'(BothBytes), first_i}), FullBytes + 8);
                count     = count_t'(FullBytes + 8);
                next_part = residue ? None : Second;
            end
            Second: begin
                piece = high(piece_t'(second_i), FullBytes);
                count = count_t'(FullBytes);
            end
            default: ;
        endcase
    end

    // ---- bytes, four of them a word ------------------------------------------------------------------------------------------------------------

    typedef enum logic [1:0] {
        Rest,
        Load,
        Send,
        Hashed
    } state_e;
    state_e state_q;
    piece_t piece_q;
    count_t left_q;
    logic [1:0] place_q;
    logic [23:0] word_q;
    logic hash_ready, word, last, taken;

    assign last = left_q == count_t'(1) && part_q == None;
    assign word = state_q == Send && (place_q == 2'd3 || last);
    assign taken = state_q == Send && (!word || hash_ready);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Rest;
            part_q  <= Tag;
            piece_q <= '0;
            left_q  <= '0;
            place_q <= '0;
            word_q  <= '0;
        end else begin
            unique case (state_q)
                Rest: begin
                    part_q  <= Tag;
                    place_q <= '0;
                    if (in_valid_i) state_q <= Load;
                end
                Load: begin
                    piece_q <= piece;
                    left_q  <= count;
                    part_q  <= next_part;
                    state_q <= Send;
                end
                Send:
                if (taken) begin
                    piece_q <= piece_q << 8;
                    left_q  <= left_q - count_t'(1);
                    place_q <= place_q + 2'd1;
                    word_q  <= {word_q[15:0], piece_q[8*Bytes-1-:8]};
                    if (last) state_q <= Hashed;
                    else if (left_q == count_t'(1)) state_q <= Load;
                end
                default: if (out_valid_o && out_ready_i) state_q <= Rest;
            endcase
        end
    end

    // A word that is not full has its bytes at the high end.
    logic [31:0] full;
    assign full = {word_q, piece_q[8*Bytes-1-:8]} << {2'd3 - place_q, 3'd0};
    sha256 u_hash (
        .clk_i,
        .rst_ni,
        .in_valid_i(word),
        .in_ready_o(hash_ready),
        .in_data_i (full),
        .in_last_i (last),
        .in_bytes_i(place_q + 2'd1),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(challenge_o)
    );
endmodule
