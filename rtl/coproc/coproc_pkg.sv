// SPDX-License-Identifier: MIT OR Apache-2.0
// The co-processor's commands, answers and microprogram (rtl/coproc/README.md).
package coproc_pkg;
    // Cycles between two products of mont_mul_digit: its Step, for a modulus of `bits` bits.
    function automatic int unsigned digit_step(input int unsigned bits, input int unsigned digit, input int unsigned width, input int unsigned tile);
        int unsigned per_digit, kept, terms, latency, factor_at, multiplied, factored, last;
        per_digit = digit / width;
        kept = (bits + width + 2) / width + per_digit;
        terms = (bits + digit + 2) / digit;
        latency = 6 + (width / tile < 3 ? 1 : width / tile < 9 ? 2 : width / tile < 27 ? 3 : 4);
        factor_at = kept + per_digit > per_digit + latency + 1 ? kept + per_digit : per_digit + latency + 1;
        multiplied = factor_at + per_digit + (kept + per_digit + 1 > latency ? kept : latency - per_digit - 1);
        factored = factor_at + per_digit + latency;
        last = kept > 2 * per_digit + latency ? kept : 2 * per_digit + latency;
        digit_step = terms * (multiplied > factored ? multiplied : factored) + last;
    endfunction

    // Commands: the low byte of a command's first word. x and y are its operands, g its group.
    typedef enum logic [7:0] {
        Multiply     = 8'd1,   // x y mod n^2
        Power        = 8'd2,   // x^y mod n^2
        Encrypt      = 8'd3,   // x^n (1 + y n) mod n^2
        Rerandomise  = 8'd4,   // x^n y mod n^2
        CombEncrypt  = 8'd5,   // h^y (1 + x n) mod n^2
        CombRandom   = 8'd6,   // h^y x mod n^2
        Accumulate   = 8'd7,   // G[g] <- G[g] x, or x if the group is empty
        // G[g] <- G[g]^(2^(4 ceil(length / 4))) x^y, or x^y if the group is empty
        Continue     = 8'd8,
        Total        = 8'd9,   // G[g]; the group is then empty
        SetComb      = 8'd10,  // entry g of the comb becomes x
        Decrypt      = 8'd11   // x^lambda mod n^2
    } command_e;

    // The result code of an answer.
    typedef enum logic [7:0] {
        Done          = 8'd0,
        UnknownCode   = 8'd1,  // unknown command
        OperandX      = 8'd2,  // x is at or above its modulus
        OperandY      = 8'd3,  // y is at or above its modulus
        LengthCode    = 8'd4,  // an exponent has 1 to 2 N bits
        EvenModulus   = 8'd5,  // n is even
        ShortModulus  = 8'd6,  // n does not have N bits
        GroupCode     = 8'd7,  // there is no group, or comb entry, of this number
        Missing       = 8'd8   // the group is empty, the comb incomplete, or lambda not loaded
    } code_e;

    // The bound that an operand must be below.
    typedef enum logic [1:0] {
        Any,
        Modulus,  // n
        Square    // n^2
    } bound_e;

    // The source of an exponent.
    typedef enum logic [1:0] {
        Without,
        OfY,       // the low `length` bits of y
        OfModulus, // n
        OfLambda
    } exponent_e;

    // The properties of a command: whether it exists, the bounds of x and y, its exponent, whether
    // it uses the comb, and a group.
    typedef logic [8:0] properties_t;

    function automatic properties_t properties(input logic [7:0] command);
        case (command)
            coproc_pkg::Multiply:    properties = {1'b1, coproc_pkg::Square, coproc_pkg::Square, coproc_pkg::Without, 1'b0, 1'b0};
            coproc_pkg::Power:       properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b0, 1'b0};
            coproc_pkg::Encrypt:     properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Modulus, coproc_pkg::OfModulus, 1'b0, 1'b0};
            coproc_pkg::Rerandomise: properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Square, coproc_pkg::OfModulus, 1'b0, 1'b0};
            coproc_pkg::CombEncrypt: properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Any, coproc_pkg::OfY, 1'b1, 1'b0};
            coproc_pkg::CombRandom:  properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b1, 1'b0};
            coproc_pkg::Accumulate:  properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b1};
            coproc_pkg::Continue:    properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b0, 1'b1};
            coproc_pkg::Total:       properties = {1'b1, coproc_pkg::Any, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b1};
            coproc_pkg::SetComb:     properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b0};
            coproc_pkg::Decrypt:     properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfLambda, 1'b0, 1'b0};
            default:     properties = '0;
        endcase
    endfunction

    // A command's first row in the microprogram, and its tail: the row after an exponent's last
    // digit, or the first one of an Accumulate whose group has a product. Cores of dual numbers
    // begin one instruction earlier where an integer enters, and have their own product and
    // encryption.
    typedef logic [11:0] rows_t;

    function automatic rows_t rows(input logic [7:0] command, input logic dual);
        case (command)
            coproc_pkg::Multiply:    rows = {dual ? 6'd14 : 6'd21, 6'd0};
            coproc_pkg::Power:       rows = {dual ? 6'd0 : 6'd1, 6'd19};
            coproc_pkg::Encrypt:     rows = {dual ? 6'd0 : 6'd1, dual ? 6'd12 : 6'd7};
            coproc_pkg::Rerandomise: rows = {dual ? 6'd0 : 6'd1, dual ? 6'd16 : 6'd17};
            coproc_pkg::CombEncrypt: rows = {6'd4, dual ? 6'd12 : 6'd7};
            coproc_pkg::CombRandom:  rows = {6'd4, dual ? 6'd16 : 6'd17};
            coproc_pkg::Accumulate:  rows = {dual ? 6'd26 : 6'd27, dual ? 6'd29 : 6'd30};
            coproc_pkg::Continue:    rows = {dual ? 6'd0 : 6'd1, 6'd24};
            coproc_pkg::Total:       rows = {6'd33, 6'd0};
            coproc_pkg::SetComb:     rows = {dual ? 6'd35 : 6'd36, 6'd0};
            coproc_pkg::Decrypt:     rows = {dual ? 6'd0 : 6'd1, 6'd19};
            default:     rows = '1;
        endcase
    endfunction

    // Rows that the sequencer knows: the one that computes the table's entry 0, a digit's squares,
    // and the answer to a command for which nothing is computed.
    typedef enum logic [5:0] {
        First   = 6'd2,
        Digit   = 6'd5,
        Refused = 6'd63
    } row_e;

    // The operation of an instruction.
    typedef enum logic [2:0] {
        Product,  // dst <- a b / R
        Squared,  // dst <- a a / R
        Enter,    // dst <- the integer a, divided by R, as a dual number; b = 2^N
        Leave,    // dst <- a b / (R S), below n^2; of dual numbers a (1 + b n) / R, b an integer
        Sum,      // dst <- a + b
        // answers the command: with a, or with 0 if there is no result
        Answer
    } unit_e;

    // The place of an operand: fixed places, and those given by the context's index, group or
    // digit.
    typedef enum logic [3:0] {
        X,       // the first operand of the command
        Y,       // the second
        Other,   // the one that is neither base nor exponent: X with a comb, otherwise Y
        Acc,
        Tmp,
        Result,
        Base,    // entry 1 of the window's table
        Entry,   // entry `index`
        Next,    // entry `index + 1`
        // the entry of the table, or of the comb, selected by the exponent's next digit
        Choice,
        Begin,   // the start of a power: One, or the group's product
        Group,
        Comb,    // entry g of the comb
        None,
        Constant // given by the other field
    } place_e;

    // Constants of the key: the regions from 8 on.
    typedef enum logic [2:0] {
        One    = 3'd0,
        Into   = 3'd1,
        Pass   = 3'd2,
        Divide = 3'd3,  // 0 if there is no such region
        Factor = 3'd4,
        Shift  = 3'd5
    } constant_e;

    // The flow after an instruction.
    typedef enum logic [1:0] {
        Step,     // the next one
        Table,    // repeat with the next index until the table is full
        Squares,  // repeat until a digit's squares are done
        Digits    // back to the squares until no digit is left; then the command's tail
    } flow_e;

    // An instruction: unit, destination, a, b (and the constant if b or a is one), flow. Only dual
    // numbers use Enter.
    typedef logic [19:0] instruction_t;

    function automatic instruction_t instruction(input logic [5:0] pc);
        case (pc)
            // A power: its base, the window's table, then digits. A comb begins at 4.
            6'd0:   instruction = {coproc_pkg::Enter, coproc_pkg::X, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd1:   instruction = {coproc_pkg::Product, coproc_pkg::Base, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            6'd2:   instruction = {coproc_pkg::Product, coproc_pkg::Entry, coproc_pkg::Constant, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            6'd3:   instruction = {coproc_pkg::Product, coproc_pkg::Next, coproc_pkg::Entry, coproc_pkg::Base, coproc_pkg::One, coproc_pkg::Table};
            6'd4:   instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Begin, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            6'd5:   instruction = {coproc_pkg::Squared, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::One, coproc_pkg::Squares};
            6'd6:   instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Choice, coproc_pkg::One, coproc_pkg::Digits};
            // The tail of an encryption; then that of dual numbers.
            6'd7:   instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::Other, coproc_pkg::Constant, coproc_pkg::Factor, coproc_pkg::Step};
            6'd8:   instruction = {coproc_pkg::Sum, coproc_pkg::Tmp, coproc_pkg::Tmp, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            6'd9:   instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            6'd10:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            6'd11:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            6'd12:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Acc, coproc_pkg::Other, coproc_pkg::One, coproc_pkg::Step};
            6'd13:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // A product of dual numbers, which ends like a re-randomisation; the tail of a
            // re-randomisation, and of a power.
            6'd14:  instruction = {coproc_pkg::Enter, coproc_pkg::X, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd15:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            6'd16:  instruction = {coproc_pkg::Enter, coproc_pkg::Other, coproc_pkg::Other, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd17:  instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::Other, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            6'd18:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            6'd19:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            6'd20:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // A product.
            6'd21:  instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Pass, coproc_pkg::Step};
            6'd22:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Tmp, coproc_pkg::Y, coproc_pkg::One, coproc_pkg::Step};
            6'd23:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // The tail of a piece of a power (Continue).
            6'd24:  instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            6'd25:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // Accumulation in a group: the first number, and the others.
            6'd26:  instruction = {coproc_pkg::Enter, coproc_pkg::X, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd27:  instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            6'd28:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            6'd29:  instruction = {coproc_pkg::Enter, coproc_pkg::X, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd30:  instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            6'd31:  instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::Group, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            6'd32:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // The total of a group.
            6'd33:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Group, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            6'd34:  instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // Setting an entry of the comb.
            6'd35:  instruction = {coproc_pkg::Enter, coproc_pkg::X, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Shift, coproc_pkg::Step};
            6'd36:  instruction = {coproc_pkg::Product, coproc_pkg::Comb, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Into, coproc_pkg::Step};
            default: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
        endcase
    endfunction
endpackage
