// SPDX-License-Identifier: MIT OR Apache-2.0
// Encryption over the integers by CNT and CMNT, with products and reductions of super-size numbers.
// Executes commands (dghv_pkg) on numbers in memory.
//
// One multiplier (super_product) and one adder (super_sum) execute the controllers' steps one after
// another. A step's words are all in memory before the next begins. With LongWords, a second
// multiplier (transform_product) computes those products of a reduction whose factors both have at
// least LongWords words. Its matrices are in the scratch, at the first multiple of LongColumns
// words behind the reduction's own numbers.
//
// After every command, however it ends, all internal state becomes zero. The scratch does too,
// unless memory has failed. Then status_ says how the command ended. A memory error triggers this
// at once, and until reset it is the only answer. Reset clears the internal state as well, but not
// the scratch. A result is written only if all went well. The time of a command depends only on its
// lengths, on the memory and on how it ends.
module dghv_encryptor #(
    parameter int unsigned B           = 32,                         // to Width: super_product's
    parameter int unsigned High        = 4,
    parameter int unsigned Low         = 3,
    parameter logic [65:0] Root        = 66'd18446741870424883713,
    parameter int unsigned Halves      = 1,
    parameter int unsigned Base        = 28,
    parameter int unsigned ATile       = 24,
    parameter int unsigned Width       = 64,
    parameter int unsigned Chunk       = 32,                         // see super_sum
    parameter int unsigned AddrWidth   = 32,
    parameter int unsigned CountWidth  = 11,
    // see transform_product; 0: all products use blocks
    parameter int unsigned LongWords   = 0,
    parameter int unsigned LongHigh    = 6,                          // of its transforms
    parameter int unsigned LongLow     = 5,
    parameter logic [65:0] LongRoot    = 66'd7915626813612114351,
    parameter int unsigned LongColumns = 16,
    parameter int unsigned LongBase    = 20
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  command_valid_i,
    output logic                  command_ready_o,
    input  dghv_pkg::command_t    command_i,
    output logic                  status_valid_o,
    input  logic                  status_ready_i,
    output dghv_pkg::ending_e     status_o,
    output logic                  multiplied_o,      // a product of blocks begins
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    input  logic                  rd_last_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o,
    input  logic                  wr_done_i,
    input  logic                  error_i,           // of the memory or the element generator
    output logic                  seed_req_valid_o,
    input  logic                  seed_req_ready_i,
    output dghv_pkg::index_t      seed_req_index_o,  // index of the element
    output dghv_pkg::length_t     seed_req_row_o,    // the first row, of Lanes words each
    output logic [CountWidth-1:0] seed_req_count_o,  // rows
    input  logic                  seed_valid_i,
    output logic                  seed_ready_o,
    input  logic [Width-1:0]      seed_data_i
);
    localparam int unsigned Shift = $clog2(Width);

    if (AddrWidth < 1 || AddrWidth > dghv_pkg::AddressBits) $error("dghv_encryptor: AddrWidth is 1 to 32");
    if (LongWords != 0 && Width != 64) $error("dghv_encryptor: transforms take words of 64 bits");

    // ---- From command to status. ----

    typedef enum logic [3:0] {
        Idle,
        Direct,   // Multiply
        Sum,      // sum of an encryption
        Reduction,
        Clear,    // resets everything inside
        Settle,   // until accesses have ended and memories are zero
        Scratch,  // zeroes the scratch
        Report
    } state_e;
    state_e state_q;
    dghv_pkg::command_t command_q;
    dghv_pkg::ending_e ending_q;
    logic take;
    logic busy_q;  // there is a command to answer
    assign command_ready_o = state_q == Idle;
    assign take            = command_valid_i && command_ready_o;
    assign status_valid_o  = state_q == Report;
    assign status_o        = ending_q;

    // ---- The controllers' next step. ----

    dghv_pkg::length_t words, segment;
    logic [5:0] kept;
    logic encrypts, quadratic;
    assign encrypts  = command_q.operation == dghv_pkg::EncryptCnt || command_q.operation == dghv_pkg::EncryptCmnt;
    assign quadratic = command_q.operation == dghv_pkg::EncryptCmnt;
    assign words     = dghv_pkg::length_t'((command_q.bits + dghv_pkg::index_t'(Width - 1)) >> Shift);
    assign segment   = (words + dghv_pkg::length_t'(dghv_pkg::Lanes - 1)) / dghv_pkg::length_t'(dghv_pkg::Lanes);
    assign kept      = 6'(command_q.bits[Shift-1:0]);

    logic inner_rst_n, step_done, started_q;
    logic [2:0] valid, done;
    dghv_pkg::step_t cnt_step, cmnt_step, reduce_step;
    dghv_pkg::ending_e cnt_ending, cmnt_ending, sum_ending, reduce_ending;
    dghv_pkg::operand_t cnt_sum, cmnt_sum, reduced;
    dghv_pkg::finding_t finding;
    logic sum_done;
    dghv_pkg::address_t reduce_scratch, matrices;

    // enter is high in the first cycle of a state.
    state_e begun_q;
    logic enter;
    assign enter = state_q != begun_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begun_q <= Idle;
        else begun_q <= state_q;
    end

    cnt_controller u_cnt (
        .clk_i,
        .rst_ni      (inner_rst_n),
        .start_i     (state_q == Sum && enter && !quadratic),
        .command_i   (command_q),
        .words_i     (words),
        .kept_i      (kept),
        .step_valid_o(valid[0]),
        .step_o      (cnt_step),
        .step_done_i (step_done),
        .finding_i   (finding),
        .done_o      (done[0]),
        .sum_o       (cnt_sum),
        .ending_o    (cnt_ending)
    );

    cmnt_controller u_cmnt (
        .clk_i,
        .rst_ni      (inner_rst_n),
        .start_i     (state_q == Sum && enter && quadratic),
        .command_i   (command_q),
        .words_i     (words),
        .kept_i      (kept),
        .step_valid_o(valid[1]),
        .step_o      (cmnt_step),
        .step_done_i (step_done),
        .finding_i   (finding),
        .done_o      (done[1]),
        .sum_o       (cmnt_sum),
        .ending_o    (cmnt_ending)
    );
    assign sum_ending     = quadratic ? cmnt_ending : cnt_ending;
    assign sum_done       = quadratic ? done[1] : done[0];
    assign reduced        = !encrypts ? command_q.x : quadratic ? cmnt_sum : cnt_sum;
    assign reduce_scratch = command_q.scratch.at + (encrypts ? dghv_pkg::address_t'(dghv_pkg::length_t'(18) * segment) : '0);

    super_reduce #(
        .Width(Width)
    ) u_reduce (
        .clk_i,
        .rst_ni      (inner_rst_n),
        .start_i     (state_q == Reduction && enter),
        .x_i         (reduced),
        .z_i         (command_q.z),
        .scratch_i   (reduce_scratch),
        .modulus_i   (command_q.modulus),
        .reciprocal_i(command_q.reciprocal),
        .bits_i      (command_q.bits),
        .excess_i    (command_q.excess),
        .step_valid_o(valid[2]),
        .step_o      (reduce_step),
        .step_done_i (step_done),
        .finding_i   (finding),
        .done_o      (done[2]),
        .ending_o    (reduce_ending),
        .behind_o    (matrices)
    );

    dghv_pkg::step_t own, now;
    logic own_valid, now_valid, is_product;
    assign own_valid  = (state_q == Direct || state_q == Scratch) && !enter;
    assign now_valid  = own_valid || (|valid);
    assign is_product = now.kind == dghv_pkg::Product || now.kind == dghv_pkg::Seeded;

    always_comb begin
        own       = '0;
        own.write = 1'b1;
        own.kind  = dghv_pkg::Add;
        own.z     = command_q.scratch;
        if (state_q == Direct) begin
            own.kind  = dghv_pkg::Product;
            own.terms = dghv_pkg::length_t'(1);
            own.x     = command_q.x;
            own.y     = command_q.y;
            own.z     = {command_q.z, command_q.x.words + command_q.y.words, dghv_pkg::length_t'(0)};
        end
        now = reduce_step;
        if (valid[0]) now = cnt_step;
        if (valid[1]) now = cmnt_step;
        if (own_valid) now = own;
    end

    // ---- One step at a time; it is done when all its words are in memory. ----

    logic start, unit_done, settled_q, step_done_q, idle;
    logic [2:0] ready, unit_done_each;
    assign start     = now_valid && !started_q && !step_done_q && (&ready) && inner_rst_n;
    assign unit_done = |unit_done_each;
    assign step_done = step_done_q;

    // The current step, registered when it begins. This keeps the logic that produces it out of the
    // path to its unit's memory ports.
    dghv_pkg::step_t step_q;
    logic start_q;
    always_ff @(posedge clk_i) begin
        if (!inner_rst_n) begin
            started_q   <= 1'b0;
            settled_q   <= 1'b0;
            step_done_q <= 1'b0;
            start_q     <= 1'b0;
            step_q      <= '0;
        end else begin
            start_q     <= start;
            step_done_q <= settled_q && idle;
            if (start) step_q <= now;
            if (start) started_q <= 1'b1;
            else if (settled_q && idle) started_q <= 1'b0;
            if (unit_done) settled_q <= 1'b1;
            else if (idle) settled_q <= 1'b0;
        end
    end

    // ---- Checks: sizes in the command, and steps that would leave the scratch. ----

    logic bad_sizes, bad_key, no_scratch, outside, no_matrices, is_written, is_result;
    assign no_scratch = command_q.scratch.words == '0;
    assign bad_key    = command_q.bits <= dghv_pkg::index_t'(Width) || command_q.x.words >= segment || command_q.elements == '0;
    always_comb begin
        unique case (command_q.operation)
            dghv_pkg::Multiply: bad_sizes = command_q.x.words == '0 || command_q.y.words == '0;
            dghv_pkg::Reduce:   bad_sizes = command_q.x.words == '0 || no_scratch;
            dghv_pkg::EncryptCnt, dghv_pkg::EncryptCmnt:
            bad_sizes = bad_key || command_q.x.words == '0 || command_q.y.words == '0 || command_q.noise.words == '0 || no_scratch;
            default: bad_sizes = 1'b1;
        endcase
    end

    dghv_pkg::address_t reach, scratch_end;
    assign scratch_end = command_q.scratch.at + dghv_pkg::address_t'(command_q.scratch.words);
    // Sums of odd segments are behind those of even ones: eight segments after the place of segment
    // 0.
    assign reach   = now.kind == dghv_pkg::Seeded ? now.odd + dghv_pkg::address_t'(dghv_pkg::length_t'(9) * now.y.words) : now.z.at + dghv_pkg::address_t'(now.z.words);
    assign is_written = is_product || now.write;
    assign is_result = now.z.at == command_q.z || now.z.at == command_q.z + dghv_pkg::address_t'(words);
    assign outside   = start && is_written && !is_result && reach > scratch_end;

    // ---- The state. ----

    logic cleared, units_ready;
    assign units_ready = &ready;
    assign cleared     = idle && units_ready;
    assign inner_rst_n = rst_ni && state_q != Clear;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= Settle;
            ending_q  <= dghv_pkg::Done;
            command_q <= '0;
            busy_q    <= 1'b0;
        end else if (error_i && state_q != Report && state_q != Clear && !(state_q == Settle && ending_q == dghv_pkg::BadMemory)) begin
            // If idle, the error applies to the next command, which is answered at once.
            if (state_q != Idle || take) begin
                state_q  <= Clear;
                ending_q <= dghv_pkg::BadMemory;
                busy_q   <= busy_q || take;
            end
        end else begin
            unique case (state_q)
                Idle:
                if (take) begin
                    command_q <= command_i;
                    ending_q  <= dghv_pkg::Done;
                    busy_q    <= 1'b1;
                    unique case (command_i.operation)
                        dghv_pkg::Multiply: state_q <= Direct;
                        dghv_pkg::Reduce:   state_q <= Reduction;
                        dghv_pkg::Wipe:     state_q <= Clear;
                        default:  state_q <= Sum;
                    endcase
                end
                Direct, Sum, Reduction:
                if (bad_sizes || outside || no_matrices) begin
                    state_q  <= Clear;
                    ending_q <= dghv_pkg::BadSizes;
                end else if (state_q == Direct) begin
                    if (step_done) state_q <= Clear;
                end else if (state_q == Sum) begin
                    if (sum_done) begin
                        state_q  <= sum_ending == dghv_pkg::Done ? Reduction : Clear;
                        ending_q <= sum_ending;
                    end
                end else if (done[2]) begin
                    state_q  <= Clear;
                    ending_q <= reduce_ending;
                end
                Clear: state_q <= Settle;
                Settle:
                if (cleared) begin
                    // After reset there is no command yet.
                    if (!busy_q) state_q <= Idle;
                    else if (ending_q == dghv_pkg::BadMemory || command_q.scratch.words == '0) state_q <= Report;
                    else state_q <= Scratch;
                end
                Scratch: if (step_done) state_q <= Report;
                default:
                if (status_ready_i) begin
                    state_q   <= Idle;
                    command_q <= '0;
                    busy_q    <= 1'b0;
                end
            endcase
        end
    end

    // ---- The units. The unit of the current step has access to memory. ----

    typedef enum logic [1:0] {
        Sums,
        Blocks,
        Transforms
    } unit_e;
    unit_e unit;
    logic multiplies, transforms;
    logic [2:0] chosen, unit_rd_valid, unit_rd_take, unit_wr_valid, unit_word_valid;
    logic [2:0][AddrWidth-1:0] unit_rd_addr, unit_wr_addr;
    logic [2:0][CountWidth-1:0] unit_rd_count, unit_wr_count;
    logic [2:0][Width-1:0] unit_word;
    logic [CountWidth-1:0] seed_count;
    logic rd_ready, rd_valid, wr_ready, word_ready, seed_valid, seed_take, seed_req_valid, seed_req_ready;
    dghv_pkg::index_t seed_index;
    dghv_pkg::length_t seed_row;
    assign multiplies = step_q.kind == dghv_pkg::Product || step_q.kind == dghv_pkg::Seeded;
    assign unit       = !multiplies ? Sums : transforms ? Transforms : Blocks;
    assign chosen     = 3'd1 << unit;

    super_product #(
        .B         (B),
        .High      (High),
        .Low       (Low),
        .Root      (Root),
        .Halves    (Halves),
        .Base      (Base),
        .ATile     (ATile),
        .Width     (Width),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_product (
        .clk_i,
        .rst_ni          (inner_rst_n),
        .ready_o         (ready[Blocks]),
        .start_i         (start_q && chosen[Blocks]),
        .step_i          (step_q),
        .done_o          (unit_done_each[Blocks]),
        .multiplied_o,
        .rd_req_valid_o  (unit_rd_valid[Blocks]),
        .rd_req_ready_i  (rd_ready && chosen[Blocks]),
        .rd_req_addr_o   (unit_rd_addr[Blocks]),
        .rd_req_count_o  (unit_rd_count[Blocks]),
        .rd_valid_i      (rd_valid && chosen[Blocks]),
        .rd_ready_o      (unit_rd_take[Blocks]),
        .rd_data_i,
        .seed_req_valid_o(seed_req_valid),
        .seed_req_ready_i(seed_req_ready),
        .seed_req_index_o(seed_index),
        .seed_req_row_o  (seed_row),
        .seed_req_count_o(seed_count),
        .seed_valid_i    (seed_valid),
        .seed_ready_o    (seed_take),
        .seed_data_i,
        .wr_req_valid_o  (unit_wr_valid[Blocks]),
        .wr_req_ready_i  (wr_ready && chosen[Blocks]),
        .wr_req_addr_o   (unit_wr_addr[Blocks]),
        .wr_req_count_o  (unit_wr_count[Blocks]),
        .wr_valid_o      (unit_word_valid[Blocks]),
        .wr_ready_i      (word_ready && chosen[Blocks]),
        .wr_data_o       (unit_word[Blocks])
    );

    super_sum #(
        .Width     (Width),
        .Chunk     (Chunk),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_sum (
        .clk_i,
        .rst_ni        (inner_rst_n),
        .ready_o       (ready[Sums]),
        .start_i       (start_q && chosen[Sums]),
        .step_i        (step_q),
        .done_o        (unit_done_each[Sums]),
        .finding_o     (finding),
        .rd_req_valid_o(unit_rd_valid[Sums]),
        .rd_req_ready_i(rd_ready && chosen[Sums]),
        .rd_req_addr_o (unit_rd_addr[Sums]),
        .rd_req_count_o(unit_rd_count[Sums]),
        .rd_valid_i    (rd_valid && chosen[Sums]),
        .rd_ready_o    (unit_rd_take[Sums]),
        .rd_data_i,
        .wr_req_valid_o(unit_wr_valid[Sums]),
        .wr_req_ready_i(wr_ready && chosen[Sums]),
        .wr_req_addr_o (unit_wr_addr[Sums]),
        .wr_req_count_o(unit_wr_count[Sums]),
        .wr_valid_o    (unit_word_valid[Sums]),
        .wr_ready_i    (word_ready && chosen[Sums]),
        .wr_data_o     (unit_word[Sums])
    );

    if (LongWords != 0) begin : gen_long
        logic takes;
        assign transforms = takes && state_q == Reduction;

        transform_product #(
            .High      (LongHigh),
            .Low       (LongLow),
            .Root      (LongRoot),
            .ATile     (ATile),
            .Columns   (LongColumns),
            .Base      (LongBase),
            .LongWords (LongWords),
            .AddrWidth (AddrWidth),
            .CountWidth(CountWidth)
        ) u_long (
            .clk_i,
            .rst_ni        (inner_rst_n),
            .ready_o       (ready[Transforms]),
            .step_i        (step_q),
            .scratch_i     (matrices),
            .scratch_end_i (scratch_end),
            .takes_o       (takes),
            .start_i       (start_q && chosen[Transforms]),
            .short_o       (no_matrices),
            .settled_i     (idle),
            .done_o        (unit_done_each[Transforms]),
            .rd_req_valid_o(unit_rd_valid[Transforms]),
            .rd_req_ready_i(rd_ready && chosen[Transforms]),
            .rd_req_addr_o (unit_rd_addr[Transforms]),
            .rd_req_count_o(unit_rd_count[Transforms]),
            .rd_valid_i    (rd_valid && chosen[Transforms]),
            .rd_ready_o    (unit_rd_take[Transforms]),
            .rd_data_i,
            .wr_req_valid_o(unit_wr_valid[Transforms]),
            .wr_req_ready_i(wr_ready && chosen[Transforms]),
            .wr_req_addr_o (unit_wr_addr[Transforms]),
            .wr_req_count_o(unit_wr_count[Transforms]),
            .wr_valid_o    (unit_word_valid[Transforms]),
            .wr_ready_i    (word_ready && chosen[Transforms]),
            .wr_data_o     (unit_word[Transforms])
        );
    end else begin : gen_blocks
        logic unused_matrices;
        assign transforms                  = 1'b0;
        assign no_matrices                 = 1'b0;
        assign ready[Transforms]           = 1'b1;
        assign unit_done_each[Transforms]  = 1'b0;
        assign unit_rd_valid[Transforms]   = 1'b0;
        assign unit_rd_addr[Transforms]    = '0;
        assign unit_rd_count[Transforms]   = '0;
        assign unit_rd_take[Transforms]    = 1'b0;
        assign unit_wr_valid[Transforms]   = 1'b0;
        assign unit_wr_addr[Transforms]    = '0;
        assign unit_wr_count[Transforms]   = '0;
        assign unit_word_valid[Transforms] = 1'b0;
        assign unit_word[Transforms]       = '0;
        assign unused_matrices             = &{1'b0, matrices, chosen};
    end

    memory_isolate #(
        .Width     (Width),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_gate (
        .clk_i,
        .rst_ni,
        .drain_i         (state_q == Clear || state_q == Settle),
        .dead_i          (error_i && (state_q == Clear || state_q == Settle)),
        .idle_o          (idle),
        .rd_req_valid_i  (unit_rd_valid[unit]),
        .rd_req_ready_o  (rd_ready),
        .rd_req_addr_i   (unit_rd_addr[unit]),
        .rd_req_count_i  (unit_rd_count[unit]),
        .rd_valid_o      (rd_valid),
        .rd_ready_i      (unit_rd_take[unit]),
        .wr_req_valid_i  (unit_wr_valid[unit]),
        .wr_req_ready_o  (wr_ready),
        .wr_req_addr_i   (unit_wr_addr[unit]),
        .wr_req_count_i  (unit_wr_count[unit]),
        .wr_valid_i      (unit_word_valid[unit]),
        .wr_ready_o      (word_ready),
        .wr_data_i       (unit_word[unit]),
        .seed_req_valid_i(seed_req_valid),
        .seed_req_ready_o(seed_req_ready),
        .seed_req_index_i(seed_index),
        .seed_req_row_i  (seed_row),
        .seed_req_count_i(seed_count),
        .seed_valid_o    (seed_valid),
        .seed_ready_i    (seed_take),
        .rd_req_valid_o,
        .rd_req_ready_i,
        .rd_req_addr_o,
        .rd_req_count_o,
        .rd_valid_i,
        .rd_ready_o,
        .wr_req_valid_o,
        .wr_req_ready_i,
        .wr_req_addr_o,
        .wr_req_count_o,
        .wr_valid_o,
        .wr_ready_i,
        .wr_data_o,
        .wr_done_i,
        .seed_req_valid_o,
        .seed_req_ready_i,
        .seed_req_index_o,
        .seed_req_row_o,
        .seed_req_count_o,
        .seed_valid_i,
        .seed_ready_o
    );

    logic unused;
    assign unused = &{1'b0, rd_last_i};
endmodule
