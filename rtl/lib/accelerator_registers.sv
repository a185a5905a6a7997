// SPDX-License-Identifier: MIT OR Apache-2.0
// An accelerator's AXI4-Lite interface: the registers of docs/reference/registers.md, generated
// from rtl/registers, and write access to the regions that hold the constants.
//
// An invalid access is rejected with SLVERR and recorded in ERROR. A flush raises flush_o for one
// cycle, in which epoch_o is already the new epoch. A wipe raises key_wipe_o in the same cycle as
// its flush. Writing a constant while the key is in use begins another key: the device is wiped
// before it accepts the word (key_slot). A word of a constant appears at key_write_o one cycle
// after the write, with the region's number in the upper 5 bits of key_index_o. irq_o is a
// register.
module accelerator_registers #(
    parameter logic [31:0]  Identity    = "NONE",
    parameter int unsigned  CountBits   = 8,    // bits of product_count_i, 1 to 32
    parameter int unsigned  Branches    = 1,    // branches reported in CAPABILITY, up to 255
    parameter int unsigned  Table       = 0,    // 1: there is a table behind INDEX and VALUE
    // words of each region, 10 bits each; 0 where there is none
    parameter logic [319:0] RegionWords = '0,
    parameter logic [31:0]  Optional    = '0    // regions that a key may omit, a bit each
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [16:0]      axil_awaddr_i,
    input  logic             axil_awvalid_i,
    output logic             axil_awready_o,
    input  logic [31:0]      axil_wdata_i,
    input  logic [3:0]       axil_wstrb_i,
    input  logic             axil_wvalid_i,
    output logic             axil_wready_o,
    output logic [1:0]       axil_bresp_o,
    output logic             axil_bvalid_o,
    input  logic             axil_bready_i,
    input  logic [16:0]      axil_araddr_i,
    input  logic             axil_arvalid_i,
    output logic             axil_arready_o,
    output logic [31:0]      axil_rdata_o,
    output logic [1:0]       axil_rresp_o,
    output logic             axil_rvalid_o,
    input  logic             axil_rready_i,
    output logic             irq_o,
    // The design.
    input  logic [7:0][31:0] parameters_i,
    output logic [15:0]      index_o,
    input  logic [31:0]      value_i,        // the entry of the table with this index
    // The constants.
    output logic             key_write_o,
    output logic [13:0]      key_index_o,    // of the word
    output logic [31:0]      key_data_o,
    output logic             key_wipe_o,
    output logic             key_ready_o,
    output logic [31:0]      key_complete_o, // complete regions, a bit each
    input  logic             key_open_i,     // the memories of constants are cleared (key_slot)
    // The datapath.
    output logic             flush_o,
    output logic [15:0]      epoch_o,
    input  logic             pending_i,      // an item is about to be accepted
    input  logic             accepted_i,     // an item
    input  logic             delivered_i,    // an item's answer
    input  logic             answered_i,     // the last beat of a packet
    input  logic             closing_i,      // a packet cut by a flush is being closed
    input  logic             foreign_i,      // a packet was discarded
    input  logic             broken_i,       // a packet did not end where it should
    input  logic             discarded_i,    // a whole packet was discarded
    input  logic [CountBits-1:0] product_count_i   // products started in this cycle
);
    if (CountBits < 1 || CountBits > 32) $error("accelerator_registers: CountBits is 1 to 32");
    if (Branches < 1 || Branches > 255) $error("accelerator_registers: Branches is 1 to 255");
    if (Table > 1) $error("accelerator_registers: Table is 0 or 1");

    // Word addresses of the lower half.
    localparam int unsigned WordBits = accelerator_pkg::AddressBits - 3;

    function automatic logic [WordBits-1:0] word(input logic [15:0] address);
        word = WordBits'(address >> 2);
    endfunction

    // The two words of a counter.
    function automatic logic counter(input logic [WordBits-1:0] at, input logic [15:0] address);
        counter = (at >> 1) == (word(address) >> 1);
    endfunction

    // Whether a word of the lower half is readable.
    function automatic logic readable(input logic [WordBits-1:0] at);
        case (at)
            word(accelerator_pkg::IdentityAddress),
            word(accelerator_pkg::VersionAddress),
            word(accelerator_pkg::CapabilityAddress),
            word(accelerator_pkg::EpochAddress),
            word(accelerator_pkg::StatusAddress),
            word(accelerator_pkg::ErrorAddress),
            word(accelerator_pkg::InterruptEnableAddress),
            word(accelerator_pkg::InterruptAddress),
            word(accelerator_pkg::InFlightAddress),
            word(accelerator_pkg::KeyCheckAddress),
            word(accelerator_pkg::IndexAddress),
            word(accelerator_pkg::ValueAddress): readable = 1'b1;
            default: begin
                readable = counter(at, accelerator_pkg::BusyAddress) || counter(at, accelerator_pkg::AcceptedAddress) ||
                    counter(at, accelerator_pkg::DeliveredAddress) || counter(at, accelerator_pkg::ProductsAddress) ||
                    counter(at, accelerator_pkg::DiscardedAddress) || (at >> 3) == (word(accelerator_pkg::ParameterAddress) >> 3);
            end
        endcase
    endfunction

    // The number of regions.
    function automatic logic [7:0] regions();
        regions = '0;
        for (int i = 0; i < 32; i++) if (RegionWords[10*i+:10] != '0) regions = regions + 8'd1;
    endfunction

    logic write_held, write_wait, write, write_whole, write_refused, read, read_refused;
    logic [accelerator_pkg::AddressBits-1:0] write_address, read_address;
    logic [31:0] write_data, read_data;

    axil_port #(
        .AddressBits(accelerator_pkg::AddressBits)
    ) u_port (
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
        .write_held_o   (write_held),
        .write_wait_i   (write_wait),
        .write_o        (write),
        .write_whole_o  (write_whole),
        .write_address_o(write_address),
        .write_data_o   (write_data),
        .write_refused_i(write_refused),
        .read_o         (read),
        .read_address_o (read_address),
        .read_data_i    (read_data),
        .read_refused_i (read_refused)
    );

    // Busy state and the number of items in flight.
    logic busy, busy_q;
    logic [15:0] in_flight_q;
    assign busy = in_flight_q != '0 || (pending_i && key_ready_o);

    // Writes: the target, or the cause of the error.
    logic to_control, to_error, to_enable, to_interrupt, to_index, to_key, key_whole;
    logic [accelerator_pkg::ErrorBits-1:0] write_cause;
    logic [WordBits-1:0] write_word;
    logic [accelerator_pkg::RegionBits:0] words;
    assign write_word = write_address[accelerator_pkg::AddressBits-2:2];
    assign words = RegionWords[10*write_word[WordBits-1:accelerator_pkg::RegionBits]+:10];
    assign write_refused = write_cause != '0;

    always_comb begin
        to_control = 1'b0;
        to_error = 1'b0;
        to_enable = 1'b0;
        to_interrupt = 1'b0;
        to_index = 1'b0;
        to_key = 1'b0;
        write_cause = '0;
        if (write_address[1:0] != '0) write_cause[accelerator_pkg::ErrorUnaligned] = 1'b1;
        else if (!write_whole) write_cause[accelerator_pkg::ErrorPartial] = 1'b1;
        else if (write_address[accelerator_pkg::AddressBits-1]) begin
            if ({1'b0, write_word[accelerator_pkg::RegionBits-1:0]} >= words) write_cause[accelerator_pkg::ErrorBeyond] = 1'b1;
            else if (busy) write_cause[accelerator_pkg::ErrorLocked] = 1'b1;
            else to_key = 1'b1;
        end else begin
            case (write_word)
                word(
                    accelerator_pkg::ControlAddress
                ): begin
                    // A wipe is never rejected.
                    if (write_data[accelerator_pkg::ControlReady] && !write_data[accelerator_pkg::ControlWipe] && !key_whole)
                        write_cause[accelerator_pkg::ErrorIncomplete] = 1'b1;
                    else to_control = 1'b1;
                end
                word(accelerator_pkg::ErrorAddress):           to_error = 1'b1;
                word(accelerator_pkg::InterruptEnableAddress): to_enable = 1'b1;
                word(accelerator_pkg::InterruptAddress):       to_interrupt = 1'b1;
                word(accelerator_pkg::IndexAddress):           to_index = 1'b1;
                default:                                       write_cause[readable(write_word) ? accelerator_pkg::ErrorReadOnly : accelerator_pkg::ErrorUnknown] = 1'b1;
            endcase
        end
    end

    // Control, and write access to the regions.
    logic flush, wipe, ready, clear;
    assign flush = clear || (write && to_control && write_data[accelerator_pkg::ControlFlush]);
    assign wipe = write && to_control && write_data[accelerator_pkg::ControlWipe];
    assign ready = write && to_control && write_data[accelerator_pkg::ControlReady];

    key_slot #(
        .RegionWords(RegionWords),
        .Optional   (Optional)
    ) u_slot (
        .clk_i,
        .rst_ni,
        .wipe_i    (wipe),
        .ready_i   (ready && !wipe),
        .asked_i   (write_held && to_key),
        .index_i   (write_word),
        .data_i    (write_data),
        .open_i    (key_open_i),
        .wait_o    (write_wait),
        .clear_o   (clear),
        .key_wipe_o,
        .key_write_o,
        .key_index_o,
        .key_data_o,
        .key_ready_o,
        .whole_o   (key_whole),
        .complete_o(key_complete_o)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            flush_o <= 1'b0;
            epoch_o <= '0;
            index_o <= '0;
        end else begin
            flush_o <= flush;
            if (flush) epoch_o <= (&epoch_o) ? 16'd1 : epoch_o + 16'd1;
            if (write && to_index) index_o <= write_data[15:0];
        end
    end

    // The checksum of the words written; it restarts with the first word of every region.
    logic [31:0] crc_q, crc;

    crc32 u_crc32 (
        .crc_i (key_index_o[accelerator_pkg::RegionBits-1:0] == '0 ? '1 : crc_q),
        .data_i(key_data_o),
        .crc_o (crc)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear || ready) crc_q <= '1;
        else if (key_write_o) crc_q <= crc;
    end

    // Items in flight.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || flush_o) in_flight_q <= '0;
        else in_flight_q <= in_flight_q + 16'(accepted_i) - 16'(delivered_i);
    end

    // Errors and interrupts.
    logic [accelerator_pkg::ErrorBits-1:0] error_q, causes;
    logic [accelerator_pkg::InterruptBits-1:0] interrupt_q, enable_q, events;
    logic [accelerator_pkg::ErrorBits-1:0] read_cause;

    always_comb begin
        causes = (write ? write_cause : '0) | (read ? read_cause : '0);
        causes[accelerator_pkg::ErrorForeign] = foreign_i;
        causes[accelerator_pkg::ErrorBroken] = broken_i;
        events = '0;
        events[accelerator_pkg::InterruptError] = causes != '0;
        events[accelerator_pkg::InterruptAnswer] = answered_i;
        events[accelerator_pkg::InterruptIdle] = busy_q && !busy;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q      <= 1'b0;
            error_q     <= '0;
            interrupt_q <= '0;
            enable_q    <= '0;
            irq_o       <= 1'b0;
        end else begin
            busy_q      <= busy;
            error_q     <= (error_q & ~((write && to_error) ? write_data[accelerator_pkg::ErrorBits-1:0] : '0)) | causes;
            interrupt_q <= (interrupt_q & ~((write && to_interrupt) ? write_data[accelerator_pkg::InterruptBits-1:0] : '0)) | events;
            if (write && to_enable) enable_q <= write_data[accelerator_pkg::InterruptBits-1:0];
            irq_o <= (interrupt_q & enable_q) != '0;
        end
    end

    // Counters.
    logic [63:0] busy_count_q, accepted_count_q, delivered_count_q, product_count_q, discarded_count_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_count_q      <= '0;
            accepted_count_q  <= '0;
            delivered_count_q <= '0;
            product_count_q   <= '0;
            discarded_count_q <= '0;
        end else begin
            busy_count_q      <= busy_count_q + 64'(busy);
            accepted_count_q  <= accepted_count_q + 64'(accepted_i);
            delivered_count_q <= delivered_count_q + 64'(delivered_i);
            product_count_q   <= product_count_q + 64'(product_count_i);
            discarded_count_q <= discarded_count_q + 64'(discarded_i);
        end
    end

    // Reads. Reading a counter's low word latches its high word here.
    logic [31:0] high_q, high;
    logic [WordBits-1:0] read_word;
    assign read_word = read_address[accelerator_pkg::AddressBits-2:2];
    assign read_refused = read_cause != '0;

    always_comb begin
        read_cause = '0;
        if (read_address[1:0] != '0) read_cause[accelerator_pkg::ErrorUnaligned] = 1'b1;
        else if (read_address[accelerator_pkg::AddressBits-1] || read_word == word(accelerator_pkg::ControlAddress))
            read_cause[accelerator_pkg::ErrorWriteOnly] = 1'b1;
        else if (!readable(read_word)) read_cause[accelerator_pkg::ErrorUnknown] = 1'b1;
    end

    always_comb begin
        high = high_q;
        read_data = '0;
        case (read_word)
            word(accelerator_pkg::IdentityAddress):        read_data = Identity;
            word(accelerator_pkg::VersionAddress):         read_data = accelerator_pkg::Version;
            word(accelerator_pkg::CapabilityAddress): begin
                read_data[accelerator_pkg::CapabilityRegions+:8] = regions();
                read_data[accelerator_pkg::CapabilityBranches+:8] = 8'(Branches);
                read_data[accelerator_pkg::CapabilityTable] = Table != 0;
                read_data[accelerator_pkg::CapabilityInterrupt] = 1'b1;
            end
            word(accelerator_pkg::EpochAddress):           read_data = 32'(epoch_o);
            word(accelerator_pkg::StatusAddress): begin
                read_data[accelerator_pkg::StatusReady] = key_ready_o;
                read_data[accelerator_pkg::StatusBusy] = busy;
                read_data[accelerator_pkg::StatusClosing] = closing_i;
                read_data[accelerator_pkg::StatusError] = error_q != '0;
            end
            word(accelerator_pkg::ErrorAddress):           read_data = 32'(error_q);
            word(accelerator_pkg::InterruptEnableAddress): read_data = 32'(enable_q);
            word(accelerator_pkg::InterruptAddress):       read_data = 32'(interrupt_q);
            word(accelerator_pkg::InFlightAddress):        read_data = 32'(in_flight_q);
            word(accelerator_pkg::KeyCheckAddress):        read_data = ~crc_q;
            word(accelerator_pkg::IndexAddress):           read_data = 32'(index_o);
            word(accelerator_pkg::ValueAddress):           read_data = value_i;
            word(accelerator_pkg::BusyAddress):            {high, read_data} = busy_count_q;
            word(accelerator_pkg::AcceptedAddress):        {high, read_data} = accepted_count_q;
            word(accelerator_pkg::DeliveredAddress):       {high, read_data} = delivered_count_q;
            word(accelerator_pkg::ProductsAddress):        {high, read_data} = product_count_q;
            word(accelerator_pkg::DiscardedAddress):       {high, read_data} = discarded_count_q;
            // A parameter, or the high word of a counter.
            default: read_data = (read_word >> 3) == (word(accelerator_pkg::ParameterAddress) >> 3) ? parameters_i[read_word[2:0]] : high_q;
        endcase
        if (read_refused) read_data = '0;
    end

    always_ff @(posedge clk_i) begin
        if (read && !read_refused) high_q <= high;
    end
endmodule
