// SPDX-License-Identifier: MIT OR Apache-2.0
// The challenge of a proof by a short opening: SHA-256 over the transcript of
// docs/explanation/proofs.md, with each part after its length.
//
//   "hearith-proofs 1 membership, short" or "... residue, short"; "hearith-election 1 " and the election's id in hexadecimal digits; ["voter",contest,mark] with the
//   voter in eight hexadecimal digits and, for a sum of marks, "sum" instead of a mark; n; h; for membership 0 and 1; the ciphertext; its commitments.
//
// Numbers are hashed big-endian, a byte a cycle. Inputs are stable from in_valid_i on until the
// challenge is accepted. All of them are public.
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
    input  logic [N-1:0]   first_i,       // the commitments; a residue has one
    input  logic [N-1:0]   second_i,
    output logic           out_valid_o,
    input  logic           out_ready_i,
    output logic [255:0]   challenge_o
);
    localparam int unsigned Text = 69;  // bytes of the longest piece that is not a number
    localparam int unsigned HalfBytes = N / 16;  // of n
    localparam int unsigned FullBytes = N / 8;  // of n^2
    localparam int unsigned BothBytes = N / 4;  // of two commitments
    localparam int unsigned Bytes = FullBytes + 8 > Text ? FullBytes + 8 : Text;
    localparam int unsigned CountBits = $clog2(Bytes + 1);
    if (N < 64 || N % 64 != 0) $error("proof_challenge: N must be a multiple of 64");

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

    // ---- the pieces, each from the high end of a register ---------------------------------------

    part_e part_q, next_part;
    piece_t piece;
    count_t count;
    logic residue, of_sum;
    logic [511:0] election;
    logic [63:0] voter;
    assign residue = proof_i == ballot_pkg::SumIsKnown;
    assign of_sum = proof_i != ballot_pkg::MarkIsBit;
    for (genvar k = 0; k < 64; k++) begin : gen_election
        assign election[8*k+:8] = ballot_pkg::character(election_i[4*k+:4]);
    end
    for (genvar k = 0; k < 8; k++) begin : gen_voter
        assign voter[8*k+:8] = ballot_pkg::character(voter_i[4*k+:4]);
    end

    // A piece shifted to the high end.
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
                piece     = high(piece_t'({64'd16, "[\"", voter, "\",", ballot_pkg::character(contest_i), ",", ballot_pkg::character(mark_i), "]"}), 24);
                count     = count_t'(24);
                next_part = Modulus;
                if (of_sum) begin
                    piece = high(piece_t'({64'd20, "[\"", voter, "\",", ballot_pkg::character(contest_i), ",\"sum\"]"}), 28);
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

    // ---- sequence -------------------------------------------------------------------------------

    logic busy_q, sent_q, taken;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            part_q <= Tag;
            busy_q <= 1'b0;
            sent_q <= 1'b0;
        end else if (!busy_q) begin
            part_q <= Tag;
            sent_q <= 1'b0;
            busy_q <= in_valid_i;
        end else begin
            if (taken && !sent_q) begin
                part_q <= next_part;
                sent_q <= next_part == None;
            end
            if (out_valid_o && out_ready_i) busy_q <= 1'b0;
        end
    end

    piece_hash #(
        .Bytes(Bytes)
    ) u_hash (
        .clk_i,
        .rst_ni,
        .in_valid_i(busy_q && !sent_q),
        .in_ready_o(taken),
        .in_data_i (piece),
        .in_count_i(count),
        .in_last_i (next_part == None),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(challenge_o)
    );
endmodule
