// SPDX-License-Identifier: MIT OR Apache-2.0
// The challenge of a trustee's share: SHA-256 over the transcript of docs/explanation/threshold.md,
// with each part after its length.
//
//   "hearith-proofs 1 share"; "hearith-election 1 share " and the election's id in hexadecimal digits; [contest,mark]; n; w, l and i; v; v_i; c; c_i; a; b.
//
// Numbers are hashed big-endian, a byte a cycle. Inputs are stable from in_valid_i on until the
// challenge is accepted. All of them are public.
module share_challenge #(
    parameter int unsigned N = 512  // bits of n^2, a multiple of 64
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           in_valid_i,
    input  logic [255:0]   election_i,   // the id, its first digit at the high end
    input  logic [3:0]     contest_i,    // below 10, as is the mark
    input  logic [3:0]     mark_i,
    input  logic [7:0]     needed_i,     // w
    input  logic [7:0]     trustees_i,   // l
    input  logic [7:0]     trustee_i,    // i, from 1
    input  logic [N/2-1:0] n_i,
    input  logic [N-1:0]   generator_i,  // v
    input  logic [N-1:0]   verifier_i,   // v_i
    input  logic [N-1:0]   c_i,
    input  logic [N-1:0]   share_i,      // c_i
    input  logic [N-1:0]   first_i,      // a
    input  logic [N-1:0]   second_i,     // b
    output logic           out_valid_o,
    input  logic           out_ready_i,
    output logic [255:0]   challenge_o
);
    localparam int unsigned Text = 64;  // bytes of the longest piece that is not a number
    localparam int unsigned HalfBytes = N / 16;  // of n
    localparam int unsigned FullBytes = N / 8;  // of n^2
    localparam int unsigned Bytes = FullBytes + 8 > Text ? FullBytes + 8 : Text;
    localparam int unsigned CountBits = $clog2(Bytes + 1);
    if (N < 64 || N % 64 != 0) $error("share_challenge: N must be a multiple of 64");

    typedef logic [8*Bytes-1:0] piece_t;
    typedef logic [CountBits-1:0] count_t;
    typedef enum logic [3:0] {
        Tag,
        Election,
        Place,
        Modulus,
        Counters,
        Generator,
        Verifier,
        Ciphertext,
        Share,
        First,
        Second
    } part_e;

    // A piece shifted to the high end.
    function automatic piece_t high(input piece_t value, input int unsigned bytes);
        high = value << (8 * (Bytes - bytes));
    endfunction

    part_e part_q;
    piece_t piece;
    count_t count;
    logic [N-1:0] number;
    logic [511:0] election;
    for (genvar k = 0; k < 64; k++) begin : gen_election
        assign election[8*k+:8] = ballot_pkg::character(election_i[4*k+:4]);
    end

    always_comb begin
        unique case (part_q)
            Generator:  number = generator_i;
            Verifier:   number = verifier_i;
            Ciphertext: number = c_i;
            Share:      number = share_i;
            First:      number = first_i;
            default:    number = second_i;
        endcase
        piece = high(piece_t'({64'(FullBytes), number}), FullBytes + 8);
        count = count_t'(FullBytes + 8);
        unique case (part_q)
            Tag: begin
                piece = high(piece_t'({64'd22, "hearith-proofs 1 share", 64'd89, "hearith-election 1 share "}), 63);
                count = count_t'(63);
            end
            Election: begin
                piece = high(piece_t'(election), 64);
                count = count_t'(64);
            end
            Place: begin
                piece = high(piece_t'({64'd5, "[", ballot_pkg::character(contest_i), ",", ballot_pkg::character(mark_i), "]"}), 13);
                count = count_t'(13);
            end
            Modulus: begin
                piece = high(piece_t'({64'(HalfBytes), n_i}), HalfBytes + 8);
                count = count_t'(HalfBytes + 8);
            end
            Counters: begin
                piece = high(piece_t'({64'd12, 24'd0, needed_i, 24'd0, trustees_i, 24'd0, trustee_i}), 20);
                count = count_t'(20);
            end
            default: ;
        endcase
    end

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
                part_q <= part_e'(part_q + 4'd1);
                sent_q <= part_q == Second;
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
        .in_last_i (part_q == Second),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(challenge_o)
    );
endmodule
