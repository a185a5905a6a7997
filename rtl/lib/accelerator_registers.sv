// SPDX-License-Identifier: MIT OR Apache-2.0
// What the host sees of an accelerator over AXI4-Lite: identity, parameters, control, status, counters, and the way into the key memory.
//
//   byte address  access  content
//   0x00000       read    IDENTITY    four letters
//   0x00004       read    VERSION     of this register map: 1
//   0x00020+4i    read    PARAMETER   the design's, i = 0..7
//   0x00040       write   CONTROL     bit 0 the key is complete, 1 flush (drop what is in flight), 2 wipe (the key, and flush)
//   0x00044       read    STATUS      bit 0 the key is complete, 1 busy, 2 a packet of the wrong length was dropped since the last flush
//   0x00048       read    IN_FLIGHT   items accepted and not yet delivered
//   0x00050       read    BUSY        cycles with anything in flight                       64 bits each, low word first: reading
//   0x00058       read    ACCEPTED    items                                                the low word keeps the high word
//   0x00060       read    DELIVERED   items                                                of the same moment
//   0x00068       read    PRODUCTS    as the design counts them
//   0x10000-      write   KEY         refused while busy; any write makes the key incomplete
//
// Everything else is refused with SLVERR, reading the key memory included. A flush resets the datapath for a cycle; a wipe clears the key memory too.
// Writes into the key memory appear at key_write_o with the address of the word.
module accelerator_registers #(
    parameter int unsigned AddressBits = 17,      // the upper half is the key memory
    parameter logic [31:0] Identity    = "NONE",
    parameter int unsigned CountBits   = 8        // bits of product_count_i
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic [AddressBits-1:0] axil_awaddr_i,
    input  logic                   axil_awvalid_i,
    output logic                   axil_awready_o,
    input  logic [31:0]            axil_wdata_i,
    input  logic [3:0]             axil_wstrb_i,
    input  logic                   axil_wvalid_i,
    output logic                   axil_wready_o,
    output logic [1:0]             axil_bresp_o,
    output logic                   axil_bvalid_o,
    input  logic                   axil_bready_i,
    input  logic [AddressBits-1:0] axil_araddr_i,
    input  logic                   axil_arvalid_i,
    output logic                   axil_arready_o,
    output logic [31:0]            axil_rdata_o,
    output logic [1:0]             axil_rresp_o,
    output logic                   axil_rvalid_o,
    input  logic                   axil_rready_i,
    input  logic [7:0][31:0]       parameters_i,
    // The key memory.
    output logic                   key_write_o,
    output logic [AddressBits-4:0] key_index_o,      // of a word
    output logic [31:0]            key_data_o,
    output logic                   key_wipe_o,
    output logic                   key_ready_o,
    // The datapath.
    output logic                   datapath_rst_no,
    input  logic                   pending_i,        // an item is about to be accepted
    input  logic                   accepted_i,
    input  logic                   delivered_i,
    input  logic                   bad_packet_i,
    input  logic [CountBits-1:0]   product_count_i   // products started in this cycle
);
    // Word addresses of the lower half.
    localparam logic [AddressBits-4:0] Control = 'h10, Status = 'h11, InFlight = 'h12;
    localparam logic [AddressBits-4:0] BusyLow = 'h14, AcceptedLow = 'h16, DeliveredLow = 'h18, ProductsLow = 'h1a;

    logic write, write_refused, read, read_refused;
    logic [AddressBits-1:0] write_address, read_address;
    logic [31:0] write_data, read_data;

    axil_port #(.AddressBits(AddressBits)) u_port (
        .clk_i,
        .rst_ni,
        .axil_awaddr_i,
        .axil_awvalid_i,
        .axil_awready_o,
        .axil_wdata_i,
        .axil_wstrb_i,
        .axil_wvalid_i,
        .axil_wready_o,
        .axil_bresp_o,
        .axil_bvalid_o,
        .axil_bready_i,
        .axil_araddr_i,
        .axil_arvalid_i,
        .axil_arready_o,
        .axil_rdata_o,
        .axil_rresp_o,
        .axil_rvalid_o,
        .axil_rready_i,
        .write_o        (write),
        .write_address_o(write_address),
        .write_data_o   (write_data),
        .write_refused_i(write_refused),
        .read_o         (read),
        .read_address_o (read_address),
        .read_data_i    (read_data),
        .read_refused_i (read_refused)
    );

    // Control and the key memory.
    logic write_control, busy, flush_q, bad_packet_q;
    logic [15:0] in_flight_q;
    logic [AddressBits-4:0] write_word, read_word;

    assign write_word = write_address[AddressBits-2:2];
    assign read_word = read_address[AddressBits-2:2];
    assign write_control = write && !write_address[AddressBits-1] && write_word == Control;
    assign busy = in_flight_q != '0 || (pending_i && key_ready_o);
    assign key_write_o = write && write_address[AddressBits-1] && !busy;
    assign key_index_o = write_word;
    assign key_data_o = write_data;
    assign key_wipe_o = write_control && write_data[2];
    assign write_refused = !write_control && !key_write_o;
    assign datapath_rst_no = rst_ni && !flush_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            flush_q     <= 1'b0;
            key_ready_o <= 1'b0;
        end else begin
            flush_q <= write_control && (write_data[1] || write_data[2]);
            if (key_wipe_o || key_write_o) key_ready_o <= 1'b0;
            else if (write_control && write_data[0]) key_ready_o <= 1'b1;
        end
    end

    // What is in flight.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_flight_q  <= '0;
            bad_packet_q <= 1'b0;
        end else if (flush_q) begin
            in_flight_q  <= '0;
            bad_packet_q <= 1'b0;
        end else begin
            in_flight_q  <= in_flight_q + 16'(accepted_i) - 16'(delivered_i);
            bad_packet_q <= bad_packet_q || bad_packet_i;
        end
    end

    // Counters.
    logic [63:0] busy_count_q, accepted_count_q, delivered_count_q, product_count_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_count_q      <= '0;
            accepted_count_q  <= '0;
            delivered_count_q <= '0;
            product_count_q   <= '0;
        end else begin
            busy_count_q      <= busy_count_q + 64'(busy);
            accepted_count_q  <= accepted_count_q + 64'(accepted_i);
            delivered_count_q <= delivered_count_q + 64'(delivered_i);
            product_count_q   <= product_count_q + 64'(product_count_i);
        end
    end

    // Reading. The high word of a counter waits here since its low word was read.
    logic [31:0] high_q, high;

    always_comb begin
        high = high_q;
        read_data = '0;
        read_refused = read_address[AddressBits-1];
        case (read_word)
            '0:                                                     read_data = Identity;
            'h1:                                                    read_data = 32'd1;
            'h8, 'h9, 'ha, 'hb, 'hc, 'hd, 'he, 'hf:                 read_data = parameters_i[read_word[2:0]];
            Status:                                                 read_data = {29'b0, bad_packet_q, busy, key_ready_o};
            InFlight:                                               read_data = 32'(in_flight_q);
            BusyLow:                                                {high, read_data} = busy_count_q;
            AcceptedLow:                                            {high, read_data} = accepted_count_q;
            DeliveredLow:                                           {high, read_data} = delivered_count_q;
            ProductsLow:                                            {high, read_data} = product_count_q;
            BusyLow + 1, AcceptedLow + 1, DeliveredLow + 1, ProductsLow + 1: read_data = high_q;
            default:                                                read_refused = 1'b1;
        endcase
        if (read_refused) read_data = '0;
    end

    always_ff @(posedge clk_i) begin
        if (read) high_q <= high;
    end

    // Addresses are those of words.
    logic unused;
    assign unused = &{1'b0, write_address[1:0], read_address[1:0]};
endmodule
