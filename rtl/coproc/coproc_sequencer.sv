// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes the commands of the co-processor, several concurrently: it runs the microprogram of
// coproc_pkg, one instruction at a time, with the contexts taking turns.
//
// A context is a command in progress: its position in the microprogram, the rest of its exponent,
// and 21 places in the memory of numbers. Contexts are filled and answered in rotation, so answers
// come in the order of commands. While one waits for a result, the others continue.
//
// An instruction reads its operands (always the whole table or comb), and passes them to a unit
// with the address of the result as their tag. The context then waits until done_i says that the
// result was written. That takes 6 cycles, 2 Window more for a digit of an exponent, and 2^Window
// more for the table. Order and timing depend on no number, only on the length of an exponent.
//
// Commands for the same group are serialised. An entry of the comb is set while no other command is
// in progress.
module coproc_sequencer #(
    parameter int unsigned N        = 1024,  // bits of n, a multiple of 32
    parameter int unsigned NumBits  = 2 * N, // bits of a number in memory
    parameter int unsigned Contexts = 4,     // commands in progress, 2 to 16, a power of two
    parameter int unsigned Groups   = 64,    // running products, 2 to 32768, a power of two
    parameter int unsigned Teeth    = 4,     // of the comb, 4 or 8
    parameter bit          Dual     = 1'b0,  // the cores compute with dual numbers
    localparam int unsigned Words        = 2 * N / 32,
    localparam int unsigned WordBits     = $clog2(Words),
    localparam int unsigned ContextBits  = $clog2(Contexts),
    localparam int unsigned GroupBits    = $clog2(Groups),
    localparam int unsigned Entries      = 2 ** Teeth,
    localparam int unsigned Numbers      = Contexts * 32 + Entries + Groups,
    localparam int unsigned AddressBits  = $clog2(Numbers)
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            lambda_i,       // every word of lambda is loaded
    // Where the loader writes operands, when there is space.
    output logic                            room_o,
    output logic [ContextBits-1:0]          context_o,
    input  logic                            command_valid_i,
    output logic                            command_ready_o,
    input  logic [7:0]                      command_i,
    input  logic [15:0]                     length_i,
    input  logic [15:0]                     group_i,
    input  logic [7:0]                      code_i,
    // Exponents: y of each context, and those of the key: n, and lambda above it.
    output logic                            exponent_read_o,
    output logic [ContextBits+WordBits-1:0] exponent_address_o,
    input  logic [31:0]                     exponent_i,
    output logic                            key_read_o,
    output logic [WordBits-1:0]             key_address_o,
    input  logic [31:0]                     key_i,
    // Numbers and constants.
    output logic                            number_read_o,
    output logic [AddressBits-1:0]          number_address_o,
    input  logic [NumBits-1:0]              number_i,
    output logic                            constant_read_o,
    output logic [2:0]                      constant_address_o,
    input  logic [NumBits-1:0]              constant_i,
    // Operands to the units.
    output logic                            product_valid_o,
    input  logic                            product_ready_i,
    output logic                            sum_valid_o,
    input  logic                            sum_ready_i,
    output logic                            square_o,
    output logic                            enter_o,
    output logic                            leave_o,
    output logic [AddressBits-1:0]          destination_o,
    output logic [ContextBits-1:0]          source_o,
    output logic [NumBits-1:0]              a_o,
    output logic [NumBits-1:0]              b_o,
    // A result has been written.
    input  logic                            done_i,
    input  logic [ContextBits-1:0]          done_context_i,
    // Answers.
    output logic                            answer_valid_o,
    input  logic                            answer_ready_i,
    output logic [2*N+63:0]                 answer_o
);
    if (Contexts < 2 || Contexts > 16 || 2 ** ContextBits != Contexts) $error("coproc_sequencer: Contexts is 2, 4, 8 or 16");
    if (Groups < 2 || Groups > 32768 || 2 ** GroupBits != Groups) $error("coproc_sequencer: Groups is a power of two, 2 to 32768");
    if (Teeth != 4 && Teeth != 8) $error("coproc_sequencer: Teeth is 4 or 8");

    // Digits of an exponent have Window bits, those of a comb Teeth.
    localparam int unsigned Window = 4;
    localparam int unsigned TeethLog = Teeth == 8 ? 3 : 2;
    localparam int unsigned LengthBits = 14;

    // A context's places: the table's 16 entries, then these.
    typedef enum logic [4:0] {
        PlaceX      = 5'd16,
        PlaceY      = 5'd17,
        PlaceAcc    = 5'd18,
        PlaceTmp    = 5'd19,
        PlaceResult = 5'd20
    } fixed_e;

    // ---- Contexts. ----

    logic [Contexts-1:0] active_q, waiting_q;
    logic [Contexts-1:0][5:0] pc_q, tail_q;
    logic [Contexts-1:0][7:0] command_q, code_q;
    logic [Contexts-1:0][15:0] group_q;
    logic [Contexts-1:0] grouped_q, comb_q, begun_q;
    logic [Contexts-1:0][1:0] exponent_q;
    logic [Contexts-1:0][3:0] index_q;
    // The exponent: its bits, the digits after this one, this digit's lowest bit, and the distance
    // between its bits.
    logic [Contexts-1:0][LengthBits-1:0] length_q, left_q, low_q, stride_q;
    // The next context to be filled, and the next to be answered.
    logic [ContextBits-1:0] fill_q, oldest_q;

    // ---- Accepting a command. ----

    logic [Groups-1:0] filled_q;
    logic [Entries-1:0] entry_q;
    logic alone_q;
    logic known, comb, grouped, group_busy, missing, accept;
    logic [1:0] x_bound, y_bound;
    coproc_pkg::exponent_e exponent;
    logic [5:0] start, tail;
    logic [7:0] code;
    logic [LengthBits-1:0] bits, comb_digits, power_digits;
    logic [8:0] properties;
    logic [GroupBits-1:0] group;

    assign properties = coproc_pkg::properties(command_i);
    assign {known, x_bound, y_bound} = properties[8:4];
    assign exponent = coproc_pkg::exponent_e'(properties[3:2]);
    assign {comb, grouped} = properties[1:0];
    assign {start, tail} = coproc_pkg::rows(command_i, Dual);
    assign group = group_i[GroupBits-1:0];

    logic sets_comb, filled;
    assign sets_comb = command_i == coproc_pkg::SetComb;
    assign filled = filled_q[group];

    always_comb begin
        missing = 1'b0;
        if (command_i == coproc_pkg::Total) missing = !filled;
        if (comb) missing = entry_q != '1;
        if (exponent == coproc_pkg::OfLambda) missing = !lambda_i;
    end

    always_comb begin
        code = code_i;
        if (code_i == coproc_pkg::Done) begin
            if (grouped && (group_i >> GroupBits) != '0) code = coproc_pkg::GroupCode;
            else if (sets_comb && (group_i >> Teeth) != '0) code = coproc_pkg::GroupCode;
            else if (missing) code = coproc_pkg::Missing;
        end
    end

    always_comb begin
        group_busy = 1'b0;
        for (int unsigned k = 0; k < Contexts; k++) begin
            if (active_q[k] && grouped_q[k] && group_q[k] == group_i) group_busy = 1'b1;
        end
    end

    assign room_o = !active_q[fill_q];
    assign context_o = fill_q;
    assign command_ready_o = room_o && !alone_q && !(grouped && group_busy) && !(sets_comb && active_q != '0);
    assign accept = command_valid_i && command_ready_o;
    assign bits = exponent == coproc_pkg::OfY ? length_i[LengthBits-1:0] : LengthBits'(N);
    assign power_digits = (bits + LengthBits'(Window - 1)) >> $clog2(Window);
    assign comb_digits = (bits + LengthBits'(Teeth - 1)) >> TeethLog;

    // The groups that have a product, and the comb entries that are set.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            filled_q <= Groups'(0);
            entry_q  <= '0;
            alone_q  <= 1'b0;
        end else begin
            if (active_q == '0) alone_q <= 1'b0;
            if (accept && code == coproc_pkg::Done) begin
                if (grouped) filled_q[group] <= command_i != coproc_pkg::Total;
                if (sets_comb) begin
                    entry_q[group_i[Teeth-1:0]] <= 1'b1;
                    alone_q <= 1'b1;
                end
            end
        end
    end

    // ---- Instructions, one at a time. ----

    typedef enum logic [2:0] {
        Pick,
        Decode,
        Digit,
        ReadA,
        ReadB,
        Scan,
        Issue,
        Give
    } state_e;

    state_e state_q;
    logic [ContextBits-1:0] c_q;
    coproc_pkg::unit_e unit;
    coproc_pkg::place_e to, a, b;
    coproc_pkg::constant_e constant;
    coproc_pkg::flow_e flow;
    logic [19:0] instruction, instruction_q;
    assign instruction = coproc_pkg::instruction(pc_q[c_q]);
    assign unit = coproc_pkg::unit_e'(instruction_q[19:17]);
    assign to = coproc_pkg::place_e'(instruction_q[16:13]);
    assign a = coproc_pkg::place_e'(instruction_q[12:9]);
    assign b = coproc_pkg::place_e'(instruction_q[8:5]);
    assign constant = coproc_pkg::constant_e'(instruction_q[4:2]);
    assign flow = coproc_pkg::flow_e'(instruction_q[1:0]);

    // A context whose turn it is continues unless it waits. An answer waits for its order, and
    // until it can be sent.
    logic answers, runnable;
    assign answers = instruction[19:17] == coproc_pkg::Answer;
    assign runnable = active_q[c_q] && !waiting_q[c_q] && (!answers || (c_q == oldest_q && answer_ready_i));

    // The state of the context whose turn it is.
    logic [LengthBits-1:0] low, stride, length, left;
    logic [3:0] index;
    assign {low, stride, length, left, index} = {low_q[c_q], stride_q[c_q], length_q[c_q], left_q[c_q], index_q[c_q]};

    // ---- A digit of the exponent, its highest bit first, two cycles per bit. Bits beyond the
    // length are 0. ----

    logic [Teeth-1:0] digit_q;
    logic [3:0] bit_q;
    logic odd_q;
    logic [LengthBits-1:0] at_q;
    logic [31:0] word;
    logic of_key;
    assign of_key = exponent_q[c_q] != coproc_pkg::OfY;
    assign word = of_key ? key_i : exponent_i;
    assign exponent_read_o = state_q == Digit && !odd_q && !of_key;
    assign key_read_o = state_q == Digit && !odd_q && of_key;
    assign exponent_address_o = {c_q, at_q[5+:WordBits]};
    assign key_address_o = {exponent_q[c_q] == coproc_pkg::OfLambda, at_q[5+:WordBits-1]};

    logic [3:0] digit_bits;
    assign digit_bits = comb_q[c_q] ? 4'(Teeth) : 4'(Window);

    logic [LengthBits-1:0] top_q;  // (Teeth - 1) stride, of the current context
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            digit_q <= '0;
            bit_q   <= '0;
            odd_q   <= 1'b0;
            at_q    <= '0;
        end else if (state_q != Digit) begin
            digit_q <= state_q == Pick ? '0 : digit_q;
            bit_q   <= digit_bits - 4'd1;
            odd_q   <= 1'b0;
            // The highest bit of the digit.
            at_q    <= comb_q[c_q] ? low + top_q : low + LengthBits'(Window - 1);
        end else begin
            odd_q <= !odd_q;
            if (odd_q) begin
                digit_q <= {digit_q[Teeth-2:0], word[at_q[4:0]] && at_q < length};
                bit_q   <= bit_q - 4'd1;
                at_q    <= at_q - stride;
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) top_q <= '0;
        else top_q <= (stride << TeethLog) - stride;
    end

    // ---- Operands. ----

    logic [Teeth-1:0] scan_q, scanned_q;
    logic scanning_q, from_constant, from_constant_q;
    coproc_pkg::place_e place;
    logic [NumBits-1:0] read;

    // The address of a fixed place.
    function automatic logic [AddressBits-1:0] fixed(input logic [ContextBits-1:0] context_number, input logic [4:0] offset);
        fixed = AddressBits'({context_number, offset});
    endfunction

    logic [AddressBits-1:0] entry, group_address, comb_address;
    assign group_address = AddressBits'(Contexts * 32 + Entries) + AddressBits'(group_q[c_q]);
    assign comb_address = AddressBits'(Contexts * 32) + AddressBits'(group_q[c_q][Teeth-1:0]);
    assign entry = comb_q[c_q] ? AddressBits'(Contexts * 32) + AddressBits'(scan_q) : fixed(c_q, {1'b0, scan_q[3:0]});

    function automatic logic is_constant(input coproc_pkg::place_e where, input logic begun);
        is_constant = where == coproc_pkg::Constant || (where == coproc_pkg::Begin && !begun);
    endfunction

    logic [AddressBits-1:0] address;
    always_comb begin
        case (place)
            coproc_pkg::X:      address = fixed(c_q, PlaceX);
            coproc_pkg::Y:      address = fixed(c_q, PlaceY);
            coproc_pkg::Other:  address = fixed(c_q, comb_q[c_q] ? PlaceX : PlaceY);
            coproc_pkg::Acc:    address = fixed(c_q, PlaceAcc);
            coproc_pkg::Tmp:    address = fixed(c_q, PlaceTmp);
            coproc_pkg::Result: address = fixed(c_q, PlaceResult);
            coproc_pkg::Base:   address = fixed(c_q, 5'd1);
            coproc_pkg::Entry:  address = fixed(c_q, {1'b0, index});
            coproc_pkg::Next:   address = fixed(c_q, {1'b0, index + 4'd1});
            coproc_pkg::Choice: address = entry;
            coproc_pkg::Comb:   address = comb_address;
            coproc_pkg::Group, coproc_pkg::Begin: address = group_address;
            default:            address = fixed(c_q, PlaceResult);
        endcase
    end

    // In Issue the place is that of the result.
    assign place = state_q == ReadA ? a : (state_q == ReadB || state_q == Scan) ? b : to;
    assign from_constant = is_constant(place, begun_q[c_q]);
    assign number_read_o = state_q == ReadA || state_q == ReadB || (state_q == Scan && scanning_q);
    assign number_address_o = address;
    assign constant_read_o = number_read_o;
    assign constant_address_o = constant;
    assign read = from_constant_q ? constant_i : number_i;

    logic [NumBits-1:0] a_q, b_q;
    logic take_a_q, take_b_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            from_constant_q <= 1'b0;
            take_a_q        <= 1'b0;
            take_b_q        <= 1'b0;
            a_q             <= NumBits'(0);
            b_q             <= NumBits'(0);
        end else begin
            if (number_read_o) from_constant_q <= from_constant;
            take_a_q <= state_q == ReadA;
            take_b_q <= state_q == ReadB && b != coproc_pkg::Choice;
            if (take_a_q) a_q <= read;
            if (take_b_q || (state_q == Scan && scanned_q == digit_q)) b_q <= read;
        end
    end
    assign a_o = a_q;
    assign b_o = b_q;

    // All entries are read, and the one that the digit selects is kept. Entry 0 is read in ReadB.
    logic [Teeth-1:0] last_entry;
    assign last_entry = comb_q[c_q] ? '1 : Teeth'(2 ** Window - 1);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            scan_q     <= '0;
            scanned_q  <= '0;
            scanning_q <= 1'b0;
        end else begin
            if (state_q == Decode) scan_q <= '0;
            else if (number_read_o && place == coproc_pkg::Choice) scan_q <= scan_q + 1'b1;
            scanned_q  <= scan_q;
            scanning_q <= state_q == ReadB || (scanning_q && scan_q != last_entry);
        end
    end

    // ---- Operands for the units. ----

    assign product_valid_o = state_q == Issue && !take_b_q && unit != coproc_pkg::Sum;
    assign sum_valid_o = state_q == Issue && !take_b_q && unit == coproc_pkg::Sum;
    assign square_o = unit == coproc_pkg::Squared;
    assign enter_o = unit == coproc_pkg::Enter;
    assign leave_o = unit == coproc_pkg::Leave;
    assign destination_o = address;
    assign source_o = c_q;

    logic issued, given;
    assign issued = (product_valid_o && product_ready_i) || (sum_valid_o && sum_ready_i);
    assign given = state_q == Give;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q       <= Pick;
            c_q           <= '0;
            instruction_q <= '0;
        end else begin
            case (state_q)
                Pick: begin
                    instruction_q <= instruction;
                    if (runnable) state_q <= Decode;
                    else c_q <= c_q + 1'b1;
                end
                Decode:  state_q <= b == coproc_pkg::Choice ? Digit : ReadA;
                Digit:   if (odd_q && bit_q == '0) state_q <= ReadA;
                ReadA:   state_q <= unit == coproc_pkg::Answer ? Give : ReadB;
                ReadB:   state_q <= b == coproc_pkg::Choice ? Scan : Issue;
                Scan:    if (!scanning_q) state_q <= Issue;
                Issue:
                if (issued) begin
                    state_q <= Pick;
                    c_q     <= c_q + 1'b1;
                end
                default: begin
                    state_q <= Pick;
                    c_q     <= c_q + 1'b1;
                end
            endcase
        end
    end

    // ---- The context's next state. ----

    logic again;
    always_comb begin
        case (flow)
            coproc_pkg::Table:   again = index != 4'(2 ** Window - 2);
            coproc_pkg::Squares: again = !comb_q[c_q] && index != 4'(Window - 1);
            default:             again = 1'b0;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {active_q, waiting_q, grouped_q, comb_q, begun_q} <= '0;
            {pc_q, tail_q, command_q, code_q, group_q, exponent_q, index_q} <= '0;
            {length_q, left_q, low_q, stride_q} <= '0;
            fill_q   <= '0;
            oldest_q <= '0;
        end else begin
            if (done_i) waiting_q[done_context_i] <= 1'b0;
            if (issued) begin
                waiting_q[c_q] <= 1'b1;
                case (flow)
                    coproc_pkg::Table: begin
                        index_q[c_q] <= again ? index + 4'd1 : '0;
                        if (!again) pc_q[c_q] <= pc_q[c_q] + 6'd1;
                    end
                    coproc_pkg::Squares: begin
                        index_q[c_q] <= again ? index + 4'd1 : '0;
                        if (!again) pc_q[c_q] <= pc_q[c_q] + 6'd1;
                    end
                    coproc_pkg::Digits: begin
                        pc_q[c_q]   <= left == '0 ? tail_q[c_q] : coproc_pkg::Digit;
                        left_q[c_q] <= left - LengthBits'(1);
                        low_q[c_q]  <= low - (comb_q[c_q] ? LengthBits'(1) : LengthBits'(Window));
                    end
                    default: begin
                        pc_q[c_q] <= pc_q[c_q] + 6'd1;
                        // The table is built from entry 1 on.
                        if (pc_q[c_q] == coproc_pkg::First) index_q[c_q] <= 4'd1;
                    end
                endcase
            end
            if (given) begin
                active_q[c_q] <= 1'b0;
                oldest_q      <= oldest_q + 1'b1;
            end
            if (accept) begin
                fill_q            <= fill_q + 1'b1;
                active_q[fill_q]  <= 1'b1;
                waiting_q[fill_q] <= 1'b0;
                command_q[fill_q] <= command_i;
                code_q[fill_q]    <= code;
                group_q[fill_q]   <= group_i;
                grouped_q[fill_q] <= grouped;
                comb_q[fill_q]    <= comb;
                exponent_q[fill_q] <= exponent;
                index_q[fill_q]   <= '0;
                tail_q[fill_q]    <= tail;
                begun_q[fill_q]   <= grouped && filled;
                length_q[fill_q]  <= bits;
                stride_q[fill_q]  <= comb ? comb_digits : LengthBits'(1);
                left_q[fill_q]    <= (comb ? comb_digits : power_digits) - LengthBits'(1);
                low_q[fill_q]     <= comb ? comb_digits - LengthBits'(1) : ((power_digits - LengthBits'(1)) << $clog2(Window));
                if (code != coproc_pkg::Done) pc_q[fill_q] <= coproc_pkg::Refused;
                else if (command_i == coproc_pkg::Accumulate && filled) pc_q[fill_q] <= tail;
                else pc_q[fill_q] <= start;
            end
        end
    end

    // ---- Answers: the result is at the memory's output. ----

    logic has_result;
    assign has_result = a == coproc_pkg::Result;
    assign answer_valid_o = given;
    assign answer_o = {has_result ? number_i[2*N-1:0] : '0, group_q[c_q], 32'd0, command_q[c_q], code_q[c_q]};

    logic unused;
    assign unused = ^{known, x_bound, y_bound, length_i[15:LengthBits], number_i};
endmodule
