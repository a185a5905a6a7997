// SPDX-License-Identifier: MIT OR Apache-2.0
// What the co-processor is told and answers, and its microprogram (docs/coproc.md).
package coproc_pkg;
    // Cycles between two products of mont_mul_digit: its Step, for a modulus of so many bits.
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
        Continue     = 8'd8,   // G[g] <- G[g]^(2^(4 ceil(length / 4))) x^y, or x^y if the group is empty
        Total        = 8'd9,   // G[g]; the group is empty then
        SetComb      = 8'd10,  // entry g of the comb becomes x
        Decrypt      = 8'd11   // x^lambda mod n^2
    } command_e;

    // What an answer says of its command.
    typedef enum logic [7:0] {
        Done          = 8'd0,
        UnknownCode   = 8'd1,  // there is no such command
        OperandX      = 8'd2,  // x is at or above its modulus
        OperandY      = 8'd3,  // y likewise
        LengthCode    = 8'd4,  // an exponent has 1 to 2 N bits
        EvenModulus   = 8'd5,  // n is even
        ShortModulus  = 8'd6,  // n has not N bits
        GroupCode     = 8'd7,  // there is no group, or entry of the comb, of this number
        Missing       = 8'd8   // the group is empty, the comb not whole, or lambda not there
    } code_e;

    // What an operand must be below.
    typedef enum logic [1:0] {
        Any,
        Modulus,  // n
        Square    // n^2
    } bound_e;

    // What an exponent is.
    typedef enum logic [1:0] {
        Without,
        OfY,       // the low bits of y, as many as the command says
        OfModulus, // n
        OfLambda
    } exponent_e;

    // What a command is made of: whether there is one, the bounds of x and y, its exponent, whether it takes the comb, a group, first instruction, tail.
    typedef logic [18:0] properties_t;

    function automatic properties_t properties(input logic [7:0] command);
        case (command)
            coproc_pkg::Multiply:    properties = {1'b1, coproc_pkg::Square, coproc_pkg::Square, coproc_pkg::Without, 1'b0, 1'b0, 5'd17, 5'd0};
            coproc_pkg::Power:       properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b0, 1'b0, 5'd0, 5'd13};
            coproc_pkg::Encrypt:     properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Modulus, coproc_pkg::OfModulus, 1'b0, 1'b0, 5'd0, 5'd6};
            coproc_pkg::Rerandomise: properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Square, coproc_pkg::OfModulus, 1'b0, 1'b0, 5'd0, 5'd11};
            coproc_pkg::CombEncrypt: properties = {1'b1, coproc_pkg::Modulus, coproc_pkg::Any, coproc_pkg::OfY, 1'b1, 1'b0, 5'd3, 5'd6};
            coproc_pkg::CombRandom:  properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b1, 1'b0, 5'd3, 5'd11};
            coproc_pkg::Accumulate:  properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b1, 5'd20, 5'd0};
            coproc_pkg::Continue:    properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfY, 1'b0, 1'b1, 5'd0, 5'd15};
            coproc_pkg::Total:       properties = {1'b1, coproc_pkg::Any, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b1, 5'd25, 5'd0};
            coproc_pkg::SetComb:     properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::Without, 1'b0, 1'b0, 5'd27, 5'd0};
            coproc_pkg::Decrypt:     properties = {1'b1, coproc_pkg::Square, coproc_pkg::Any, coproc_pkg::OfLambda, 1'b0, 1'b0, 5'd0, 5'd13};
            default:     properties = '0;
        endcase
    endfunction

    // What an instruction does.
    typedef enum logic [1:0] {
        Product,  // dst <- a b / R
        Leave,    // dst <- a b / (R S), below n^2
        Sum,      // dst <- a + b
        Answer    // the command is answered: with a, or with 0 where dst is the same as nothing was computed
    } unit_e;

    // Where an operand is: beside fixed places, what follows the context's index, group or digit.
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
        Choice,  // the entry of the table, or of the comb, that the next digit of the exponent names
        Begin,   // where a power begins: One, or the group's product
        Group,
        Comb,    // entry g of the comb
        None,
        Constant // which one: in the other field
    } place_e;

    // Constants of the key: the regions from 8 on.
    typedef enum logic [2:0] {
        One    = 3'd0,
        Enter  = 3'd1,
        Pass   = 3'd2,
        Divide = 3'd3,
        Factor = 3'd4
    } constant_e;

    // What comes after an instruction.
    typedef enum logic [1:0] {
        Step,     // the next one
        Table,    // again, with the next index, until the table is full
        Squares,  // again, until a digit's squares are done
        Digits    // the squares again, until there is no digit left; then the command's tail
    } flow_e;

    // An instruction: unit, destination, a, b (and the constant that b, or a, is), flow.
    typedef logic [18:0] instruction_t;

    function automatic instruction_t instruction(input logic [4:0] pc);
        case (pc)
            // A power: the window's table, then digits. A comb begins at 3.
            5'd0:  instruction = {coproc_pkg::Product, coproc_pkg::Entry, coproc_pkg::Constant, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            5'd1:  instruction = {coproc_pkg::Product, coproc_pkg::Base, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Enter, coproc_pkg::Step};
            5'd2:  instruction = {coproc_pkg::Product, coproc_pkg::Next, coproc_pkg::Entry, coproc_pkg::Base, coproc_pkg::One, coproc_pkg::Table};
            5'd3:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Begin, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            5'd4:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::One, coproc_pkg::Squares};
            5'd5:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Choice, coproc_pkg::One, coproc_pkg::Digits};
            // Tails: an encryption, a re-randomisation, a power.
            5'd6:  instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::Other, coproc_pkg::Constant, coproc_pkg::Factor, coproc_pkg::Step};
            5'd7:  instruction = {coproc_pkg::Sum, coproc_pkg::Tmp, coproc_pkg::Tmp, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            5'd8:  instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            5'd9:  instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            5'd10: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            5'd11: instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::Other, coproc_pkg::Constant, coproc_pkg::Enter, coproc_pkg::Step};
            5'd12: instruction = {coproc_pkg::Product, coproc_pkg::Acc, coproc_pkg::Acc, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            5'd13: instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            5'd14: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // A part of a power.
            5'd15: instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::Acc, coproc_pkg::Constant, coproc_pkg::One, coproc_pkg::Step};
            5'd16: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // A product.
            5'd17: instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Pass, coproc_pkg::Step};
            5'd18: instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Tmp, coproc_pkg::Y, coproc_pkg::One, coproc_pkg::Step};
            5'd19: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // Into a group: the first, and the others.
            5'd20: instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Enter, coproc_pkg::Step};
            5'd21: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            5'd22: instruction = {coproc_pkg::Product, coproc_pkg::Tmp, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Enter, coproc_pkg::Step};
            5'd23: instruction = {coproc_pkg::Product, coproc_pkg::Group, coproc_pkg::Group, coproc_pkg::Tmp, coproc_pkg::One, coproc_pkg::Step};
            5'd24: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // Out of it.
            5'd25: instruction = {coproc_pkg::Leave, coproc_pkg::Result, coproc_pkg::Group, coproc_pkg::Constant, coproc_pkg::Divide, coproc_pkg::Step};
            5'd26: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::Result, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
            // Into the comb.
            5'd27: instruction = {coproc_pkg::Product, coproc_pkg::Comb, coproc_pkg::X, coproc_pkg::Constant, coproc_pkg::Enter, coproc_pkg::Step};
            default: instruction = {coproc_pkg::Answer, coproc_pkg::None, coproc_pkg::None, coproc_pkg::None, coproc_pkg::One, coproc_pkg::Step};
        endcase
    endfunction
endpackage
