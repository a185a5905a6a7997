// SPDX-License-Identifier: MIT OR Apache-2.0
// A first-in, first-out queue.
//
// An item every cycle; holds up to Depth items. Valid, data and ready are registered: no path leads
// from one side to the other. With Memory = 0 the items are in flip-flops, and move one step
// towards the output with every item that leaves: latency 1 cycle, not ready in reset nor in the
// first cycle after it. With Memory = 1 they are in a ram_1r1w: latency 2 cycles, not ready in
// reset nor until the memory is wiped (Depth + 2 cycles).
module stream_fifo #(
    parameter int unsigned Width  = 8,  // bits of an item, at least 1
    parameter int unsigned Depth  = 2,  // items, at least 2
    parameter int unsigned Memory = 0,  // 0: flip-flops; 1: block RAM
    // 1: reset clears the data too; 0: reset clears only the flags and counters
    parameter int unsigned Wiped  = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    if (Width < 1) $error("stream_fifo: Width must be at least 1");
    if (Depth < 2) $error("stream_fifo: Depth must be at least 2");
    if (Memory > 1) $error("stream_fifo: Memory is 0 or 1");
    if (Wiped > 1) $error("stream_fifo: Wiped is 0 or 1");

    logic push, pop;
    assign push = in_valid_i && in_ready_o;
    assign pop = out_valid_o && out_ready_i;

    if (Memory == 0) begin : gen_registers
        // Occupied entries, the output at the low end: ones below zeros.
        logic [Depth-1:0] taken_q, taken;
        logic [Depth*Width-1:0] item_q;

        assign out_valid_o = taken_q[0];
        assign out_data_o = item_q[Width-1:0];

        always_comb begin
            taken = taken_q;
            if (push && !pop) taken = {taken_q[Depth-2:0], 1'b1};
            if (pop && !push) taken = {1'b0, taken_q[Depth-1:1]};
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                taken_q    <= '0;
                in_ready_o <= 1'b0;
            end else begin
                taken_q    <= taken;
                in_ready_o <= !taken[Depth-1];
            end
        end

        for (genvar k = 0; k < int'(Depth); k++) begin : gen_place
            // The entry's next item when an item leaves.
            logic [Width-1:0] next;
            if (k + 1 < int'(Depth)) begin : gen_inner
                assign next = taken_q[k+1] ? item_q[(k+1)*Width+:Width] : in_data_i;
            end else begin : gen_end
                assign next = in_data_i;
            end

            always_ff @(posedge clk_i) begin
                if (!rst_ni && Wiped == 1) item_q[k*Width+:Width] <= '0;
                else if (pop) item_q[k*Width+:Width] <= next;
                else if (!taken_q[k]) item_q[k*Width+:Width] <= in_data_i;
            end
        end
    end else begin : gen_memory
        localparam int unsigned PlaceBits = $clog2(Depth);
        localparam int unsigned CountBits = $clog2(Depth + 1);
        localparam logic [PlaceBits-1:0] Last = PlaceBits'(Depth - 1);

        logic [PlaceBits-1:0] in_place_q, out_place_q;
        // The number of items, including the offered one; and the number behind it.
        logic [CountBits-1:0] held_q, held, behind_q;
        logic read, wiped, unused_error;

        ram_1r1w #(
            .Width(Width),
            .Depth(Depth),
            .Wiped(Wiped)
        ) u_items (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped),
            .write_i        (push),
            .write_address_i(in_place_q),
            .write_data_i   (in_data_i),
            .read_i         (read),
            .read_address_i (out_place_q),
            .read_data_o    (out_data_o),
            .error_o        (unused_error)
        );

        assign read = behind_q != '0 && (!out_valid_o || out_ready_i);
        assign held = held_q + CountBits'(push) - CountBits'(pop);

        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                in_place_q  <= '0;
                out_place_q <= '0;
                held_q      <= '0;
                behind_q    <= '0;
                in_ready_o  <= 1'b0;
                out_valid_o <= 1'b0;
            end else begin
                if (push) in_place_q <= in_place_q == Last ? '0 : in_place_q + PlaceBits'(1);
                if (read) out_place_q <= out_place_q == Last ? '0 : out_place_q + PlaceBits'(1);
                held_q     <= held;
                behind_q   <= behind_q + CountBits'(push) - CountBits'(read);
                in_ready_o <= wiped && held != CountBits'(Depth);
                if (read) out_valid_o <= 1'b1;
                else if (pop) out_valid_o <= 1'b0;
            end
        end
    end
endmodule
