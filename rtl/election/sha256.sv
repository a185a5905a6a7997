// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of a message of 32-bit words [FIPS180]: a round a cycle, with the padding generated here.
//
// Words are as in the standard, with the first byte at the high end. A message has 1 to 2^27 - 1 of
// them. The last one may have only 1, 2 or 3 bytes; its other bytes are ignored. Sixteen words are
// accepted in sixteen cycles; 64 rounds and one more cycle follow, in which none is accepted. After
// the last word, there is one more block if the padding needs it. Latency from the last word of a
// message of w words to the digest: (16 - (w - 1) mod 16 - 1) + 65 cycles and one more, and 81 more
// if fewer than three words are left of its block; two are enough after a partial word. The digest
// stays on offer until it is accepted, and only then is the next message accepted. Everything is
// cleared when a digest is accepted.
module sha256 (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [31:0]  in_data_i,
    input  logic         in_last_i,
    input  logic [1:0]   in_bytes_i,   // of the last word; 0 stands for all four
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [255:0] out_data_o    // the first word of the digest at the high end
);
    // The first 32 bits of the fractions of the cube roots of the first 64 primes, the first at the
    // low end.
    localparam logic [64*32-1:0] RoundConstants = {
        256'hc67178f2_bef9a3f7_a4506ceb_90befffa_8cc70208_84c87814_78a5636f_748f82ee,
        256'h682e6ff3_5b9cca4f_4ed8aa4a_391c0cb3_34b0bcb5_2748774c_1e376c08_19a4c116,
        256'h106aa070_f40e3585_d6990624_d192e819_c76c51a3_c24b8b70_a81a664b_a2bfe8a1,
        256'h92722c85_81c2c92e_766a0abb_650a7354_53380d13_4d2c6dfc_2e1b2138_27b70a85,
        256'h14292967_06ca6351_d5a79147_c6e00bf3_bf597fc7_b00327c8_a831c66d_983e5152,
        256'h76f988da_5cb0a9dc_4a7484aa_2de92c6f_240ca1cc_0fc19dc6_efbe4786_e49b69c1,
        256'hc19bf174_9bdc06a7_80deb1fe_72be5d74_550c7dc3_243185be_12835b01_d807aa98,
        256'hab1c5ed5_923f82a4_59f111f1_3956c25b_e9b5dba5_b5c0fbcf_71374491_428a2f98
    };
    // The same of the square roots of the first eight primes, the first at the high end.
    localparam logic [255:0] Initial = 256'h6a09e667_bb67ae85_3c6ef372_a54ff53a_510e527f_9b05688c_1f83d9ab_5be0cd19;

    typedef enum logic [1:0] {
        Take,    // accepts the words of a block
        Rounds,
        Add,     // adds the hash before the block
        Give
    } state_e;

    state_e state_q;
    logic [3:0] place_q;
    logic [5:0] round_q;
    // The progress: the message has ended, the padding's first bit is placed, the block is the
    // last.
    logic ended_q, marked_q, final_q;
    logic [26:0] words_q;
    logic [1:0] bytes_q;
    logic [511:0] schedule_q;
    logic [255:0] hash_q;
    logic [31:0] a_q, b_q, c_q, d_q, e_q, f_q, g_q, h_q;

    logic shift, length_fits, partial;
    logic [31:0] padding, word, next, marked, length;

    assign in_ready_o = rst_ni && state_q == Take && !ended_q;
    assign shift = state_q == Take && (ended_q || in_valid_i);
    // The length takes the last two words of a block, if the mark came before them.
    assign length_fits = final_q || (!marked_q && place_q < 4'd14) || (marked_q && place_q == 4'd0);

    always_comb begin
        padding = '0;
        if (!marked_q) padding = 32'h8000_0000;
        else if (final_q && place_q == 4'd15) padding = length;
    end
    assign length = {words_q, 5'd0} - (bytes_q == 2'd0 ? 32'd0 : 32'd32 - {27'd0, bytes_q, 3'd0});
    // A partial last word has the mark behind its bytes.
    assign partial = in_last_i && in_bytes_i != 2'd0;
    always_comb begin
        unique case (in_bytes_i)
            2'd1: marked = {in_data_i[31:24], 24'h80_0000};
            2'd2: marked = {in_data_i[31:16], 16'h8000};
            2'd3: marked = {in_data_i[31:8], 8'h80};
            default: marked = in_data_i;
        endcase
    end
    assign word = ended_q ? padding : in_last_i ? marked : in_data_i;

    // The schedule: sixteen words, the one of this round at the high end.
    function automatic logic [31:0] small0(input logic [31:0] x);
        small0 = {x[6:0], x[31:7]} ^ {x[17:0], x[31:18]} ^ (x >> 3);
    endfunction
    function automatic logic [31:0] small1(input logic [31:0] x);
        small1 = {x[16:0], x[31:17]} ^ {x[18:0], x[31:19]} ^ (x >> 10);
    endfunction
    assign next = small1(schedule_q[1*32+:32]) + schedule_q[6*32+:32] + small0(schedule_q[14*32+:32]) + schedule_q[15*32+:32];

    logic [31:0] sum1, choice, sum0, majority, first, second;
    assign sum1 = {e_q[5:0], e_q[31:6]} ^ {e_q[10:0], e_q[31:11]} ^ {e_q[24:0], e_q[31:25]};
    assign choice = (e_q & f_q) ^ (~e_q & g_q);
    assign first = h_q + sum1 + choice + RoundConstants[32*round_q+:32] + schedule_q[15*32+:32];
    assign sum0 = {a_q[1:0], a_q[31:2]} ^ {a_q[12:0], a_q[31:13]} ^ {a_q[21:0], a_q[31:22]};
    assign majority = (a_q & b_q) ^ (a_q & c_q) ^ (b_q & c_q);
    assign second = sum0 + majority;

    logic [255:0] working, added;
    assign working = {a_q, b_q, c_q, d_q, e_q, f_q, g_q, h_q};
    for (genvar k = 0; k < 8; k++) begin : gen_add
        assign added[32*k+:32] = hash_q[32*k+:32] + working[32*k+:32];
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni || (state_q == Give && out_ready_i)) begin
            state_q    <= Take;
            place_q    <= '0;
            round_q    <= '0;
            ended_q    <= 1'b0;
            marked_q   <= 1'b0;
            final_q    <= 1'b0;
            words_q    <= '0;
            bytes_q    <= '0;
            schedule_q <= '0;
            hash_q     <= Initial;
            {a_q, b_q, c_q, d_q, e_q, f_q, g_q, h_q} <= '0;
        end else begin
            unique case (state_q)
                Take: begin
                    if (shift) begin
                        schedule_q <= {schedule_q[15*32-1:0], word};
                        place_q    <= place_q + 4'd1;
                        if (!ended_q) begin
                            words_q <= words_q + 27'd1;
                            ended_q <= in_last_i;
                            if (partial) begin
                                bytes_q  <= in_bytes_i;
                                marked_q <= 1'b1;
                                final_q  <= place_q < 4'd14;
                            end
                        end else begin
                            marked_q <= 1'b1;
                            final_q  <= length_fits;
                        end
                        if (place_q == 4'd15) state_q <= Rounds;
                    end
                    {a_q, b_q, c_q, d_q, e_q, f_q, g_q, h_q} <= hash_q;
                end
                Rounds: begin
                    round_q    <= round_q + 6'd1;
                    schedule_q <= {schedule_q[15*32-1:0], next};
                    {h_q, g_q, f_q, e_q} <= {g_q, f_q, e_q, d_q + first};
                    {d_q, c_q, b_q, a_q} <= {c_q, b_q, a_q, first + second};
                    if (round_q == 6'd63) state_q <= Add;
                end
                Add: begin
                    hash_q  <= added;
                    state_q <= final_q ? Give : Take;
                end
                default: state_q <= Give;
            endcase
        end
    end

    assign out_valid_o = state_q == Give;
    assign out_data_o = out_valid_o ? hash_q : '0;
endmodule
