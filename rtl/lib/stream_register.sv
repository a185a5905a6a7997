// A register slice: cuts every path, valid, ready and data, between two blocks.
//
// Two items fit: the one at the output, and one that had to be taken because ready had already been promised.
// Latency 1 cycle, throughput one item a cycle.
module stream_register #(
    parameter int unsigned Width = 32  // bits of an item, at least 1
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
    logic [Width-1:0] spare_q;
    logic spare_valid_q;

    assign in_ready_o = !spare_valid_q;

    // Control.
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            out_valid_o   <= 1'b0;
            spare_valid_q <= 1'b0;
        end else if (!out_valid_o || out_ready_i) begin
            out_valid_o   <= in_valid_i || spare_valid_q;
            spare_valid_q <= 1'b0;
        end else if (in_valid_i) begin
            spare_valid_q <= 1'b1;
        end
    end

    // Data: no reset, it is meaningless without its valid bit.
    always_ff @(posedge clk_i) begin
        if (!out_valid_o || out_ready_i) out_data_o <= spare_valid_q ? spare_q : in_data_i;
        if (in_ready_o) spare_q <= in_data_i;
    end
endmodule
