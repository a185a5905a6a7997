//! `rtl/lib`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("stream_widen_8x3", "stream_widen").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_widen_64x8", "stream_widen").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_narrow_8x3", "stream_narrow").parameter("Width", 8).parameter("Beats", 3),
        Design::new("stream_narrow_64x8", "stream_narrow").parameter("Width", 64).parameter("Beats", 8),
        Design::new("stream_widen_gapless_8x3", "stream_widen")
            .parameter("Width", 8)
            .parameter("Beats", 3)
            .parameter("Gapless", 1),
        Design::new("stream_widen_gapless_64x2", "stream_widen")
            .parameter("Width", 64)
            .parameter("Beats", 2)
            .parameter("Gapless", 1),
        Design::new("stream_narrow_gapless_8x3", "stream_narrow")
            .parameter("Width", 8)
            .parameter("Beats", 3)
            .parameter("Gapless", 1),
        Design::new("stream_narrow_gapless_64x2", "stream_narrow")
            .parameter("Width", 64)
            .parameter("Beats", 2)
            .parameter("Gapless", 1),
        Design::new("packet_tkeep_filter_32x3", "packet_tkeep_filter")
            .parameter("StreamBits", 32)
            .parameter("Beats", 3),
        Design::new("packet_tkeep_filter_64x1", "packet_tkeep_filter")
            .parameter("StreamBits", 64)
            .parameter("Beats", 1),
        Design::new("packet_tkeep_filter_128x2", "packet_tkeep_filter")
            .parameter("StreamBits", 128)
            .parameter("Beats", 2),
        Design::new("stream_skid_72", "stream_skid").parameter("Width", 72),
        Design::new("stream_fifo_16x2", "stream_fifo").parameter("Width", 16).parameter("Depth", 2),
        Design::new("stream_fifo_16x5", "stream_fifo").parameter("Width", 16).parameter("Depth", 5),
        Design::new("stream_fork_1", "stream_fork").parameter("Takers", 1),
        Design::new("stream_fork_3", "stream_fork").parameter("Takers", 3),
        Design::new("stream_join_3", "stream_join").parameter("Sources", 3),
        Design::new("reset_sync", "reset_sync"),
        Design::new("bit_sync_3", "bit_sync").parameter("Stages", 3).parameter("Value", 1),
        Design::new("stream_fifo_ram_16x5", "stream_fifo")
            .parameter("Width", 16)
            .parameter("Depth", 5)
            .parameter("Memory", 1),
        Design::new("stream_mux_3", "stream_mux").parameter("Sources", 3).parameter("Width", 16),
        Design::new("stream_demux_3", "stream_demux").parameter("Takers", 3),
        Design::new("stream_arbiter_3", "stream_arbiter").parameter("Sources", 3).parameter("Width", 16),
        Design::new("pulse_sync", "pulse_sync"),
        Design::new("stream_cdc_4", "stream_cdc").parameter("Width", 16).parameter("Depth", 4),
        Design::new("stream_cdc_8", "stream_cdc").parameter("Width", 16),
        Design::new("stream_cdc_16", "stream_cdc").parameter("Width", 16).parameter("Depth", 16).parameter("Stages", 3),
        Design::new("ram_1r1w_12x6", "ram_1r1w")
            .parameter("Width", 12)
            .parameter("Depth", 6)
            .parameter("Parity", 1)
            .memory("ram_1r1w", "word_q"),
        Design::new("ram_1r1w_72x16", "ram_1r1w").parameter("Width", 72).parameter("Depth", 16).parameter("Wiped", 0),
        Design::new("broken_stream", "broken_stream"),
        Design::new("watched_axil", "watched_axil"),
        Design::new("ram_1r1w_fault", "ram_1r1w_fault"),
        Design::new("ram_2rw_12x6", "ram_2rw").parameter("Width", 12).parameter("Depth", 6).parameter("Parity", 1),
        Design::new("ram_2rw_40x16", "ram_2rw").parameter("Width", 40).parameter("Depth", 16).parameter("Wiped", 0),
        // Word k is (17 k^2 + 3 k + 5) mod 2^16.
        Design::new("rom_16x12", "rom")
            .parameter("Width", 16)
            .parameter("Depth", 12)
            .parameter("Parity", 1)
            .parameter("Words", "192'h082f06c70581045d035b027b01bd012100a7004f00190005"),
        Design::new("config_register_70", "config_register").parameter("Bits", 70).parameter("IndexBits", 3),
        Design::new("axil_port_8", "axil_port").parameter("AddressBits", 8),
        memory_port("memory_port_32x2", [32, 2, 2, 4]),
        memory_port("memory_port_64x16", [64, 16, 8, 128]),
        memory_port("memory_port_512x8", [512, 8, 4, 32]),
    ]
}

/// A port to a memory: bits of a word, words of a burst, bursts in progress, words of its buffers.
fn memory_port(name: &str, [width, beats, bursts, depth]: [u32; 4]) -> Design {
    Design::new(name, "memory_port")
        .parameter("Width", width)
        .parameter("Beats", beats)
        .parameter("Bursts", bursts)
        .parameter("Depth", depth)
        .parameter("Timeout", 300)
        .source("lib/axi4_pkg.sv")
}
