// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers from an external noise source: health tests, a start-up test and a conditioner.
// There is no generator in here: without a source there are no numbers.
//
// The source delivers bits, each with a pulse of noise_valid_i. After reset, StartUp samples must
// pass the health tests before any are used. These samples are discarded. From then on, every
// Samples of them go through SHA-256 (a vetted conditioning function, [TBKMBB18], 3.1.5), whose
// digest is output as eight words. These 256 bits have full entropy if Samples times the entropy of
// a sample is at least 320 bits.
//
// A failed test is permanent: failed_o stays high until reset, collected samples are dropped, and
// no more words are output, not even one on offer. The same holds if no sample comes for
// NoiseTimeout cycles: a source that is gone is no better than one that is stuck.
module noise_source_port #(
    parameter int unsigned Samples      = 1024,    // of a digest, a multiple of 32
    parameter int unsigned StartUp      = 1024,    // at least 1024 in the standard
    parameter int unsigned Repetition   = 81,      // see health_tests
    parameter int unsigned Window       = 1024,
    parameter int unsigned Proportion   = 824,
    parameter int unsigned NoiseTimeout = 1 << 20  // cycles without a sample
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        noise_valid_i,
    input  logic        noise_i,
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [31:0] out_data_o,
    output logic        ready_o,       // the start-up test was passed, and nothing failed
    output logic        failed_o,
    output logic [2:0]  cause_o        // repetition, proportion, quiet: bits 0, 1, 2
);
    if (Samples < 32 || Samples % 32 != 0) $error("noise_source_port: Samples must be a multiple of 32, and not 0");
    if (StartUp < 1) $error("noise_source_port: StartUp must be at least 1");
    if (NoiseTimeout < 2) $error("noise_source_port: NoiseTimeout must be at least 2");

    localparam int unsigned StartBits = $clog2(StartUp + 1);
    localparam int unsigned QuietBits = $clog2(NoiseTimeout + 1);
    localparam int unsigned Words = Samples / 32;
    localparam int unsigned WordBits = $clog2(Words + 1);

    logic repetition, proportion, fails;
    health_tests #(
        .Repetition(Repetition),
        .Window    (Window),
        .Proportion(Proportion)
    ) u_tests (
        .clk_i,
        .rst_ni,
        .valid_i     (noise_valid_i),
        .sample_i    (noise_i),
        .repetition_o(repetition),
        .proportion_o(proportion)
    );

    logic [StartBits-1:0] start_q;
    logic [QuietBits-1:0] quiet_q;
    logic silent;
    assign silent = quiet_q == QuietBits'(NoiseTimeout);
    assign fails = repetition || proportion || silent;
    assign ready_o = start_q == StartBits'(StartUp) && !failed_o && !fails;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            start_q  <= '0;
            quiet_q  <= '0;
            failed_o <= 1'b0;
            cause_o  <= '0;
        end else begin
            if (noise_valid_i && start_q != StartBits'(StartUp)) start_q <= start_q + StartBits'(1);
            quiet_q <= noise_valid_i ? '0 : quiet_q + QuietBits'(!silent);
            if (fails) failed_o <= 1'b1;
            cause_o <= cause_o | {silent, proportion, repetition};
        end
    end

    // Samples are packed into words, and words into a digest. A sample that comes while the
    // conditioner is busy is not used, but it has been tested.
    logic [31:0] bits_q;
    logic [4:0] bit_q;
    logic [WordBits-1:0] word_q;
    logic word_valid_q, hash_ready, digest_valid, digest_ready;
    logic [255:0] digest, digest_q;
    logic [3:0] left_q;
    logic running, clear;

    assign running = start_q == StartBits'(StartUp);
    assign clear = !rst_ni || fails || failed_o;

    always_ff @(posedge clk_i) begin
        if (clear) begin
            bits_q       <= '0;
            bit_q        <= '0;
            word_q       <= '0;
            word_valid_q <= 1'b0;
        end else begin
            if (word_valid_q && hash_ready) begin
                word_valid_q <= 1'b0;
                word_q       <= word_q == WordBits'(Words - 1) ? '0 : word_q + WordBits'(1);
            end
            if (running && noise_valid_i && !word_valid_q) begin
                bits_q       <= {bits_q[30:0], noise_i};
                bit_q        <= bit_q + 5'd1;
                word_valid_q <= bit_q == 5'd31;
            end
        end
    end

    sha256 u_conditioner (
        .clk_i,
        .rst_ni     (!clear),
        .in_valid_i (word_valid_q),
        .in_ready_o (hash_ready),
        .in_data_i  (bits_q),
        .in_last_i  (word_q == WordBits'(Words - 1)),
        .in_bytes_i (2'd0),
        .out_valid_o(digest_valid),
        .out_ready_i(digest_ready),
        .out_data_o (digest)
    );

    assign digest_ready = left_q == 4'd0;
    always_ff @(posedge clk_i) begin
        if (clear) begin
            digest_q <= '0;
            left_q   <= '0;
        end else if (digest_ready) begin
            if (digest_valid) begin
                digest_q <= digest;
                left_q   <= 4'd8;
            end
        end else if (out_ready_i) begin
            digest_q <= digest_q << 32;
            left_q   <= left_q - 4'd1;
        end
    end
    assign out_valid_o = left_q != 4'd0 && ready_o;
    assign out_data_o = out_valid_o ? digest_q[255:224] : '0;

    `include "assertions.svh"
    `ASSERT(NothingAfterFailure, !(failed_o && out_valid_o))
    `ASSERT(NothingBeforeStart, !(start_q != StartBits'(StartUp) && out_valid_o))
    `COVER(Failed, failed_o)
endmodule
