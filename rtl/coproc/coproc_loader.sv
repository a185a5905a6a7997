// SPDX-License-Identifier: MIT OR Apache-2.0
// Unpacks commands and checks their operands. It copies operands into the memory of numbers, and
// the second one also into that of exponents, 32 bits at a time.
//
// An item is {y, x, command}, the command {group (16 bits), 0 (16), length (16), 0 (8), code (8)}.
// An item is accepted when it has been copied and its command accepted: 2 N / 32 + 4 cycles or more
// after its arrival. An invalid command is passed on with its error code, and nothing is computed
// for it.
module coproc_loader #(
    parameter int unsigned N = 1024,  // bits of n, a multiple of 32
    localparam int unsigned Words     = 2 * N / 32,
    localparam int unsigned IndexBits = $clog2(Words)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [N-1:0]         modulus_i,
    input  logic [2*N-1:0]       square_i,
    input  logic                 item_valid_i,
    output logic                 item_ready_o,
    input  logic [4*N+63:0]      item_i,
    // There is space for a command.
    input  logic                 room_i,
    output logic                 exponent_write_o,
    output logic [IndexBits-1:0] exponent_index_o,
    output logic [31:0]          exponent_data_o,
    output logic                 number_valid_o,
    input  logic                 number_ready_i,
    output logic                 number_second_o,  // y
    output logic [2*N-1:0]       number_o,
    output logic                 command_valid_o,
    input  logic                 command_ready_i,
    output logic [7:0]           command_o,
    output logic [15:0]          length_o,
    output logic [15:0]          group_o,
    output logic [7:0]           code_o
);
    if (N < 64 || N > 4096 || N % 32 != 0) $error("coproc_loader: N must be a multiple of 32, 64 to 4096");

    typedef enum logic [2:0] {
        Idle,
        Copy,
        First,
        Second,
        Command
    } state_e;

    state_e state_q;
    logic [IndexBits-1:0] index_q;

    logic [31:0] x, y, n, square;
    digit_select #(
        .W(32),
        .Digits(Words),
        .IndexBits(IndexBits)
    ) u_x (
        .number_i(item_i[64+:2*N]),
        .index_i (index_q),
        .digit_o (x)
    );
    digit_select #(
        .W(32),
        .Digits(Words),
        .IndexBits(IndexBits)
    ) u_y (
        .number_i(item_i[64+2*N+:2*N]),
        .index_i (index_q),
        .digit_o (y)
    );
    digit_select #(
        .W(32),
        .Digits(Words / 2),
        .IndexBits(IndexBits)
    ) u_n (
        .number_i(modulus_i),
        .index_i (index_q),
        .digit_o (n)
    );
    digit_select #(
        .W(32),
        .Digits(Words),
        .IndexBits(IndexBits)
    ) u_square (
        .number_i(square_i),
        .index_i (index_q),
        .digit_o (square)
    );

    // Borrows of x - n, x - n^2, y - n, y - n^2, word by word. At the end a borrow says that the
    // operand is below.
    function automatic logic borrow(input logic [31:0] a, input logic [31:0] b, input logic carry);
        borrow = 33'(a) < 33'(b) + 33'(carry);
    endfunction

    logic x_modulus_q, x_square_q, y_modulus_q, y_square_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q == Idle) begin
            {x_modulus_q, x_square_q, y_modulus_q, y_square_q} <= '0;
        end else if (state_q == Copy) begin
            x_modulus_q <= borrow(x, n, x_modulus_q);
            x_square_q  <= borrow(x, square, x_square_q);
            y_modulus_q <= borrow(y, n, y_modulus_q);
            y_square_q  <= borrow(y, square, y_square_q);
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            index_q <= '0;
        end else begin
            case (state_q)
                Idle: if (item_valid_i && room_i) state_q <= Copy;
                Copy: begin
                    index_q <= index_q + 1'b1;
                    if (index_q == IndexBits'(Words - 1)) begin
                        index_q <= '0;
                        state_q <= First;
                    end
                end
                First:   if (number_ready_i) state_q <= Second;
                Second:  if (number_ready_i) state_q <= Command;
                default: if (command_ready_i) state_q <= Idle;
            endcase
        end
    end

    assign exponent_write_o = state_q == Copy;
    assign exponent_index_o = index_q;
    assign exponent_data_o = y;
    assign number_valid_o = state_q == First || state_q == Second;
    assign number_second_o = state_q == Second;
    assign number_o = state_q == Second ? item_i[64+2*N+:2*N] : item_i[64+:2*N];
    assign command_valid_o = state_q == Command;
    assign item_ready_o = state_q == Command && command_ready_i;

    // The command and its error code: errors of the key come first.
    assign command_o = item_i[7:0];
    assign length_o = item_i[31:16];
    assign group_o = item_i[63:48];

    logic known, comb, grouped;
    coproc_pkg::bound_e x_bound, y_bound;
    coproc_pkg::exponent_e exponent;
    logic [8:0] properties;
    assign properties = coproc_pkg::properties(command_o);
    assign known = properties[8];
    assign x_bound = coproc_pkg::bound_e'(properties[7:6]);
    assign y_bound = coproc_pkg::bound_e'(properties[5:4]);
    assign exponent = coproc_pkg::exponent_e'(properties[3:2]);
    assign {comb, grouped} = properties[1:0];

    function automatic logic below(input coproc_pkg::bound_e bound, input logic modulus, input logic of_square);
        case (bound)
            coproc_pkg::Modulus: below = modulus;
            coproc_pkg::Square:  below = of_square;
            default:             below = 1'b1;
        endcase
    endfunction

    always_comb begin
        if (!modulus_i[0]) code_o = coproc_pkg::EvenModulus;
        else if (!modulus_i[N-1]) code_o = coproc_pkg::ShortModulus;
        else if (!known) code_o = coproc_pkg::UnknownCode;
        else if (exponent == coproc_pkg::OfY && (length_o == '0 || length_o > 16'(2 * N))) code_o = coproc_pkg::LengthCode;
        else if (!below(x_bound, x_modulus_q, x_square_q)) code_o = coproc_pkg::OperandX;
        else if (!below(y_bound, y_modulus_q, y_square_q)) code_o = coproc_pkg::OperandY;
        else code_o = coproc_pkg::Done;
    end

    logic unused;
    assign unused = ^{comb, grouped, item_i[15:8], item_i[47:32]};
endmodule
